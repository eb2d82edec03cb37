"""Bias forces, gravity forces, and a Coriolis matrix with which M' - 2 C is skew-symmetric."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import kinematics, velocity_blocks
from multibody.algorithms.base_representation import coriolis_and_inertia, force, in_left
from multibody.algorithms.crba import composite_inertias
from multibody.algorithms.mass_moments import MassMoments
from multibody.algorithms.rnea import rnea
from multibody.algorithms.velocity_blocks import (
    Entries,
    VelocityBlocks,
    add_entry,
    common_batch,
    dense_matrix,
    pairing,
    toward_world,
)
from multibody.algorithms.velocity_moments import VelocityMoments
from multibody.geometry import Twist, Wrench
from multibody.geometry.operators import cross3
from multibody.model.composite_inertia import CompositeInertia
from multibody.model.tree import Tree


def bias(tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """h(q, v), (..., nv): Coriolis, centrifugal and gravity forces.  [RD 3.44-3.45, 3.47-3.48]"""
    return rnea(tree, q, v, np.zeros_like(v))


@in_left(returns=force)
def gravity(tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
    """g(q), (..., nv): the forces that hold the robot against gravity.  [RD 3.45, 3.48]

    Each joint holds the weight of all bodies that it carries, in the composite centre of mass.
    """
    p_H, tau = {body.index: body.joint.pose(q) for body in tree.bodies}, VelocityBlocks(tree)
    i_M, i_a = composite_inertias(tree, p_H), [-velocity_blocks.gravity(tree, q)]
    for i, p, body in tree.outward():
        i_a.append(p_H[i].rotation.inverse() @ i_a[p])
        weight = Wrench._trusted(i_M[i].mass[..., None] * i_a[i], cross3(i_M[i].first_moment, i_a[i]))
        tau.add(body.joint, body.joint.subspace(q).project(weight))
    return tau.vector(q.shape[:-1])


def coriolis(tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """C(q, v), (..., nv, nv), with C v + g = h and M' - 2 C skew-symmetric.  [MDN 80, 83]

    For a joint i and one j that carries it: C_ij = S_i·(B_i S_j + I_i S'_j), C_ji = S_j·(B_i S_i + I_i S'_i), in the
    symbols of `rnea_derivatives`.
    """
    return _of_bodies(tree, q, v)[0]


@in_left(returns=coriolis_and_inertia)
def _of_bodies(tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """C, and M without the drives."""
    i_v = kinematics.twists(tree, q, v)
    p_H = {body.index: body.joint.pose(q) for body in tree.bodies}
    composites = {body.index: CompositeInertia.of(body.inertia) for body in tree.bodies}
    flows = {body.index: VelocityMoments.of(MassMoments.of(body.inertia), i_v[body.index]) for body in tree.bodies}
    columns = {body.index: _columns(tree, body.index, q, i_v) for body in tree.bodies}
    C: Entries = {}
    M: Entries = {}
    for i, p, _ in tree.inward():
        I, B = composites[i], flows[i]
        for r, S, S_dot in columns[i]:
            lever = B.transpose_times(S)
            around, momentum = Wrench._trusted(np.zeros_like(lever), lever), I @ S
            dragged = B.times(S) + I @ S_dot
            for c, S_c, S_c_dot in columns[i]:
                add_entry(C, r, c, pairing(S_c, around) + pairing(S_c_dot, momentum))
                add_entry(M, r, c, pairing(S_c, momentum))
            for j, H in toward_world(tree, p_H, i):
                around, momentum, dragged = H @ around, H @ momentum, H @ dragged
                for c, S_c, S_c_dot in columns[j]:
                    add_entry(C, r, c, pairing(S_c, around) + pairing(S_c_dot, momentum))
                    add_entry(C, c, r, pairing(S_c, dragged))
                    mass = pairing(S_c, momentum)
                    add_entry(M, r, c, mass)
                    add_entry(M, c, r, mass)
        if p:
            composites[p], flows[p] = composites[p] + I.in_frame(p_H[i]), flows[p] + B.in_frame(p_H[i])
    batch, n = common_batch(q, v), tree.nv
    full_C, full_M = (dense_matrix([[X.get((r, c)) for c in range(n)] for r in range(n)], batch, q) for X in (C, M))
    return full_C, full_M


def _columns(tree: Tree, i: int, q: NDArray[Any], i_v: list[Twist]) -> list[tuple[int, Twist, Twist]]:
    """(velocity, S, S') of a joint's columns in the frame of its child."""
    body = tree.bodies[i - 1]
    joint = body.joint
    S = joint.subspace(q)
    columns = []
    for k in range(joint.kind.nv):
        carrier = i_v[i]
        if k in joint.kind.held_by_parent:
            carrier = joint.pose(q).pull(i_v[body.parent])
        columns.append((joint.v.start + k, S.column(k), carrier.cross(S.column(k))))
    return columns
