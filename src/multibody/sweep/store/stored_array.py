"""Arrays in a store, which are read and checked when they are indexed."""

from collections.abc import Callable, Iterator
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.sweep.store import commits
from multibody.sweep.store.commits import ChunkCommit
from multibody.sweep.store.format import Column, Store


@final
class StoredArray:
    """An array (n, ...) in a store: indexing reads the chunks that are needed, `np.asarray` all of them."""

    def __init__(
        self, store: Store, column: Column, commit_of: Callable[[int], ChunkCommit | None], partial: bool
    ) -> None:
        self._store, self._column, self._commit_of, self._partial = store, column, commit_of, partial
        self.shape: tuple[int, ...] = (store.n, *column.shape)
        self.dtype = column.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        np.broadcast_to(np.int8(0), self.shape)[key]  # raises NumPy's IndexError
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
        """The first index and the rows of each chunk, for arrays that do not fit into memory."""
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
        commit = self._commit_of(k)
        if commit is not None:
            return commits.rows(self._store, self._column, commit)
        start, stop = self._store.span(k)
        if not self._partial:
            raise InputError(
                f"{self._store.path}: samples {start} to {stop - 1} are not computed yet: study.run() computes them, "
                "results(partial=True) has NaN, or zero, in their place"
            )
        return self._column.empty(stop - start)
