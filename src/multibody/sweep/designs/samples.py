"""Samples: the values that a study varies, by name, for every index from 0 to n - 1.

Plain data describes a design, so that a store need not keep its samples. The samples of users' arrays and functions are
kept with the results.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.sweep.designs.random_streams import check_integer
from multibody.sweep.identity import digest_of, identity

Sample = dict[str, NDArray[Any]]
"""Arrays (samples, ...) by name."""
KINDS = "fiubc"
"""Kinds of numbers that can be kept: floating point, integers, truth values, complex."""


@dataclass(frozen=True, eq=False)
class Samples(ABC):
    """Samples with their number, units and bounds; `samples[index]` computes
    those of some indices.
    """

    n: int
    units: Mapping[str, str] = field(kw_only=True, default_factory=dict)
    """By name, as text."""
    kept: ClassVar[bool] = False
    """Whether a store has to keep the samples, because no plain data describes them."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", check_integer(self.n, "the number of samples"))
        for name, unit in self.units.items():
            if name not in self.names or not isinstance(unit, str):
                raise InputError(f"units: expected texts for {', '.join(self.names)}, got {name!r}: {unit!r}")

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the values."""

    @property
    def bounds(self) -> dict[str, tuple[Any, Any]]:
        """The least and the largest value by name, if they are known."""
        return {}

    @abstractmethod
    def rows(self, index: NDArray[np.int64]) -> Sample:
        """The samples of these indices."""

    def __getitem__(self, index: Any) -> Sample:
        indices = np.arange(*index.indices(self.n)) if isinstance(index, slice) else np.asarray(index)
        if indices.dtype.kind not in "iu" or not ((-self.n <= indices) & (indices < self.n)).all():
            raise InputError(f"samples: expected indices from 0 to {self.n - 1}, got {index!r}")
        rows = self.rows(np.atleast_1d(indices % self.n).astype(np.int64))
        return rows if indices.ndim else {name: x[0] for name, x in rows.items()}

    def __len__(self) -> int:
        return self.n

    def shipped(self, start: int, stop: int) -> Sample | None:
        """The samples of a range, if they have to be sent to the worker that computes it."""
        del start, stop
        return None

    def plain(self) -> dict[str, Any]:
        """The description of these samples, in the types of JSON."""
        parts = {each.name: _plain(getattr(self, each.name)) for each in fields(self)}
        return {"kind": type(self).__name__, **parts}

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.n} samples of {', '.join(self.names)}>"


@final
@dataclass(frozen=True, eq=False, repr=False)
class Mapped(Samples):
    """Samples from the user's arrays."""

    arrays: Mapping[str, NDArray[Any]]
    kept: ClassVar[bool] = True

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.arrays)

    @property
    def bounds(self) -> dict[str, tuple[Any, Any]]:
        return {name: (x.min(axis=0).tolist(), x.max(axis=0).tolist()) for name, x in self.arrays.items()}

    def rows(self, index: NDArray[np.int64]) -> Sample:
        return {name: x[index] for name, x in self.arrays.items()}

    def shipped(self, start: int, stop: int) -> Sample:
        return {name: x[start:stop] for name, x in self.arrays.items()}

    def plain(self) -> dict[str, Any]:
        digests = {name: digest_of(x) for name, x in self.arrays.items()}
        return {"kind": "Mapped", "n": self.n, "units": dict(self.units), "arrays": digests}


@final
@dataclass(frozen=True, eq=False, repr=False)
class Indexed(Samples):
    """Samples that a function computes from their indices, for designs that do not fit into memory."""

    function: Callable[[NDArray[np.int64]], Mapping[str, Any]]
    kept: ClassVar[bool] = True

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.rows(np.zeros(1, np.int64)))

    def rows(self, index: NDArray[np.int64]) -> Sample:
        return checked_arrays(self.function(index), "samples", len(index))

    def plain(self) -> dict[str, Any]:
        return {"kind": "Indexed", "n": self.n, "units": dict(self.units), "function": identity(self.function)}


def mapping(arrays: Mapping[str, Any], units: Mapping[str, str] | None = None) -> Samples:
    """Samples that arrays (n, ...) list by name.

    >>> mapping({"mass": [1.0, 2.0, 3.0]}, units={"mass": "kg"})
    <Mapped: 3 samples of mass>
    """
    checked = checked_arrays(arrays, "samples", None)
    for array in checked.values():
        array.setflags(write=False)
    return Mapped(len(next(iter(checked.values()))), checked, units=units or {})


def indexed(n: int, function: Callable[..., Mapping[str, Any]], units: Mapping[str, str] | None = None) -> Samples:
    """n samples that function(index) -> {name: array (k, ...)} computes from k
    indices, each row from its own alone.

    >>> indexed(10**9, lambda index: {"x": np.sqrt(index)})[[4, 9]]
    {'x': array([2., 3.])}
    """
    return Indexed(n, function, units=units or {})


def samples_of(samples: Any) -> Samples:
    """The samples of a study, from the user's argument."""
    if isinstance(samples, Samples):
        return samples
    if isinstance(samples, Mapping):
        return mapping(samples)
    raise InputError(
        "samples: expected mb.sweep.grid, uniform, normal, sobol, latin_hypercube, indexed, or {name: array (n, ...)}, "
        f"got {type(samples).__name__}"
    )


def checked_arrays(arrays: Any, what: str, rows: int | None) -> Sample:
    """Arrays of numbers by name, copies of the user's, all with as many rows."""
    if not isinstance(arrays, Mapping) or not arrays:
        raise InputError(f"{what}: expected {{name: array}}, got {type(arrays).__name__}")
    checked: Sample = {}
    for name, x in arrays.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise InputError(f"{what}: expected names such as 'kp', got {name!r}")
        array = np.array(x)
        if not is_kept(array.dtype) or not array.ndim or isinstance(x, np.ma.MaskedArray):
            kind = f"masked {array.dtype}" if isinstance(x, np.ma.MaskedArray) else array.dtype
            raise InputError(
                f"{what}: {name!r}: expected numbers (n, ...) of at most 64 bits, got {kind} {array.shape}"
            )
        rows = len(array) if rows is None else rows
        if len(array) != rows:
            raise InputError(f"{what}: {name!r}: expected {rows} rows, got {len(array)}")
        checked[name] = array
    return checked


def is_kept(dtype: np.dtype[Any]) -> bool:
    """Whether a store can keep numbers of a type: Zarr has none with more than 64 bits a part.

    >>> is_kept(np.dtype(complex)), is_kept(np.dtype(np.longdouble)), is_kept(np.dtype(object))
    (True, False, False)
    """
    return dtype.kind in KINDS and dtype.itemsize <= (16 if dtype.kind == "c" else 8)


def _plain(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return {"dtype": x.dtype.str, "data": x.tolist()}
    if isinstance(x, Mapping):
        return {name: _plain(value) for name, value in x.items()}
    return [_plain(value) for value in x] if isinstance(x, tuple | list) else x
