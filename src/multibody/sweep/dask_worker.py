"""What runs on the workers of a Dask cluster: the parcels of studies, and their chunks."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from multibody.sweep import begun
from multibody.sweep.crew import WorkerLost
from multibody.sweep.parcel import unpack
from multibody.sweep.store import read
from multibody.sweep.work import Task, Token, evaluate, write

SETTLED = 3.0
"""In s: how long a worker is there before it takes what may kill it: a nanny gives up when its worker dies at once."""
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
    store = read(unpack(parcel).path)
    if store is not None and begun.place(store, task.chunk).exists():
        _settle()
    with _guard(limit, lambda: store and begun.killed(store, task.chunk, os.getpid(), "hung")) as watch:
        draft = evaluate(unpack(parcel), task, watch)
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
    """function(work, *args), under the same limit."""
    work = unpack(_parcel_of(name))
    _settle()
    with _guard(limit, lambda: None) as watch:
        watch(True)
        return function(work, *args)


def _parcel_of(name: str) -> bytes:
    try:
        return _parcels[name]
    except KeyError:
        raise Unequipped("a worker has not got the study yet") from None


@contextlib.contextmanager
def _guard(limit: float | None, note: Callable[[], Any]) -> Iterator[Callable[[bool], None]]:
    """End this worker when a call of the function takes too long, if a nanny starts another one.

    Args:
        limit: in s.
        note: is called before the end.

    Yields:
        What is told True before a call, and False after it.
    """
    from distributed import get_worker

    if limit is None or not get_worker().nanny:
        yield lambda _: None
        return
    timers: list[threading.Timer] = []

    def end() -> None:
        note()
        os._exit(1)

    def watch(calling: bool) -> None:
        while timers:
            timers.pop().cancel()
        if calling:
            timers.append(threading.Timer(limit, end))
            timers[0].daemon = True
            timers[0].start()

    try:
        yield watch
    finally:
        watch(False)
