"""What a worker does: compute the samples of a chunk, write them, mark them, and send back a token."""

import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.sweep import begun, marks
from multibody.sweep.cpu import cpu_class
from multibody.sweep.errors import StoreError
from multibody.sweep.evaluation import Evaluation, Function
from multibody.sweep.marks import Mark
from multibody.sweep.samples import Sample, Samples
from multibody.sweep.store import Store, read


@dataclass(frozen=True, eq=False)
class Work:
    """All that a worker has to know of a study: it travels there once."""

    function: Function
    samples: Samples | None
    """None where the samples of each chunk travel with it."""
    seed: int
    nan_fails: bool
    path: Path
    generation: int = 0
    cpu: str | None = None
    """The class of processor that may compute; None for any."""


class Task(NamedTuple):
    """A chunk to compute."""

    chunk: int
    sample: Sample | None = None
    """Where the worker cannot compute them itself."""
    only_failed: bool = False
    look_alone: bool = False
    """Whether a few samples are computed again alone."""


class Token(NamedTuple):
    """What travels back: the results are in the store."""

    chunk: int
    state: str
    """"done", "found" (it was done already) or "refused" (by a processor of another class)."""
    samples: int = 0
    failed: int = 0
    seconds: float = 0.0
    cpu: str = ""
    worker: str = ""
    dependent: tuple[int, ...] = ()
    """Samples whose results were others when they were computed alone."""


class Draft(NamedTuple):
    """A chunk that is computed and not yet written."""

    store: Store
    evaluation: Evaluation
    mark: Mark
    dependent: tuple[int, ...]


Watch = Callable[[bool], None]
"""Is told True before each call of the function, and False after it, for whoever limits its time."""


def unwatched(calling: bool) -> None:
    """Nobody limits the time of the function."""
    del calling


def compute(work: Work, task: Task, watch: Watch = unwatched) -> Token:
    """Compute a chunk and write it, unless it is done: then its token is all that is asked for."""
    draft = evaluate(work, task, watch)
    return draft if isinstance(draft, Token) else write(draft)


def evaluate(work: Work, task: Task, watch: Watch = unwatched) -> Draft | Token:
    """Compute a chunk; or its token, where it is done or not for this processor."""
    store = read(work.path)
    if store is None:
        raise StoreError(f"{work.path}: this worker does not see the store: expected a disk that all workers share")
    start, stop = store.span(task.chunk)
    mark = None if marks.damage(store, task.chunk) else marks.load(store, task.chunk)
    if mark is not None and not task.only_failed:
        return _token(mark, stop - start, "found")
    cpu = cpu_class()
    if work.cpu is not None and cpu != work.cpu:
        return Token(task.chunk, "refused", cpu=cpu, worker=worker_name())
    index = np.arange(start, stop)
    before = time.perf_counter()
    evaluation = Evaluation(
        work.function,
        work.seed,
        index,
        sample_of(work, task, index),
        marks.empty(store, stop - start),
        begun.Begun(begun.place(work.path, task.chunk), (start, stop), watch),
    )
    try:
        _evaluate(evaluation, store, mark)
        dependent = evaluation.dependent() if task.look_alone else ()
        if work.nan_fails:
            evaluation.find_nan()
    except BaseException:  # an interrupt, a full disk: nothing that tells of a sample
        evaluation.begun.close(remove=True)
        raise
    seconds = time.perf_counter() - before
    failures = tuple(sorted(evaluation.failures))
    mark = Mark(task.chunk, {}, failures, seconds, cpu, work.generation, worker_name())
    return Draft(store, evaluation, mark, dependent)


def write(draft: Draft) -> Token:
    """Write a chunk, mark it, and forget that it was begun."""
    try:
        mark = marks.commit(draft.store, draft.evaluation.rows, draft.mark)
    finally:
        draft.evaluation.begun.close(remove=True)
    return _token(mark, len(draft.evaluation.index), "done")._replace(dependent=draft.dependent)


def _evaluate(evaluation: Evaluation, store: Store, mark: Mark | None) -> None:
    """All samples; or, of a chunk that is done, those that failed."""
    for column in evaluation.rows:
        if column.group == "samples":
            evaluation.rows[column][:] = evaluation.sample[column.name]
    if mark is None:
        evaluation.solve(0, len(evaluation.index))
        return
    for column in evaluation.columns.values():
        evaluation.rows[column][:] = marks.rows(store, column, mark)
    for failure in mark.failures:
        k = failure.index - int(evaluation.index[0])
        for column in evaluation.columns.values():
            evaluation.rows[column][k] = column.fill
        evaluation.solve(k, k + 1)


def sample_of(work: Work, task: Task, index: NDArray[np.int64]) -> Sample:
    """The samples of a chunk: those that came with it, or computed here."""
    if task.sample is not None:
        return task.sample
    if work.samples is None:
        raise StoreError("a chunk came without its samples")
    return work.samples.rows(index)


def worker_name() -> str:
    """The name of this process among all machines."""
    return f"{socket.gethostname()}:{os.getpid()}"


def _token(mark: Mark, samples: int, state: str) -> Token:
    seconds = mark.seconds if state == "done" else 0.0
    return Token(mark.chunk, state, samples, len(mark.failures), seconds, mark.cpu, mark.worker)
