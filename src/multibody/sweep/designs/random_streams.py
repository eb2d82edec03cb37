"""Random numbers of samples: each depends on the seed, the sample's index and the number of the draw, on nothing else.

Philox is a function of a key and a counter. The key is the seed; the counter's first word is the sample's index, the
second the number of the draw divided by four, the third is the purpose of the numbers. So neighbours in a chunk are
neighbours in the counter, and NumPy's own Philox fills whole chunks.
"""

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.random import Philox
from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError, missing_package

FUNCTION, DESIGN = 0, 1
"""The purposes of numbers: the function of a study, or its samples."""
WORDS = 4
"""Numbers of one counter."""
_UNIT = 2.0**-53


def check_seed(seed: Any) -> int:
    """Check that a seed can be a key."""
    return check_integer(seed, "seed", 0, 128)


def check_integer(x: Any, what: str, least: int = 1, bits: int = 62) -> int:
    """Check an integer from `least` to below 2**bits."""
    if isinstance(x, bool) or not isinstance(x, int | np.integer) or not least <= x < 2**bits:
        kind = "a positive integer" if least else "an integer, zero or positive,"
        raise InputError(f"{what}: expected {kind} below 2**{bits}, got {x!r}")
    return int(x)


def words(seed: int, index: NDArray[np.int64], count: int, first: int = 0, purpose: int = FUNCTION) -> NDArray[Any]:
    """(samples, count) random integers of 64 bits: the draws 4 * first, 4 * first + 1, ... of each sample.

    Args:
        seed: the key.
        index: (samples,), of the samples; those that follow each other are computed together.
        count: how many a sample.
        first: the first block of four draws.
        purpose: `FUNCTION` or `DESIGN`.
    """
    blocks = -(-count // WORDS)
    numbers = np.empty((len(index), blocks * WORDS), np.uint64)
    cuts = [0, *(np.flatnonzero(np.diff(index) != 1) + 1).tolist(), len(index)]
    for start, stop in pairwise(cuts):
        for block in range(blocks if stop > start else 0):
            counter = int(index[start]) + ((first + block) << 64) + (purpose << 128)
            before = (counter - 1) % 2**256  # NumPy counts before it computes
            raw = Philox(key=seed, counter=before).random_raw(WORDS * (stop - start))
            numbers[start:stop, block * WORDS : (block + 1) * WORDS] = raw.reshape(-1, WORDS)
    return numbers[:, :count]


def unit(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Integers of 64 bits as multiples of 2**-53 from 0 to below 1."""
    return (numbers >> np.uint64(11)).astype(np.float64) * _UNIT


def inside(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Integers of 64 bits as numbers above 0 and below 1."""
    return ((numbers >> np.uint64(12)).astype(np.float64) + 0.5) * (2.0 * _UNIT)


def gaussian(fraction: NDArray[Any]) -> NDArray[np.float64]:
    """The quantiles of the standard normal distribution: SciPy's, which treats each number by itself."""
    try:
        from scipy.special import ndtri
    except ImportError:
        raise missing_package("normal numbers need SciPy", "sweep", "scipy") from None
    return ndtri(fraction)


class Draws:
    """The random numbers of a chunk's samples, in the order in which a function asks for them.

    >>> whole, part = Draws(0, np.arange(5)), Draws(0, np.array([3]))
    >>> bool((whole.uniform(0.0, 1.0, 2)[3] == part.uniform(0.0, 1.0, 2)[0]).all())
    True
    """

    def __init__(self, seed: int, index: NDArray[np.int64]) -> None:
        self._seed, self._index, self._block = seed, index, 0

    def uniform(
        self, low: ArrayLike = 0.0, high: ArrayLike = 1.0, shape: int | tuple[int, ...] = ()
    ) -> NDArray[np.float64]:
        """(chunk, *shape) numbers from low to below high; these broadcast against the shape."""
        low = np.asarray(low, np.float64)
        return low + (np.asarray(high, np.float64) - low) * unit(self._words(shape))

    def normal(
        self, shape: int | tuple[int, ...] = (), mean: ArrayLike = 0.0, deviation: ArrayLike = 1.0
    ) -> NDArray[np.float64]:
        """(chunk, *shape) normal numbers."""
        return np.asarray(mean, np.float64) + np.asarray(deviation, np.float64) * gaussian(inside(self._words(shape)))

    def integers(self, low: int, high: int, shape: int | tuple[int, ...] = ()) -> NDArray[np.int64]:
        """(chunk, *shape) integers from low to below high, at most 2**32 of them."""
        if not 0 < high - low <= 2**32:
            raise InputError(f"integers: expected low < high <= low + 2**32, got {low!r} and {high!r}")
        upper = self._words(shape) >> np.uint64(32)
        return low + ((upper * np.uint64(high - low)) >> np.uint64(32)).astype(np.int64)

    def _words(self, shape: int | tuple[int, ...]) -> NDArray[Any]:
        shape = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
        count = math.prod(shape)
        drawn = words(self._seed, self._index, count, self._block)
        self._block += -(-count // WORDS)
        return drawn.reshape(len(self._index), *shape)
