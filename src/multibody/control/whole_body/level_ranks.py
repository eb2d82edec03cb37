"""The rank of each level, and the dimension of the null space after it, in general position."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from multibody.geometry._arrays import Array
from multibody.solvers.strict_levels.reduced_bases import LevelSize

RANK_TOLERANCE = 1e-9
"""Singular values below this are zero, relative to the natural size of a level's rows."""


def contact_patterns(contacts: int, rng: np.random.Generator) -> Array:
    """Patterns of active contacts: all of them up to five contacts, otherwise a random selection."""
    if contacts <= 5:
        return np.array(list(product([0.0, 1.0], repeat=contacts)))
    some = rng.integers(0, 2, (30, contacts)).astype(float)
    return np.concatenate([np.zeros((1, contacts)), np.ones((1, contacts)), some])


def sizes_of(matrices: Sequence[tuple[Array, Array]]) -> list[LevelSize]:
    """The ranks of matrices, (samples, m, n), in the null spaces of those before, and the dimensions that remain.

    Ranks are relative to the natural sizes of the matrices.
    """
    sizes: list[LevelSize] = []
    samples, _, n = matrices[0][0].shape
    bases, same = [np.eye(n)] * samples, True
    for A, natural in matrices:
        ranks, after = [], []
        for own, size, Z in zip(A, natural, bases, strict=True):
            _, s, V_T = np.linalg.svd(own @ Z)
            rank = int((s > RANK_TOLERANCE * size).sum())
            ranks.append(rank)
            after.append(Z @ V_T[rank:].T)
        bases = after
        sizes.append(LevelSize(max(ranks), max(Z.shape[1] for Z in bases), min(ranks) if same else None))
        same = same and len(set(ranks)) == 1
    return sizes
