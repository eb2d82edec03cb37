"""Jacobians of frames and points, their time derivatives, and those between two frames.

[RD §2.8.5, 2.10.3; MDN §8; Kindr §Appendix II]

Frames: W world, F the frame, O the point about which the columns of `directions` are written.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import kinematics
from multibody.algorithms.change_of_velocity import with_base
from multibody.algorithms.columns import Directions, add, directions
from multibody.algorithms.kinematics import FRAME_REPRESENTATIONS
from multibody.algorithms.velocity_blocks import stack
from multibody.errors import InputError, unknown
from multibody.geometry import Pose, Rotation, Twist, representations
from multibody.geometry._arrays import batch_shape, choice, matvec, transpose
from multibody.geometry.operators import cross3
from multibody.geometry.representations import REPRESENTATIONS
from multibody.model import base_velocity
from multibody.model.tree import Tree


def jacobian(tree: Tree, frame: str, q: NDArray[Any], representation: str = "mixed") -> NDArray[Any]:
    """(..., 6, nv): the twist of a frame is J v.  [MDN 74-76; RD 2.151-2.167, 2.268; Kindr 13-14; QT 51]

    Args:
        tree: the robot.
        frame: its name.
        q: (..., nq).
        representation: "left", "right" or "mixed"; the mixed one stacks RD's J_P and J_R.
    """
    representations.representation(representation, FRAME_REPRESENTATIONS)
    i, _ = tree.frame(frame)
    d = directions(tree, q, tree.support(i))
    O_H_F = d.frame(frame)
    columns = {k: _written(d.columns[k].twist, O_H_F, d.origin, representation) for k in d.on(i)}
    return assemble(d, columns, q)


def jacobian_dot(
    tree: Tree, frame: str, q: NDArray[Any], v: NDArray[Any], representation: str = "mixed"
) -> NDArray[Any]:
    """(..., 6, nv): the time derivative of `jacobian` at the velocity v.  [RD 3.10; Kindr 17-18]"""
    representations.representation(representation, FRAME_REPRESENTATIONS)
    i, _ = tree.frame(frame)
    d = directions(tree, q, tree.support(i))
    O_H_F, rates = d.frame(frame), d.rates(v)
    W_v = d.twists(v)[i]
    columns: dict[int, Twist] = {}
    for k in d.on(i):
        s, s_dot = d.columns[k].twist, rates[k]
        if representation == "left" and W_v is not None:
            s_dot = add(s_dot, -W_v.cross(s))
        written = rate_in(representation, s, s_dot, W_v, O_H_F, d.origin)
        if written is not None:
            columns[k] = written
    return assemble(d, columns, q, v)


def point_jacobian(tree: Tree, frame: str, q: NDArray[Any], F_r: NDArray[Any]) -> NDArray[Any]:
    """(..., 3, nv): the velocity, along the axes of the world, of a point fixed to a frame is J v.  [RD 2.163, 2.264]

    F_r, (..., 3), is the point in the frame; the centre of mass of a link makes it J_vk.  [Kindr 10; QT 57]
    """
    J = jacobian(tree, frame, q, "mixed")
    arm = kinematics.pose(tree, frame, q).rotation @ F_r
    return J[..., :3, :] + cross_columns(J[..., 3:, :], arm)


def jacobian_in(
    tree: Tree,
    frame: str,
    q: NDArray[Any],
    *,
    written_in: str | Pose | None = None,
    base: str | Pose | None = None,
) -> NDArray[Any]:
    """D_J_WF/C, (..., 6, nv): written in any frame D, for a base velocity that is written in any C.  [MDN 74-76, 81]

    Args:
        tree: the robot.
        frame: F, its name.
        q: (..., nq).
        written_in: D: the name of a frame of the robot, or a pose W_H_D; by default F itself.
        base: how the base's velocity is written that the columns multiply: a representation, "left", "right", "mixed"
            or "kindr"; or C, the name of another frame of the robot or a pose W_H_C, for C_v_WB; by default the robot's
            own representation. Without a floating base it changes nothing.
    """
    own, W_H_C = _base(tree, base, q)
    W_H_F = kinematics.pose(tree, frame, q)
    W_H_D = W_H_F if written_in is None else _pose(tree, written_in, q, "written_in")
    arrays = [(q, 1), *((pose.position, 1) for pose in (W_H_D, W_H_C) if pose is not None)]
    batch_shape("q, written_in, base" if W_H_C is not None else "q, written_in", *arrays)
    J = jacobian(own, frame, q, "mixed")
    if W_H_C is not None:
        J = base_velocity.columns_from_left_in(own, q, J, W_H_C)
    D_R_W, arm = W_H_D.rotation.inverse(), W_H_D.position - W_H_F.position
    linear, angular = J[..., :3, :] + cross_columns(J[..., 3:, :], arm), J[..., 3:, :]
    return np.concatenate(
        [np.matmul(D_R_W.matrix, np.broadcast_to(part, linear.shape)) for part in (linear, angular)], axis=-2
    )


def relative_jacobian(
    tree: Tree, frame: str, reference: str, q: NDArray[Any], *, kind: str = "twist", representation: str = "left"
) -> NDArray[Any]:
    """(..., 6, nv): the velocity of one frame F relative to another, E. There are two, and they differ.

    Args:
        tree: the robot.
        frame: F.
        reference: E.
        q: (..., nq).
        kind: "twist" for the twist v_EF of F relative to E, which vanishes when they move as one body [MDN 32-33]; then
            the representation is "left" (in F), "right" (in E) or "mixed" (at F, along the axes of E). "difference"
            for the difference of the absolute velocities of their origins and of their angular velocities, along
            the axes of the world [RD 2.153-2.154].
        representation: of the twist.
    """
    if choice(kind, "kind", ("twist", "difference")) == "difference":
        return jacobian(tree, frame, q, "mixed") - jacobian(tree, reference, q, "mixed")
    representations.representation(representation, FRAME_REPRESENTATIONS)
    W_H_F, W_H_E = kinematics.pose(tree, frame, q), kinematics.pose(tree, reference, q)
    E_H_F = W_H_E.inverse() @ W_H_F
    place = {
        "left": W_H_F,
        "right": W_H_E,
        "mixed": W_H_E @ Pose._trusted(_identity(E_H_F), E_H_F.position),
    }[representation]
    return jacobian_in(tree, frame, q, written_in=place) - jacobian_in(tree, reference, q, written_in=place)


def moving_contact_velocity(
    tree: Tree, frame: str, q: NDArray[Any], v: NDArray[Any], F_H_C: Pose, C_v_FC: NDArray[Any]
) -> NDArray[Any]:
    """(..., 6): C_v_WC of a contact frame C that moves on its link, C_J_WF v + C_v_FC.  [MDN 81-82]

    Args:
        tree: the robot.
        frame: F on the link.
        q: (..., nq).
        v: (..., nv).
        F_H_C: where the contact frame is on the link.
        C_v_FC: (..., 6) its twist relative to the link, left-trivialised: in C.
    """
    W_H_C = kinematics.pose(tree, frame, q) @ F_H_C
    return matvec(jacobian_in(tree, frame, q, written_in=W_H_C), v) + C_v_FC


def cross_columns(J_R: NDArray[Any], arm: NDArray[Any]) -> NDArray[Any]:
    """(..., 3, nv): each column of J_R, a rotation, crossed with an arm (..., 3): the velocity of its end."""
    return transpose(cross3(transpose(J_R), arm[..., None, :]))


def assemble(d: Directions, columns: dict[int, Twist], *arrays: NDArray[Any]) -> NDArray[Any]:
    """(..., 6, nv): the twists, by their place in the list of columns, as a matrix."""
    batch = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
    full: list[Any] = [np.zeros((*batch, 6), arrays[0].dtype)] * d.tree.nv
    seen: set[int] = set()
    for k, twist in columns.items():
        index = d.columns[k].index
        vector = np.broadcast_to(twist.vector, (*batch, 6))
        full[index] = full[index] + vector if index in seen else vector
        seen.add(index)
    return stack(full, -1, (*batch, 6, 0), arrays[0])


def rate_in(
    representation: str, s: Twist, s_dot: Twist | None, W_v: Twist | None, O_H_F: Pose, origin: NDArray[Any]
) -> Twist | None:
    """The rate of a column s in a representation of the velocity of a frame that moves with W_v; None for zero.

    In "left" s_dot is relative to the frame; otherwise it is relative to the world.
    """
    written = None if s_dot is None else _written(s_dot, O_H_F, origin, representation)
    if representation != "mixed" or W_v is None:
        return written
    moved = cross3(s.angular, W_v.linear + cross3(W_v.angular, O_H_F.position))
    return add(written, Twist._trusted(moved, np.zeros_like(moved)))


def _pose(tree: Tree, place: str | Pose, q: NDArray[Any], what: str) -> Pose:
    """The pose in the world of a frame that has a name, or of a pose itself."""
    if not isinstance(place, str | Pose):
        raise InputError(f"{what}: expected the name of a frame or a Pose, got {type(place).__name__}")
    return kinematics.pose(tree, place, q) if isinstance(place, str) else place


def _base(tree: Tree, base: str | Pose | None, q: NDArray[Any]) -> tuple[Tree, Pose | None]:
    """The tree with the requested base velocity; for a frame C the one with "left", and W_H_C."""
    if base is None:
        return tree, None
    if isinstance(base, str):
        if base in REPRESENTATIONS:
            return with_base(tree, base), None
        if base not in tree.frames:
            raise InputError(unknown("frame or representation", base, (*REPRESENTATIONS, *tree.frames), tree.name))
    return with_base(tree, "left"), _pose(tree, base, q, "base")


def _written(s: Twist, O_H_F: Pose, origin: NDArray[Any], representation: str) -> Twist:
    """A twist about O in a representation of the frame's velocity."""
    if representation == "left":
        return O_H_F.pull(s)
    at = O_H_F.position if representation == "mixed" else -origin
    return Twist._trusted(s.linear + cross3(s.angular, at), s.angular)


def _identity(pose: Pose) -> Rotation:
    R = pose.rotation.matrix
    return Rotation._trusted(np.broadcast_to(np.eye(3, dtype=R.dtype), R.shape))
