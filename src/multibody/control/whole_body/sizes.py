"""What every level takes and leaves of a robot in general position."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.solvers.strict_levels.reduced_bases import LevelSize

Array = NDArray[Any]
RANK_WITHIN = 1e-9
"""Of the natural size of a level's rows: below this, what is left of them is zero in general position."""


def patterns(contacts: int, rng: np.random.Generator) -> Array:
    """Which contacts can be active: all ways for a few of them, else some."""
    if contacts <= 5:
        return np.array(list(product([0.0, 1.0], repeat=contacts)))
    some = rng.integers(0, 2, (30, contacts)).astype(float)
    return np.concatenate([np.zeros((1, contacts)), np.ones((1, contacts)), some])


def sizes_of(matrices: Sequence[tuple[Array, Array]]) -> list[LevelSize]:
    """Of matrices, (samples, m, n), and their natural sizes: the ranks in what those before leave, and what is left."""
    sizes: list[LevelSize] = []
    first = matrices[0][0]
    bases, same = [np.eye(first.shape[-1])] * len(first), True
    for A, natural in matrices:
        ranks, after = [], []
        for own, size, Z in zip(A, natural, bases, strict=True):
            _, s, V_T = np.linalg.svd(own @ Z)
            rank = int((s > RANK_WITHIN * size).sum())
            ranks.append(rank)
            after.append(Z @ V_T[rank:].T)
        bases = after
        sizes.append(LevelSize(max(ranks), max(Z.shape[1] for Z in bases), min(ranks) if same else None))
        same = same and len(set(ranks)) == 1
    return sizes
