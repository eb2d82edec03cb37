"""The results of a range of samples: checked, and split if the range fails as a whole."""

import inspect
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.compiler.config import final_code
from multibody.sweep.attempts import REASONS, AttemptLog
from multibody.sweep.designs.random_streams import Draws
from multibody.sweep.designs.samples import Sample, is_kept
from multibody.sweep.store.commits import ChunkCommit, Failure
from multibody.sweep.store.format import Column, Store

MAX_PARTS = 16
"""Parts into which a range that fails as a whole is split."""
MAX_MESSAGE = 500
"""Letters of an error message that are kept."""

Function = Callable[..., Mapping[str, Any]]
Rows = dict[Column, NDArray[Any]]


class Rejected(Exception):  # noqa: N818  an error only if it is that of a single sample
    """Results that cannot be kept."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def call_function(function: Function, sample: Sample, seed: int, index: NDArray[np.int64]) -> Any:
    """Call a function with copies of these samples, and with the random numbers of each."""
    sample = {name: np.array(x) for name, x in sample.items()}
    takes_rng = any(parameter.name == "rng" for parameter in parameters_of(function))
    with final_code():  # chunks are timed, and their kernels sent to other processes
        return function(sample, rng=Draws(seed, index)) if takes_rng else function(sample)


def parameters_of(function: Function) -> list[inspect.Parameter]:
    """The parameters of a function; none if Python does not know them."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def columns_of(results: Any, count: int) -> tuple[Column, ...]:
    """The names of results, with the shape of one sample and the type."""
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


@dataclass
class Evaluation:
    """The computation of one chunk: its samples, results and failures, which are not yet written."""

    function: Function
    seed: int
    index: NDArray[np.int64]
    sample: Sample
    rows: Rows
    log: AttemptLog
    store: Store
    failures: list[Failure] = field(default_factory=list)
    dependent: tuple[int, ...] = ()
    commit: ChunkCommit = field(init=False)

    @cached_property
    def columns(self) -> dict[str, Column]:
        """The results by name."""
        return {column.name: column for column in self.rows if column.group == "results"}

    def solve(self, start: int, stop: int) -> None:
        """Compute the rows from start to stop: as a whole, or in parts if that fails."""
        first = int(self.index[0])
        span = first + start, first + stop
        if self.log.must_split(*span):
            reason = self.log.reasons.get(span, "died")
            self._split(start, stop, reason, REASONS[reason])
            return
        self.log.begin(*span)
        try:
            results = self.alone(start, stop)
        except (Exception, SystemExit) as error:
            self.log.end(*span)
            self._split(start, stop, _kind(error), one_line(error))
            return
        self.log.end(*span)
        for column, x in results.items():
            self.rows[column][start:stop] = x

    def alone(self, start: int, stop: int) -> Rows:
        """The results of these rows, computed without all others, with the expected names, shapes and types."""
        sample = {name: x[start:stop] for name, x in self.sample.items()}
        results = call_function(self.function, sample, self.seed, self.index[start:stop])
        got = {column.name: column for column in columns_of(results, stop - start)}
        if got.keys() != self.columns.keys():
            raise Rejected("shape", f"expected results {', '.join(self.columns)}, got {', '.join(got)}")
        for name, column in self.columns.items():
            if got[name] != column:
                kind = "dtype" if got[name].shape == column.shape else "shape"
                expected, given = getattr(column, kind), getattr(got[name], kind)
                raise Rejected(kind, f"{name}: expected {kind} {expected}, got {given}")
        return {column: np.asarray(results[name]) for name, column in self.columns.items()}

    def check_alone(self) -> None:
        """Note which of a few samples have other results if they are computed alone."""
        failed = {failure.index for failure in self.failures}
        ends = sorted({0, len(self.index) // 2, len(self.index) - 1}) if len(self.index) > 1 else []
        indices = {k: int(self.index[k]) for k in ends}
        self.dependent = tuple(i for k, i in indices.items() if i not in failed and self._differs(k, i))

    def _differs(self, k: int, index: int) -> bool:
        """Whether a sample has other results alone, or none."""
        if self.log.deaths[index, index + 1]:
            return True
        self.log.begin(index, index + 1)
        try:
            alone = self.alone(k, k + 1)
        except (Exception, SystemExit):
            return True
        finally:
            self.log.end(index, index + 1)
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

    def _split(self, start: int, stop: int, kind: str, error: str) -> None:
        if stop - start == 1:
            self.failures.append(Failure(int(self.index[start]), kind, error))
            return
        for part in parts(start, stop):
            self.solve(*part)


def parts(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Split a range into at most `MAX_PARTS` of nearly the same length.

    >>> list(parts(0, 3))
    [(0, 1), (1, 2), (2, 3)]
    """
    width = -(-(stop - start) // MAX_PARTS)
    for low in range(start, stop, width):
        yield low, min(stop, low + width)


def one_line(error: BaseException) -> str:
    """An exception in one line, with the place that raised it."""
    if isinstance(error, Rejected):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}"[:MAX_MESSAGE] + place


def _kind(error: BaseException) -> str:
    if isinstance(error, Rejected):
        return error.kind
    return "memory" if isinstance(error, MemoryError) else "raised"
