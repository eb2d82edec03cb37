"""A first look at a function: what its results are, and how many samples it computes in a second."""

import time
from typing import Any, NamedTuple

import numpy as np

from multibody.compiler import sharing
from multibody.errors import InputError
from multibody.sweep.cpu import cpu_class
from multibody.sweep.evaluation import called, columns_of, said
from multibody.sweep.samples import Sample
from multibody.sweep.store import Column, size_of
from multibody.sweep.work import Work

FIRST = 8
"""Samples of the first call."""
SECONDS = 1.0
"""That a chunk should take."""
LOOK = 0.1
"""Seconds of a call from which the time of a sample follows."""
MEMORY = 2**26
"""Bytes of samples and results that a chunk may have."""
SHARE = 0.25
"""Of the free memory, that a chunk may take while it is computed."""
MOST = 100_000
"""Chunks: longer ones for studies that would have more."""


class Probe(NamedTuple):
    """What was seen."""

    columns: tuple[Column, ...]
    """Of the results, and of the samples where these are kept."""
    chunk: int
    """Samples of a chunk."""
    cpu: str
    entries: dict[str, Any]
    """The kernels that were compiled, as the cache keeps them."""


def probe(work: Work, n: int, start: int, sample: Sample | None, chunk: int | None, kept: bool) -> Probe:
    """Call the function with a few samples from `start` on; with more and more of them where a chunk is to be chosen.

    Args:
        work: the study.
        n: samples of the study.
        start: the first sample.
        sample: as many samples as may be needed, where this process cannot compute them.
        chunk: its size, where that is given.
        kept: whether samples are kept in the store.

    Raises:
        InputError: when the function has no results that can be kept.
    """
    most = n - start if sample is None else len(next(iter(sample.values())))
    few = _rows(work, start, min(FIRST, most), sample)
    try:
        columns = columns_of(called(work.function, *few[:1], work.seed, few[1]), len(few[1]))
    except (Exception, SystemExit) as error:
        raise InputError(
            f"the function fails for samples {start} to {start + len(few[1]) - 1}: {said(error)}"
        ) from error
    if kept:
        columns = (*(Column("samples", k, x.shape[1:], x.dtype) for k, x in few[0].items()), *columns)
    if chunk is None:
        chunk = _chunk(work, start, most, sample, size_of(columns), n)
    return Probe(columns, chunk, cpu_class(), sharing.entries())


def _rows(work: Work, start: int, count: int, sample: Sample | None) -> tuple[Sample, Any]:
    index = np.arange(start, start + count)
    if sample is not None:
        return {name: x[:count] for name, x in sample.items()}, index
    if work.samples is None:
        raise InputError("samples: expected those of the probe")
    return work.samples.rows(index), index


def _chunk(work: Work, start: int, most: int, sample: Sample | None, size: int, n: int) -> int:
    """About a second of work, in bounded memory."""
    fitting = max(1, MEMORY // max(1, size))
    count, each, memory = min(FIRST, most), 0.0, 0.0
    while True:
        rows, index = _rows(work, start, count, sample)
        peak, before = _peak(), time.perf_counter()
        try:
            columns_of(called(work.function, rows, work.seed, index), count)
        except (Exception, SystemExit):  # a chunk will tell which sample it was
            break
        taken = time.perf_counter() - before
        each, memory = taken / count, max(memory, (_peak() - peak) / count)
        if taken >= LOOK or count >= min(most, fitting):
            break
        count = min(most, fitting, 4 * count)
    wanted = SECONDS / each if each else FIRST
    if memory:
        wanted = min(wanted, SHARE * _free() / memory)
    return max(1, min(n, int(min(wanted, fitting)), n), -(-n // MOST))


def _peak() -> int:
    """Bytes that this process had at most."""
    try:
        import resource
    except ImportError:
        return 0
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _free() -> float:
    from multibody.simulate.memory import available

    return float(available() or 2**32)
