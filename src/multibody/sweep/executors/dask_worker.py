"""The part that runs on the workers of a Dask cluster: it keeps studies, computes chunks, and enforces limits."""

import contextlib
import math
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask.config
import psutil
from distributed import Worker, WorkerPlugin, get_worker, secede

from multibody.sweep import attempts
from multibody.sweep.chunks import ChunkResult, Task, Watch, evaluate, unwatched, write
from multibody.sweep.errors import SweepError
from multibody.sweep.shipping import unpack

SETTLING_TIME = 3.0
"""The age of a worker, in s, before it computes what may kill it: a nanny gives up if its worker dies at once."""
CHECK_INTERVAL = 0.02
"""The time between two checks of a call's time and memory, in s."""
SETTLED_AGE = 15.0
"""The age of a process, in s, that has been a worker for `SETTLING_TIME` in any case."""

_packed_jobs: dict[str, bytes] = {}
"""Packed studies by the names of their plugins."""
_imported = time.monotonic()
"""The time at which this worker registered, or later."""


class StudyMissing(SweepError):  # noqa: N818  another worker may succeed
    """A worker that has no study yet, so that its task can be tried again."""


class StudyPlugin(WorkerPlugin):
    """Keeps a packed study on all workers of a cluster, now and in future."""

    def __init__(self, name: str, packed_job: bytes) -> None:
        self.name, self.packed_job = name, packed_job

    def setup(self, worker: Worker) -> None:
        del worker
        _packed_jobs[self.name] = self.packed_job

    def teardown(self, worker: Worker) -> None:
        del worker
        _packed_jobs.pop(self.name, None)


def compute(name: str, task: Task, limit: float | None) -> ChunkResult:
    """Compute and write a chunk, with a limit in s for each call of the function."""
    job = unpack(_packed_job(name))
    log = task.log(job.path)
    if task.chunk < 0 or log.exists():
        _settle()
    with _guard(limit, log) as watch:
        computed = evaluate(job, task, watch)
    if isinstance(computed, ChunkResult):
        return computed
    secede()  # so that the next chunk is computed while this one is written
    return write(computed)


def _packed_job(name: str) -> bytes:
    try:
        return _packed_jobs[name]
    except KeyError:
        raise StudyMissing("a worker has not got the study yet") from None


def _settle() -> None:
    """Wait until the nanny of this worker, if it has one, has noticed it."""
    if not get_worker().nanny:
        return
    age = time.time() - psutil.Process().create_time()
    time.sleep(max(0.0, min(SETTLING_TIME - (time.monotonic() - _imported), SETTLED_AGE - age)))


@contextlib.contextmanager
def _guard(limit: float | None, log: Path) -> Iterator[Watch]:
    """End this worker if a call of the function takes too long, provided that a nanny starts another one.

    The reason is noted before, also before the nanny ends the worker for its memory.

    Args:
        limit: in s.
        log: the attempt log of the calls.

    Yields:
        A function for True before each call, and False after it.
    """
    worker = get_worker()
    max_memory = _max_memory(worker)
    if not worker.nanny or (limit is None and max_memory == math.inf):
        yield unwatched
        return
    guard = _Guard(math.inf if limit is None else limit, max_memory, log)
    threading.Thread(target=guard.run, name="multibody-guard", daemon=True).start()
    try:
        yield guard.watch
    finally:
        guard.over.set()


class _Guard:
    """Checks the time and the memory of a call, from another thread."""

    def __init__(self, limit: float, max_memory: float, log: Path) -> None:
        self._limit, self._max_memory, self._log = limit, max_memory, log
        self._since, self._noted = math.inf, False
        self._lock = threading.Lock()
        self.over = threading.Event()

    def watch(self, calling: bool) -> None:
        """Note that a call begins, or ends."""
        with self._lock:
            self._since = time.monotonic() if calling else math.inf

    def run(self) -> None:
        """Check until the chunk is over."""
        while not self.over.wait(CHECK_INTERVAL):
            with self._lock:
                self._check()

    def _check(self) -> None:
        taken = time.monotonic() - self._since  # minus infinity between calls
        if taken >= 0 and not self._noted and _memory() > self._max_memory:
            attempts.note_kill(self._log, os.getpid(), "memory")
            self._noted = True
        if taken > self._limit:
            if not self._noted:
                attempts.note_kill(self._log, os.getpid(), "hung")
            os._exit(1)


def _memory() -> int:
    """The memory of this process, in bytes."""
    return psutil.Process().memory_info().rss


def _max_memory(worker: Any) -> float:
    """The memory at which a nanny ends a worker, in bytes."""
    fraction = dask.config.get("distributed.worker.memory.terminate", False)
    limit = worker.memory_manager.memory_limit
    return float(fraction) * limit if fraction and limit else math.inf
