"""PD control of joints: springs and dampers, which are implicit in the step of "contact".

`PD.slope` is the change of the force within a step, which "contact" adds to the mass matrix.
`control.joint_impedance` is the same law as a function, and `control.PID` adds an integral.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError
from multibody.geometry._arrays import floats
from multibody.model.actuation import actuated_coordinates, actuated_indices, joint_error, with_zero_base
from multibody.model.tree import Tree


@dataclass(frozen=True, eq=False)
class PD:
    """Springs and dampers that pull all joints but floating bases: τ = kp (target - q) - kd v.

    The targets are the `inputs` of a run, or those given here, or the robot's home. In
    "contact" the forces are the mean over the step, by the trapezoidal rule, so that stiff
    gains need no short steps.

    >>> PD(100.0, 2.0).kp
    array(100.)
    """

    kp: Any
    """In N m/rad or N/m: a number, or one for each velocity of these joints."""
    kd: Any
    """In N m s/rad or N s/m."""
    target: Any = None
    """The coordinates of these joints, where a run has no inputs."""

    def __post_init__(self) -> None:
        for name in ("kp", "kd"):
            gains = floats(getattr(self, name), f"PD, {name}")
            if gains.ndim > 1 or not np.isfinite(gains).all() or (gains < 0).any():
                raise InputError(f"PD, {name}: expected finite gains >= 0, a number or one a joint, got {gains}")
            object.__setattr__(self, name, gains)

    def check(self, tree: Tree) -> None:
        """Refuse gains whose number is not that of the joints."""
        n = len(actuated_indices(tree))
        for name, shape in (("kp", self.kp.shape), ("kd", self.kd.shape)):
            if shape not in ((), (n,)):
                raise InputError(f"PD, {name}: expected a number or {n}, one for each velocity, got shape {shape}")

    def goal(self, tree: Tree, home: ArrayLike) -> NDArray[Any]:
        """The targets without inputs, one for each coordinate of these joints."""
        at = actuated_coordinates(tree)
        target = floats(np.asarray(home)[at] if self.target is None else self.target, "PD, target")
        if target.shape != (len(at),):
            raise InputError(f"PD, target: expected {len(at)} coordinates of joints, got shape {target.shape}")
        return target

    def pull(self, tree: Tree, q: NDArray[Any], v: NDArray[Any], target: Any, gains: Any) -> NDArray[Any]:
        """(nv,): kp (target - q) - kd v, nothing on bases."""
        kp, kd = gains
        return with_zero_base(tree, kp * joint_error(tree, q, target) - kd * v[..., actuated_indices(tree)])

    def slope(self, tree: Tree, dt: float, gains: Any) -> NDArray[Any]:
        """(nv,): -∂τ/∂v over a step, kd/2 + kp dt/4.

        The mean configuration over a step is q_m + dt/4 (v⁺ - v), the mean velocity v +
        (v⁺ - v)/2.
        """
        kp, kd = gains
        return with_zero_base(tree, np.broadcast_to(kd / 2 + kp * (dt / 4), (len(actuated_indices(tree)),)))
