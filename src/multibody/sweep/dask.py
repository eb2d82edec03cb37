"""A crew out of a Dask cluster: its scheduler gives out the chunks, its workers write them."""

import contextlib
import logging
import os
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, final

from multibody.errors import missing_package
from multibody.sweep import begun
from multibody.sweep.crew import Crew, Outcome, WorkerLost
from multibody.sweep.errors import SweepError
from multibody.sweep.parcel import unpack
from multibody.sweep.store import read
from multibody.sweep.work import Task, Token, evaluate, write

PATIENCE = 1.0
"""In s: how long `collect` waits."""
RECONNECT = 120.0
"""In s: how long a scheduler may be away."""
CONNECT = 10.0
"""In s: how long a scheduler may take to answer."""
SETTLED = 1.0
"""In s: how long a worker waits before a chunk at which another died: a nanny gives up when its worker dies at once."""
LOOK = 5.0
"""In s: how often the workers are counted."""

log = logging.getLogger("multibody.sweep")
_parcels: dict[str, bytes] = {}
"""On a worker: the parcels that came, by the names of their plugins."""


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise missing_package("a cluster needs Dask", "sweep", "distributed") from None
    return distributed


def is_client(executor: Any) -> bool:
    """Whether it is a Dask client."""
    return type(executor).__module__.partition(".")[0] == "distributed"


@final
class Dask(Crew):
    """A client of a scheduler; workers get the parcel when they start, and tasks are numbers of chunks."""

    guarded = True

    def __init__(self, client: Any, limit: float | None) -> None:
        """A crew of the workers that a scheduler has.

        Args:
            client: a Dask client, or the address of a scheduler.
            limit: in s, for a chunk: workers under a nanny end themselves after it.
        """
        self._distributed = _distributed()
        self._address = client if isinstance(client, str) else None
        self._client: Any = client if self._address is None else self._connected()
        self._limit = limit
        self._name, self._parcel = "", b""
        self._ended: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._under_way: dict[int, tuple[Task, Any]] = {}
        self._number = 0
        self._counted = -LOOK
        self._count()

    def equip(self, parcel: bytes) -> None:
        self._name, self._parcel = f"multibody-{os.urandom(8).hex()}", parcel
        self._client.register_plugin(_plugin(self._distributed, self._name, parcel), name=self._name)

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        try:
            return self._client.submit(_called, self._name, function, *args, pure=False).result()
        except self._distributed.scheduler.KilledWorker as error:
            raise WorkerLost(f"the workers died at the first samples: {error}") from None

    def submit(self, task: Task) -> None:
        self._number += 1
        number = self._number
        # a KilledWorker after few deaths is given out again here; priorities keep the order of the chunks
        future = self._client.submit(
            _computed, self._name, task, self._limit, pure=False, key=f"{self._name}-{task.chunk}-{number}"
        )
        self._under_way[number] = task, future
        future.add_done_callback(lambda ended: self._ended.put((number, ended)))

    def collect(self) -> list[Outcome]:
        outcomes = []
        try:
            entries = [self._ended.get(timeout=PATIENCE)]
            while not self._ended.empty():
                entries.append(self._ended.get())
        except queue.Empty:
            entries = []
            self._stay_connected()
        for number, future in entries:
            task, _ = self._under_way.pop(number, (None, None))
            if task is not None:
                outcomes.append(Outcome(task, self._result(future)))
        self._count()
        return outcomes

    def close(self) -> None:
        futures = [future for _, future in self._under_way.values()]
        self._under_way.clear()
        with contextlib.suppress(Exception):  # the scheduler may be gone
            self._client.cancel(futures)
            self._client.unregister_worker_plugin(self._name)
        if self._address is not None:
            with contextlib.suppress(Exception):
                self._client.close(timeout=2)

    def _result(self, future: Any) -> Any:
        try:
            return future.result(timeout=30)
        except (self._distributed.scheduler.KilledWorker, TimeoutError, OSError) as error:
            return WorkerLost(f"a worker was lost: {error}")
        except Exception as error:
            lost = isinstance(error, self._distributed.client.FutureCancelledError) or future.cancelled()
            return WorkerLost(f"the scheduler lost a task: {error}") if lost else error
        except BaseException as error:  # CancelledError of asyncio is none of the former
            if future.cancelled():
                return WorkerLost(f"the scheduler lost a task: {error}")
            raise

    def _stay_connected(self) -> None:
        """When the scheduler is gone: wait for it to come back, then give out again what was under way."""
        if self._client.status == "running":
            return
        log.warning("the scheduler is gone; waiting up to %g s for it to come back", RECONNECT)
        tasks = [task for task, _ in self._under_way.values()]
        self._under_way.clear()
        if self._address is not None:
            with contextlib.suppress(Exception):
                self._client.close(timeout=2)
            self._client = self._connected()
        else:
            deadline = time.monotonic() + RECONNECT
            while self._client.status != "running":
                if time.monotonic() > deadline:
                    raise SweepError(_gone(self._client.scheduler))
                time.sleep(0.2)
        self.equip(self._parcel)
        for task in tasks:
            self.submit(task)

    def _connected(self) -> Any:
        deadline = time.monotonic() + RECONNECT
        while True:
            try:
                return self._distributed.Client(self._address, timeout=CONNECT, set_as_default=False)
            except (OSError, TimeoutError) as error:
                if time.monotonic() > deadline or not self._parcel_sent():
                    raise SweepError(f"{_gone(self._address)}: {error}") from None
                time.sleep(1.0)

    def _parcel_sent(self) -> bool:
        return bool(getattr(self, "_parcel", b""))

    def _count(self) -> None:
        """How many threads work for the scheduler: now and then, since they come and go."""
        if time.monotonic() - self._counted < LOOK:
            return
        self._counted = time.monotonic()
        with contextlib.suppress(Exception):
            threads = self._client.nthreads()
            self.workers = max(1, sum(threads.values()))
            self.ahead = 2 * self.workers


