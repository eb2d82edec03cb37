"""Soft contact with a plane: a spring and a damper, and friction that is smooth, without branches.  [RD §3.7.1]

Static friction needs a state, the anchor of [RD 3.58]: `simulate.Simulator(method="soft")` has it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.algorithms import kinematics
from multibody.algorithms.rnea import Wrenches
from multibody.errors import InputError
from multibody.geometry._arrays import batch_shape, dot, floats
from multibody.model import check_configuration
from multibody.model.tree import Tree, expect_tree


@dataclass(frozen=True)
class SoftContact:
    """The ground below z = 0 and its material.

    The force on the robot is -F_c of [RD 3.58] along z, where a point is below the ground and not pulled back; friction
    opposes slip with at most μ times the normal force, and grows linearly below the slip velocity.
    """

    stiffness: float = 2e4
    """In N/m."""
    damping: float = 200.0
    """In N s/m."""
    friction: float = 0.8
    """μ."""
    slip: float = 1e-2
    """In m/s: below it friction is viscous."""

    def __post_init__(self) -> None:
        for field, positive in (("stiffness", True), ("damping", False), ("friction", False), ("slip", True)):
            value = number(getattr(self, field), f"soft contact, {field}", positive=positive)
            object.__setattr__(self, field, value)

    def force(self, position: ArrayLike, velocity: ArrayLike) -> NDArray[Any]:
        """(..., 3): on a point at a position (..., 3) with a velocity (..., 3), along the world's axes.  [RD 3.58]

        >>> SoftContact().force([0.0, 0.0, -0.01], [0.0, 0.0, -0.5])[2]  # 1 cm in the ground, on the way down
        np.float64(300.0)
        """
        position, velocity = floats(position, "position", 3), floats(velocity, "velocity", 3)
        batch_shape("position, velocity", (position, 1), (velocity, 1))
        depth = -position[..., 2]
        push = np.maximum(self.stiffness * depth - self.damping * velocity[..., 2], 0.0)
        normal = np.where(depth > 0.0, push, 0.0)
        across = velocity[..., :2]
        speed = np.sqrt(dot(across, across) + self.slip**2)
        grip = -self.friction * (normal / speed)[..., None] * across
        return np.concatenate([grip, normal[..., None]], axis=-1)

    def wrenches(self, tree: Tree, frames: Sequence[str], q: ArrayLike, v: ArrayLike) -> Wrenches:
        """The forces at the origins of frames, {frame: (..., 6)}, as the dynamics of a robot take them.

        Args:
            tree: the robot.
            frames: their names.
            q: (..., nq).
            v: (..., nv).

        >>> import multibody as mb
        >>> robot = mb.load("quadruped")
        >>> q = robot.home()
        >>> q[2] -= robot.pose("foot-lf", q).position[2] + 0.01  # a foot 1 cm in the ground
        >>> SoftContact().wrenches(robot.tree, ["foot-lf"], q, np.zeros(robot.nv))["foot-lf"].round(6) + 0.0
        array([ 0., 0., 200., 0., 0., 0.])
        """
        if isinstance(frames, str) or not isinstance(frames, Iterable):
            raise InputError(f"frames: expected a list of names, got {frames!r}")
        q, v = check_configuration.unit_coordinates(expect_tree(tree), q), check_configuration.velocities(tree, v)
        batch_shape("q, v", (q, 1), (v, 1))
        wrenches = {}
        for frame in frames:
            velocity = kinematics.velocity(tree, frame, q, v, "mixed")[..., :3]
            force = self.force(kinematics.pose(tree, frame, q).position, velocity)
            wrenches[frame] = np.concatenate([force, np.zeros_like(force)], axis=-1)
        return wrenches


def number(x: Any, what: str, *, positive: bool = False) -> float:
    """Return a finite number that is positive, or not negative; otherwise raise an InputError on `what`.

    >>> number(np.float32(0.5), "friction")
    0.5
    """
    return finite_number(x, what, " > 0" if positive else " >= 0")


def finite_number(x: Any, what: str, bound: str = "") -> float:
    """Return a finite number within a bound, "", " >= 0" or " > 0"; otherwise raise an InputError on `what`.

    >>> finite_number(-2, "offset")
    -2.0
    """
    array = floats(x, what)
    if array.shape or not np.isfinite(array) or (bound and array < 0) or (bound == " > 0" and not array):
        raise InputError(f"{what}: expected a finite number{bound}, got {x!r}")
    return float(array)
