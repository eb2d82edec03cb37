"""Running a study: give out the chunks that are not done, a bounded number at a time, and count the tokens."""

import logging
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from multibody.sweep import begun, marks
from multibody.sweep.crew import Crew, WorkerLost
from multibody.sweep.errors import SweepError, SweepWarning
from multibody.sweep.record import Record
from multibody.sweep.samples import Samples
from multibody.sweep.work import Task, Token

TRIES = 50
"""How often a chunk may be lost, without that a death tells more of its samples, until the crew is the reason."""

log = logging.getLogger("multibody.sweep")


@dataclass
class Tally:
    """How far a run is, for those who watch."""

    samples: int
    done: int = 0
    failed: int = 0
    workers: int = 1
    fresh: int = 0
    """Samples that this run has computed."""
    since: float = field(default_factory=time.monotonic)
    dependent: tuple[int, ...] = ()

    @property
    def rate(self) -> float:
        """Samples a second, in this run."""
        return self.fresh / max(1e-9, time.monotonic() - self.since)

    @property
    def left(self) -> float | None:
        """Seconds to the end at this rate."""
        return (self.samples - self.done) / self.rate if self.fresh else None


Watcher = Callable[[Tally], None]


def run(crew: Crew, record: Record, samples: Samples, watcher: Watcher, only_failed: bool) -> Tally:
    """Compute all that is not done; return when it is.

    Raises:
        SweepError: when nobody is there to compute, or the store cannot be written. What is done is kept.
    """
    tally = Tally(record.store.n, workers=crew.workers)
    tasks = _tasks(record, samples, tally, only_failed)
    tries: Counter[int] = Counter()
    deaths: Counter[int] = Counter()
    under_way = 0
    watcher(tally)
    while True:
        while under_way < max(1, crew.ahead):
            task = next(tasks, None)
            if task is None:
                break
            crew.submit(task)
            under_way += 1
        if not under_way:
            return tally
        for task, result in crew.collect():
            under_way -= 1
            if isinstance(result, WorkerLost):
                notes = begun.place(record.store.path, task.chunk)
                before, deaths[task.chunk] = deaths[task.chunk], begun.deaths(notes)
                tries[task.chunk] = 0 if deaths[task.chunk] > before else tries[task.chunk] + 1
                log.info("chunk %d: %s", task.chunk, result)
                if tries[task.chunk] >= TRIES:
                    raise SweepError(f"chunk {task.chunk} was given out {TRIES} times in vain, the last one: {result}")
                crew.submit(task)
                under_way += 1
            elif isinstance(result, BaseException):
                raise result
            else:
                _count(tally, result, record)
        tally.workers = crew.workers
        watcher(tally)


def _count(tally: Tally, token: Token, record: Record) -> None:
    if token.state == "refused":
        raise SweepError(
            f"{record.store.path}: its chunks were computed by processors of the class {record.store.header['cpu']!r}, "
            f"and worker {token.worker} is of {token.cpu!r}: results would differ in the last bits. run(mixed=True) "
            "allows it"
        )
    log.info(
        "chunk %d: %s by %s in %.3f s, %d failed", token.chunk, token.state, token.worker, token.seconds, token.failed
    )
    tally.done += token.samples
    tally.fresh += token.samples if token.state == "done" else 0
    tally.failed += token.failed
    tally.dependent += token.dependent


def _tasks(record: Record, samples: Samples, tally: Tally, only_failed: bool) -> Iterator[Task]:
    """The chunks that are to be computed; those that are done are counted, and checked, on the way."""
    store = record.store
    looked = False
    for k in range(store.chunks):
        start, stop = store.span(k)
        mark = record.mark(k)
        if marks.place(store, k).exists():
            damage = marks.damage(store, k)
            if damage is not None:
                warnings.warn(damage, SweepWarning, stacklevel=2)
                marks.forget(store, k)
                mark = None
        if mark is None or (only_failed and mark.failures):
            yield Task(k, samples.travelling(start, stop), mark is not None, not looked)
            looked = True
        else:
            begun.place(store.path, k).unlink(missing_ok=True)
            tally.done += stop - start
            tally.failed += len(mark.failures)


def warned(tally: Tally, record: Record) -> None:
    """Say once what a user should know."""
    if tally.dependent:
        warnings.warn(
            f"the results of a sample depend on its neighbours: those of samples "
            f"{', '.join(map(str, tally.dependent))} are others when computed alone, as NumPy's matrix products are. "
            "Runs with one chunk size are equal, those with another are not: they differ in the last bits where only "
            "sums are taken in another order, and altogether where a function mixes samples",
            SweepWarning,
            stacklevel=3,
        )
    failures = [failure for mark in record.marks() for failure in mark.failures]
    if failures:
        first = failures[0]
        warnings.warn(
            f"{len(failures)} of {record.store.n} samples failed, the first is {first.index}: {first.error}; "
            'study.failures() lists them, study.run(only="failed") tries them again',
            SweepWarning,
            stacklevel=3,
        )
