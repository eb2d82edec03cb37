"""Results as arrays that are read when they are asked for, and checked when they are read."""

from collections.abc import Callable, Iterator
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.sweep import marks
from multibody.sweep.marks import Mark
from multibody.sweep.store import Column, Store


@final
class StoredArray:
    """An array (n, ...) in a store: indexing reads the chunks that are needed, `np.asarray` all of them."""

    def __init__(self, store: Store, column: Column, mark_of: Callable[[int], Mark | None], partial: bool) -> None:
        self._store, self._column, self._mark_of, self._partial = store, column, mark_of, partial
        self.shape: tuple[int, ...] = (store.n, *column.shape)
        self.dtype = column.dtype

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        first, rest = (key[0], key[1:]) if isinstance(key, tuple) and key else (key, ())
        if first is Ellipsis or first is None:
            return np.asarray(self)[key]
        if isinstance(first, int | np.integer):
            return self._rows(np.array([self._within(int(first))]))[0][rest]
        if isinstance(first, slice):
            index = np.arange(*first.indices(len(self)))
        else:
            index = np.asarray(first)
            index = np.flatnonzero(index) if index.dtype == bool else index
            index = np.where(index < 0, index + len(self), index)
            for k in (index.min(), index.max()) if index.size else ():
                self._within(int(k))
        rows = self._rows(index.ravel()).reshape(*index.shape, *self._column.shape)
        return rows[(slice(None),) * index.ndim + rest] if rest else rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("an array in a store is read, and cannot be had without a copy")
        return np.asarray(self[:], dtype=dtype)

    def chunks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """The first index and the rows of each chunk, for what does not fit into memory."""
        for k in range(self._store.chunks):
            yield k * self._store.chunk, self._chunk(k)

    def __repr__(self) -> str:
        return f"<StoredArray {self._column.name} {self.shape} {self.dtype} in {self._store.path.name}>"

    def _within(self, k: int) -> int:
        if not -len(self) <= k < len(self):
            raise IndexError(f"{self._column.name}: index {k} is outside of {len(self)} samples")
        return k % len(self)

    def _rows(self, index: NDArray[np.int64]) -> NDArray[Any]:
        rows = np.empty((len(index), *self._column.shape), self.dtype)
        number = index // self._store.chunk
        for k in np.unique(number).tolist():
            chosen = number == k
            rows[chosen] = self._chunk(k)[index[chosen] - k * self._store.chunk]
        return rows

    def _chunk(self, k: int) -> NDArray[Any]:
        mark = self._mark_of(k)
        if mark is not None:
            return marks.rows(self._store, self._column, mark)
        start, stop = self._store.span(k)
        if not self._partial:
            raise InputError(
                f"{self._store.path}: samples {start} to {stop - 1} are not computed yet: study.run() computes them, "
                "results(partial=True) has NaN, or zero, in their place"
            )
        return np.full((stop - start, *self._column.shape), self._column.fill, self.dtype)
