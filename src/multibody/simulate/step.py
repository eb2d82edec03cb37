"""One step of any method, from the state of a run to the next: plain NumPy on one sample."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.model.tree import Tree
from multibody.simulate.clock import first_clock, tick, time_of
from multibody.simulate.contact import height_jump
from multibody.simulate.contact.scene import Scene
from multibody.simulate.controllers import Function
from multibody.simulate.divergence import diverges, fault
from multibody.simulate.method import Method, StepResult, StepStart
from multibody.simulate.nested_state import with_prefix
from multibody.simulate.pd import PD
from multibody.simulate.step_forces import StepForces


@dataclass(frozen=True, eq=False)
class Step:
    """The settings of a step; state, inputs and parameters come with each."""

    tree: Tree
    method: Method
    dt: float
    controller: PD | Function | None
    goal: Any
    """The targets of PD without inputs."""
    scene: Scene
    passive: bool
    effort: NDArray[Any] | None
    control_every: int
    outputs: Mapping[str, Callable[..., Any]]

    def initial_state(self, q: NDArray[Any], v: NDArray[Any], memory: Any, dtype: Any) -> dict[str, Any]:
        """The state of a run before its first step; only q and v have the batch, and entries that depend on them."""
        state = {"q": q, "v": v, **first_clock(dtype, self.control_every), "failed": -1.0, "fault": 0.0}
        state |= self.method.initial_state(self.tree, self.scene, q)
        state |= {"jump": np.array(height_jump.START)} if height_jump.has_heights(self.scene) else {}
        state |= {} if memory is None else {"memory": memory}
        state |= {"held": np.zeros(self.tree.nv)} if self.control_every > 1 else {}
        if isinstance(self.controller, Function) and self.controller.senses_forces:
            state["forces"] = self.controller.forces
        return state

    @property
    def differentiated(self) -> tuple[str, ...]:
        """The entries of the state that have derivatives; counts and bounds have none."""
        return ("q", "v", *self.method.differentiated, "memory", "held", "forces")

    def __call__(self, state: dict[str, Any], values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The next state and the record; `values` has inputs, pushes and parameters by their names."""
        parameters = with_prefix(values, "parameter:")
        tree, pushes = self.tree.with_values(**tree_values(self.tree, parameters)), with_prefix(values, "wrench:")
        own, gains = (self.controller, self._input(values), state.get("memory")), self._gains(parameters)
        held, due = state.get("held"), state["phase"] < 0.5 if "phase" in state else None
        forces = StepForces(
            tree, *own, pushes, gains, self.passive, self.effort, state.get("forces"), zoh_tau=held, sample_now=due
        )
        start = StepStart(
            forces, self.dt, time_of(state, self.dt), state["q"], state["v"], state, self.scene, parameters
        )
        result = self.method.step(start)
        return self._after(state, result), self._recorded(start, result)

    def _input(self, values: Mapping[str, Any]) -> Any:
        return values["input"] if "input" in values else with_prefix(values, "input:") or self.goal

    def _gains(self, parameters: Mapping[str, Any]) -> Any:
        if not isinstance(self.controller, PD):
            return None
        return parameters.get("kp", self.controller.kp), parameters.get("kd", self.controller.kd)

    def _after(self, state: dict[str, Any], result: StepResult) -> dict[str, Any]:
        q, v, zoh_tau = state["q"], state["v"], result.forces.zoh_tau
        breaks = diverges(state["failed"], result.q, result.v)
        clock = tick(state, self.control_every)
        count = time_of(clock, 1.0)
        after = {
            "q": result.q,
            "v": result.v,
            **clock,
            "failed": np.where(breaks, count, state["failed"]),
            "fault": np.where(breaks, fault(result.forces, q, v, result.tau), state["fault"]),
            **result.state,
            "forces": result.record.get("forces"),
            "memory": result.forces.memory,
            "held": None if zoh_tau is None else np.broadcast_to(zoh_tau, v.shape),
        }
        if "jump" in state:
            tree, forces = result.forces.tree, result.record["forces"]
            after["jump"] = height_jump.first_jump(tree, self.scene, state["jump"], count, q, result.q, forces)
        return {name: after[name] for name in state}

    def _recorded(self, start: StepStart, result: StepResult) -> dict[str, Any]:
        forces, v = result.record.get("forces", np.zeros((0, 3))), start.v
        record = {"q": result.q, "v": result.v, "tau": np.broadcast_to(result.tau, v.shape), "forces": forces}
        record |= result.record
        a = (result.v - v) / self.dt
        for name, function in self.outputs.items():
            output = function(start.t + self.dt, result.q, result.v, a, result.tau, forces)
            if isinstance(output, dict | tuple | list):
                raise InputError(f"outputs, {name}: expected a function that returns one array")
            record[f"output:{name}"] = output
        return record


def tree_values(tree: Tree, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a run under the names of `Tree.with_values`; `mass` is spread over all bodies."""
    values = {name: x for name, x in parameters.items() if name in tree.parameter_shapes and name != "friction"}
    if "joint_friction" in parameters:
        values["friction"] = parameters["joint_friction"]
    if "mass" in parameters:
        masses = np.array([body.inertia.mass for body in tree.bodies])
        values["masses"] = parameters["mass"][..., None] * (masses / masses.sum())
    return values
