"""Designs: grids, random numbers, Sobol points and Latin hypercubes, whose samples follow from plain data."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError, missing_package
from multibody.sweep import draws
from multibody.sweep.permutation import permuted
from multibody.sweep.samples import Sample, Samples, checked_arrays

BITS = 53
"""Of a Sobol coordinate: as many as a double holds."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Grid(Samples):
    """All combinations of the values of each axis; the last one runs fastest."""

    axes: Mapping[str, NDArray[Any]]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.axes)

    @property
    def bounds(self) -> dict[str, tuple[Any, Any]]:
        return {name: (x.min(axis=0).tolist(), x.max(axis=0).tolist()) for name, x in self.axes.items()}

    def rows(self, index: NDArray[np.int64]) -> Sample:
        rows: Sample = {}
        for name in reversed(self.names):
            values = self.axes[name]
            index, position = np.divmod(index, len(values))
            rows[name] = values[position]
        return {name: rows[name] for name in self.axes}


@dataclass(frozen=True, eq=False, repr=False)
class _Spread(Samples):
    """Numbers between 0 and 1, one for each entry of each name, taken to what is wanted."""

    seed: int
    first: Mapping[str, NDArray[Any]]
    """The lower bounds, or means."""
    second: Mapping[str, NDArray[Any]]
    """The upper bounds, or deviations."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.first)

    @property
    def bounds(self) -> dict[str, tuple[Any, Any]]:
        return {name: (low.tolist(), self.second[name].tolist()) for name, low in self.first.items()}

    def rows(self, index: NDArray[np.int64]) -> Sample:
        shares = self._shares(index)
        rows, place = {}, 0
        for name, first in self.first.items():
            share = shares[:, place : place + first.size].reshape(len(index), *first.shape)
            rows[name] = self._taken(share, first, self.second[name])
            place += first.size
        return rows

    @property
    def width(self) -> int:
        """Numbers of one sample."""
        return sum(first.size for first in self.first.values())

    def _shares(self, index: NDArray[np.int64]) -> NDArray[Any]:
        return draws.inside(draws.words(self.seed, index, self.width, purpose=draws.DESIGN))

    def _taken(self, share: NDArray[Any], first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
        return first + (second - first) * share


@final
@dataclass(frozen=True, eq=False, repr=False)
class Uniform(_Spread):
    """Independent numbers between bounds."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Normal(_Spread):
    """Independent normal numbers."""

    @property
    def bounds(self) -> dict[str, tuple[Any, Any]]:
        return {}

    def _taken(self, share: NDArray[Any], first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
        return first + second * draws.gaussian(share)


@final
@dataclass(frozen=True, eq=False, repr=False)
class LatinHypercube(_Spread):
    """In each coordinate, one number in each of n equal intervals, in an order of its own."""

    def _shares(self, index: NDArray[np.int64]) -> NDArray[Any]:
        within = super()._shares(index)
        cells = [permuted(index, self.n, self.seed, column) for column in range(self.width)]
        return np.minimum((np.stack(cells, axis=1) + within) / self.n, 1.0 - 2.0**-53)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Sobol(_Spread):
    """Scrambled Sobol points: point i is the sum, in bits, of the directions that the Gray code of i names."""

    directions: NDArray[np.uint64]
    """(coordinates, bits), scrambled."""
    shift: NDArray[np.uint64]

    def _shares(self, index: NDArray[np.int64]) -> NDArray[Any]:
        gray = index ^ (index >> 1)
        points = np.broadcast_to(self.shift, (len(index), self.width)).copy()
        for bit in range(int(gray.max(initial=0)).bit_length()):
            chosen = ((gray >> bit) & 1).astype(bool)
            points[chosen] ^= self.directions[:, bit]
        return points.astype(np.float64) * 2.0**-BITS


def grid(units: Mapping[str, str] | None = None, **axes: Any) -> Samples:
    """Every combination of the values of each name; the last one runs fastest.

    >>> grid(kp=[1.0, 2.0], kd=[0.1, 0.2, 0.3])[[0, 1, 3]]
    {'kp': array([1., 1., 2.]), 'kd': array([0.1, 0.2, 0.1])}
    """
    checked = {name: checked_arrays({name: x}, "grid", None)[name] for name, x in axes.items()}
    if not checked or not all(map(len, checked.values())):
        raise InputError("grid: expected values for at least one name, as in grid(kp=np.linspace(1, 100, 10))")
    return Grid(math.prod(map(len, checked.values())), checked, units=units or {})


def uniform(n: int, seed: int = 0, units: Mapping[str, str] | None = None, **bounds: Any) -> Samples:
    """n samples of independent numbers; each name has its (low, high), numbers or arrays of one shape.

    >>> uniform(1000, kp=(1, 100), q=(np.zeros(7), np.ones(7)))[:3]["q"].shape
    (3, 7)
    """
    return Uniform(n, draws.check_seed(seed), *_bounds(bounds, "uniform"), units=units or {})


def normal(n: int, seed: int = 0, units: Mapping[str, str] | None = None, **moments: Any) -> Samples:
    """n samples of independent normal numbers; each name has its (mean, deviation)."""
    mean, deviation = _pairs(moments, "normal", "mean, deviation")
    for name, x in deviation.items():
        if (x < 0).any():
            raise InputError(f"normal: {name!r}: expected a deviation that is not negative, got {x}")
    return Normal(n, draws.check_seed(seed), mean, deviation, units=units or {})


def latin_hypercube(n: int, seed: int = 0, units: Mapping[str, str] | None = None, **bounds: Any) -> Samples:
    """n samples between bounds (low, high), one in each of n equal intervals of every coordinate.

    The orders are permutations that are computed, not kept, so that n may be large.

    >>> x = latin_hypercube(10, x=(0, 10))[:]["x"]
    >>> sorted(x.astype(int).tolist())
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    return LatinHypercube(n, draws.check_seed(seed), *_bounds(bounds, "latin_hypercube"), units=units or {})


def sobol(n: int, seed: int = 0, units: Mapping[str, str] | None = None, **bounds: Any) -> Samples:
    """n scrambled Sobol points between bounds (low, high): SciPy's, best where n is a power of two."""
    try:
        from scipy.stats import qmc
    except ImportError:
        raise missing_package("Sobol points need SciPy", "sweep", "scipy") from None
    low, high = _bounds(bounds, "sobol")
    width = sum(x.size for x in low.values())
    seed = draws.check_seed(seed)
    engine = qmc.Sobol(width, scramble=True, bits=BITS, rng=np.random.default_rng(seed))
    directions, shift = np.array(engine._sv), np.array(engine._shift)  # tested against its points
    return Sobol(n, seed, low, high, directions, shift, units=units or {})


def described(plain: Mapping[str, Any]) -> Samples | None:
    """The design that `Samples.plain` told; None where plain data does not say it."""
    kind = _DESIGNS.get(plain["kind"])
    if kind is None:
        return None
    parts = {name: _revived(value) for name, value in plain.items() if name not in ("kind", "units")}
    return kind(**parts, units=plain["units"])


_DESIGNS = {kind.__name__: kind for kind in (Grid, Uniform, Normal, LatinHypercube, Sobol)}


def _revived(x: Any) -> Any:
    if isinstance(x, Mapping) and set(x) == {"dtype", "data"}:
        return np.array(x["data"], np.dtype(x["dtype"]))
    return {name: _revived(value) for name, value in x.items()} if isinstance(x, Mapping) else x


def _bounds(bounds: Mapping[str, Any], what: str) -> tuple[Sample, Sample]:
    low, high = _pairs(bounds, what, "low, high")
    for name in low:
        if not (low[name] <= high[name]).all():
            raise InputError(f"{what}: {name!r}: expected low <= high, got {low[name]} and {high[name]}")
    return low, high


def _pairs(pairs: Mapping[str, Any], what: str, parts: str) -> tuple[Sample, Sample]:
    first: Sample = {}
    second: Sample = {}
    for name, pair in pairs.items():
        try:
            one, two = pair
            one, two = np.broadcast_arrays(np.asarray(one, np.float64), np.asarray(two, np.float64))
        except (TypeError, ValueError):
            raise InputError(f"{what}: {name!r}: expected ({parts}), got {pair!r}") from None
        if not (np.isfinite(one).all() and np.isfinite(two).all()):
            raise InputError(f"{what}: {name!r}: expected finite ({parts}), got {pair!r}")
        first[name], second[name] = one.copy(), two.copy()
    if not first:
        raise InputError(f"{what}: expected ({parts}) for at least one name")
    return first, second
