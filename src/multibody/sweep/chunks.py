"""The chunks of a study: a worker computes the samples of one, writes and commits them, and returns a `ChunkResult`."""

import pickle
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from multibody.sweep import attempts
from multibody.sweep.cpu import cpu_class
from multibody.sweep.designs.samples import Sample, Samples
from multibody.sweep.errors import StoreError, SweepError
from multibody.sweep.evaluation import Evaluation, Function, one_line
from multibody.sweep.store import commits
from multibody.sweep.store.commits import ChunkCommit
from multibody.sweep.store.format import read


@dataclass(frozen=True, eq=False)
class Job:
    """A study as a worker needs it; it is sent to each worker once."""

    function: Function
    samples: Samples | None
    """None if the samples of each chunk are sent with its task."""
    seed: int
    nan_fails: bool
    path: Path
    generation: int = 0
    cpu: str | None = None
    """The class of processor that may compute; None for any."""

    def rows(self, index: NDArray[np.int64], sent: Sample | None) -> Sample:
        """The samples of consecutive indices: the first of those that came with a task, or computed ones."""
        if sent is not None:
            return {name: x[: len(index)] for name, x in sent.items()}
        if self.samples is None:
            raise StoreError("a task came without its samples")
        return self.samples.rows(index)


Watch = Callable[[bool], None]
"""Called with True before each call of the function and with False after it, by whoever limits its time."""


class ChunkResult(NamedTuple):
    """The outcome of a chunk, in its store already; executors pass it on to the scheduler as it is."""

    chunk: int
    state: str
    """"done", "found" (done before), "refused" (processor of another class), "lost" (its worker was) or "raised"."""
    samples: int = 0
    failed: int = 0
    seconds: float = 0.0
    cpu: str = ""
    worker: str = ""
    dependent: tuple[int, ...] = ()
    """Samples that had other results when they were computed alone."""
    error: BaseException | str = ""
    """Of a chunk that raised: no fault of a sample, such as a full disk; the reason of one that was lost."""
    value: Any = None
    """The outcome of a task that is no chunk."""


def unwatched(calling: bool) -> None:
    """No time limit."""
    del calling


class Task(ABC):
    """Work for one worker: a chunk, or the first calls of a function."""

    chunk: int
    """The chunk; -1 for the first calls."""

    @abstractmethod
    def log(self, store: Path) -> Path:
        """The attempt log."""

    @abstractmethod
    def evaluate(self, job: Job, watch: Watch) -> Evaluation | ChunkResult:
        """Compute; return the samples of a chunk for `write`, or a result if nothing is to be written."""


@final
@dataclass(frozen=True)
class ChunkTask(Task):
    """A chunk to compute."""

    chunk: int
    sample: Sample | None = None
    """The samples, if the worker cannot compute them itself."""
    only_failed: bool = False
    check_alone: bool = False
    """Whether a few samples are computed again alone, to see whether they depend on their neighbours."""

    def log(self, store: Path) -> Path:
        return attempts.chunk_log(store, self.chunk)

    def evaluate(self, job: Job, watch: Watch) -> Evaluation | ChunkResult:
        store = read(job.path)
        if store is None:
            raise StoreError(f"{job.path}: this worker does not see the store: expected a disk that all workers share")
        start, stop = store.span(self.chunk)
        commit = None if commits.damage(store, self.chunk) else commits.load(store, self.chunk)
        if commit is not None and not self.only_failed:
            return _result(commit, stop - start, "found")
        cpu = cpu_class()
        if job.cpu is not None and cpu != job.cpu:
            return ChunkResult(self.chunk, "refused", cpu=cpu, worker=attempts.process_name())
        index = np.arange(start, stop)
        before = time.perf_counter()
        log = attempts.AttemptLog(self.log(job.path), (start, stop), watch)
        rows = {column: column.empty(stop - start) for column in store.columns}
        evaluation = Evaluation(job.function, job.seed, index, job.rows(index, self.sample), rows, log, store)
        try:
            _fill(evaluation, commit)
            if self.check_alone:
                evaluation.check_alone()
            if job.nan_fails:
                evaluation.find_nan()
        except BaseException:  # an interrupt or a full disk is no evidence against a sample
            log.close(remove=True)
            raise
        failures = tuple(sorted(evaluation.failures))
        seconds = time.perf_counter() - before
        evaluation.commit = ChunkCommit(self.chunk, {}, failures, seconds, cpu, job.generation, attempts.process_name())
        return evaluation


def evaluate(job: Job, task: Task, watch: Watch = unwatched) -> Evaluation | ChunkResult:
    """Evaluate a task; an error that is no sample's becomes a result."""
    try:
        return task.evaluate(job, watch)
    except Exception as error:
        return _raised(task.chunk, error)


def write(computed: Evaluation | ChunkResult) -> ChunkResult:
    """Write a chunk, commit it, and remove its attempt log; an error becomes a result, and a result stays one."""
    if isinstance(computed, ChunkResult):
        return computed
    try:
        commit = commits.write(computed.store, computed.rows, computed.commit)
    except Exception as error:
        return _raised(computed.commit.chunk, error)
    finally:
        computed.log.close(remove=True)
    return _result(commit, len(computed.index), "done")._replace(dependent=computed.dependent)


def _raised(chunk: int, error: Exception) -> ChunkResult:
    """The result with an error, or with its message if it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = SweepError(one_line(error))
    return ChunkResult(chunk, "raised", error=error)


def _fill(evaluation: Evaluation, commit: ChunkCommit | None) -> None:
    """Compute all samples of a chunk; of one that is done, those that failed."""
    for column in evaluation.rows:
        if column.group == "samples":
            evaluation.rows[column][:] = evaluation.sample[column.name]
    if commit is None:
        evaluation.solve(0, len(evaluation.index))
        return
    for column in evaluation.columns.values():
        evaluation.rows[column][:] = commits.rows(evaluation.store, column, commit)
    for failure in commit.failures:
        k = failure.index - int(evaluation.index[0])
        for column in evaluation.columns.values():
            evaluation.rows[column][k] = column.fill
        evaluation.solve(k, k + 1)


def _result(commit: ChunkCommit, samples: int, state: str) -> ChunkResult:
    seconds = commit.seconds if state == "done" else 0.0
    return ChunkResult(commit.chunk, state, samples, len(commit.failures), seconds, commit.cpu, commit.worker)
