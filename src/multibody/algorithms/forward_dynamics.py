"""Forward dynamics: ABA or the L^T D L factors of the mass matrix, whichever takes fewer operations."""

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.aba import aba
from multibody.algorithms.base_representation import armature, solve_in_left
from multibody.algorithms.crba import upper_blocks
from multibody.algorithms.mass_matrix_factorization import Factors
from multibody.algorithms.rnea import Wrenches, rnea
from multibody.algorithms.velocity_blocks import common_batch
from multibody.model.tree import Tree

MIN_ABA_DEPTH = 5
"""Mean depth of the bodies above which the articulated body algorithm takes fewer operations."""


def forward_dynamics(
    tree: Tree,
    q: NDArray[Any],
    v: NDArray[Any],
    tau: NDArray[Any],
    wrenches: Wrenches | None = None,
) -> NDArray[Any]:
    """The a that solves M(q) a + h(q, v) = τ + Σ J^T f.  [RD 3.55, §3.7; MDN 80, §9]

    f is on the robot; [RD 3.57] has the force on the environment instead, with the other sign. In Kindr's symbols,
    M u' - h = W λ.  [Kindr §Equations of Motion with Contacts]

    Long chains use the articulated body algorithm. Other robots, and those with coupled joints, use the sparse factors
    of the mass matrix.
    """
    coupled = any(joint.mimic is not None for joint in tree.joints)
    if not coupled and mean_depth(tree) > MIN_ABA_DEPTH:
        return aba(tree, q, v, tau, wrenches)
    return by_factors(tree, q, v, tau, wrenches)


def by_factors(
    tree: Tree,
    q: NDArray[Any],
    v: NDArray[Any],
    tau: NDArray[Any],
    wrenches: Wrenches | None = None,
) -> NDArray[Any]:
    """M^-1 (τ - h) by M = L^T D L.  [RD 3.55]"""
    batch = common_batch(q, v, tau, *(wrenches or {}).values())
    h = rnea(tree, q, v, np.zeros_like(v), wrenches)
    return solve_in_left(tree, q, tau - h, lambda x: factors(tree, q).solve_vector(x, batch))


def factors(tree: Tree, q: NDArray[Any], added: NDArray[Any] | None = None) -> Factors:
    """The factors of the mass matrix for velocities with bases in "left".

    `added`, (..., nv), is added to the diagonal, for forces that are implicit in the velocity.
    """
    upper = upper_blocks(tree, q)
    if added is not None:
        upper |= {(k, k): upper[k, k] + added[..., k] for k in range(tree.nv)}
    for joint in tree.joints:
        drives = armature(tree, joint, q) if joint.mimic is None else None
        for r, c in combinations_with_replacement(range(joint.v.start, joint.v.stop), 2):
            if drives is not None:
                upper[r, c] = upper[r, c] + drives[..., r - joint.v.start, c - joint.v.start]
    return Factors(upper, tree.nv)


def mean_depth(tree: Tree) -> float:
    """The mean number of bodies from the world to a body."""
    depth = [0]
    for _, p, _ in tree.outward():
        depth.append(depth[p] + 1)
    return sum(depth) / max(1, len(tree.bodies))
