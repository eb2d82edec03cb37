"""A permutation of 0 ... n - 1 that is computed, not kept: a Feistel network that walks until it is within n."""

import numpy as np
from numpy.typing import NDArray

ROUNDS = 6
_ODD = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)  # the multipliers of SplitMix64


def permute(index: NDArray[np.int64], n: int, seed: int, number: int) -> NDArray[np.int64]:
    """Apply a permutation to indices.

    Args:
        index: (samples,), from 0 to n - 1.
        n: how many there are.
        seed: which permutations.
        number: which one of the seed.

    >>> sorted(permute(np.arange(5), 5, 0, 0).tolist())
    [0, 1, 2, 3, 4]
    """
    half = max(1, -(-(n - 1).bit_length() // 2))
    keys = np.random.Philox(key=seed, counter=number + (2 << 128)).random_raw(ROUNDS)
    place = index.astype(np.uint64)
    outside = np.ones(len(place), bool)
    while outside.any():  # a network of at most 4 n places: each walk is short
        place[outside] = _network(place[outside], half, keys)
        outside = place >= n
    return place.astype(np.int64)


def _network(x: NDArray[np.uint64], half: int, keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    width, mask = np.uint64(half), np.uint64((1 << half) - 1)
    left, right = x >> width, x & mask
    for key in keys:
        left, right = right, left ^ (_mixed(right ^ key) & mask)
    return (left << width) | right


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    for shift, factor in zip((30, 27), _ODD, strict=True):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return x ^ (x >> np.uint64(31))
