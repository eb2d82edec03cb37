"""What acts on a robot in one step: its controller, pushes, and what its joints do by themselves."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.forward_dynamics import forward_dynamics
from multibody.model.actuation import passive
from multibody.model.tree import Tree
from multibody.simulate.controllers import PD, Function


@dataclass(frozen=True, eq=False)
class StepForces:
    """The forces of a step, as functions of time and state; traced values inside."""

    tree: Tree
    """With the numbers of this sample."""
    controller: PD | Function | None
    input: Any
    memory: Any
    """The state of the controller."""
    wrenches: Mapping[str, Any]
    gains: Any
    """kp and kd of PD."""
    passive: bool
    effort: NDArray[Any] | None
    """(nv,): the largest magnitudes of the controller's forces."""
    held: Any = None
    """(nv,): the controller's forces of the last time that it was asked."""
    asks: Any = None
    """Whether it is asked in this step, where it is not in every one."""
    settled: bool = False
    """Whether `held` are the forces of this step."""

    def asked(self, t: Any, q: NDArray[Any], v: NDArray[Any]) -> "StepForces":
        """The same with the answer of a controller that is asked once a step, since it has a state or is held."""
        if self.settled or not isinstance(self.controller, Function):
            return self
        if not self.controller.remembers and self.asks is None:
            return self
        tau, memory = self.controller(t, q, v, self.input, self.memory)
        if self.asks is not None:
            tau = np.where(self.asks, tau, self.held)
            memory = None if memory is None else _select(self.asks, memory, self.memory)
        return replace(self, held=tau, memory=memory, settled=True)

    def control(self, t: Any, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        """(nv,): the controller's forces."""
        if self.controller is None:
            return np.zeros_like(v)
        if self.settled:
            tau = self.held
        elif isinstance(self.controller, PD):
            tau = self.controller.pull(self.tree, q, v, self.input, self.gains)
        else:
            tau, _ = self.controller(t, q, v, self.input, self.memory)
        return tau if self.effort is None else np.clip(tau, -self.effort, self.effort)

    def joints(self, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any] | float:
        """(nv,): damping, dry friction and springs."""
        return passive(self.tree, q, v) if self.passive else 0.0

    def acceleration(self, t: Any, q: NDArray[Any], v: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The acceleration (nv,) at a time and state, and the controller's forces (nv,).  [RD 3.55]"""
        tau = self.control(t, q, v)
        return forward_dynamics(self.tree, q, v, tau + self.joints(q, v), self.wrenches), tau


def _select(asks: Any, after: Any, before: Any) -> Any:
    """Nested values where the controller is asked, those from before elsewhere."""
    if isinstance(after, dict):
        return {key: _select(asks, after[key], before[key]) for key in before}
    if isinstance(after, tuple | list):
        return tuple(_select(asks, new, old) for new, old in zip(after, before, strict=True))
    return np.where(asks, after, before)
