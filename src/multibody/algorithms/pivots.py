"""The pivots of the mass matrix, in a time that grows linearly with the bodies."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.forward_dynamics import factors
from multibody.model.tree import Tree


def pivots(tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
    """(nv,): the diagonal D of M = L^T D L at a configuration (nq,): the inertia of each velocity.

    Velocities are eliminated from the last to the first, as in `factorization`; the articulated inertia of a
    body is added to its parent, as in `aba`. Zero pivots are skipped.
    """
    if any(joint.mimic is not None for joint in tree.joints):
        with np.errstate(all="ignore"):
            return np.array([1 / np.float64(x) for x in factors(tree, q).inverse])
    i_M = [np.zeros((6, 6)), *(body.inertia.matrix for body in tree.bodies)]
    diagonal = np.empty(tree.nv)
    for i, p, body in tree.inward():
        at, S, p_H_i = body.joint.v, body.joint.subspace(q).matrix, body.joint.pose(q)
        left, U = i_M[i], i_M[i] @ S
        D = S.T @ U + np.diag(tree.armature[at])
        for k in reversed(range(at.stop - at.start)):
            diagonal[at.start + k] = D[k, k]
            ratio = 1 / D[k, k] if D[k, k] else 0.0
            left = left - np.outer(U[:, k], U[:, k]) * ratio
            U = U - np.outer(U[:, k], D[k]) * ratio
            D = D - np.outer(D[:, k], D[k]) * ratio
        p_Xf_i = p_H_i.dual_adjoint
        i_M[p] = i_M[p] + p_Xf_i @ left @ p_Xf_i.T
    return diagonal
