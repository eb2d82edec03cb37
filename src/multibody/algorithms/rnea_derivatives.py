"""The derivatives of inverse dynamics, by a recursion of their own.

Each derivative belongs to two velocities, of a joint i and of a joint j that carries it, and is a product of a wrench
at i and a twist at j, or the other way round. The wrenches of i are transmitted inward once. In the frame of a body:

    S       a direction of motion                        I   the inertia of the body and all beyond it
    S'      v × S, its rate                              B   their velocity moments
    P'      v_before × S                                 f   the wrench that they need
    P''     a_before × S + v_before × P'

    dτ_i/dq_j = S_i·(2 B_i P'_j + I_i P''_j)             dτ_j/dq_i = S_j·(2 B_i P'_i + I_i P''_i + S_i ×* f_i)
    dτ_i/dv_j = S_i·(2 B_i S_j + I_i (P'_j + S'_j))      dτ_j/dv_i = S_j·(2 B_i S_i + I_i (P'_i + S'_i))

"before" is the motion of the parent. Directions that one joint moves in at once do not carry each other.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.base_representation import derivatives_and_force, in_left
from multibody.algorithms.mass_moments import MassMoments, rotational_acceleration
from multibody.algorithms.velocity_blocks import (
    Entries,
    add_entry,
    common_batch,
    dense_matrix,
    gravity,
    pairing,
    stack,
    toward_world,
)
from multibody.algorithms.velocity_moments import VelocityMoments
from multibody.geometry import Pose, Twist, Wrench
from multibody.geometry._arrays import diagonal
from multibody.geometry.operators import cross3
from multibody.model.composite_inertia import CompositeInertia
from multibody.model.tree import Body, Tree


@dataclass
class Direction:
    """One direction of motion of a body: S, P', P'' and P' + S' in its frame."""

    index: int
    stage: int
    S: Twist
    P_dot: Twist
    P_ddot: Twist
    P_S_dot: Twist


