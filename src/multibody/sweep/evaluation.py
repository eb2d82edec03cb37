"""The results of a range of samples: checked, and taken apart where the range fails as a whole."""

import inspect
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.sweep.begun import WORDS, Begun
from multibody.sweep.draws import Draws
from multibody.sweep.marks import Failure
from multibody.sweep.samples import Sample, is_kept
from multibody.sweep.store import Column

PIECES = 16
"""Into which a range is taken apart that fails as a whole."""
LONGEST = 500
"""Letters of an error that are kept."""

Function = Callable[..., Mapping[str, Any]]
Rows = dict[Column, NDArray[Any]]


class Rejected(Exception):  # noqa: N818  it is no error until it is that of one sample
    """Results that cannot be kept."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def called(function: Function, sample: Sample, seed: int, index: NDArray[np.int64]) -> Any:
    """The function of these samples, which it may change as it likes, with the random numbers of each."""
    sample = {name: np.array(x) for name, x in sample.items()}
    return function(sample, rng=Draws(seed, index)) if takes_draws(function) else function(sample)


def takes_draws(function: Function) -> bool:
    """Whether a function has a parameter `rng`."""
    try:
        return "rng" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # of what Python cannot tell the parameters
        return False


def columns_of(results: Any, count: int) -> tuple[Column, ...]:
    """What results are, by name, shape of one sample and type."""
    if not isinstance(results, Mapping) or not results:
        raise Rejected("shape", f"expected a dict {{name: array}} of results, got {type(results).__name__}")
    columns = []
    for name, x in results.items():
        array = np.asarray(x)
        if not isinstance(name, str) or not name.isidentifier():
            raise Rejected("shape", f"expected names of results such as 'error', got {name!r}")
        if not is_kept(array.dtype):
            raise Rejected("dtype", f"{name}: expected numbers of at most 64 bits, got {array.dtype}")
        if isinstance(x, np.ma.MaskedArray):
            raise Rejected("dtype", f"{name}: expected a plain array, got a masked one: x.filled(np.nan) has NaN there")
        if array.shape[:1] != (count,):
            raise Rejected("shape", f"{name}: expected ({count}, ...), a row for each sample, got {array.shape}")
        columns.append(Column("results", name, array.shape[1:], array.dtype.newbyteorder("=")))
    return tuple(columns)


class Evaluation:
    """The samples of one chunk, on their way to results and failures."""

    def __init__(
        self, function: Function, seed: int, index: NDArray[np.int64], sample: Sample, rows: Rows, begun: Begun
    ) -> None:
        self.function, self.seed, self.index, self.sample = function, seed, index, sample
        self.rows, self.begun = rows, begun
        self.failures: list[Failure] = []
        self.columns = {column.name: column for column in rows if column.group == "results"}

    def solve(self, start: int, stop: int) -> None:
        """Compute the rows from start to stop: as a whole, or in pieces where that fails."""
        first = int(self.index[0])
        span = first + start, first + stop
        if self.begun.is_deadly(*span):
            reason = self.begun.reasons.get(span, "died")
            self._take_apart(start, stop, reason, WORDS[reason])
            return
        self.begun.begin(*span)
        try:
            results = self.alone(start, stop)
        except (Exception, SystemExit) as error:
            self.begun.end(*span)
            self._take_apart(start, stop, _kind(error), said(error))
            return
        self.begun.end(*span)
        for column, x in results.items():
            self.rows[column][start:stop] = x

    def alone(self, start: int, stop: int) -> Rows:
        """The results of these rows, computed apart from all others, if they are what is expected."""
        sample = {name: x[start:stop] for name, x in self.sample.items()}
        results = called(self.function, sample, self.seed, self.index[start:stop])
        given = {column.name: column for column in columns_of(results, stop - start)}
        if given.keys() != self.columns.keys():
            raise Rejected("shape", f"expected results {', '.join(self.columns)}, got {', '.join(given)}")
        for name, column in self.columns.items():
            if given[name].shape != column.shape:
                raise Rejected("shape", f"{name}: expected shape {column.shape}, got {given[name].shape}")
            if given[name].dtype != column.dtype:
                raise Rejected("dtype", f"{name}: expected {column.dtype}, got {given[name].dtype}")
        return {column: np.asarray(results[name]) for name, column in self.columns.items()}

    def dependent(self, count: int = 3) -> tuple[int, ...]:
        """Of a few samples, those whose results are others when they are computed alone."""
        failed = {failure.index for failure in self.failures}
        places = sorted({0, len(self.index) // 2, len(self.index) - 1})[:count] if len(self.index) > 1 else []
        indices = {k: int(self.index[k]) for k in places}
        return tuple(index for k, index in indices.items() if index not in failed and self._differs(k, index))

    def _differs(self, k: int, index: int) -> bool:
        """Whether a sample alone has other results, or none."""
        if self.begun.deaths[index, index + 1]:
            return True
        self.begun.begin(index, index + 1)
        try:
            alone = self.alone(k, k + 1)
        except (Exception, SystemExit):
            return True
        finally:
            self.begun.end(index, index + 1)
        return any(x.tobytes() != self.rows[column][k : k + 1].tobytes() for column, x in alone.items())

    def find_nan(self) -> None:
        """Note as failures the samples that have NaN among their results."""
        known = {failure.index for failure in self.failures}
        for column in self.columns.values():
            if column.dtype.kind in "fc":
                rows = self.rows[column].reshape(len(self.index), -1)
                for k in np.flatnonzero(np.isnan(rows).any(axis=1)).tolist():
                    if int(self.index[k]) not in known:
                        known.add(int(self.index[k]))
                        self.failures.append(Failure(int(self.index[k]), "nan", f"{column.name} is not a number"))

    def _take_apart(self, start: int, stop: int, kind: str, error: str) -> None:
        if stop - start == 1:
            self.failures.append(Failure(int(self.index[start]), kind, error))
            return
        for piece in pieces(start, stop):
            self.solve(*piece)


def pieces(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """A range in at most `PIECES` of nearly the same length.

    >>> list(pieces(0, 3))
    [(0, 1), (1, 2), (2, 3)]
    """
    width = -(-(stop - start) // PIECES)
    for low in range(start, stop, width):
        yield low, min(stop, low + width)


def said(error: BaseException) -> str:
    """An exception in one line, with where it was raised."""
    if isinstance(error, Rejected):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}"[:LONGEST] + place


def _kind(error: BaseException) -> str:
    if isinstance(error, Rejected):
        return error.kind
    return "memory" if isinstance(error, MemoryError) else "raised"
