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
        np.broadcast_to(np.int8(0), self.shape)[key]  # NumPy refuses what is no index of such an array
        first, *rest = (key if isinstance(key, tuple) else (key,)) or (...,)
        if first is None or first is Ellipsis or isinstance(first, bool | np.bool_):
            return np.asarray(self)[key]
        if isinstance(first, slice):
            return self._rows(np.arange(*first.indices(len(self))))[(slice(None), *rest)]
        index = np.asarray(first)
        if index.dtype == bool:
            index, *others = index.nonzero()
            rest = [*others, *rest]
        touched, position = np.unique(index.astype(np.int64) % len(self), return_inverse=True)
        return self._rows(touched)[(position.reshape(index.shape)[()], *rest)]

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
