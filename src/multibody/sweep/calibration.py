"""The first calls of a function: the names and shapes of its results, and the chunk size that takes about a second."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from multibody.compiler.cache import code_cache
from multibody.errors import InputError
from multibody.simulate.free_memory import available
from multibody.sweep.attempts import REASONS, AttemptLog, first_log
from multibody.sweep.chunks import ChunkResult, Job, Task, Watch
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


@final
@dataclass(frozen=True)
class CalibrationTask(Task):
    """First calls of a function: with a few samples, and with more of them to choose the chunk size."""

    place: Place
    n: int
    """The number of samples of the study."""
    sample: Sample | None
    """The samples of the longest call, if a worker cannot compute them."""
    chunk_size: int | None
    """The user's chunk size."""
    kept: bool
    """Whether samples are kept in the store."""
    clock: Callable[[], float] = time.perf_counter
    chunk = -1

    def log(self, store: Path) -> Path:
        return first_log(store)

    def evaluate(self, job: Job, watch: Watch) -> ChunkResult:
        """Return the layout of the study as the value of a result.

        Raises:
            InputError: if the function has no results that can be kept.
            Deadly: if processes died at these samples.
        """
        place = self.place
        calls = _Calls(job, place.start, self.sample, AttemptLog(self.log(job.path), None, watch))
        try:
            first, results = calls.results(place.first)
            columns = columns_of(results, place.first)
        except (Deadly, StoreError):
            raise
        except (Exception, SystemExit) as error:
            last = place.start + place.first - 1
            raise InputError(f"the function fails for samples {place.start} to {last}: {one_line(error)}") from error
        else:
            if self.kept:
                columns = (*(Column("samples", k, x.shape[1:], x.dtype) for k, x in first.items()), *columns)
            chunk = self.chunk_size or self._choose_chunk(calls, size_of(columns))
            value = Calibration(columns, chunk, cpu_class(), code_cache.entries())
            return ChunkResult(self.chunk, "done", value=value)
        finally:
            calls.log.close(remove=False)

    def _choose_chunk(self, calls: "_Calls", size: int) -> int:
        """The chunk size for about a second of work, in bounded memory; a sample takes `size` bytes."""
        longest = self.place.longest if self.sample is None else len(next(iter(self.sample.values())))
        fitting = max(1, CHUNK_MEMORY // max(1, size))
        count, each, memory = self.place.first, 0.0, 0.0
        while True:
            peak, before = peak_memory(), self.clock()
            try:
                columns_of(calls.results(count)[1], count)
            except (Exception, SystemExit):  # its chunk will find the sample
                break
            taken = self.clock() - before
            each, memory = taken / count, max(memory, (peak_memory() - peak) / count)
            if taken >= TIMED_SECONDS or count >= min(longest, fitting):
                break
            count = min(longest, fitting, 4 * count)
        wanted = max(min(CHUNK_SECONDS / each if each else FIRST_SAMPLES, fitting), -(-self.n // MAX_CHUNKS))
        fitting = MEMORY_FRACTION * float(available() or 2**32) / max(1.0, memory, size)
        return max(1, min(self.n, int(min(wanted, fitting))))


@dataclass(frozen=True)
class _Calls:
    """Calls of a function, with an attempt log that finds those that end their process."""

    job: Job
    start: int
    sample: Sample | None
    log: AttemptLog

    def results(self, count: int) -> tuple[Sample, Any]:
        """The first samples, and their results."""
        span = self.start, self.start + count
        if self.log.must_split(*span):
            reason = REASONS[self.log.reasons.get(span, "died")]
            raise Deadly(f"samples {span[0]} to {span[1] - 1}: {reason}")
        index = np.arange(*span)
        rows = self.job.rows(index, self.sample)
        self.log.begin(*span)
        try:
            return rows, call_function(self.job.function, rows, self.job.seed, index)
        finally:
            self.log.end(*span)


def peak_memory(platform: str = sys.platform) -> int:
    """The peak memory of this process, in bytes."""
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if platform == "darwin" else 1024 * peak  # Linux counts KiB
