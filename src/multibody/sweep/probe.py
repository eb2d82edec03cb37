"""A first look at a function: what its results are, and how many samples it computes in a second."""

import sys
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.compiler.cache import code_cache
from multibody.errors import InputError
from multibody.sweep.begun import WORDS, Begun, first
from multibody.sweep.cpu import cpu_class
from multibody.sweep.errors import StoreError, SweepError
from multibody.sweep.evaluation import called, columns_of, said
from multibody.sweep.samples import Sample
from multibody.sweep.store import Column, size_of
from multibody.sweep.work import Watch, Work

FIRST = 8
"""Samples of the first call."""
TRIES = 5
"""Places at which a function may fail for several samples, and then for single ones, until all of it is wrong."""
SECONDS = 1.0
"""That a chunk should take."""
LOOK = 0.1
"""Seconds of a call from which the time of a sample follows."""
MEMORY = 2**26
"""Bytes of samples and results that a chunk may have."""
SHARE = 0.25
"""Of the free memory, that a chunk may take while it is computed."""
MOST = 100_000
"""Chunks: longer ones for studies that would have more, as far as there is memory for them."""


class Deadly(SweepError):  # noqa: N818  other samples may do
    """Samples at which processes have died again and again."""


class Place(NamedTuple):
    """Where a function is looked at."""

    start: int
    """The first sample."""
    few: int
    """Samples of the first call."""
    most: int
    """Samples of the largest call."""


class Probe(NamedTuple):
    """What was seen."""

    columns: tuple[Column, ...]
    """Of the results, and of the samples where these are kept."""
    chunk: int
    """Samples of a chunk."""
    cpu: str
    entries: dict[str, Any]
    """The kernels that were compiled, as the cache keeps them."""


def places(n: int) -> list[Place]:
    """Where to look, one after another until the function has results: first at several samples, then at single ones.

    >>> [place.start for place in places(1000)]
    [0, 200, 400, 600, 800, 100, 300, 500, 700, 900]
    """
    several = [Place(start, min(FIRST, n - start), n - start) for start in (n * k // TRIES for k in range(TRIES))]
    single = [Place(n * (2 * k + 1) // (2 * TRIES), 1, 1) for k in range(TRIES)]
    return list(dict.fromkeys([*several, *single]))


def probe(
    work: Work, watch: Watch, place: Place, n: int, sample: Sample | None, chunk: int | None, kept: bool
) -> Probe:
    """Call the function with a few samples; with more and more of them where a chunk is to be chosen.

    Args:
        work: the study.
        watch: is told before each call, and after it.
        place: which samples.
        n: samples of the study.
        sample: as many samples as may be needed, where this process cannot compute them.
        chunk: its size, where that is given.
        kept: whether samples are kept in the store.

    Raises:
        InputError: when the function has no results that can be kept.
        Deadly: when processes have died at these samples.
    """
    most = place.most if sample is None else len(next(iter(sample.values())))
    look = _Look(work, place.start, sample, watch)
    try:
        few, results = look.at(place.few)
        columns = columns_of(results, place.few)
    except (Deadly, StoreError):
        raise
    except (Exception, SystemExit) as error:
        last = place.start + place.few - 1
        raise InputError(f"the function fails for samples {place.start} to {last}: {said(error)}") from error
    else:
        if kept:
            columns = (*(Column("samples", k, x.shape[1:], x.dtype) for k, x in few.items()), *columns)
        if chunk is None:
            chunk = _chunk(look, place.few, most, size_of(columns), n)
        return Probe(columns, chunk, cpu_class(), code_cache.entries())
    finally:
        look.begun.close(remove=False)


class _Look:
    """Calls of the function of which a file tells, so that those that end their process are found."""

    def __init__(self, work: Work, start: int, sample: Sample | None, watch: Watch) -> None:
        self.work, self.start, self.sample = work, start, sample
        self.begun = Begun(first(work.path), None, watch)

    def at(self, count: int) -> tuple[Sample, Any]:
        """So many samples, and what the function gives for them."""
        span = self.start, self.start + count
        if self.begun.is_deadly(*span):
            reason = WORDS[self.begun.reasons.get(span, "died")]
            raise Deadly(f"samples {span[0]} to {span[1] - 1}: {reason}")
        index = np.arange(*span)
        rows = self._rows(index)
        self.begun.begin(*span)
        try:
            return rows, called(self.work.function, rows, self.work.seed, index)
        finally:
            self.begun.end(*span)

    def _rows(self, index: NDArray[np.int64]) -> Sample:
        if self.sample is not None:
            return {name: x[: len(index)] for name, x in self.sample.items()}
        if self.work.samples is None:
            raise InputError("samples: expected those of the probe")
        return self.work.samples.rows(index)


def _chunk(look: _Look, count: int, most: int, size: int, n: int) -> int:
    """About a second of work, in bounded memory."""
    fitting = max(1, MEMORY // max(1, size))
    each, memory = 0.0, 0.0
    while True:
        peak, before = _peak(), time.perf_counter()
        try:
            columns_of(look.at(count)[1], count)
        except (Exception, SystemExit):  # a chunk will tell which sample it was
            break
        taken = time.perf_counter() - before
        each, memory = taken / count, max(memory, (_peak() - peak) / count)
        if taken >= LOOK or count >= min(most, fitting):
            break
        count = min(most, fitting, 4 * count)
    wanted = max(min(SECONDS / each if each else FIRST, fitting), -(-n // MOST))
    return max(1, min(n, int(min(wanted, SHARE * _free() / max(1.0, memory, size)))))


def _peak() -> int:
    """Bytes that this process had at most."""
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def _free() -> float:
    from multibody.simulate.free_memory import available

    return float(available() or 2**32)
