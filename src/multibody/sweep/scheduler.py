"""The scheduler of a run: it hands out the chunks that are not done, a few at a time, and counts the results."""

import logging
import warnings
from collections.abc import Iterator

from multibody.sweep import attempts
from multibody.sweep.chunks import ChunkResult, ChunkTask
from multibody.sweep.designs.samples import Samples
from multibody.sweep.errors import SweepError, SweepWarning
from multibody.sweep.executors.executor import ChunkExecutor
from multibody.sweep.progress import Progress, Watcher
from multibody.sweep.retries import LossCounter
from multibody.sweep.store import commits
from multibody.sweep.store.record import Record

log = logging.getLogger("multibody.sweep")


def run(executor: ChunkExecutor, record: Record, samples: Samples, watcher: Watcher, only_failed: bool) -> Progress:
    """Compute all chunks that are not done.

    Raises:
        SweepError: if no worker can compute, or the store cannot be written; all chunks that are done are kept.
    """
    progress = Progress(record.store.n, workers=executor.workers)
    tasks = _tasks(record, samples, progress, only_failed)
    under_way: dict[int, ChunkTask] = {}
    losses: dict[int, LossCounter] = {}
    watcher(progress)
    while True:
        while len(under_way) < max(1, executor.ahead):
            task = next(tasks, None)
            if task is None:
                break
            under_way[task.chunk] = task
            executor.submit(task)
        if not under_way:
            return progress
        for result in executor.collect():
            if result.state == "lost":
                log.info("chunk %d: %s", result.chunk, result.error)
                counter = losses.setdefault(result.chunk, LossCounter(f"chunk {result.chunk}"))
                deaths = attempts.count_deaths(attempts.chunk_log(record.store.path, result.chunk))
                counter.add(deaths, result.error)
                executor.submit(under_way[result.chunk])
            elif isinstance(result.error, BaseException):
                raise result.error
            else:
                _count(progress, result, record)
                del under_way[result.chunk]
        progress.workers = executor.workers
        watcher(progress)


def _count(progress: Progress, result: ChunkResult, record: Record) -> None:
    if result.state == "refused":
        raise SweepError(
            f"{record.store.path}: its chunks were computed by processors of the class {record.store.header['cpu']!r}, "
            f"and worker {result.worker} is of {result.cpu!r}: results would differ in the last bits. run(mixed=True) "
            "allows it"
        )
    words = "chunk %d: %s by %s in %.3f s, %d failed"
    log.info(words, result.chunk, result.state, result.worker, result.seconds, result.failed)
    progress.done += result.samples
    progress.fresh += result.samples if result.state == "done" else 0
    progress.failed += result.failed
    progress.dependent += result.dependent


def _tasks(record: Record, samples: Samples, progress: Progress, only_failed: bool) -> Iterator[ChunkTask]:
    """The chunks to compute; those that are done are checked and counted."""
    store = record.store
    is_first = True
    for k in range(store.chunks):
        start, stop = store.span(k)
        commit = record.commit(k)
        if commits.commit_file(store, k).exists():
            damage = commits.damage(store, k)
            if damage is not None:
                warnings.warn(damage, SweepWarning, stacklevel=2)
                commits.revoke(store, k)
                commit = None
        if commit is None or (only_failed and commit.failures):
            yield ChunkTask(k, samples.shipped(start, stop), commit is not None, is_first)
            is_first = False
        else:
            attempts.chunk_log(store.path, k).unlink(missing_ok=True)
            progress.done += stop - start
            progress.failed += len(commit.failures)


def warn(progress: Progress, record: Record) -> None:
    """Warn once of samples that failed, or depend on their neighbours."""
    if progress.dependent:
        warnings.warn(
            f"the results of a sample depend on its neighbours: those of samples "
            f"{', '.join(map(str, progress.dependent))} are others when computed alone, as NumPy's matrix products "
            "are. Runs with one chunk size are equal, those with another are not: they differ in the last bits where "
            "only sums are taken in another order, and altogether where a function mixes samples",
            SweepWarning,
            stacklevel=3,
        )
    failures = [failure for commit in record.commits() for failure in commit.failures]
    if failures:
        first = failures[0]
        warnings.warn(
            f"{len(failures)} of {record.store.n} samples failed, the first is {first.index}: {first.error}; "
            'study.failures() lists them, study.run(only="failed") tries them again',
            SweepWarning,
            stacklevel=3,
        )
