"""What a store tells of a study: how far it is, what failed, and its results."""

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.sweep import lock, marks
from multibody.sweep.designs import described
from multibody.sweep.marks import Mark
from multibody.sweep.results import StoredArray
from multibody.sweep.samples import Sample, Samples
from multibody.sweep.store import Store


class Status(NamedTuple):
    """How far a study is."""

    samples: int
    done: int
    """Samples that are computed, failed ones among them."""
    failed: int
    seconds: float
    """Of computing, over all workers."""
    chunks: int
    chunks_done: int
    running: bool
    """Whether a process runs it now."""

    def __str__(self) -> str:
        state = "running" if self.running else "done" if self.done == self.samples else "not running"
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.done} of {self.samples} samples{failed}, {self.seconds:.1f} s of computing, {state}"


@dataclass(frozen=True)
class FailedSample:
    """A sample that has no results, why, and what it was."""

    index: int
    kind: str
    """"raised", "nan", "shape", "dtype", "died", "hung" or "memory"."""
    error: str
    sample: Sample


@final
class Record:
    """The reading side of a store; marks that were read are remembered, and new ones are seen."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._marks: dict[int, tuple[tuple[int, int], Mark]] = {}

    def mark(self, k: int) -> Mark | None:
        """The mark of a chunk; None where it is not done."""
        try:
            status = marks.place(self.store, k).stat()
        except OSError:
            return None
        stamp = status.st_mtime_ns, status.st_ino
        known = self._marks.get(k)
        if known is None or known[0] != stamp:
            mark = marks.load(self.store, k)
            if mark is None:
                return None
            known = self._marks[k] = stamp, mark
        return known[1]

    def marks(self) -> list[Mark]:
        """Those of all chunks that are done."""
        known = (self.mark(k) for k in marks.done(self.store))
        return [mark for mark in known if mark is not None]

    def status(self) -> Status:
        """How far the study is."""
        known = self.marks()
        spans = [self.store.span(mark.chunk) for mark in known]
        return Status(
            self.store.n,
            sum(stop - start for start, stop in spans),
            sum(len(mark.failures) for mark in known),
            sum(mark.seconds for mark in known),
            self.store.chunks,
            len(known),
            lock.is_locked(self.store.journal / "lock"),
        )

    def results(self, partial: bool) -> dict[str, StoredArray]:
        """The results, by name."""
        return {
            column.name: StoredArray(self.store, column, self.mark, partial)
            for column in self.store.columns
            if column.group == "results"
        }

    def failed(self) -> NDArray[np.bool_]:
        """(n,): which samples failed."""
        mask = np.zeros(self.store.n, bool)
        for mark in self.marks():
            mask[[failure.index for failure in mark.failures]] = True
        return mask

    def samples(self) -> Samples | None:
        """The design, where plain data says it."""
        return described(self.store.header["samples"])

    def sample(self, index: int) -> Sample:
        """One sample."""
        design = self.samples()
        if design is not None:
            return design[index]
        kept = {column.name: column for column in self.store.columns if column.group == "samples"}
        return {name: StoredArray(self.store, column, self.mark, False)[index] for name, column in kept.items()}

    def parameters(self, index: Any = slice(None)) -> dict[str, Any]:
        """The samples, by name, of some indices or of all."""
        design = self.samples()
        if design is not None:
            return design[index]
        kept = {column.name: column for column in self.store.columns if column.group == "samples"}
        return {name: StoredArray(self.store, column, self.mark, True)[index] for name, column in kept.items()}

    def failures(self) -> list[FailedSample]:
        """The samples that failed."""
        every = (failure for mark in self.marks() for failure in mark.failures)
        return [FailedSample(each.index, each.kind, each.error, self.sample(each.index)) for each in every]

    def extreme(self, name: str, largest: bool) -> int:
        """The sample, of those that did not fail, with the largest or the smallest result."""
        columns = {
            column.name: column
            for column in self.store.columns
            if column.group == "results" and not column.shape and column.dtype.kind != "c"
        }
        if name not in columns:
            raise InputError(f"expected a result of one real number a sample, of {', '.join(columns)}, got {name!r}")
        best, place = -np.inf, -1
        for mark in self.marks():
            start, rows = self.store.span(mark.chunk)[0], marks.rows(self.store, columns[name], mark)
            values = np.where(np.isnan(rows), -np.inf, rows if largest else -rows.astype(np.float64))
            values[[failure.index - start for failure in mark.failures]] = -np.inf
            k = int(values.argmax())
            if values[k] > best:
                best, place = values[k], start + k
        if place < 0:
            raise InputError(f"{name}: no sample has a result yet")
        return place

    def table(self) -> NDArray[Any]:
        """(n,): index, parameters, results, and whether a sample failed, a column for each number of a sample."""
        columns: dict[str, Any] = {"index": np.arange(self.store.n)}
        for name, stored in (*self.parameters().items(), *self.results(partial=True).items()):
            x = np.asarray(stored)
            for entry in np.ndindex(x.shape[1:]):
                title = name + "".join(f"[{k}]" for k in entry)
                if title in columns or title == "failed":
                    raise InputError(f"table: {title!r} is the name of two columns, such as a parameter and a result")
                columns[title] = x[(slice(None), *entry)]
        columns["failed"] = self.failed()
        rows = np.empty(self.store.n, [(name, x.dtype) for name, x in columns.items()])
        for name, x in columns.items():
            rows[name] = x
        return rows
