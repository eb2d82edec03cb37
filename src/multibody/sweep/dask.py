"""A crew out of a Dask cluster: its scheduler gives out the chunks, its workers write them."""

import asyncio
import contextlib
import logging
import math
import os
import queue
import sys
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any, final

from multibody.errors import InputError, missing_package
from multibody.sweep import begun, dask_worker
from multibody.sweep.crew import Crew, Outcome, WorkerLost
from multibody.sweep.errors import SweepError, SweepWarning
from multibody.sweep.work import Task

PATIENCE = 1.0
"""In s: how long `collect` waits."""
RECONNECT = 120.0
"""In s: how long a scheduler may be away."""
CONNECT = 10.0
"""In s: how long a scheduler may take to answer."""
GATHER = 30.0
"""In s: how long a worker that is done may take to hand over a token."""
EMPTY = 300.0
"""In s: how long there may be no worker at all."""
LOOK = 5.0
"""In s: how often the workers are counted."""

log = logging.getLogger("multibody.sweep")


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise missing_package("a cluster needs Dask", "sweep", "distributed") from None
    return distributed


def _config() -> Any:
    import dask.config

    return dask.config


def is_cluster(executor: Any) -> bool:
    """Whether it is a Dask client, or a cluster such as LocalCluster."""
    if "distributed" not in sys.modules:
        return False
    distributed = _distributed()
    if isinstance(executor, distributed.cfexecutor.ClientExecutor):
        raise InputError("executor: expected the Dask client itself, study.run(client), got its client.get_executor()")
    return isinstance(executor, distributed.Client | distributed.deploy.Cluster)


