"""Forward dynamics: the articulated body algorithm."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.base_representation import armature, in_left, velocity
from multibody.algorithms.rnea import Wrenches, outward_wrenches
from multibody.algorithms.velocity_blocks import VelocityBlocks, common_batch
from multibody.errors import InputError
from multibody.geometry import Pose, Twist, Wrench
from multibody.geometry._arrays import block_matrix, congruence, matrix, matvec, mirror_upper, transpose
from multibody.geometry.operators import hat3
from multibody.model.joints.motion_subspace import Subspace
from multibody.model.tree import Tree
from multibody.tracing.matrices import linalg


class Articulated(NamedTuple):
    """The articulated inertia [[A, B], [B^T, C]] of a body: 6 × 6, symmetric, with free joints beyond it."""

    A: NDArray[Any]
    B: NDArray[Any]
    C: NDArray[Any]

    def __add__(self, other: Any) -> "Articulated":
        return Articulated(self.A + other.A, self.B + other.B, self.C + other.C)

    @property
    def matrix(self) -> NDArray[Any]:
        """(..., 6, 6)."""
        return block_matrix([[self.A, self.B], [transpose(self.B), self.C]])

    @staticmethod
    def of_matrix(M: NDArray[Any]) -> "Articulated":
        """The blocks of a symmetric matrix, such as the inertia of a single body.  [MDN 68-69]"""
        return Articulated(M[..., :3, :3], M[..., :3, 3:], M[..., 3:, 3:])

    def in_frame(self, A_H_B: Pose) -> "Articulated":
        """The inertia given in frame B, in frame A: A_Xf_B M B_X_A."""
        R, P = A_H_B.rotation.matrix, hat3(A_H_B.position)
        A, C = congruence(R, self.A), congruence(R, self.C)
        B = np.matmul(np.matmul(R, self.B), transpose(R))
        moved = B - np.matmul(A, P)
        return Articulated(A, moved, mirror_upper(C - np.matmul(transpose(B), P) + np.matmul(P, moved)))


def aba(
    tree: Tree,
    q: NDArray[Any],
    v: NDArray[Any],
    tau: NDArray[Any],
    wrenches: Wrenches | None = None,
) -> NDArray[Any]:
    """The a that solves M(q) a + h(q, v) = τ + Σ J^T f, in a time that grows linearly with the bodies.  [RD 3.55]

    Every body starts with the wrench i_f that it needs if the joints do not accelerate. Inward, each joint transmits
    the articulated inertia and wrench that its own motion does not take up. Outward, the accelerations follow.

    Args:
        tree: the robot; it must have no coupled joints.
        q: (..., nq).
        v: (..., nv) in the robot's own base representation.
        tau: (..., nv).
        wrenches: as in `rnea`.
    """
    if any(joint.mimic is not None for joint in tree.joints):
        raise InputError(f"{tree.name}: the articulated body algorithm takes no coupled joints")
    drives = [armature(tree, joint, q) for joint in tree.joints]
    return _beyond(tree, q, v, np.zeros_like(v), tau, drives, wrenches)


@in_left(returns=velocity)
def _beyond(
    tree: Tree,
    q: NDArray[Any],
    v: NDArray[Any],
    a: NDArray[Any],
    tau: NDArray[Any],
    drives: list[NDArray[Any] | None],
    wrenches: Wrenches | None,
) -> NDArray[Any]:
    """The acceleration that the forces τ add to a; a does not accelerate the drives."""
    motion, i_f = outward_wrenches(tree, q, v, a, wrenches)
    p_H = motion.p_H
    i_M = {body.index: Articulated.of_matrix(body.inertia.matrix) for body in tree.bodies}
    articulations: dict[int, _Articulation] = {}
    for i, p, body in tree.inward():
        articulation = _Articulation(i_M[i], motion.i_S[i], tau[..., body.joint.v], i_f[i], drives[i - 1])
        articulations[i] = articulation
        if p:
            i_M[p] = i_M[p] + articulation.inertia(i_M[i]).in_frame(p_H[i])
            i_f[p] = i_f[p] + p_H[i] @ articulation.wrench(i_f[i])
    added = VelocityBlocks(tree)
    i_a: dict[int, Twist] = {}
    for i, p, body in tree.outward():
        i_a_p = p_H[i].pull(i_a[p]) if p else None
        rates = articulations[i].acceleration(i_a_p)
        added.add(body.joint, rates)
        own = articulations[i].S @ rates
        i_a[i] = own if i_a_p is None else i_a_p + own
    return added.vector(common_batch(q, v, tau, *(wrenches or {}).values()))


class _Articulation:
    """A joint of the inward pass: U = M S, D = S^T U, u = τ - S^T f."""

    def __init__(self, M: Articulated, S: Subspace, tau: NDArray[Any], f: Wrench, drives: NDArray[Any] | None) -> None:
        self.S, self.U = S, np.matmul(M.matrix, S.matrix)
        self.D = np.matmul(transpose(S.matrix), self.U)
        self.D = mirror_upper(self.D) if drives is None else self.D + drives
        self.free = drives is None
        self.u = tau - S.project(f)
        self.solved_u = self._solve(self.u[..., None])[..., 0]

    def _solve(self, x: NDArray[Any]) -> NDArray[Any]:
        """D^-1 x."""
        return x * (1 / self.D) if x.shape[-2] == 1 else linalg.solve(self.D, x, definite=True)

    def inertia(self, M: Articulated) -> Articulated:
        """M - U D^-1 U^T, with exact zeros along the axes of the joint."""
        left = M.matrix - np.matmul(self.U, self._solve(transpose(self.U)))
        free = _axes(self.S) if self.free else frozenset()
        zero = np.zeros(left.shape[:-2], left.dtype)
        rows = [
            [zero if i in free or j in free else left[..., min(i, j), max(i, j)] for j in range(6)] for i in range(6)
        ]
        return Articulated.of_matrix(matrix(rows))

    def wrench(self, f: Wrench) -> Wrench:
        """The wrench on a parent with zero acceleration: f + U D^-1 u."""
        push = matvec(self.U, self.solved_u)
        return Wrench._trusted(f.force + push[..., :3], f.torque + push[..., 3:])

    def acceleration(self, i_a_p: Twist | None) -> NDArray[Any]:
        """D^-1 (u - U^T a), with a of the parent in the child's frame."""
        if i_a_p is None:
            return self.solved_u
        back = matvec(transpose(self.U), i_a_p.vector)
        return self._solve((self.u - back)[..., None])[..., 0]


def _axes(S: Subspace) -> frozenset[int]:
    """The rows of the axes, if each column of S is one axis of the frame."""
    if not isinstance(S.matrix, np.ndarray):
        return frozenset()
    unit = (S.matrix == 1.0).sum(axis=0) + (S.matrix == -1.0).sum(axis=0)
    if S.matrix.ndim != 2 or not (((S.matrix != 0.0).sum(axis=0) == 1) & (unit == 1)).all():
        return frozenset()
    return frozenset(np.flatnonzero(S.matrix.any(axis=1)).tolist())
