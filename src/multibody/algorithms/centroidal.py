"""The centre of mass, momenta about it, and how they change.

Frames: W world, O as in `columns.py`, G the centre of mass with the axes of the world.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import kinematics
from multibody.algorithms.columns import Directions, directions, near_base
from multibody.algorithms.jacobian import assemble
from multibody.algorithms.mass_moments import MassMoments
from multibody.algorithms.rnea import outward_wrenches
from multibody.algorithms.velocity_blocks import common_batch
from multibody.algorithms.velocity_moments import VelocityMoments
from multibody.errors import InputError
from multibody.geometry import Twist, Wrench
from multibody.geometry._arrays import block_matrix, dot, eye_like, matvec
from multibody.geometry.operators import cross3
from multibody.model.composite_inertia import CompositeInertia
from multibody.model.tree import Tree


def center_of_mass(tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
    """(..., 3): the centre of mass of all moving bodies, in the world.  [RD 3.16]"""
    origin, near = near_base(tree, q)
    return np.broadcast_to(_first_moment(tree, near) / _mass(tree) + origin, (*q.shape[:-1], 3))


def com_jacobian(tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
    """(..., 3, nv): the velocity of the centre of mass, along the axes of the world, is J v."""
    mass = _mass(tree)
    d = directions(tree, q)
    beyond = _beyond(d)
    columns = {}
    for k, column in enumerate(d.columns):
        part = beyond[column.body]
        linear = (part.mass[..., None] * column.twist.linear + cross3(column.twist.angular, part.first_moment)) / mass
        columns[k] = Twist._trusted(linear, np.zeros_like(linear))
    return assemble(d, columns, q)[..., :3, :]


def centroidal_momentum_matrix(tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
    """A_G, (..., 6, nv): linear momentum, and angular momentum about the centre of mass, along the world's axes."""
    d = directions(tree, q)
    beyond = _beyond(d)
    c = beyond[0].first_moment / _mass(tree)
    columns = {k: _about(c, beyond[column.body] @ column.twist) for k, column in enumerate(d.columns)}
    return assemble(d, columns, q)


