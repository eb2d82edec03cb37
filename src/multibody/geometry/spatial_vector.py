"""The base of twists and wrenches: two 3-vectors, linear part first, that add and scale."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody._reprs import latex_matrix
from multibody.geometry._arrays import batch_of, batch_shape, floats, numbers
from multibody.geometry.pose import Pose, SupportsPull
from multibody.geometry.public_api import public_methods
from multibody.geometry.value import Value, own


@public_methods
class SpatialVector(SupportsPull):
    """The abstract base of Twist and Wrench."""

    __slots__ = ()
    _core = (1, 1)

    def _set(self, *parts: ArrayLike) -> None:
        """Check and copy the two parts."""
        names = self.__slots__
        arrays = [floats(part, f"{type(self).__name__}.{name}", 3) for part, name in zip(parts, names, strict=True)]
        batch = batch_shape(type(self).__name__, *((array, 1) for array in arrays))
        for name, array in zip(names, arrays, strict=True):
            object.__setattr__(self, name, np.broadcast_to(own(array), (*batch, 3)))

    @classmethod
    def from_vector(cls, vector: ArrayLike) -> Self:
        """The vector made of (..., 6) numbers, linear part first."""
        vector = own(floats(vector, cls.__name__, 6))
        return cls._trusted(vector[..., :3], vector[..., 3:])

    @classmethod
    def zero(cls, batch: int | tuple[int, ...] = ()) -> Self:
        """All zeros, in the given batch shape."""
        shape = (*batch_of(batch), 3)
        return cls._trusted(np.zeros(shape), np.zeros(shape))

    @property
    def vector(self) -> NDArray[Any]:
        """(..., 6), linear part first."""
        first, second = self._arrays()
        if first.shape != second.shape:  # one of them may be the same for a whole batch
            shape = np.broadcast_shapes(first.shape, second.shape)
            first, second = np.broadcast_to(first, shape), np.broadcast_to(second, shape)
        return np.concatenate([first, second], axis=-1)

    def _combine(self, other: object, sign: float) -> Self:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._trusted(*(a + sign * b for a, b in zip(self._arrays(), other._arrays(), strict=True)))

    def __add__(self, other: object) -> Self:
        return self._combine(other, 1.0)

    def __sub__(self, other: object) -> Self:
        return self._combine(other, -1.0)

    def __neg__(self) -> Self:
        return self * -1.0

    def __mul__(self, factor: ArrayLike) -> Self:
        """Multiply by scalars of any batch shape."""
        if isinstance(factor, Value):
            return NotImplemented
        parts = self._arrays()
        factor = numbers(factor, "factor", parts[0])[..., None]
        return self._trusted(*(part * factor for part in parts))

    __rmul__ = __mul__

    def __rmatmul__(self, other: object) -> Self:
        """A_H_B @ B_x is A_x: the action of a pose."""
        if isinstance(other, Pose):
            return self._moved_by(other)
        return super().__rmatmul__(other)

    def _moved_by(self, A_H_B: Pose) -> Self:
        raise NotImplementedError

    def __repr__(self) -> str:
        return self._show(**dict(zip(self.__slots__, self._arrays(), strict=True)))

    def _formula(self) -> str:
        return latex_matrix(self.vector[:, None])
