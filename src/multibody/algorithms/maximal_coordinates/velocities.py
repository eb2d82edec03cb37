"""Maximal coordinates: the velocities of all links, as engines store them, and the robot's v.  [QT §6-6.1]

Engines such as Bullet and ODE, and MuJoCo in `cvel` and `xfrc_applied`, have one state per link: V_k = (v_k, ω_k) is
the velocity of its centre of mass and its angular velocity, along the axes of the world. Here V is (..., m, 6) over m
links; QT stacks all v_k before all ω_k. Massless links are omitted unless they are named, because engines have none.
Each link k has a parent p(k), the nearest of the m links toward the world, and the joints between the two.

Frames: W world, i the body of a link.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.algorithms import kinematics
from multibody.algorithms.jacobian import assemble
from multibody.algorithms.maximal_coordinates.clusters import (
    Links,
    at_point,
    clusters,
    least_squares,
    links,
    place_links,
)
from multibody.algorithms.soft_contact import number
from multibody.algorithms.velocity_blocks import stack
from multibody.errors import InputError
from multibody.geometry._arrays import at, batch_shape, eye_like, first, floats, is_traced, matvec, transpose
from multibody.geometry.operators import cross3
from multibody.model import check_configuration
from multibody.model.model import Model, expect_model

Names = Sequence[str]


def link_names(model: Model) -> tuple[str, ...]:
    """The links of V by default, in its order: those that move and have a mass.

    >>> from multibody.model.load import load
    >>> link_names(load("planar-arm"))
    ('link1', 'link2', 'link3')
    """
    return links(model, None).names


def configured(model: Model, q: ArrayLike) -> NDArray[Any]:
    """Return q as floats (..., nq), with a check of unit quaternions unless it is traced.

    >>> from multibody.model.load import load
    >>> configured(load("planar-arm"), [0, 1, 2])
    array([0., 1., 2.])
    """
    return check_configuration.unit_coordinates(expect_model(model).tree, q)


def link_velocities(model: Model, q: ArrayLike, v: ArrayLike, names: Names | None = None) -> NDArray[Any]:
    """V, (..., m, 6): the velocity of each link's centre of mass and its angular velocity.  [QT 57-58, 60]

    Args:
        model: the robot.
        q: (..., nq).
        v: (..., nv) in the robot's own base representation.
        names: of the links; by default `link_names(model)`.

    >>> from multibody.model.load import load
    >>> model = load("planar-arm")
    >>> link_velocities(model, np.zeros(3), np.array([1.0, 0.0, 0.0])).shape
    (3, 6)
    """
    q, v, selection = configured(model, q), check_configuration.velocities(model.tree, v), links(model, names)
    batch = batch_shape("link_velocities, q, v", (q, 1), (v, 1))
    W_H, i_v = kinematics.poses(model.tree, q), kinematics.twists(model.tree, q, v)
    parts = []
    for i, i_c in zip(selection.bodies, selection.centres, strict=True):
        R = W_H[i].rotation
        both = np.concatenate([R @ (i_v[i].linear + cross3(i_v[i].angular, i_c)), R @ i_v[i].angular], axis=-1)
        parts.append(np.broadcast_to(both, (*batch, 6)))
    return stack(parts, -2, (*batch, 0, 6), q)


def link_jacobian(model: Model, q: ArrayLike, names: Names | None = None) -> NDArray[Any]:
    """J, (..., m, 6, nv): V = J v. Its rows are J_vk and J_ωk of each link.  [QT 60]

    >>> from multibody.model.load import load
    >>> model, q, v = load("planar-arm"), [0.1, 0.2, 0.3], np.array([1.0, -2.0, 0.5])
    >>> bool(np.allclose(link_jacobian(model, q) @ v, link_velocities(model, q, v)))
    True
    """
    q = configured(model, q)
    placed = place_links(model, q, names)
    d, parts = placed.directions, []
    for i, x in zip(placed.links.bodies, placed.x, strict=True):
        columns = {k: at_point(d.columns[k].twist, x) for k in d.on(i)}
        parts.append(assemble(d, columns, q))
    return stack(parts, -3, (*q.shape[:-1], 0, 6, model.nv), q)


def joint_velocities(model: Model, q: ArrayLike, V: ArrayLike, names: Names | None = None) -> NDArray[Any]:
    """v = J^+ V, (..., nv): the velocity of the robot nearest to V, in least squares.  [QT 61]

    Metres and radians have equal weight. `check_velocities` reports whether v gives V exactly.

    >>> from multibody.model.load import load
    >>> model, q = load("planar-arm"), [0.1, 0.2, 0.3]
    >>> V = link_velocities(model, q, [1.0, -2.0, 0.5])
    >>> joint_velocities(model, q, V + 1e-3).round(1)  # with an error that no joint allows
    array([ 1. , -2. , 0.5])
    """
    q, selection = configured(model, q), links(model, names)
    selection.check_complete(model)
    V = floats(V, "V", len(selection.names), 6)
    batch_shape("joint_velocities, q, V", (q, 1), (V, 2))
    J = merge_axes(link_jacobian(model, q, names), -3)
    return least_squares(J, merge_axes(V, -2), selection.underdetermined_message(model))


def joint_velocities_by_joint(model: Model, q: ArrayLike, V: ArrayLike, names: Names | None = None) -> NDArray[Any]:
    """v, (..., nv), joint by joint, in a time that grows linearly with the links; V must be consistent.  [QT 62-66]

    Joints that only rotate follow from ω, v_k = Ĵ_ωk^+ ω̂_k; others from the velocity of the link relative to its
    parent, angular and linear. The first link that determines a velocity is used. If a link does not determine the
    velocities of its joints, all links that share velocities with it are solved for in least squares. If no velocity of
    the robot gives V, the result differs from that of `joint_velocities`.

    Raises:
        InputError: if the links do not determine some velocities at any configuration; it names joints and links.
        SingularityError: if they do not at q; a kernel returns meaningless values there.

    >>> from multibody.model.load import load
    >>> model, q = load("planar-arm"), [0.1, 0.2, 0.3]
    >>> joint_velocities_by_joint(model, q, link_velocities(model, q, [1.0, -2.0, 0.5])).round(9)
    array([ 1. , -2. , 0.5])
    """
    q = configured(model, q)
    placed = place_links(model, q, names)
    selection = placed.links
    selection.check_complete(model)
    V = floats(V, "V", len(selection.names), 6)
    batch = batch_shape("joint_velocities_by_joint, q, V", (q, 1), (V, 2))
    rates: list[Any] = [None] * model.nv
    for cluster in clusters(model, selection):
        if any(rates[index] is None for index in cluster.velocities):
            own = least_squares(placed.system(cluster), placed.motion(V, cluster), cluster.underdetermined_message)
            for position, index in enumerate(cluster.velocities):
                if rates[index] is None:
                    rates[index] = np.broadcast_to(own[..., position], batch)
    return stack(rates, -1, (*batch, 0), q)


def check_velocities(
    model: Model, q: ArrayLike, V: ArrayLike, names: Names | None = None, *, within: float = 1e-6
) -> NDArray[Any]:
    """The v, (..., nv), that gives V, if there is one.  [QT 61]

    Args:
        model: the robot.
        q: (..., nq).
        V: (..., m, 6).
        names: of the links.
        within: tolerance relative to the largest entry of V, or to 1; finite, not negative.

    Raises:
        InputError: names the sample, the two links and the joints between them that V violates.

    >>> from multibody.model.load import load
    >>> model, q = load("planar-arm"), [0.1, 0.2, 0.3]
    >>> V = link_velocities(model, q, [1.0, -2.0, 0.5])
    >>> check_velocities(model, q, V).round(9)
    array([ 1. , -2. , 0.5])
    >>> check_velocities(model, q, V + 1e-3)
    Traceback (most recent call last):
    multibody.errors.InputError: V: no velocity of planar-arm gives it; link ... would leave the world at ...
    """
    selection = links(model, names)
    V = floats(V, "V", len(selection.names), 6)
    number(within, "within")
    if is_traced(V) or is_traced(q):
        raise InputError("check_velocities: expected arrays of numbers; traced code cannot raise on values")
    q = check_configuration.check(model.tree, q, limits=False)
    batch_shape("check_velocities, q, V", (q, 1), (V, 2))
    bad = ~np.isfinite(V).all(axis=(-2, -1))
    if bad.any():
        raise InputError(f"V{at(first(bad))}: expected finite numbers, got some that are not")
    allowed = within * np.maximum(np.abs(V).max(axis=(-2, -1), initial=0.0), 1.0)
    placed = place_links(model, q, names)
    for k, group in enumerate(selection.groups):
        left = placed.relative(V, k)
        if group.velocities:
            A = placed.columns(k)
            left = left - matvec(A, matvec(np.linalg.pinv(A), left))
        off = np.abs(left).max(axis=-1) > allowed
        if off.any():
            index = first(off)
            worst = np.broadcast_to(left, (*off.shape, 6))[index]
            linear, angular = np.linalg.norm(worst[:3]), np.linalg.norm(worst[3:])
            raise InputError(
                f"V{at(index)}: no velocity of {model.name} gives it; link {selection.names[k]!r} would leave "
                f"{selection.parent_name(k)} at {linear:.3g} m/s and {angular:.3g} rad/s, which "
                f"{group.description} forbids"
            )
    v = joint_velocities(model, q, V, names)
    error = np.abs(link_velocities(model, q, v, names) - V)
    off = error.max(axis=(-2, -1), initial=0.0) > allowed
    if off.any():
        index = first(off)
        k = int(error[index].max(axis=-1).argmax())
        raise InputError(
            f"V{at(index)}: no velocity of {model.name} gives it; each joint allows it, but joints that share a "
            f"velocity disagree: link {selection.names[k]!r} is off by {error[index].max():.3g} from the nearest"
        )
    return v


def connectivity(model: Model, names: Names | None = None) -> NDArray[Any]:
    """D, (3m, 3m): D ω are the angular velocities of the links relative to their parents.  [QT 63-64]

    >>> from multibody.model.load import load
    >>> connectivity(load("branching-figure"))[::3, ::3]
    array([[ 1.,  0.,  0.,  0.],
           [-1.,  1.,  0.,  0.],
           [ 0., -1.,  1.,  0.],
           [ 0., -1.,  0.,  1.]])
    """
    selection = links(model, names)
    D = np.eye(len(selection.names))
    for k, p in enumerate(selection.parents):
        if p is not None:
            D[k, p] = -1.0
    return np.kron(D, np.eye(3))


def parent_rotations(model: Model, q: ArrayLike, names: Names | None = None) -> NDArray[Any]:
    """(..., m, 3, 3): R^0_p(k) of each link, the blocks on the diagonal of QT's R.  [QT 63]

    >>> from multibody.model.load import load
    >>> parent_rotations(load("planar-arm"), [np.pi / 2, 0.2, 0.3])[1].round(9) + 0.0  # of link1
    array([[ 0., 0., 1.],
           [ 0., 1., 0.],
           [-1., 0., 0.]])
    """
    q, selection = configured(model, q), links(model, names)
    W_H = kinematics.poses(model.tree, q)
    parts = []
    for p in selection.parents:
        R = eye_like(q, 3)
        if p is not None:
            R = (W_H[selection.bodies[p]].rotation @ selection.rotations[p]).matrix
        parts.append(np.broadcast_to(R, (*q.shape[:-1], 3, 3)))
    return stack(parts, -3, (*q.shape[:-1], 0, 3, 3), q)


def relative_angular_velocities(model: Model, q: ArrayLike, w: ArrayLike, names: Names | None = None) -> NDArray[Any]:
    """ω̂ = R^T D ω, (..., m, 3): of each link relative to its parent, in the parent's frame.  [QT 62, 65]

    >>> from multibody.model.load import load
    >>> model, q = load("planar-arm"), [0.1, 0.2, 0.3]
    >>> relative_angular_velocities(model, q, link_velocities(model, q, [1.0, -2.0, 0.5])[:, 3:]).round(9) + 0.0
    array([[ 0. , 1. , 0. ],
           [ 0. , -2. , 0. ],
           [ 0. , 0.5, 0. ]])
    """
    q, selection = configured(model, q), links(model, names)
    w = floats(w, "w", len(selection.names), 3)
    batch_shape("relative_angular_velocities, q, w", (q, 1), (w, 2))
    D_w = stack(_less_parents(selection, [w[..., k, :] for k in range(w.shape[-2])]), -2, w.shape, w)
    return matvec(transpose(parent_rotations(model, q, names)), D_w)


def local_jacobian(model: Model, q: ArrayLike, names: Names | None = None) -> NDArray[Any]:
    """Ĵ_ω = R^T D J_ω, (..., m, 3, nv): ω̂ = Ĵ_ω v; each link has only its own joints' columns.  [QT 63, 65]

    >>> from multibody.model.load import load
    >>> local_jacobian(load("planar-arm"), [0.1, 0.2, 0.3])[:, 1].round(9) + 0.0  # about y
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    q, selection, J = configured(model, q), links(model, names), link_jacobian(model, q, names)
    parts = _less_parents(selection, [J[..., k, 3:, :] for k in range(len(selection.names))])
    D_J = stack(parts, -3, (*q.shape[:-1], 0, 3, model.nv), q)
    return np.matmul(transpose(parent_rotations(model, q, names)), D_J)


def merge_axes(x: NDArray[Any], axis: int) -> NDArray[Any]:
    """Merge the axis of the links, counted from the end, with the next one.

    >>> merge_axes(np.zeros((2, 3, 6)), -2).shape
    (2, 18)
    """
    k = x.ndim + axis
    return x.reshape((*x.shape[:k], x.shape[k] * x.shape[k + 1], *x.shape[k + 2 :]))


def _less_parents(selection: Links, x: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """The quantities of links less those of their parents."""
    return [x[k] if p is None else x[k] - x[p] for k, p in enumerate(selection.parents)]
