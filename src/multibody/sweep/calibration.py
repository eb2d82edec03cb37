"""The first calls of a function: the names and shapes of its results, and the chunk size that takes about a second."""

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.compiler.cache import code_cache
from multibody.errors import InputError
from multibody.sweep.attempts import REASONS, AttemptLog, first_log
from multibody.sweep.chunks import Job, Watch
from multibody.sweep.cpu import cpu_class
from multibody.sweep.designs.samples import Sample
from multibody.sweep.errors import StoreError, SweepError
from multibody.sweep.evaluation import call_function, columns_of, one_line
from multibody.sweep.retries import PROBED_PLACES
from multibody.sweep.store.format import Column, size_of

FIRST_SAMPLES = 8
"""The samples of the first call."""
CHUNK_SECONDS = 1.0
"""The computing time of a chunk, in s."""
TIMED_SECONDS = 0.1
"""The length of a call, in s, from which the time of a sample follows."""
CHUNK_MEMORY = 2**26
"""The bytes of samples and results of a chunk, at most."""
MEMORY_FRACTION = 0.25
"""The fraction of the free memory that a chunk may take while it is computed."""
MAX_CHUNKS = 100_000
"""The number of chunks at most, as far as there is memory for longer ones."""


Clock = Callable[[], float]


class Deadly(SweepError):  # noqa: N818  other samples may succeed
    """Samples at which processes died repeatedly."""


class Place(NamedTuple):
    """A range of samples for which a function is called first."""

    start: int
    first: int
    """The samples of the first call."""
    longest: int
    """The samples of the longest call."""


class Calibration(NamedTuple):
    """The layout of a study, from the first calls of its function."""

    columns: tuple[Column, ...]
    """The arrays of results, and of the samples if these are kept."""
    chunk: int
    """The samples of a chunk."""
    cpu: str
    entries: dict[str, Any]
    """The compiled kernels, as the cache keeps them."""


def places(n: int) -> list[Place]:
    """The places to try until the function has results: several samples first, then single ones.

    >>> [place.start for place in places(1000)]
    [0, 200, 400, 600, 800, 100, 300, 500, 700, 900]
    """
    starts = [n * k // PROBED_PLACES for k in range(PROBED_PLACES)]
    several = [Place(start, min(FIRST_SAMPLES, n - start), n - start) for start in starts]
    single = [Place(n * (2 * k + 1) // (2 * PROBED_PLACES), 1, 1) for k in range(PROBED_PLACES)]
    return list(dict.fromkeys([*several, *single]))


def calibrate(
    job: Job,
    watch: Watch,
    place: Place,
    n: int,
    sample: Sample | None,
    chunk: int | None,
    kept: bool,
    clock: Clock = time.perf_counter,
) -> Calibration:
    """Call the function with a few samples, and with more of them to choose the chunk size.

    Args:
        job: the study.
        watch: called with True before each call and with False after it.
        place: the samples.
        n: the number of samples of the study.
        sample: the samples of the longest call, if this process cannot compute them.
        chunk: the user's chunk size, or None.
        kept: whether samples are kept in the store.
        clock: returns the time, in s.

    Raises:
        InputError: if the function has no results that can be kept.
        Deadly: if processes died at these samples.
    """
    longest = place.longest if sample is None else len(next(iter(sample.values())))
    calls = _Calls(job, place.start, sample, watch)
    try:
        first, results = calls.results(place.first)
        columns = columns_of(results, place.first)
    except (Deadly, StoreError):
        raise
    except (Exception, SystemExit) as error:
        last = place.start + place.first - 1
        raise InputError(f"the function fails for samples {place.start} to {last}: {one_line(error)}") from error
    else:
        if kept:
            columns = (*(Column("samples", k, x.shape[1:], x.dtype) for k, x in first.items()), *columns)
        if chunk is None:
            chunk = _chunk(calls, place.first, longest, size_of(columns), n, clock)
        return Calibration(columns, chunk, cpu_class(), code_cache.entries())
    finally:
        calls.log.close(remove=False)


class _Calls:
    """The first calls of a function, with an attempt log that finds those that end their process."""

    def __init__(self, job: Job, start: int, sample: Sample | None, watch: Watch) -> None:
        self.job, self.start, self.sample = job, start, sample
        self.log = AttemptLog(first_log(job.path), None, watch)

    def results(self, count: int) -> tuple[Sample, Any]:
        """The first samples, and their results."""
        span = self.start, self.start + count
        if self.log.must_split(*span):
            reason = REASONS[self.log.reasons.get(span, "died")]
            raise Deadly(f"samples {span[0]} to {span[1] - 1}: {reason}")
        index = np.arange(*span)
        rows = self._rows(index)
        self.log.begin(*span)
        try:
            return rows, call_function(self.job.function, rows, self.job.seed, index)
        finally:
            self.log.end(*span)

    def _rows(self, index: NDArray[np.int64]) -> Sample:
        if self.sample is not None:
            return {name: x[: len(index)] for name, x in self.sample.items()}
        if self.job.samples is None:
            raise InputError("samples: expected those of the first calls")
        return self.job.samples.rows(index)


def _chunk(calls: _Calls, count: int, longest: int, size: int, n: int, clock: Clock) -> int:
    """The chunk size for about a second of work, in bounded memory."""
    fitting = max(1, CHUNK_MEMORY // max(1, size))
    each, memory = 0.0, 0.0
    while True:
        peak, before = peak_memory(), clock()
        try:
            columns_of(calls.results(count)[1], count)
        except (Exception, SystemExit):  # its chunk will find the sample
            break
        taken = clock() - before
        each, memory = taken / count, max(memory, (peak_memory() - peak) / count)
        if taken >= TIMED_SECONDS or count >= min(longest, fitting):
            break
        count = min(longest, fitting, 4 * count)
    wanted = max(min(CHUNK_SECONDS / each if each else FIRST_SAMPLES, fitting), -(-n // MAX_CHUNKS))
    return max(1, min(n, int(min(wanted, MEMORY_FRACTION * _free() / max(1.0, memory, size)))))


def peak_memory(platform: str = sys.platform) -> int:
    """The peak memory of this process, in bytes."""
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if platform == "darwin" else 1024 * peak  # Linux counts KiB


def _free() -> float:
    from multibody.simulate.free_memory import available

    return float(available() or 2**32)
