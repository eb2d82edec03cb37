"""Goals of inverse kinematics: frames, and which of their axes are wanted.  [RD 2.241-2.256]"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import jacobian, kinematics
from multibody.errors import InputError
from multibody.geometry import Pose, so3
from multibody.geometry._arrays import dot, matvec, transpose
from multibody.geometry.operators import cross3
from multibody.model.tree import Tree

POSITIONS, ROTATION, AXES = "xyz", "rpy", ("x-axis", "y-axis", "z-axis")


@dataclass(frozen=True)
class Goal:
    """A frame that is to reach a pose, or some axes of one, in the world or in a reference frame."""

    frame: str
    positions: tuple[int, ...] = (0, 1, 2)
    """The axes of the world, or of the reference, along which the position is wanted."""
    rotation: bool = True
    """Whether all of the rotation is wanted."""
    axis: int | None = None
    """The axis of the frame whose direction alone is wanted."""
    reference: str | None = None

    @property
    def turns(self) -> bool:
        """Whether any of the rotation is wanted."""
        return self.rotation or self.axis is not None

    def errors(self, tree: Tree, q: NDArray[Any], target: Pose) -> tuple[NDArray[Any], NDArray[Any]]:
        """(..., k) and (..., 3): the wanted pose minus the actual one, along the axes of the world or the reference.

        The rotation is the rotation vector of R* R^T [RD 2.251, 2.256], or that of the shortest turn between two axes.
        """
        here = self.pose(tree, q)
        position = (target.position - here.position)[..., list(self.positions)]
        if self.axis is not None:
            return position, turn_between(*(pose.rotation.matrix[..., self.axis] for pose in (here, target)))
        if not self.rotation:
            return position, np.zeros_like(here.position)
        return position, so3.log((target.rotation @ here.rotation.inverse()).matrix)

    def rows(self, tree: Tree, q: NDArray[Any], target: Pose) -> tuple[NDArray[Any], NDArray[Any]]:
        """(..., m) and (..., m, nv): the errors side by side, and the Jacobian of what they are errors of."""
        position, rotation = self.errors(tree, q, target)
        if self.reference is None:
            J = jacobian.jacobian(tree, self.frame, q, "mixed")
        else:
            J = jacobian.relative_jacobian(tree, self.frame, self.reference, q, representation="mixed")
        J_P, J_R = J[..., list(self.positions), :], J[..., 3:, :]
        if not self.turns:
            return position, J_P
        if self.axis is not None:  # turning about the axis itself changes nothing
            n = self.pose(tree, q).rotation.matrix[..., self.axis]
            J_R = J_R - n[..., :, None] * matvec(transpose(J_R), n)[..., None, :]
        return np.concatenate([position, rotation], axis=-1), np.concatenate([J_P, J_R], axis=-2)

    def pose(self, tree: Tree, q: NDArray[Any]) -> Pose:
        """The pose of the frame in the world, or in the reference."""
        W_H_F = kinematics.pose(tree, self.frame, q)
        return W_H_F if self.reference is None else kinematics.pose(tree, self.reference, q).inverse() @ W_H_F


def goal(tree: Tree, frame: str, axes: str, reference: str | None) -> Goal:
    """A goal from its words, checked: "xyzrpy", "xyz", "rpy", "xy", "z-axis", "xyz z-axis"."""
    tree.frame(frame)
    if reference is not None:
        tree.frame(reference)
        if not tree.chain(reference, frame):
            raise InputError(f"reference: {frame!r} does not move relative to {reference!r}")
    words = axes.split() if isinstance(axes, str) else []
    turned, letters = [AXES.index(word) for word in words if word in AXES], [word for word in words if word not in AXES]
    rotation = "".join(letters).endswith(ROTATION)
    positions = "".join(letters).removesuffix(ROTATION)
    once = len(set(positions)) == len(positions) and set(positions) <= set(POSITIONS)
    if not words or not once or len(letters) > 1 or len(turned) + rotation > 1:
        raise InputError(
            "axes: expected letters of 'xyz' for positions, 'rpy' for all of the rotation, and 'x-axis', 'y-axis' or "
            f"'z-axis' for the direction of one axis alone, as 'xyzrpy', 'xyz', 'xyz z-axis'; got {axes!r}"
        )
    axis = turned[0] if turned else None
    return Goal(frame, tuple(POSITIONS.index(c) for c in sorted(positions)), rotation, axis, reference)


def turn_between(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """(..., 3): the rotation vector of the shortest turn that takes one unit vector to another.

    Vectors that are opposite have many: it is half a turn about an axis across the first.
    """
    sine, cosine = cross3(a, b), dot(a, b)
    squared = dot(sine, sine)
    angle = np.arctan2(np.sqrt(squared), cosine)
    flat = squared < 1e-24
    scale = np.where(flat, 1.0, angle / np.sqrt(np.where(flat, 1.0, squared)))
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    level = np.abs(z) < 0.9  # across a, with the axis of the world that is not along it
    across = np.stack([np.where(level, y, 0.0), np.where(level, -x, z), np.where(level, 0.0, -y)], axis=-1)
    half = across * (np.pi / np.sqrt(dot(across, across)))[..., None]
    return np.where((flat & (cosine < 0))[..., None], half, sine * scale[..., None])


def goals_of(tree: Tree, frame: Any, axes: Any, reference: Any) -> tuple[Goal, ...]:
    """Goals of one frame or a list of frames, checked."""
    frames = (frame,) if isinstance(frame, str) else tuple(frame) if isinstance(frame, tuple | list) else ()
    if isinstance(frame, Pose):
        raise InputError("frame: expected the name of a frame first, and the target second, got a Pose first")
    if not frames:
        raise InputError(f"frame: expected the name of a frame or a list of names, got {frame!r}")
    words = (axes,) * len(frames) if isinstance(axes, str) else tuple(axes)
    if len(words) != len(frames):
        raise InputError(f"axes: expected a text, or one for each of {len(frames)} frames, got {axes!r}")
    return tuple(goal(tree, name, word, reference) for name, word in zip(frames, words, strict=True))
