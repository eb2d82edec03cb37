"""The base of all values: frozen, with slots, batched; equal and hashable by their numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from multibody._foreign_names import ForeignNames
from multibody._reprs import latex_matrix, short
from multibody.errors import InputError
from multibody.geometry._arrays import batch_shape, is_traced
from multibody.geometry.public_api import public_methods


@public_methods
class Value(metaclass=ForeignNames):
    """A frozen value made of arrays with common leading batch axes.

    A subclass names its arrays in `__slots__` and the number of core axes of each in `_core`; its public constructor
    checks and copies, `_trusted` does neither. `==` compares all numbers exactly and gives one bool.
    """

    __slots__ = ()
    __array_ufunc__ = None  # ndarray @ value asks the value, which refuses, instead of making nonsense
    _core: ClassVar[tuple[int, ...]]

    @classmethod
    def _trusted(cls, *parts: Any) -> Self:
        self = object.__new__(cls)
        for name, part in zip(cls.__slots__, parts, strict=True):
            if isinstance(part, np.ndarray):
                part.flags.writeable = False
            object.__setattr__(self, name, part)
        return self

    @classmethod
    def _from_arrays(cls, *arrays: NDArray[Any]) -> Self:
        return cls._trusted(*arrays)

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def _map(self, function: Any) -> Self:
        """The value whose arrays are function(array, its number of core axes)."""
        return self._from_arrays(*(function(a, c) for a, c in zip(self._arrays(), self._core, strict=True)))

    @property
    def shape(self) -> tuple[int, ...]:
        """The batch shape: () for a single value."""
        return batch_shape(type(self).__name__, *zip(self._arrays(), self._core, strict=True))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"a single {type(self).__name__} has no length")
        return self.shape[0]

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, index: Any) -> Self:
        """Pick from the batch, as from an array of shape `shape`."""
        batch = self.shape
        if not batch:
            raise TypeError(f"a single {type(self).__name__} cannot be indexed")
        index = index if isinstance(index, tuple) else (index,)
        np.broadcast_to(False, batch)[index]  # an index that reaches past the batch is an IndexError here
        index = index if any(i is Ellipsis for i in index) else (*index, Ellipsis)

        def pick(array: NDArray[Any], core: int) -> NDArray[Any]:
            full = np.broadcast_to(array, batch + array.shape[array.ndim - core :])
            return full[(*index, *[slice(None)] * core)]

        return self._map(pick)

    def reshape(self, *shape: Any) -> Self:
        """Return the values in another batch shape.

        Args:
            *shape: the batch shape, as integers or as one tuple; -1 stands for what is left.
        """
        batch = self.shape
        try:
            wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
            shape = np.broadcast_to(False, batch).reshape(wanted).shape
        except (TypeError, ValueError):
            raise InputError(f"reshape: expected a batch shape for the values of {batch}, got {shape}") from None

        def form(array: NDArray[Any], core: int) -> NDArray[Any]:
            tail = array.shape[array.ndim - core :]
            return np.broadcast_to(array, batch + tail).reshape(shape + tail)

        return self._map(form)

    @classmethod
    def stack(cls, values: Iterable[Self]) -> Self:
        """Values of one batch shape along a new first batch axis."""
        try:
            values = list(values)
        except TypeError:
            raise InputError(f"{cls.__name__}.stack: expected values, got one {type(values).__name__}") from None
        if not values:
            raise InputError(f"{cls.__name__}.stack: expected at least one {cls.__name__}, got none")
        for value in values:
            if not isinstance(value, cls):
                raise InputError(f"{cls.__name__}.stack: expected {cls.__name__}s, got {type(value).__name__}")
        shapes = [value.shape for value in values]
        if len(set(shapes)) > 1:
            raise InputError(f"{cls.__name__}.stack: expected one batch shape, got {', '.join(map(str, shapes))}")
        return cls._from_arrays(*(np.stack(arrays) for arrays in zip(*(v._arrays() for v in values), strict=True)))

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(np.array_equal(a, b) for a, b in zip(self._arrays(), other._arrays(), strict=True))  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        # + 0.0 makes -0.0 and 0.0, which are equal, hash alike; so do equal float32 and float64 numbers
        return hash((type(self), *((a.shape, (a.astype(np.float64) + 0.0).tobytes()) for a in self._arrays())))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} is frozen: {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a {type(self).__name__} is frozen: {name!r} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self._arrays())

    def __dir__(self) -> list[str]:
        return dir(type(self))  # without foreign names

    def __rmatmul__(self, other: object) -> Any:
        raise InputError(
            f"{type(other).__name__} @ {type(self).__name__} has no meaning: a {type(self).__name__} stands on the left"
        )

    def _repr_latex_(self) -> str | None:
        """The formula of a single value for notebooks; None for a batch, whose repr has the shape."""
        batch = self.shape or any(map(is_traced, self._arrays()))
        return None if batch else f"$\\displaystyle {self._formula()}$"

    def _formula(self) -> str:
        """The numbers of a single value; by default its matrix."""
        value: Any = self
        return latex_matrix(value.matrix)

    def _show(self, **fields: NDArray[Any]) -> str:
        """A repr: the numbers of a single value with four digits, the shape of a batch."""
        if self.shape or any(is_traced(a) for a in fields.values()):
            return f"{type(self).__name__}(batch of shape {self.shape})"
        return f"{type(self).__name__}({', '.join(f'{name}={short(array)}' for name, array in fields.items())})"


def _rebuild(cls: type[Value], arrays: tuple[NDArray[Any], ...]) -> Value:
    return cls._from_arrays(*arrays)


V = TypeVar("V", bound=Value)


def need(x: object, kind: type[V]) -> V:
    """x, if it is a value of that kind."""
    if not isinstance(x, kind):
        raise InputError(f"expected a {kind.__name__}, got {type(x).__name__}")
    return x


def own(array: NDArray[Any]) -> NDArray[Any]:
    """Copy an array of the caller, so that later writes do not reach the value."""
    return array if is_traced(array) else array.copy()


def owned(value: V) -> V:
    """The value on arrays that only it owns: a copy, unless they are already."""
    if all(is_traced(a) or (a.base is None and not a.flags.writeable) for a in value._arrays()):
        return value
    return value._map(lambda array, _: own(array))
