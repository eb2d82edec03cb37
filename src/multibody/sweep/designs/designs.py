"""Designs: grids, random numbers and Latin hypercubes, whose samples follow from plain data."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.sweep.designs import random_streams
from multibody.sweep.designs.permutation import permute
from multibody.sweep.designs.samples import Sample, Samples, checked_arrays


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
class Spread(Samples):
    """Numbers between 0 and 1, one for each entry of each name, mapped to bounds or moments."""

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
        fractions = self._fractions(index)
        rows, place = {}, 0
        for name, first in self.first.items():
            fraction = fractions[:, place : place + first.size].reshape(len(index), *first.shape)
            rows[name] = self._map(fraction, first, self.second[name])
            place += first.size
        return rows

    @property
    def width(self) -> int:
        """Numbers of one sample."""
        return sum(first.size for first in self.first.values())

    def _fractions(self, index: NDArray[np.int64]) -> NDArray[Any]:
        return random_streams.inside(random_streams.words(self.seed, index, self.width, purpose=random_streams.DESIGN))

    def _map(self, fraction: NDArray[Any], first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
        return first + (second - first) * fraction


@final
@dataclass(frozen=True, eq=False, repr=False)
class Uniform(Spread):
    """Independent numbers between bounds."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Normal(Spread):
    """Independent normal numbers."""

    @property
    def bounds(self) -> dict[str, tuple[Any, Any]]:
        return {}

    def _map(self, fraction: NDArray[Any], first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
        return first + second * random_streams.gaussian(fraction)


@final
@dataclass(frozen=True, eq=False, repr=False)
class LatinHypercube(Spread):
    """In each coordinate, one number in each of n equal intervals, in an order of its own."""

    def _fractions(self, index: NDArray[np.int64]) -> NDArray[Any]:
        within = super()._fractions(index)
        cells = [permute(index, self.n, self.seed, column) for column in range(self.width)]
        return np.minimum((np.stack(cells, axis=1) + within) / self.n, 1.0 - 2.0**-53)


def grid(units: Mapping[str, str] | None = None, **axes: Any) -> Samples:
    """Return every combination of the values of each name; the last one varies fastest.

    Args:
        units: {name: unit}, such as {"kp": "N m/rad"}.
        **axes: the values of each name, (n, ...).

    >>> grid(kp=[1.0, 2.0], kd=[0.1, 0.2, 0.3])[[0, 1, 3]]
    {'kp': array([1., 1., 2.]), 'kd': array([0.1, 0.2, 0.1])}
    """
    checked = {name: checked_arrays({name: x}, "grid", None)[name] for name, x in axes.items()}
    if not checked or not all(map(len, checked.values())):
        raise InputError("grid: expected values for at least one name, as in grid(kp=np.linspace(1, 100, 10))")
    return Grid(math.prod(map(len, checked.values())), checked, units=units or {})


def uniform(n: int, seed: int = 0, units: Mapping[str, str] | None = None, **bounds: Any) -> Samples:
    """Return n samples of independent, uniform random numbers.

    Args:
        n: the number of samples.
        seed: of the random numbers.
        units: {name: unit}, such as {"kp": "N m/rad"}.
        **bounds: (low, high) of each name, numbers or arrays of one shape.

    >>> uniform(1000, kp=(1, 100), q=(np.zeros(7), np.ones(7)))[:3]["q"].shape
    (3, 7)
    """
    return Uniform(n, random_streams.check_seed(seed), *bounds_of(bounds, "uniform"), units=units or {})


def normal(n: int, seed: int = 0, units: Mapping[str, str] | None = None, **moments: Any) -> Samples:
    """Return n samples of independent normal random numbers.

    Args:
        n: the number of samples.
        seed: of the random numbers.
        units: {name: unit}, such as {"kp": "N m/rad"}.
        **moments: (mean, standard deviation) of each name, numbers or arrays of one shape.
    """
    mean, deviation = _pairs(moments, "normal", "mean, deviation")
    for name, x in deviation.items():
        if (x < 0).any():
            raise InputError(f"normal: {name!r}: expected a deviation that is not negative, got {x}")
    return Normal(n, random_streams.check_seed(seed), mean, deviation, units=units or {})


def latin_hypercube(n: int, seed: int = 0, units: Mapping[str, str] | None = None, **bounds: Any) -> Samples:
    """n samples between bounds (low, high), one in each of n equal intervals of every coordinate.

    The orders are permutations that are computed, not kept, so that n may be large.

    Args:
        n: the number of samples.
        seed: of the random numbers.
        units: {name: unit}, such as {"kp": "N m/rad"}.
        **bounds: (low, high) of each name, numbers or arrays of one shape.

    >>> x = latin_hypercube(10, x=(0, 10))[:]["x"]
    >>> sorted(x.astype(int).tolist())
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    return LatinHypercube(n, random_streams.check_seed(seed), *bounds_of(bounds, "latin_hypercube"), units=units or {})


def bounds_of(bounds: Mapping[str, Any], what: str) -> tuple[Sample, Sample]:
    """Check bounds (low, high) by name, and return both."""
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
