"""The reading side of a store: progress, failures, samples and results of a study."""

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.sweep.designs import from_plain
from multibody.sweep.designs.samples import Sample, Samples
from multibody.sweep.store import commits, lock
from multibody.sweep.store.commits import ChunkCommit
from multibody.sweep.store.format import Column, Store
from multibody.sweep.store.stored_array import StoredArray


class Status(NamedTuple):
    """The progress of a study."""

    samples: int
    done: int
    """Samples that are computed, failed ones among them."""
    failed: int
    seconds: float
    """The time of computing, summed over all workers."""
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
    """A sample without results, with its values and the reason."""

    index: int
    kind: str
    """"raised", "nan", "shape", "dtype", "died", "hung" or "memory"."""
    error: str
    sample: Sample


@final
class Record:
    """The results, failures and progress in a store; commits are cached, and new ones are seen."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._commits: dict[int, tuple[tuple[int, int], ChunkCommit]] = {}

    def commit(self, k: int) -> ChunkCommit | None:
        """The commit of a chunk; None if it is not done."""
        try:
            status = commits.commit_file(self.store, k).stat()
        except OSError:
            return None
        stamp = status.st_mtime_ns, status.st_ino
        known = self._commits.get(k)
        if known is None or known[0] != stamp:
            commit = commits.load(self.store, k)
            if commit is None:
                return None
            known = self._commits[k] = stamp, commit
        return known[1]

    def commits(self) -> list[ChunkCommit]:
        """The commits of all chunks that are done."""
        return [commit for k in commits.committed(self.store) if (commit := self.commit(k)) is not None]

    def status(self) -> Status:
        """The progress of the study."""
        known = self.commits()
        spans = [self.store.span(commit.chunk) for commit in known]
        return Status(
            self.store.n,
            sum(stop - start for start, stop in spans),
            sum(len(commit.failures) for commit in known),
            sum(commit.seconds for commit in known),
            self.store.chunks,
            len(known),
            lock.is_locked(self.store.journal / "lock"),
        )

    def results(self, partial: bool) -> dict[str, StoredArray]:
        """The results, by name."""
        return self._arrays("results", partial)

    def failed(self) -> NDArray[np.bool_]:
        """(n,): which samples failed."""
        mask = np.zeros(self.store.n, bool)
        for commit in self.commits():
            mask[[failure.index for failure in commit.failures]] = True
        return mask

    def samples(self) -> Samples | None:
        """The design of the samples, if plain data describes it."""
        return from_plain(self.store.header["samples"])

    def sample(self, index: int) -> Sample:
        """One sample."""
        return self.parameters(index, partial=False)

    def parameters(self, index: Any = slice(None), partial: bool = True) -> dict[str, Any]:
        """The samples, by name, of some indices or of all."""
        source = self.samples()
        return source[index] if source else {name: x[index] for name, x in self._arrays("samples", partial).items()}

    def failures(self) -> list[FailedSample]:
        """The samples that failed."""
        every = (failure for commit in self.commits() for failure in commit.failures)
        return [FailedSample(each.index, each.kind, each.error, self.sample(each.index)) for each in every]

    def extreme(self, name: str, largest: bool) -> int:
        """The index of the sample with the largest or smallest result, among those that did not fail."""
        real = [column for column in self._columns("results") if not column.shape and column.dtype.kind != "c"]
        column = next((column for column in real if column.name == name), None)
        if column is None:
            names = ", ".join(column.name for column in real)
            raise InputError(f"expected a result of one real number a sample, of {names}, got {name!r}")
        best, index = -np.inf, -1
        for commit in self.commits():
            start, rows = self.store.span(commit.chunk)[0], commits.rows(self.store, column, commit)
            values = np.where(np.isnan(rows), -np.inf, rows if largest else -rows.astype(np.float64))
            values[[failure.index - start for failure in commit.failures]] = -np.inf
            k = int(values.argmax())
            if values[k] > best:
                best, index = values[k], start + k
        if index < 0:
            raise InputError(f"{name}: no sample has a result yet")
        return index

    def _columns(self, group: str) -> list[Column]:
        return [column for column in self.store.columns if column.group == group]

    def _arrays(self, group: str, partial: bool) -> dict[str, StoredArray]:
        return {column.name: StoredArray(self.store, column, self.commit, partial) for column in self._columns(group)}
