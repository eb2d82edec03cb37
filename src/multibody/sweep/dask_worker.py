"""What runs on the workers of a Dask cluster: the parcels of studies, and their chunks."""

import contextlib
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from multibody.sweep import begun
from multibody.sweep.crew import WorkerLost
from multibody.sweep.parcel import unpack
from multibody.sweep.work import Task, Token, Watch, evaluate, unwatched, write

SETTLED = 3.0
"""In s: how long a worker is there before it takes what may kill it: a nanny gives up when its worker dies at once."""
LOOK = 0.02
"""In s: how often the time and the memory of a call are looked at."""
OLD = 15.0
"""In s: the age of a process that has been a worker for that long in any case."""

_parcels: dict[str, bytes] = {}
"""The parcels that came, by the names of their plugins."""
_imported = time.monotonic()
"""When this worker registered, or later."""


class Unequipped(WorkerLost):
    """A worker without the parcel of the study."""


def receive(name: str, parcel: bytes) -> None:
    """Keep the parcel of a study."""
    _parcels[name] = parcel


def forget(name: str) -> None:
    """The study is over."""
    _parcels.pop(name, None)


def computed(name: str, task: Task, limit: float | None) -> Token:
    """The token of a chunk."""
    parcel = _parcel_of(name)
    work = unpack(parcel)
    notes = begun.place(work.path, task.chunk)
    if notes.exists():
        _settle()
    with _guard(limit, notes) as watch:
        draft = evaluate(work, task, watch)
    if isinstance(draft, Token):
        return draft
    from distributed import secede

    secede()  # the next chunk is computed while this one goes to the disk
    return write(draft)


def _settle() -> None:
    """Wait until the nanny of this worker, if it has one, has seen that it is there."""
    import psutil
    from distributed import get_worker

    if not get_worker().nanny:
        return
    age = time.time() - psutil.Process().create_time()
    time.sleep(max(0.0, min(SETTLED - (time.monotonic() - _imported), OLD - age)))


def called(name: str, limit: float | None, function: Callable[..., Any], *args: Any) -> Any:
    """function(work, watch, *args), under the same limit."""
    work = unpack(_parcel_of(name))
    _settle()
    with _guard(limit, begun.first(work.path)) as watch:
        return function(work, watch, *args)


def _parcel_of(name: str) -> bytes:
    try:
        return _parcels[name]
    except KeyError:
        raise Unequipped("a worker has not got the study yet") from None


@contextlib.contextmanager
def _guard(limit: float | None, notes: Path) -> Iterator[Watch]:
    """End this worker when a call of the function takes too long, if a nanny starts another one.

    Before that, and before the nanny ends it for its memory, the reason is noted.

    Args:
        limit: in s.
        notes: the file in which the calls are.

    Yields:
        What is told True before a call, and False after it.
    """
    from distributed import get_worker

    worker = get_worker()
    most = _most_memory(worker)
    if not worker.nanny or (limit is None and most == math.inf):
        yield unwatched
        return
    guard = _Guard(math.inf if limit is None else limit, most, notes)
    threading.Thread(target=guard.look, name="multibody-guard", daemon=True).start()
    try:
        yield guard.watch
    finally:
        guard.over.set()


class _Guard:
    """Looks at the time and the memory of a call, from another thread."""

    def __init__(self, limit: float, most: float, notes: Path) -> None:
        self._limit, self._most, self._notes = limit, most, notes
        self._since, self._noted = math.inf, False
        self._lock = threading.Lock()
        self.over = threading.Event()

    def watch(self, calling: bool) -> None:
        """A call begins, or ends."""
        with self._lock:
            self._since = time.monotonic() if calling else math.inf

    def look(self) -> None:
        """Until it is over."""
        while not self.over.wait(LOOK):
            with self._lock:
                self._look()

    def _look(self) -> None:
        taken = time.monotonic() - self._since  # minus infinity while nothing is called
        if taken >= 0 and not self._noted and _memory() > self._most:
            begun.killed(self._notes, os.getpid(), "memory")
            self._noted = True
        if taken > self._limit:
            if not self._noted:
                begun.killed(self._notes, os.getpid(), "hung")
            os._exit(1)


def _memory() -> int:
    """Bytes that this process has."""
    import psutil

    return psutil.Process().memory_info().rss


def _most_memory(worker: Any) -> float:
    """Bytes from which on the nanny ends a worker."""
    import dask.config

    fraction = dask.config.get("distributed.worker.memory.terminate", False)
    limit = worker.memory_manager.memory_limit
    return float(fraction) * limit if fraction and limit else math.inf
