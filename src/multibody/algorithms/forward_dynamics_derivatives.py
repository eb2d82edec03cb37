"""The derivatives of forward dynamics, through those of inverse dynamics and the factors of the mass matrix."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.forward_dynamics import forward_dynamics
from multibody.algorithms.mass_matrix_factorization import Factors
from multibody.algorithms.rnea_derivatives import rnea_derivatives
from multibody.algorithms.velocity_blocks import common_batch, dense_matrix
from multibody.model.tree import Tree


def forward_dynamics_derivatives(
    tree: Tree, q: NDArray[Any], v: NDArray[Any], tau: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """da/dq, da/dv, da/dτ of forward dynamics, each (..., nv, nv), in the tangent space; da/dτ is M^-1.

    With a = FD(q, v, τ), differentiating ID(q, v, a) = τ gives da = M^-1 (dτ - dID/dq dq - dID/dv dv).
    """
    a = forward_dynamics(tree, q, v, tau)
    dq, dv, M = rnea_derivatives(tree, q, v, a)
    batch, n = common_batch(q, v, tau), tree.nv
    pairs = coupled_velocities(tree)
    factors = Factors({(r, c): M[..., r, c] for r, c in pairs if r <= c}, n)
    by_q, by_v = (
        [factors.solve([-D[..., r, c] if (r, c) in pairs else None for r in range(n)]) for c in range(n)]
        for D in (dq, dv)
    )
    unit = np.ones(batch, q.dtype)
    by_tau = [factors.solve([unit if r == c else None for r in range(n)]) for c in range(n)]
    return tuple(dense_matrix(_transposed(columns), batch, q) for columns in (by_q, by_v, by_tau))  # type: ignore[return-value]


def coupled_velocities(tree: Tree) -> set[tuple[int, int]]:
    """The pairs of velocities of which one is of a joint that carries the other: the rest of M is zero."""
    pairs: set[tuple[int, int]] = set()
    for i, _, body in tree.outward():
        own = range(body.joint.v.start, body.joint.v.stop)
        for j in tree.support(i):
            joint = tree.bodies[j - 1].joint
            for r in own:
                for c in range(joint.v.start, joint.v.stop):
                    pairs |= {(r, c), (c, r)}
    return pairs


def _transposed(columns: list[list[Any]]) -> list[list[Any]]:
    return [list(row) for row in zip(*columns, strict=True)]
