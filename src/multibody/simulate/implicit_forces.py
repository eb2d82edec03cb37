"""Forces of controllers, springs and dampers over a step, implicit because they may be stiff."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry._arrays import is_zero
from multibody.model.tree import Tree
from multibody.simulate.pd import PD
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
    own = dt * passive_slope(forces.tree, dt)
    return own if added is None else added + own


def passive_slope(tree: Tree, dt: float) -> NDArray[Any]:
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