def rnea_derivatives(
    tree: Tree,
    q: NDArray[Any],
    v: NDArray[Any],
    a: NDArray[Any],
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """dτ/dq, dτ/dv, dτ/da of inverse dynamics, each (..., nv, nv); dτ/da is the mass matrix.  [RD 3.55]

    Derivatives by q are along the velocities of the robot: column k is the change of τ along integrate(q, ε e_k), with
    constant entries of v and a.

    Args:
        tree: the robot.
        q: (..., nq).
        v: (..., nv) in the robot's own base representation.
        a: (..., nv).
    """
    dq, dv, M, _ = _of_bodies(tree, q, v, a)
    return dq, dv, M + diagonal(tree.armature)


@in_left(returns=derivatives_and_force)
def _of_bodies(
    tree: Tree, q: NDArray[Any], v: NDArray[Any], a: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """dτ/dq, dτ/dv, dτ/da and τ, without the drives."""
    p_H, directions, composites, flows, i_f = _outward(tree, q, v, a)
    by: tuple[Entries, Entries, Entries] = ({}, {}, {})
    tau: list[Any] = [None] * tree.nv
    for i, p, _ in tree.inward():
        I, B, f = composites[i], flows[i], i_f[i]
        own = directions[i]
        for d in own:
            _add_at(tau, d.index, pairing(d.S, f))
            lever = B.transpose_times(d.S) * 2
            around = Wrench._trusted(np.zeros_like(lever), lever)
            momentum = I @ d.S
            turned = B.times(d.P_dot) * 2 + I @ d.P_ddot
            carried = _Carried(around, momentum, turned + d.S.cross(f), B.times(d.S) * 2 + I @ d.P_S_dot)
            for e in own:
                if e.stage <= d.stage:
                    carried.add(by, d, e, both=e.stage < d.stage)
            for j, H in toward_world(tree, p_H, i):
                carried = _Carried(*(H @ wrench for wrench in carried))
                for e in directions[j]:
                    carried.add(by, d, e, both=True)
        if p:
            composites[p] = composites[p] + I.in_frame(p_H[i])
            flows[p] = flows[p] + B.in_frame(p_H[i])
            i_f[p] = i_f[p] + p_H[i] @ f
    batch, n = common_batch(q, v, a), tree.nv
    dq, dv, M = (dense_matrix([[D.get((r, c)) for c in range(n)] for r in range(n)], batch, q) for D in by)
    return dq, dv, M, stack([np.broadcast_to(x, batch) for x in tau], -1, (*batch, 0), q)


class _Carried(NamedTuple):
    """The four wrenches of a direction d, which go inward to the joints that carry it."""

    around: Wrench
    momentum: Wrench
    pushed: Wrench
    dragged: Wrench

    def add(self, by: tuple[Entries, Entries, Entries], d: Direction, e: Direction, *, both: bool) -> None:
        """Add the entries of d and a direction e to dτ/dq, dτ/dv and dτ/da; in both orders if e carries d."""
        by_q, by_v, by_a = by
        mass = pairing(e.S, self.momentum)
        add_entry(by_q, d.index, e.index, pairing(e.P_dot, self.around) + pairing(e.P_ddot, self.momentum))
        if both:
            add_entry(by_q, e.index, d.index, pairing(e.S, self.pushed))
        add_entry(by_v, d.index, e.index, pairing(e.S, self.around) + pairing(e.P_S_dot, self.momentum))
        if both:
            add_entry(by_v, e.index, d.index, pairing(e.S, self.dragged))
            add_entry(by_a, e.index, d.index, mass)
        add_entry(by_a, d.index, e.index, mass)


def _outward(
    tree: Tree, q: NDArray[Any], v: NDArray[Any], a: NDArray[Any]
) -> tuple[list[Pose], list[list[Direction]], list[CompositeInertia], list[VelocityMoments], list[Wrench]]:
    """The pose in its parent, the directions, and the own inertia, flow and wrench of every body."""
    i_v = [Twist.zero()]
    i_a = [Twist._trusted(-gravity(tree, q), np.zeros(3, q.dtype))]
    p_H, directions = [Pose.identity()], [[]]
    none = MassMoments(np.zeros(()), np.zeros(3), np.zeros((3, 3)))
    composites, i_f = [CompositeInertia(*none)], [Wrench.zero()]
    flows = [VelocityMoments(np.zeros(3), np.zeros((3, 3)))]
    for _, p, body in tree.outward():
        p_H_i = body.joint.pose(q)
        before_v, before_a = p_H_i.pull(i_v[p]), p_H_i.pull(i_a[p])
        moves: list[Direction] = []
        S = body.joint.subspace(q)
        for stage, ks in enumerate(_stages(body)):
            rates = [(S.column(k), v[..., body.joint.v.start + k], a[..., body.joint.v.start + k]) for k in ks]
            after_v, after_a = before_v, before_a
            for s, s_v, _ in rates:
                after_v = after_v + s * s_v
            own = []
            for k, (s, s_v, s_a) in zip(ks, rates, strict=True):
                s_dot, P_dot = after_v.cross(s), before_v.cross(s)
                after_a = after_a + s * s_a + s_dot * s_v
                P_ddot = before_a.cross(s) + before_v.cross(P_dot)
                both = P_dot * 2 if len(ks) == 1 else P_dot + s_dot
                own.append(Direction(body.joint.v.start + k, stage, s, P_dot, P_ddot, both))
            moves += own
            before_v, before_a = after_v, after_a
        p_H.append(p_H_i)
        i_v.append(before_v)
        i_a.append(before_a)
        directions.append(moves)
        mass = MassMoments.of(body.inertia)
        composites.append(CompositeInertia.of(body.inertia))
        flows.append(VelocityMoments.of(mass, before_v))
        o = before_a.linear + cross3(before_v.angular, before_v.linear)
        i_f.append(mass.wrench(o, rotational_acceleration(before_v.angular, before_a.angular)))
    return p_H, directions, composites, flows, i_f


def _stages(body: Body) -> list[list[int]]:
    """The velocities of a joint, in the order in which one carries the next: a joint with a fixed subspace has one."""
    held = body.joint.kind.held_by_parent
    rest = [k for k in range(body.joint.kind.nv) if k not in held]
    return [*([k] for k in held), rest] if held else [rest]


def _add_at(x: list[Any], k: int, value: NDArray[Any]) -> None:
    x[k] = value if x[k] is None else x[k] + value
