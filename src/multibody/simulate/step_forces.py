"""The forces on a robot in one step: of its controller, of pushes, of springs and dampers in its joints.

Forces that may be stiff have a slope -∂τ/∂v over the step, with which "contact" takes them implicitly.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.forward_dynamics import forward_dynamics
from multibody.algorithms.rnea import rnea
from multibody.geometry._arrays import is_zero
from multibody.model.actuation import passive
from multibody.model.tree import Tree
from multibody.simulate.controllers import Function
from multibody.simulate.nested_state import select
from multibody.simulate.pd import PD


@dataclass(frozen=True, eq=False)
class StepForces:
    """The forces of a step as functions of time and state."""

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
    sensed: Any = None
    """(contacts, 3): the contact forces of the last step, for controllers that ask for them."""
    zoh_tau: Any = None
    """(nv,): the controller's forces of its last sample, for a zero-order hold."""
    sample_now: Any = None
    """Whether this step samples the controller; None if all do."""
    is_sampled: bool = False
    """Whether `zoh_tau` are the forces of this step."""

    def sample(self, t: Any, q: NDArray[Any], v: NDArray[Any]) -> "StepForces":
        """Call a controller that has a state, or a zero-order hold, once for the whole step."""
        if self.is_sampled or not isinstance(self.controller, Function):
            return self
        if not self.controller.remembers and self.sample_now is None:
            return self
        tau, memory = self.controller(t, q, v, self.input, self.memory, self.sensed)
        if self.sample_now is not None:
            tau = np.where(self.sample_now, tau, self.zoh_tau)
            memory = None if memory is None else select(self.sample_now, memory, self.memory)
        return replace(self, zoh_tau=tau, memory=memory, is_sampled=True)

    def control(self, t: Any, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        """(nv,): the controller's forces."""
        if self.controller is None:
            return np.zeros_like(v)
        if self.is_sampled:
            tau = self.zoh_tau
        elif isinstance(self.controller, PD):
            tau = self.controller.pull(self.tree, q, v, self.input, self.gains)
        else:
            tau, _ = self.controller(t, q, v, self.input, self.memory, self.sensed)
        return tau if self.effort is None else np.clip(tau, -self.effort, self.effort)

    def control_slope(self, tau: NDArray[Any], dt: float) -> NDArray[Any] | None:
        """(nv,): the slope of the controller's forces tau, zero for a force at its limit; None if there is no PD."""
        if not isinstance(self.controller, PD):
            return None
        slope = self.controller.slope(self.tree, dt, self.gains)
        return slope if self.effort is None else np.where(np.abs(tau) >= self.effort, 0.0, slope)

    def joint_slope(self, dt: float) -> NDArray[Any]:
        """(nv,): the slope of springs, by the trapezoidal rule, and of dampers, by Euler's implicit rule."""
        damping = self.tree.damping
        return (0.0 if is_zero(damping) else damping) + dt / 4 * spring_stiffness(self.tree)

    def joints(self, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any] | float:
        """(nv,): damping, dry friction and springs."""
        return passive(self.tree, q, v) if self.passive else 0.0

    def pushes(self, q: NDArray[Any]) -> Any:
        """(nv,): the generalized forces of the pushes, or 0."""
        if not self.wrenches:
            return 0.0
        still = np.zeros(self.tree.nv, q.dtype)
        return -rnea(self.tree, q, still, still, self.wrenches, gravity=False)

    def acceleration(self, t: Any, q: NDArray[Any], v: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The acceleration (nv,) at a time and state, and the controller's forces (nv,).  [RD 3.55]"""
        tau = self.control(t, q, v)
        return forward_dynamics(self.tree, q, v, tau + self.joints(q, v), self.wrenches), tau


def spring_stiffness(tree: Tree) -> NDArray[Any]:
    """(nv,): the stiffness of the springs of joints, in N m/rad or N/m."""
    stiff = np.zeros(tree.nv)
    for joint in tree.joints:
        ratio = 1.0 if joint.mimic is None else joint.mimic.ratio
        if not tree.is_base(joint):
            stiff[joint.v] += ratio**2 * joint.passive.stiffness
    return stiff
