"""A crew out of a Dask cluster: its scheduler gives out the chunks, its workers write them."""

import contextlib
import logging
import math
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator
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
SETTLED = 3.0
"""In s: how long a worker is there before it takes what may kill it: a nanny gives up when its worker dies at once."""
OLD = 15.0
"""In s: the age of a process that has been a worker for that long in any case."""
EMPTY = 300.0
"""In s: how long there may be no worker at all."""
LOOK = 5.0
"""In s: how often the workers are counted."""

log = logging.getLogger("multibody.sweep")
_parcels: dict[str, bytes] = {}
"""On a worker: the parcels that came, by the names of their plugins."""
_imported = time.monotonic()
"""On a worker: when it registered, or later."""


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise missing_package("a cluster needs Dask", "sweep", "distributed") from None
    return distributed


def _config() -> Any:
    import dask.config

    return dask.config


def is_client(executor: Any) -> bool:
    """Whether it is a Dask client."""
    return type(executor).__module__.partition(".")[0] == "distributed"


class Unequipped(WorkerLost):
    """A worker without the parcel of the study."""


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
        self.workers = self.ahead = 1
        self._seen, self._counted = time.monotonic(), -math.inf
        self._count()
        # a LocalCluster of this process would close nannies whose workers die now and then
        self._settings = contextlib.ExitStack()
        self._settings.enter_context(_config().set({"distributed.deploy.lost-worker-timeout": "1 hour"}))

    def equip(self, parcel: bytes) -> None:
        self._forget()
        self._name, self._parcel = f"multibody-{os.urandom(8).hex()}", parcel
        self._client.register_plugin(_plugin(self._distributed, self._name, parcel), name=self._name)

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        try:
            return self._client.submit(_called, self._name, self._limit, function, *args, pure=False).result()
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
        outcomes: list[Outcome] = []
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
        if any(isinstance(result, Unequipped) for _, result in outcomes):  # of a scheduler that was started again
            time.sleep(PATIENCE)
            self._client.register_plugin(_plugin(self._distributed, self._name, self._parcel), name=self._name)
        self._count()
        return outcomes

    def close(self) -> None:
        futures = [future for _, future in self._under_way.values()]
        self._under_way.clear()
        with contextlib.suppress(Exception):  # the scheduler may be gone
            self._client.cancel(futures)
        self._forget()
        self._settings.close()
        if self._address is not None:
            with contextlib.suppress(Exception):
                self._client.close(timeout=2)

    def _forget(self) -> None:
        """The parcel, on all workers."""
        if self._name:
            with contextlib.suppress(Exception):  # the scheduler may be gone
                self._client.unregister_worker_plugin(self._name)

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
        threads = {}
        with contextlib.suppress(Exception):
            threads = self._client.nthreads()
        if threads:
            self._seen = time.monotonic()
            self.workers = sum(threads.values())
            self.ahead = 2 * self.workers
        elif time.monotonic() - self._seen > EMPTY:
            raise SweepError(
                f"{self._client.scheduler}: there has been no worker for {EMPTY:g} s; all chunks that were done are "
                "kept: start workers, and run the study again"
            )
        else:
            log.warning("there is no worker; waiting up to %g s for one", EMPTY)


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
        _settle()
    with _guard(limit, lambda: store and begun.killed(store, task.chunk, os.getpid(), "hung")) as watch:
        draft = evaluate(unpack(parcel), task, watch)
    if isinstance(draft, Token):
        return draft
    _distributed().secede()  # the next chunk is computed while this one goes to the disk
    return write(draft)


def _settle() -> None:
    """Wait until the nanny of this worker has seen that it is there."""
    import psutil

    age = time.time() - psutil.Process().create_time()
    time.sleep(max(0.0, min(SETTLED - (time.monotonic() - _imported), OLD - age)))


def _called(name: str, limit: float | None, function: Callable[..., Any], *args: Any) -> Any:
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


def _gone(address: Any) -> str:
    return (
        f"the scheduler {address} does not answer; all chunks that were done are kept: start it again, and run the "
        "study again"
    )
