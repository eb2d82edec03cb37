"""Sobol points: SciPy's scrambled sequence, computed for any index."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from multibody.errors import missing_package
from multibody.sweep.designs.designs import Spread, bounds_of
from multibody.sweep.designs.random_streams import check_seed
from multibody.sweep.designs.samples import Samples

BITS = 53
"""The bits of a coordinate: as many as a double holds."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Sobol(Spread):
    """Scrambled Sobol points: point i is the sum, in bits, of the directions that the Gray code of i names."""

    directions: NDArray[np.uint64]
    """(coordinates, bits), scrambled."""
    shift: NDArray[np.uint64]

    def _fractions(self, index: NDArray[np.int64]) -> NDArray[Any]:
        gray = index ^ (index >> 1)
        points = np.broadcast_to(self.shift, (len(index), self.width)).copy()
        for bit in range(int(gray.max(initial=0)).bit_length()):
            chosen = ((gray >> bit) & 1).astype(bool)
            points[chosen] ^= self.directions[:, bit]
        return points.astype(np.float64) * 2.0**-BITS


def sobol(n: int, seed: int = 0, units: Mapping[str, str] | None = None, **bounds: Any) -> Samples:
    """Return n scrambled Sobol points, computed by SciPy; best if n is a power of two.

    Args:
        n: the number of samples.
        seed: of the scrambling.
        units: {name: unit}, such as {"kp": "N m/rad"}.
        **bounds: (low, high) of each name, numbers or arrays of one shape.
    """
    try:
        from scipy.stats import qmc
    except ImportError:
        raise missing_package("Sobol points need SciPy", "sweep", "scipy") from None
    low, high = bounds_of(bounds, "sobol")
    width = sum(x.size for x in low.values())
    seed = check_seed(seed)
    engine = qmc.Sobol(width, scramble=True, bits=BITS, rng=np.random.default_rng(seed))
    directions, shift = np.array(engine._sv), np.array(engine._shift)  # tested against its points
    return Sobol(n, seed, low, high, directions, shift, units=units or {})
