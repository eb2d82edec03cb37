"""Forward kinematics: poses, velocities and accelerations of bodies and frames.  [RD §2.8.3, 2.10.2, 3.2.4]

Frames: W world, i body, p its parent, F a frame on a body. Lists over bodies have the world at 0.
"""

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.base_representation import in_left
from multibody.geometry import Pose, Twist, representations
from multibody.geometry._arrays import truth
from multibody.geometry.operators import cross3
from multibody.model.tree import Tree

FRAME_REPRESENTATIONS = ("left", "right", "mixed")


def poses(tree: Tree, q: NDArray[Any], only: Collection[int] | None = None) -> dict[int, Pose]:
    """W_H_i by body, for all bodies or for those in `only`, which contains their parents too.  [RD 2.138]"""
    W_H: dict[int, Pose] = {}
    for i, p, body in tree.outward():
        if only is None or i in only:
            W_H[i] = W_H[p] @ body.joint.pose(q) if p else body.joint.pose(q)
    return W_H


def pose(tree: Tree, frame: str, q: NDArray[Any]) -> Pose:
    """W_H_F.  [RD 2.138, 2.263; MDN 12, 70; Kindr 9]"""
    i, i_H_F = tree.frame(frame)
    if not i:
        return Pose._from_arrays(*(np.broadcast_to(x, (*q.shape[:-1], *x.shape)) for x in i_H_F._arrays()))
    return poses(tree, q, tree.support(i))[i] @ i_H_F


def frame_poses(tree: Tree, q: NDArray[Any]) -> dict[str, Pose]:
    """W_H_F of all frames, by name, in the order of `tree.frames`."""
    W_H = poses(tree, q)
    frames = zip(tree.frames, tree.frame_poses, strict=True)
    return {name: W_H[i] @ i_H_F if i else pose(tree, name, q) for name, (i, i_H_F) in frames}


@in_left()
def twists(tree: Tree, q: NDArray[Any], v: NDArray[Any], only: Collection[int] | None = None) -> list[Twist]:
    """i_v_Wi of every body, or of those in `only`.  [MDN 20; RD 2.158; QT 50, 78]"""
    i_v = [Twist.zero()] * (len(tree.bodies) + 1)
    for i, p, body in tree.outward():
        if only is None or i in only:
            i_v_pi = body.joint.subspace(q) @ v[..., body.joint.v]
            i_v[i] = body.joint.pose(q).pull(i_v[p]) + i_v_pi if p else i_v_pi
    return i_v


@in_left()
def accelerations(
    tree: Tree,
    q: NDArray[Any],
    v: NDArray[Any],
    a: NDArray[Any],
    only: Collection[int] | None = None,
) -> tuple[list[Twist], list[Twist]]:
    """`twists`, and their time derivatives.  [MDN 44]"""
    i_v = twists(tree, q, v, only)
    i_a = [Twist.zero()] * (len(tree.bodies) + 1)
    for i, p, body in tree.outward():
        if only is None or i in only:
            joint = body.joint
            S = joint.subspace(q)
            own = S @ a[..., joint.v] + i_v[i].cross(S @ v[..., joint.v])
            bias = joint.bias(q, v)
            own = own if bias is None else own + bias
            i_a[i] = joint.pose(q).pull(i_a[p]) + own if p else own
    return i_v, i_a


def velocity(tree: Tree, frame: str, q: NDArray[Any], v: NDArray[Any], representation: str = "mixed") -> NDArray[Any]:
    """(..., 6): the twist of a frame relative to the world.  [MDN 20, 25, 35; RD 2.151, 2.264, 2.267, 3.9]

    Args:
        tree: the robot.
        frame: its name.
        q: (..., nq).
        v: (..., nv) in the robot's own base representation.
        representation: "left", "right" or "mixed".
    """
    representations.representation(representation, FRAME_REPRESENTATIONS)
    i, i_H_F = tree.frame(frame)
    F_v = i_H_F.pull(twists(tree, q, v, tree.support(i))[i]).vector
    return representations.velocity(pose(tree, frame, q), _over(F_v, q, v), "left", representation)


def acceleration(
    tree: Tree,
    frame: str,
    q: NDArray[Any],
    v: NDArray[Any],
    a: NDArray[Any],
    representation: str = "mixed",
    *,
    intrinsic: bool = False,
) -> NDArray[Any]:
    """(..., 6): the acceleration of a frame relative to the world.  [MDN 44, 47; RD 3.10]

    Args:
        tree: the robot.
        frame: its name.
        q: (..., nq).
        v: (..., nv).
        a: (..., nv), the time derivative of v.
        representation: "left", "right" or "mixed".
        intrinsic: the acceleration itself, written in the axes of the representation [MDN 47]; otherwise the
            apparent one, the time derivative of the twist's numbers [MDN 44].
    """
    representations.representation(representation, FRAME_REPRESENTATIONS)
    truth(intrinsic, "intrinsic")
    i, i_H_F = tree.frame(frame)
    F_v, F_a = (_over(i_H_F.pull(each[i]).vector, q, v, a) for each in accelerations(tree, q, v, a, tree.support(i)))
    W_H_F = pose(tree, frame, q)
    if intrinsic:  # of a frame relative to an inertial one, the left-trivialised acceleration is the intrinsic one
        return representations.velocity(W_H_F, F_a, "left", representation)
    return representations.acceleration(W_H_F, F_v, F_a, "left", representation)


def point_velocity(tree: Tree, frame: str, q: NDArray[Any], v: NDArray[Any], F_r: NDArray[Any]) -> NDArray[Any]:
    """(..., 3): the velocity, along the axes of the world, of a point fixed to a frame's body.  [RD 2.121]

    F_r, (..., 3), is the point in the frame.
    """
    twist = velocity(tree, frame, q, v, "left")
    moved = twist[..., :3] + cross3(twist[..., 3:], F_r)
    return pose(tree, frame, q).rotation @ moved


def point_acceleration(
    tree: Tree, frame: str, q: NDArray[Any], v: NDArray[Any], a: NDArray[Any], F_r: NDArray[Any]
) -> NDArray[Any]:
    """(..., 3): the acceleration, along the axes of the world, of a point fixed to a frame's body.  [RD 2.122]"""
    F_v = velocity(tree, frame, q, v, "left")
    F_a = acceleration(tree, frame, q, v, a, "left")
    w = F_v[..., 3:]
    moving = F_v[..., :3] + cross3(w, F_r)
    return pose(tree, frame, q).rotation @ (F_a[..., :3] + cross3(F_a[..., 3:], F_r) + cross3(w, moving))


def _over(x: NDArray[Any], *arrays: NDArray[Any]) -> NDArray[Any]:
    """x over the batch of all arrays: what does not depend on one of them still has its batch."""
    batch = np.broadcast_shapes(x.shape[:-1], *(array.shape[:-1] for array in arrays))
    return np.broadcast_to(x, (*batch, x.shape[-1]))
