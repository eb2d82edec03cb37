"""Forces on all links, as engines with maximal coordinates take them, and generalized forces.  [QT §6.2]

F is (..., m, 6) over the links of `link_names`: a force at the centre of mass of each and a torque, along the
axes of the world, on the robot. Joint torques τ̂ are (..., m, 3): that of link k acts on it and, in the opposite
direction, on its parent, and is written in the frame of the parent.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.algorithms import kinematics
from multibody.algorithms.jacobian import cross_columns
from multibody.algorithms.maximal_coordinates.clusters import (
    Cluster,
    PlacedLinks,
    clusters,
    least_norm,
    links,
    place_links,
)
from multibody.algorithms.maximal_coordinates.velocities import (
    Names,
    configured,
    link_jacobian,
    local_jacobian,
    merge_axes,
    parent_rotations,
)
from multibody.algorithms.rnea import project, transmit
from multibody.algorithms.velocity_blocks import concatenate, stack
from multibody.errors import InputError
from multibody.geometry import Pose, Wrench
from multibody.geometry._arrays import batch_shape, floats, matvec, transpose
from multibody.geometry.operators import cross3
from multibody.model import check_configuration
from multibody.model.model import Model


def generalized_force(
    model: Model,
    q: ArrayLike,
    F: ArrayLike,
    names: Names | None = None,
    *,
    points: ArrayLike | None = None,
) -> NDArray[Any]:
    """Q = J_v^T f + J_ω^T τ, (..., nv), dual to v, by one pass from the leaves to the world.  [QT 67]

    Args:
        model: the robot.
        q: (..., nq).
        F: (..., m, 6), forces and torques along the axes of the world.
        names: of the links; by default `link_names(model)`.
        points: (..., m, 3), the points of application in the world, QT's r_k; then F holds f and τ', without the
            torque of f. By default the centres of mass: F holds f and τ.

    >>> from multibody.model.load import load
    >>> model, q = load("planar-arm"), [0.1, 0.2, 0.3]
    >>> F = np.zeros((3, 6))
    >>> F[2, 0] = 10.0  # pull the last link along x
    >>> generalized_force(model, q, F).round(3)
    array([23.63 , 13.68 , 4.127])
    """
    q, selection = configured(model, q), links(model, names)
    F = floats(F, "F", len(selection.names), 6)
    r = None if points is None else floats(points, "points", len(selection.names), 3)
    batch = batch_shape("generalized_force, q, F, points", (q, 1), (F, 2), *([] if r is None else [(r, 2)]))
    W_H = kinematics.poses(model.tree, q)
    zero = np.zeros(3, q.dtype)
    i_f = [Wrench._trusted(zero, zero)] * (len(model.bodies) + 1)
    for k, (i, i_c) in enumerate(zip(selection.bodies, selection.centres, strict=True)):
        i_R_W = W_H[i].rotation.inverse()
        force = i_R_W @ F[..., k, :3]
        arm = i_c if r is None else i_R_W @ (r[..., k, :] - W_H[i].position)
        i_f[i] = i_f[i] + Wrench._trusted(force, i_R_W @ F[..., k, 3:] + cross3(arm, force))
    p_H = [Pose.identity(), *(body.joint.pose(q) for body in model.bodies)]
    return project(model.tree, q, transmit(model.tree, p_H, i_f), batch)


def at_centres(model: Model, q: ArrayLike, F: ArrayLike, points: ArrayLike, names: Names | None = None) -> NDArray[Any]:
    """(f, τ) of forces and torques (f, τ') that act at points: τ = τ' + (r - x) × f.  [QT 67]

    >>> from multibody.model.load import load
    >>> model, q = load("planar-arm"), [0.1, 0.2, 0.3]
    >>> F, points = np.ones((3, 6)), np.zeros((3, 3))
    >>> moved = at_centres(model, q, F, points)
    >>> bool(np.allclose(generalized_force(model, q, moved), generalized_force(model, q, F, points=points)))
    True
    """
    q, selection = configured(model, q), links(model, names)
    F, points = floats(F, "F", len(selection.names), 6), floats(points, "points", len(selection.names), 3)
    batch = batch_shape("at_centres, q, F, points", (q, 1), (F, 2), (points, 2))
    W_H = kinematics.poses(model.tree, q)
    centres = [W_H[i] @ i_c for i, i_c in zip(selection.bodies, selection.centres, strict=True)]
    parts = [cross3(points[..., k, :] - x, F[..., k, :3]) for k, x in enumerate(centres)]
    turned = stack([np.broadcast_to(part, (*batch, 3)) for part in parts], -2, (*batch, 0, 3), q)
    return np.concatenate([np.broadcast_to(F[..., :3], turned.shape), F[..., 3:] + turned], axis=-1)


def least_forces(model: Model, q: ArrayLike, Q: ArrayLike, names: Names | None = None) -> NDArray[Any]:
    """F, (..., m, 6): the smallest forces that give the generalized force Q.  [QT 70]

    Newtons and newton metres have equal weight. It needs the whole Jacobian; `applied_forces` is cheaper.

    >>> from multibody.model.load import load
    >>> model, q = load("planar-arm"), [0.1, 0.2, 0.3]
    >>> generalized_force(model, q, least_forces(model, q, [1.0, -2.0, 0.5])).round(9)
    array([ 1. , -2. , 0.5])
    """
    q, Q, selection = configured(model, q), check_configuration.velocities(model.tree, Q, "Q"), links(model, names)
    batch_shape("least_forces, q, Q", (q, 1), (Q, 1))
    selection.check_complete(model)
    y = least_norm(merge_axes(link_jacobian(model, q, names), -3), Q, selection.underdetermined_message(model))
    return y.reshape((*y.shape[:-1], len(selection.names), 6))


def applied_forces(model: Model, q: ArrayLike, Q: ArrayLike, names: Names | None = None) -> NDArray[Any]:
    """F, (..., m, 6), that gives the generalized force Q, joint by joint: on a link, and back on its parent.

    A joint that only rotates exerts only torques [QT 68, 71]. One that slides exerts the smallest force at the centre
    of mass of its link, and the torque of its lever arm on the parent. The world takes the reactions of joints fixed to
    it, so the sum over a floating robot is that of its base. If the forces of a link's joints do not follow from the
    link, all links that share velocities with it get the smallest wrenches.

    Raises:
        InputError: if the links do not determine some velocities at any configuration; it names joints and links.
        SingularityError: if they do not at q; a kernel returns meaningless values there.

    >>> from multibody.model.load import load
    >>> model, q = load("planar-arm"), [0.1, 0.2, 0.3]
    >>> applied_forces(model, q, [1.0, -2.0, 0.5])[:, 4].round(9)  # torques about y: each back on the parent
    array([ 3. , -2.5, 0.5])
    """
    q, Q = configured(model, q), check_configuration.velocities(model.tree, Q, "Q")
    batch = batch_shape("applied_forces, q, Q", (q, 1), (Q, 1))
    placed = place_links(model, q, names)
    placed.links.check_complete(model)
    zero = np.zeros((*batch, 6), q.dtype)
    F = [zero] * len(placed.links.names)
    solved = clusters(model, placed.links)
    for cluster, own in zip(solved, _shares([cluster.velocities for cluster in solved], Q), strict=True):
        if own is None:
            continue
        for k, f in zip(cluster.links, _wrenches(placed, cluster, own), strict=True):
            F[k] = F[k] + f
            p = placed.links.parents[k]
            if p is not None:
                arm = placed.x[k] - placed.x[p]
                F[p] = F[p] - np.concatenate([f[..., :3], f[..., 3:] + cross3(arm, f[..., :3])], axis=-1)
    return stack(F, -2, (*batch, 0, 6), q)


def _wrenches(placed: PlacedLinks, cluster: Cluster, Q: NDArray[Any]) -> list[NDArray[Any]]:
    """(..., 6) each: the smallest wrenches on links, at their centres of mass, with the forces Q in their joints."""
    y = least_norm(placed.system(cluster), Q, cluster.underdetermined_message)
    if cluster.rows.start:
        return [np.concatenate([np.zeros_like(y), y], axis=-1)]
    return [y[..., 6 * k : 6 * k + 6] for k in range(len(cluster.links))]


def _shares(velocities: Sequence[tuple[int, ...]], Q: NDArray[Any]) -> list[NDArray[Any] | None]:
    """The entries of Q by the velocities of each; the first of several that share a velocity takes its force."""
    taken: set[int] = set()
    shares: list[NDArray[Any] | None] = []
    for indices in velocities:
        own = [np.zeros_like(Q[..., index]) if index in taken else Q[..., index] for index in indices]
        shares.append(np.stack(own, axis=-1) if not taken.issuperset(indices) else None)
        taken.update(indices)
    return shares


def joint_torques(model: Model, q: ArrayLike, Q: ArrayLike, names: Names | None = None) -> NDArray[Any]:
    """τ̂_k = (Ĵ_ωk^T)^+ Q_k, (..., m, 3), of the velocities that turn; no linear forces.  [QT 71]

    Velocities that only slide have no torques; `applied_forces` includes them.

    >>> from multibody.model.load import load
    >>> model, q = load("planar-arm"), [0.1, 0.2, 0.3]
    >>> joint_torques(model, q, [1.0, -2.0, 0.5])[:, 1].round(9)  # about y
    array([ 1. , -2. , 0.5])
    """
    q, Q = configured(model, q), check_configuration.velocities(model.tree, Q, "Q")
    batch = batch_shape("joint_torques, q, Q", (q, 1), (Q, 1))
    placed = place_links(model, q, names)
    R_p = parent_rotations(model, q, names)
    parts = []
    shares = _shares([group.velocities for group in placed.links.groups], Q)
    for k, (group, own) in enumerate(zip(placed.links.groups, shares, strict=True)):
        torque = np.zeros((*batch, 3), q.dtype)
        if group.rotating and own is not None:
            if len(group.rotating) > group.rank:
                raise InputError(
                    f"{model.name}: {group.description} turn link {placed.links.names[k]!r} about "
                    f"{len(group.rotating)} axes of rank {group.rank}; expected independent axes, because torques "
                    "alone cannot give each its force"
                )
            A = placed.columns(k)[..., 3:, list(group.rotating)]
            message = (
                f"{model.name}: the angular velocity of link {placed.links.names[k]!r} relative to "
                f"{placed.links.parent_name(k)} does not determine the velocities of {group.description}"
            )
            world = least_norm(A, own[..., list(group.rotating)], message)
            torque = np.broadcast_to(matvec(transpose(R_p[..., k, :, :]), world), torque.shape)
        parts.append(torque)
    return stack(parts, -2, (*batch, 0, 3), q)


def body_torques(model: Model, q: ArrayLike, torques: ArrayLike, names: Names | None = None) -> NDArray[Any]:
    """τ' = D^T R τ̂, (..., m, 3): the torques of the joints on each link, along the axes of the world.  [QT 68]

    >>> from multibody.model.load import load
    >>> model, q = load("planar-arm"), [0.1, 0.2, 0.3]
    >>> body_torques(model, q, joint_torques(model, q, [1.0, -2.0, 0.5]))[:, 1].round(9)
    array([ 3. , -2.5, 0.5])
    """
    q, selection = configured(model, q), links(model, names)
    torques = floats(torques, "torques", len(selection.names), 3)
    batch_shape("body_torques, q, torques", (q, 1), (torques, 2))
    turned = matvec(parent_rotations(model, q, names), torques)
    parts = [turned[..., k, :] for k in range(len(selection.names))]
    for k, p in enumerate(selection.parents):
        if p is not None:
            parts[p] = parts[p] - turned[..., k, :]
    return stack(parts, -2, turned.shape, q)


def generalized_force_of_torques(
    model: Model, q: ArrayLike, torques: ArrayLike, names: Names | None = None
) -> NDArray[Any]:
    """Q = Ĵ_ω^T τ̂, (..., nv), of joint torques; those of forces come from `generalized_force`.  [QT 69]

    >>> from multibody.model.load import load
    >>> model, q = load("planar-arm"), [0.1, 0.2, 0.3]
    >>> generalized_force_of_torques(model, q, joint_torques(model, q, [1.0, -2.0, 0.5])).round(9)
    array([ 1. , -2. , 0.5])
    """
    q, selection = configured(model, q), links(model, names)
    torques = floats(torques, "torques", len(selection.names), 3)
    batch_shape("generalized_force_of_torques, q, torques", (q, 1), (torques, 2))
    return matvec(transpose(merge_axes(local_jacobian(model, q, names), -3)), merge_axes(torques, -2))


def least_forces_and_torques(
    model: Model, q: ArrayLike, Q: ArrayLike, points: ArrayLike, names: Names | None = None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """f, τ̂, each (..., m, 3): the smallest forces at known points and joint torques that give Q.  [QT 69-70]

    >>> from multibody.model.load import load
    >>> model, q = load("planar-arm"), [0.1, 0.2, 0.3]
    >>> Q, points = np.array([1.0, -2.0, 0.5]), np.zeros((3, 3))
    >>> f, torques = least_forces_and_torques(model, q, Q, points)
    >>> F = np.concatenate([f, np.zeros((3, 3))], axis=-1)
    >>> pushed, turned = generalized_force(model, q, F, points=points), generalized_force_of_torques(model, q, torques)
    >>> bool(np.allclose(pushed + turned, Q))
    True
    """
    q, Q = configured(model, q), check_configuration.velocities(model.tree, Q, "Q")
    placed = place_links(model, q, names)
    placed.links.check_complete(model)
    m = len(placed.links.names)
    points = floats(points, "points", m, 3)
    batch_shape("least_forces_and_torques, q, Q, points", (q, 1), (Q, 1), (points, 2))
    W_o = placed.directions.origin
    J = link_jacobian(model, q, names)
    arms = stack([points[..., k, :] - W_o - placed.x[k] for k in range(m)], -2, (*q.shape[:-1], 0, 3), q)
    J_v = J[..., :3, :] + cross_columns(J[..., 3:, :], arms)
    A = concatenate([merge_axes(J_v, -3), merge_axes(local_jacobian(model, q, names), -3)], -2)
    y = least_norm(A, Q, placed.links.underdetermined_message(model))
    f, torques = y[..., : 3 * m], y[..., 3 * m :]
    return f.reshape((*f.shape[:-1], m, 3)), torques.reshape((*torques.shape[:-1], m, 3))
