"""Equations of motion for other generalized velocities.  [Kindr §Transformation of Equations of Motion]"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.coriolis import bias
from multibody.algorithms.crba import crba
from multibody.geometry._arrays import choice, matvec, transpose
from multibody.geometry.representations import REPRESENTATIONS
from multibody.model.tree import Tree


def transformed(
    M: NDArray[Any], h: NDArray[Any], B: NDArray[Any], B_dot: NDArray[Any], u: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """M and h for velocities u, from those for ū = B u: B^T M̄ B and B^T h̄ + B^T M̄ B' u.

    Our h is on the side of M u'. Kindr's is on the other, M u' - h = ..., so that its last sign is a minus.
    [Kindr §Transformation of Equations of Motion]

    Args:
        M: (..., n, n) for ū.
        h: (..., n) for ū.
        B: (..., n, m).
        B_dot: (..., n, m) its time derivative.
        u: (..., m) the new velocities.
    """
    B_T = transpose(B)
    return np.matmul(B_T, np.matmul(M, B)), matvec(B_T, h + matvec(M, matvec(B_dot, u)))


def equations_of_motion(
    tree: Tree, q: NDArray[Any], v: NDArray[Any], base: str | None = None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """M(q) and h(q, v), with the base's velocity in any representation, v in that one too.  [MDN 75-76]"""
    own = tree if base is None else with_base(tree, base)
    return crba(own, q), bias(own, q, v)


def with_base(tree: Tree, representation: str) -> Tree:
    """The tree with its base's velocity in another representation."""
    return replace(tree, velocity=choice(representation, "base", REPRESENTATIONS))