def centroidal_momentum(tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """(..., 6): A_G v, by a sum over the bodies."""
    i_v = kinematics.twists(tree, q, v)
    momenta = [None, *(CompositeInertia.of(body.inertia) @ i_v[body.index] for body in tree.bodies)]
    return _total(tree, q, momenta, common_batch(q, v))


def centroidal_momentum_rate(tree: Tree, q: NDArray[Any], v: NDArray[Any], a: NDArray[Any]) -> NDArray[Any]:
    """(..., 6): the time derivative of `centroidal_momentum`, A_G a + A_G' v: what outer forces must give."""
    _, i_f = outward_wrenches(tree, q, v, a, gravity=False)
    return _total(tree, q, i_f, common_batch(q, v, a))


def centroidal_momentum_matrix_dot(tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """(..., 6, nv): the time derivative of `centroidal_momentum_matrix` at the velocity v."""
    d = directions(tree, q)
    beyond, flows, rates = _beyond(d), _flows(d, v), d.rates(v)
    mass = _mass(tree)
    c, c_dot = beyond[0].first_moment / mass, flows[0].p / mass
    columns = {}
    for k, column in enumerate(d.columns):
        I, flow, rate = beyond[column.body], flows[column.body], rates[k]
        own = I @ column.twist
        # the inertia changes as its particles move, the column as what carries it moves
        change = _inertia_rate(flow) @ column.twist
        change = change if rate is None else change + I @ rate
        moved = _about(c, change)
        columns[k] = Twist._trusted(moved.linear, moved.angular - cross3(c_dot, own.force))
    return assemble(d, columns, q, v)


def momentum(tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """(..., 6): linear momentum, and angular momentum about the world's origin.  [RD 3.19-3.20]"""
    h = centroidal_momentum(tree, q, v)
    angular = h[..., 3:] + cross3(center_of_mass(tree, q), h[..., :3])
    return np.concatenate([h[..., :3], angular], axis=-1)


def com_velocity(tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """(..., 3): the velocity of the centre of mass, along the world's axes."""
    return matvec(com_jacobian(tree, q), v)


def centroidal_inertia(tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
    """(..., 6, 6): the inertia of the robot as one rigid body, about its centre of mass, along the world's axes."""
    total = _beyond(directions(tree, q))[0]
    m = total.mass
    c = total.first_moment / _mass(tree)
    unit = eye_like(c, 3)
    shift = dot(total.first_moment, c)[..., None, None] * unit - total.first_moment[..., :, None] * c[..., None, :]
    I_G = np.broadcast_to(total.about_origin - shift, (*q.shape[:-1], 3, 3))
    return block_matrix([[np.broadcast_to(m[..., None, None] * unit, I_G.shape), 0], [0, I_G]])


def _mass(tree: Tree) -> Any:
    """The mass of all bodies, to divide vectors by."""
    if not isinstance(tree.mass, float):
        return tree.mass[..., None]
    if not tree.mass > 0:
        raise InputError(f"{tree.name}: no moving body has mass, so there is no centre of mass")
    return tree.mass


def _beyond(d: Directions) -> list[CompositeInertia]:
    """The inertia of each body with all that hang on it, about O along the world's axes; that of all bodies at 0."""
    none = CompositeInertia(np.zeros(()), np.zeros(3), np.zeros((3, 3)))
    inner: list[CompositeInertia] = [none, *(CompositeInertia.of(body.inertia) for body in d.tree.bodies)]
    beyond: list[CompositeInertia] = [none] * len(inner)
    for i, p, body in d.tree.inward():
        beyond[i] = inner[i].in_frame(d.poses[i])
        if p:
            inner[p] = inner[p] + inner[i].in_frame(body.joint.pose(d.near))
        else:
            beyond[0] = beyond[0] + beyond[i]
    return beyond


def _flows(d: Directions, v: NDArray[Any]) -> list[VelocityMoments]:
    """The flow of mass of each body with all that hang on it, as in `_beyond`."""
    flows: list[VelocityMoments] = [VelocityMoments(np.zeros(3), np.zeros((3, 3)))] * (len(d.tree.bodies) + 1)
    twists = d.twists(v)
    for i, _, body in d.tree.outward():
        twist = twists[i]
        assert twist is not None
        flows[i] = VelocityMoments.of(MassMoments.of(body.inertia), d.poses[i].pull(twist)).in_frame(d.poses[i])
    for i, p, _ in d.tree.inward():
        flows[p] = flows[p] + flows[i]
    return flows


def _inertia_rate(flow: VelocityMoments) -> CompositeInertia:
    """The rate of an inertia whose particles flow: of the second moments it is G + G^T."""
    spread = flow.G + np.swapaxes(flow.G, -1, -2)
    trace = (spread[..., 0, 0] + spread[..., 1, 1] + spread[..., 2, 2])[..., None, None]
    return CompositeInertia(np.zeros(()), flow.p, trace * eye_like(spread, 3) - spread)


def _about(c: NDArray[Any], momentum: Wrench) -> Twist:
    """A momentum about O, about the point c instead."""
    return Twist._trusted(momentum.force, momentum.torque - cross3(c, momentum.force))


def _total(tree: Tree, q: NDArray[Any], parts: list[Any], batch: tuple[int, ...]) -> NDArray[Any]:
    """The sum of wrenches or momenta of bodies, about the centre of mass along the world's axes."""
    mass = _mass(tree)
    _, near = near_base(tree, q)
    parts = list(parts)
    total: Wrench | None = None
    for i, p, body in tree.inward():
        moved = body.joint.pose(near) @ parts[i]
        if p:
            parts[p] = parts[p] + moved
        else:
            total = moved if total is None else total + moved
    assert total is not None
    about = _about(_first_moment(tree, near) / mass, total)
    return np.broadcast_to(about.vector, (*batch, 6))


def _first_moment(tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
    """(..., 3): the mass of all bodies times their centre of mass, in the world."""
    first: list[Any] = [np.zeros(3, q.dtype), *(body.inertia.first_moment for body in tree.bodies)]
    masses: list[Any] = [np.zeros(()), *(body.inertia.mass for body in tree.bodies)]
    for i, p, body in tree.inward():
        p_H_i = body.joint.pose(q)
        first[p] = first[p] + p_H_i.rotation @ first[i] + masses[i][..., None] * p_H_i.position
        masses[p] = masses[p] + masses[i]
    return first[0]
