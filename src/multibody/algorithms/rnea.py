"""Inverse dynamics: the recursive Newton-Euler algorithm.  [QT §7-7.3; RD §3.3.2]"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import kinematics, velocity_blocks
from multibody.algorithms.base_representation import force, in_left
from multibody.algorithms.mass_moments import MassMoments, rotational_acceleration
from multibody.algorithms.velocity_blocks import VelocityBlocks, common_batch, stack
from multibody.geometry import Pose, Wrench
from multibody.geometry._arrays import matvec
from multibody.geometry.operators import cross3
from multibody.model.joints.motion_subspace import Subspace
from multibody.model.tree import Tree

Wrenches = Mapping[str, NDArray[Any]]


def rnea(
    tree: Tree,
    q: NDArray[Any],
    v: NDArray[Any],
    a: NDArray[Any],
    wrenches: Wrenches | None = None,
    *,
    gravity: bool = True,
) -> NDArray[Any]:
    """The τ that solves M(q) a + h(q, v) = τ + Σ J^T f.  [QT 72-85; RD 3.1, 3.55, §3.1]

    Args:
        tree: the robot.
        q: (..., nq).
        v: (..., nv) in the robot's own base representation.
        a: (..., nv) the time derivative of v.
        wrenches: by the name of a frame, (..., 6): at its origin, along the axes of the world, on the robot.
        gravity: False for a world without it.

    Returns:
        (..., nv), dual to v.
    """
    motion, i_f = outward_wrenches(tree, q, v, a, wrenches, gravity=gravity)
    batch = common_batch(q, v, a, *(wrenches or {}).values())
    return project(tree, q, transmit(tree, motion.p_H, i_f), batch) + tree.armature * a


def joint_wrenches(
    tree: Tree,
    q: NDArray[Any],
    v: NDArray[Any],
    a: NDArray[Any],
    wrenches: Wrenches | None = None,
) -> NDArray[Any]:
    """(..., bodies, 6): the wrench that each joint transmits from parent to child, in the child's frame.  [QT 72-73]

    Its projection on the joint's motion is the joint's torque, less what turns the drive's own inertia; the rest the
    bearings carry.  [RD §3.3.2]
    """
    motion, i_f = outward_wrenches(tree, q, v, a, wrenches)
    i_f = transmit(tree, motion.p_H, i_f)
    batch = common_batch(q, v, a, *(wrenches or {}).values())
    return stack([np.broadcast_to(f.vector, (*batch, 6)) for f in i_f[1:]], -2, (*batch, 0, 6), q)


def transmit(tree: Tree, p_H: Sequence[Pose], i_f: Sequence[Wrench]) -> list[Wrench]:
    """The wrench that each joint passes on to its child, in the child's frame, from those on the bodies.  [QT 72-73]"""
    i_f = list(i_f)
    for i, p, _ in tree.inward():
        if p:
            i_f[p] = i_f[p] + p_H[i] @ i_f[i]
    return i_f


@in_left(returns=force)
def project(tree: Tree, q: NDArray[Any], i_f: Sequence[Wrench], batch: tuple[int, ...]) -> NDArray[Any]:
    """τ, (..., nv): what the joints feel of the wrenches that they pass on.  [QT 72-73]"""
    tau = VelocityBlocks(tree)
    for i, _, body in tree.inward():
        tau.add(body.joint, body.joint.subspace(q).project(i_f[i]))
    return tau.vector(batch)


class Motion(NamedTuple):
    """The motion of every body, in its frame i: its pose in its parent, S, ω, ω', U, and its origin's acceleration.

    The acceleration i_o is less that of gravity; a point r of the body has i_o + U r.
    """

    p_H: list[Pose]
    i_S: list[Subspace]
    i_w: list[NDArray[Any]]
    i_w_dot: list[NDArray[Any]]
    i_U: list[NDArray[Any]]
    i_o: list[NDArray[Any]]


@in_left()
def outward_motion(tree: Tree, q: NDArray[Any], v: NDArray[Any], a: NDArray[Any], *, gravity: bool = True) -> Motion:
    """The motion of the bodies, from the world outward.  [QT 76-85]"""
    ground = -velocity_blocks.gravity(tree, q) if gravity else np.zeros(3, q.dtype)
    none = Subspace.constant(np.zeros((6, 0)), q)
    motion = Motion([Pose.identity()], [none], [np.zeros(3)], [np.zeros(3)], [np.zeros((3, 3))], [ground])
    p_H, i_S, i_w, i_w_dot, i_U, i_o = motion
    for _, p, body in tree.outward():
        joint = body.joint
        p_H_i, S = joint.pose(q), joint.subspace(q)
        i_v_pi, i_a_pi = S @ v[..., joint.v], S @ a[..., joint.v]
        bias = joint.bias(q, v)
        i_a_pi = i_a_pi if bias is None else i_a_pi + bias
        i_R_p = p_H_i.rotation.inverse()
        i_w_p = i_R_p @ i_w[p]
        w = i_w_p + i_v_pi.angular  # [QT 78]
        w_dot = i_R_p @ i_w_dot[p] + i_a_pi.angular + cross3(i_w_p, i_v_pi.angular)  # [QT 80]
        slide = cross3(2 * i_w_p + i_v_pi.angular, i_v_pi.linear)  # Coriolis, when the joint slides
        i_o.append(i_R_p @ (i_o[p] + matvec(i_U[p], p_H_i.position)) + i_a_pi.linear + slide)  # [QT 79, 84]
        i_w.append(w)
        i_w_dot.append(w_dot)
        i_U.append(rotational_acceleration(w, w_dot))
        p_H.append(p_H_i)
        i_S.append(S)
    return motion


def outward_wrenches(
    tree: Tree,
    q: NDArray[Any],
    v: NDArray[Any],
    a: NDArray[Any],
    wrenches: Wrenches | None = None,
    *,
    gravity: bool = True,
) -> tuple[Motion, list[Wrench]]:
    """The motion of the bodies, and the wrench i_f that each needs for its own.  [QT 72-73]"""
    motion = outward_motion(tree, q, v, a, gravity=gravity)
    i_f = [Wrench.zero()]
    for i, _, body in tree.outward():
        i_f.append(MassMoments.of(body.inertia).wrench(motion.i_o[i], motion.i_U[i]))
    for i, i_f_ext in external(tree, q, wrenches).items():
        i_f[i] = i_f[i] - i_f_ext
    return motion, i_f


def external(tree: Tree, q: NDArray[Any], wrenches: Wrenches | None) -> dict[int, Wrench]:
    """The sum of the wrenches on each body, in its frame; those on the world do nothing.

    [MDN 58-60; RD 3.49-3.51, §3.5.3]
    """
    placed = [(*tree.frame(name), f) for name, f in (wrenches or {}).items()]
    path = {k for i, _, _ in placed for k in tree.support(i)}
    W_H = kinematics.poses(tree, q, path)
    total: dict[int, Wrench] = {}
    for i, i_H_F, f in placed:
        if not i:
            continue
        i_R_W = W_H[i].rotation.inverse()
        force = i_R_W @ f[..., :3]
        i_f = Wrench._trusted(force, i_R_W @ f[..., 3:] + cross3(i_H_F.position, force))
        total[i] = total[i] + i_f if i in total else i_f
    return total
