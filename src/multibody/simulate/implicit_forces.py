"""Forces of controllers, springs and dampers over a step, implicit because they may be stiff."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.rnea import rnea
from multibody.geometry._arrays import is_zero
from multibody.model.actuation import passive
from multibody.model.tree import Tree
from multibody.simulate.controllers import PD
from multibody.simulate.step_forces import StepForces


def controlled(forces: StepForces, dt: float, t: Any, q: NDArray[Any], v: NDArray[Any]) -> tuple[Any, Any]:
    """The controller's forces, (nv,), and -∂τ/∂v over the step, (nv,) or None; zero for a force at its limit."""
    tau = forces.control(t, q, v)
    if not isinstance(forces.controller, PD):
        return tau, None
    slope = forces.controller.slope(forces.tree, dt, forces.gains)
    if forces.effort is not None:
        slope = np.where(np.abs(tau) >= forces.effort, 0.0, slope)
    return tau, slope


def implicit(forces: StepForces, dt: float, slope: Any) -> NDArray[Any] | None:
    """(nv,): added to the mass matrix by implicit forces: PD and springs by the trapezoidal rule, damping by Euler."""
    added = None if slope is None else dt * slope
    if not forces.passive:
        return added
    own = dt * _passive_slope(forces.tree, dt)
    return own if added is None else added + own


def _passive_slope(tree: Tree, dt: float) -> NDArray[Any]:
    """(nv,): -∂τ/∂v of springs and dampers, over a step."""
    return (0.0 if is_zero(tree.damping) else tree.damping) + dt / 4 * spring_stiffness(tree)


def spring_stiffness(tree: Tree) -> NDArray[Any]:
    """(nv,): the stiffness of the springs of joints, in N m/rad or N/m."""
    stiff = np.zeros(tree.nv)
    for joint in tree.joints:
        ratio = 1.0 if joint.mimic is None else joint.mimic.ratio
        if not tree.is_base(joint):
            stiff[joint.v] += ratio**2 * joint.passive.stiffness
    return stiff


def mean_force(tau: Any, slope: Any, change: NDArray[Any]) -> NDArray[Any]:
    """(nv,): the controller's mean force over a step with this change of velocity."""
    return tau if slope is None else tau - slope * change


def work(
    forces: StepForces,
    dt: float,
    mean: Any,
    q: NDArray[Any],
    v: NDArray[Any],
    change: NDArray[Any],
    displacement: NDArray[Any],
) -> NDArray[Any]:
    """(nv,): the work of the controller, pushes, springs and dampers in a step, velocity by velocity, in J."""
    tree = forces.tree
    if forces.passive:
        smooth = tree.with_values(friction=np.zeros(tree.nv))
        mean = mean + passive(smooth, q, v) - _passive_slope(tree, dt) * change
    if forces.wrenches:
        still = np.zeros_like(v)
        mean = mean - rnea(tree, q, still, still, forces.wrenches, gravity=False)
    return mean * displacement