@final
class Dask(Crew):
    """A client of a scheduler; workers get the parcel when they start, and tasks are numbers of chunks."""

    def __init__(self, client: Any, path: Path, limit: float | None) -> None:
        """A crew of the workers that a scheduler has.

        Args:
            client: a Dask client, a cluster such as LocalCluster, or the address of a scheduler.
            path: of the store.
            limit: in s, for a call of the function: workers under a nanny end themselves after it.
        """
        self._distributed = _distributed()
        address = getattr(client, "scheduler_address", client)
        self._address = address if isinstance(address, str) else None
        self._name, self._parcel = "", b""
        self._client: Any = client if self._address is None else self._connected()
        self._path, self._limit = path, limit
        self._ended: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._under_way: dict[int, tuple[Task, Any]] = {}
        self._number = 0
        self._has_warned = False
        self._strange = False
        """Whether the scheduler may be another one, which knows nothing of the study."""
        self.workers = self.ahead = 1
        self._seen, self._counted = time.monotonic(), -math.inf
        self._count()
        # a LocalCluster of this process would close nannies whose workers die now and then
        self._settings = contextlib.ExitStack()
        self._settings.enter_context(_config().set({"distributed.deploy.lost-worker-timeout": "1 hour"}))

    def equip(self, parcel: bytes) -> None:
        self._forget()
        self._name, self._parcel = f"multibody-{os.urandom(8).hex()}", parcel
        self._introduce()

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        ended = threading.Event()
        try:
            future = self._client.submit(dask_worker.called, self._name, self._limit, function, *args, pure=False)
            future.add_done_callback(lambda _: ended.set())
        except Exception as error:  # as in submit
            future = error
            ended.set()
        while not ended.wait(PATIENCE) and self._client.status == "running":
            self._count()
        result = self._result(future, GATHER if ended.is_set() else 0.0)
        self._stay_connected()
        if isinstance(result, BaseException):
            raise result
        return result

    def submit(self, task: Task) -> None:
        self._number += 1
        number = self._number
        key = f"{self._name}-{task.chunk}-{number}"
        try:
            future = self._client.submit(dask_worker.computed, self._name, task, self._limit, pure=False, key=key)
        except Exception as error:  # a client that is just losing its scheduler has many words for it
            self._ended.put((number, error))
            self._under_way[number] = task, None
            return
        self._under_way[number] = task, future
        future.add_done_callback(lambda ended: self._ended.put((number, ended)))

    def collect(self) -> list[Outcome]:
        entries = []
        with contextlib.suppress(queue.Empty):
            entries.append(self._ended.get(timeout=PATIENCE))
            while True:
                entries.append(self._ended.get_nowait())
        outcomes = []
        for number, future in entries:
            task, _ = self._under_way.pop(number, (None, None))
            if task is not None:
                outcomes.append(Outcome(task, self._result(future, GATHER)))
        self._stay_connected()
        self._count()
        return outcomes

    def close(self) -> None:
        futures = [future for _, future in self._under_way.values() if future is not None]
        with contextlib.suppress(Exception):  # the scheduler may be gone
            self._client.cancel(futures)
        self._forgive()
        self._under_way.clear()
        self._forget()
        self._settings.close()
        if self._address is not None:
            with contextlib.suppress(Exception):
                self._client.close(timeout=2)

    def _forgive(self) -> None:
        """Workers go on with what was under way, and other hosts would take them for dead."""
        for task, _ in self._under_way.values():
            begun.forgiven(begun.place(self._path, task.chunk))

    def _forget(self) -> None:
        """The parcel, on all workers."""
        if self._name:
            with contextlib.suppress(Exception):  # the scheduler may be gone
                self._client.unregister_worker_plugin(self._name)

    def _result(self, future: Any, patience: float | None) -> Any:
        """What a task gave, or the exception; WorkerLost where somebody else should try."""
        if isinstance(future, Exception):
            self._strange = True
            return WorkerLost(f"the scheduler took no task: {future}")
        try:
            return future.result(timeout=patience)
        except (self._distributed.scheduler.KilledWorker, TimeoutError, OSError) as error:
            return WorkerLost(f"a worker was lost: {error}")
        except (asyncio.CancelledError, CancelledError) as error:
            self._strange = True
            return WorkerLost(f"the scheduler lost a task: {error}")
        except Exception as error:
            self._strange = self._strange or isinstance(error, WorkerLost)
            return error

    def _stay_connected(self) -> None:
        """When the scheduler is gone, or another one has come in its place: see that it knows the study.

        What was under way at one that is gone is given out again.
        """
        running = self._client.status == "running"
        if running and not self._strange:
            return
        tasks: list[Task] = []
        if not running:
            log.warning("the scheduler is gone; waiting up to %g s for it to come back", RECONNECT)
            tasks = [task for task, _ in self._under_way.values()]
            self._under_way.clear()
            self._reconnect()
            self._seen = time.monotonic()
        else:
            time.sleep(PATIENCE)
        self._introduce()
        for task in tasks:
            self.submit(task)

    def _reconnect(self) -> None:
        if self._address is not None:
            with contextlib.suppress(Exception):
                self._client.close(timeout=2)
            self._client = self._connected()
            return
        deadline = time.monotonic() + RECONNECT
        while self._client.status != "running":
            if time.monotonic() > deadline or self._client.status == "closed":
                raise SweepError(_gone(self._client))
            time.sleep(0.2)

    def _introduce(self) -> None:
        """Give the parcel to all workers, and to those that are still to come.

        A worker that dies meanwhile ends that, though the scheduler knows the study: the next look does it again.
        """
        plugin = _plugin(self._distributed, self._name, self._parcel)
        try:
            self._client.register_plugin(plugin, name=self._name)
            self._strange = False
        except (OSError, TimeoutError) as error:
            log.info("not all workers could be given the study: %s", error)
            self._strange = True

    def _connected(self) -> Any:
        deadline = time.monotonic() + RECONNECT
        while True:
            try:
                return self._distributed.Client(self._address, timeout=CONNECT, set_as_default=False)
            except (OSError, TimeoutError) as error:
                if time.monotonic() > deadline or not self._parcel:
                    raise SweepError(f"{_gone(self._address)}: {error}") from None
                time.sleep(1.0)

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
            self._check_nannies()
        elif time.monotonic() - self._seen > EMPTY:
            raise SweepError(
                f"{self._client.scheduler}: there has been no worker for {EMPTY:g} s; all chunks that were done are "
                "kept: start workers, and run the study again"
            )
        else:
            log.warning("there is no worker; waiting up to %g s for one", EMPTY)

    def _check_nannies(self) -> None:
        """Warn once of workers that no limit ends, since nobody would start them again."""
        if self._limit is None or self._has_warned:
            return
        known = self._client.scheduler_info()["workers"]
        bare = [address for address, worker in known.items() if not worker["nanny"]]
        if bare:
            self._has_warned = True
            warnings.warn(
                f"limit: the Dask worker {bare[0]} has no nanny, so nothing ends a call that takes too long there: "
                "start workers with `dask worker --nanny`",
                SweepWarning,
                stacklevel=2,
            )


def _plugin(distributed: Any, name: str, parcel: bytes) -> Any:
    return _class_of_plugin(distributed)(name, parcel)


def _class_of_plugin(distributed: Any) -> Any:
    class Parcel(distributed.WorkerPlugin):
        def __init__(self, name: str, parcel: bytes) -> None:
            self.name, self.parcel = name, parcel

        def setup(self, worker: Any) -> None:
            del worker
            dask_worker.receive(self.name, self.parcel)

        def teardown(self, worker: Any) -> None:
            del worker
            dask_worker.forget(self.name)

    return Parcel


def _gone(address: Any) -> str:
    return (
        f"the scheduler {address} does not answer; all chunks that were done are kept: start it again, and run the "
        "study again"
    )
