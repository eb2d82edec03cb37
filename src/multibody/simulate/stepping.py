"""One step of any method, from the state of a run to the next: plain NumPy on one sample."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.model.tree import Tree
from multibody.simulate.arguments import tree_values
from multibody.simulate.clock import WRAP, tick, time_of
from multibody.simulate.contact.scene import Scene
from multibody.simulate.controllers import PD, Function
from multibody.simulate.divergence import fault
from multibody.simulate.methods import contact, euler, events, rk4, soft, variational, verlet
from multibody.simulate.step_forces import StepForces

METHODS: dict[str, Callable[..., Any]] = {
    "contact": contact.step,
    "euler": euler.step,
    "events": events.step,
    "rk4": rk4.step,
    "soft": soft.step,
    "variational": variational.step,
    "verlet": verlet.step,
}
TOUCHING = ("contact", "events", "soft")
"""The methods with contacts."""


@dataclass(frozen=True, eq=False)
class Stepping:
    """All that a step depends on, but for the state, inputs and parameters."""

    tree: Tree
    method: str
    dt: float
    controller: PD | Function | None
    goal: Any
    """The targets of PD without inputs."""
    scene: Scene
    passive: bool
    effort: NDArray[Any] | None
    control_every: int
    outputs: Mapping[str, Callable[..., Any]]

    def __call__(self, state: dict[str, Any], values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The next state, and what is recorded; `values` has inputs, pushes and parameters by their names."""
        parameters = _named(values, "parameter:")
        tree = self.tree.with_values(**tree_values(self.tree, parameters))
        q, v = state["q"], state["v"]
        acting = StepForces(
            tree,
            self.controller,
            self._input(values),
            state.get("memory"),
            _named(values, "wrench:"),
            self._gains(parameters),
            self.passive,
            self.effort,
            state.get("held"),
            state["phase"] < 0.5 if "phase" in state else None,
        )
        t = time_of(state, self.dt)
        if self.method in TOUCHING:
            surface: Any = (parameters.get("friction"), parameters.get("restitution"))
            rest = [state.get("impulses"), state["bound"]]
            if self.method == "soft":
                stiffness, damping = parameters.get("ground_stiffness"), parameters.get("ground_damping")
                surface = soft.Surface(surface[0], stiffness, damping)
                rest += [state.get("anchors"), state.get("slips")]
            if self.method == "events":
                rest += [state.get("down"), state.get("up")]
            moved = METHODS[self.method](self.scene, surface, acting, self.dt, t, q, v, *rest)
        else:
            moved = METHODS[self.method](acting, self.dt, t, q, v)
        return self._after(state, moved, q, v), self._recorded(moved, t, v)

    def _input(self, values: Mapping[str, Any]) -> Any:
        if "input" in values:
            return values["input"]
        keyed = _named(values, "input:")
        return keyed or self.goal

    def _gains(self, parameters: Mapping[str, Any]) -> Any:
        if not isinstance(self.controller, PD):
            return None
        return parameters.get("kp", self.controller.kp), parameters.get("kd", self.controller.kd)

    def _after(self, state: dict[str, Any], moved: Any, q: NDArray[Any], v: NDArray[Any]) -> dict[str, Any]:
        breaks = (state["failed"] < 0.0) & ~np.isfinite(np.sum(moved.q) + np.sum(moved.v))
        clock = tick(state, self.control_every)
        count = clock["steps"] + clock["wraps"] * WRAP if "wraps" in clock else clock["steps"]
        after = {
            "q": moved.q,
            "v": moved.v,
            **clock,
            "failed": np.where(breaks, count, state["failed"]),
            "fault": np.where(breaks, fault(moved.acting, q, v, moved.tau), state["fault"]),
            "bound": moved.bound,
            "impulses": moved.impulses,
            "anchors": moved.anchors,
            "slips": moved.slips,
            "down": moved.down,
            "up": moved.up,
            "memory": moved.acting.memory,
            "held": None if moved.acting.held is None else np.broadcast_to(moved.acting.held, v.shape),
        }
        return {name: after[name] for name in state}

    def _recorded(self, moved: Any, t: Any, v: NDArray[Any]) -> dict[str, Any]:
        touched = np.zeros((0, 3)) if moved.forces is None else moved.forces
        forces, between = touched[: self.scene.contacts], touched[self.scene.contacts :]
        record = {"q": moved.q, "v": moved.v, "tau": np.broadcast_to(moved.tau, v.shape), "forces": forces}
        if self.method in ("contact", "soft") and self.scene.rows:
            record |= {"residual": moved.residual, "sweeps": moved.sweeps}
        if self.method == "events" and self.scene.contacts:
            record |= {"touchdown": self._times(moved.down), "liftoff": self._times(moved.up)}
        if self.scene.spheres:
            record["pair_forces"] = between
        if self.scene.constraints is not None:
            record["constraint_forces"] = moved.constraint_forces
        a = (moved.v - v) / self.dt
        for name, function in self.outputs.items():
            result = function(t + self.dt, moved.q, moved.v, a, moved.tau, forces)
            if isinstance(result, dict | tuple | list):
                raise InputError(f"outputs, {name}: expected a function that returns one array")
            record[f"output:{name}"] = result
        return record

    def _times(self, times: NDArray[Any]) -> NDArray[Any]:
        """(contacts,): the last of those of all grounds at a contact; NaN for never."""
        grounded = times[: len(self.scene.pairs) - self.scene.spheres]
        last = np.max(np.reshape(grounded, (self.scene.contacts, -1)), axis=-1)
        return np.where(last < 0.0, np.nan, last)


def _named(values: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): x for name, x in values.items() if name.startswith(prefix)}