def _plugin(distributed: Any, name: str, parcel: bytes) -> Any:
    return _class_of_plugin(distributed)(name, parcel)


def _class_of_plugin(distributed: Any) -> Any:
    class Parcel(distributed.WorkerPlugin):
        def __init__(self, name: str, parcel: bytes) -> None:
            self.name, self.parcel = name, parcel

        def setup(self, worker: Any) -> None:
            del worker
            receive(self.name, self.parcel)

        def teardown(self, worker: Any) -> None:
            del worker
            forget(self.name)

    return Parcel


def receive(name: str, parcel: bytes) -> None:
    """On a worker: keep the parcel of a study."""
    _parcels[name] = parcel


def forget(name: str) -> None:
    """On a worker: the study is over."""
    _parcels.pop(name, None)


def _computed(name: str, task: Task, limit: float | None) -> Token:
    parcel = _parcel_of(name)
    store = read(unpack(parcel).path)
    if store is not None and begun.place(store, task.chunk).exists():
        time.sleep(SETTLED)
    with _watched(parcel, task, limit):
        draft = evaluate(unpack(parcel), task)
    if isinstance(draft, Token):
        return draft
    _distributed().secede()  # the next chunk is computed while this one goes to the disk
    return write(draft)


def _called(name: str, function: Callable[..., Any], *args: Any) -> Any:
    return function(unpack(_parcel_of(name)), *args)


def _parcel_of(name: str) -> bytes:
    try:
        return _parcels[name]
    except KeyError:
        raise WorkerLost("a worker has not got the study yet") from None


@contextlib.contextmanager
def _watched(parcel: bytes, task: Task, limit: float | None) -> Any:
    """End this worker when the block takes too long, if a nanny starts another one."""
    from distributed import get_worker

    if limit is None or not get_worker().nanny:
        yield
        return
    work = unpack(parcel)

    def end() -> None:
        store = read(work.path)
        if store is not None:
            begun.killed(store, task.chunk, os.getpid(), "hung")
        os._exit(1)

    timer = threading.Timer(limit, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _gone(address: Any) -> str:
    return (
        f"the scheduler {address} does not answer; all chunks that were done are kept: start it again, and run the "
        "study again"
    )
