"""The executor for a Dask cluster: its scheduler hands out the chunks, its workers write them."""

import asyncio
import contextlib
import logging
import math
import os
import queue
import sys
import time
import warnings
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any, final

from multibody.errors import InputError, missing_package
from multibody.sweep import attempts
from multibody.sweep.chunks import ChunkResult, Job, Task
from multibody.sweep.errors import SweepError, SweepWarning
from multibody.sweep.executors.executor import POLL_INTERVAL, ChunkExecutor, lost
from multibody.sweep.retries import MAX_SCHEDULER_ABSENCE, MAX_WORKER_ABSENCE
from multibody.sweep.shipping import pack

CONNECT_TIMEOUT = 10.0
"""The time that a scheduler has to answer, in s, unless Dask's own `distributed.comm.timeouts.connect` is shorter."""
GATHER_TIMEOUT = 30.0
"""The time that a worker has to hand over a result that it has, in s."""
COUNT_INTERVAL = 5.0
"""The time between two counts of the workers, in s."""

log = logging.getLogger("multibody.sweep")


def is_cluster(executor: Any) -> bool:
    """Whether an object is a Dask client, or a cluster such as LocalCluster."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    if isinstance(executor, distributed.cfexecutor.ClientExecutor):
        raise InputError("executor: expected the Dask client itself, study.run(client), got its client.get_executor()")
    return isinstance(executor, distributed.Client | distributed.deploy.Cluster)


@final
class Dask(ChunkExecutor):
    """A client of a scheduler; workers get the study when they start, and tasks are numbers of chunks."""

    def __init__(self, client: Any, path: Path, limit: float | None) -> None:
        """Connect to a scheduler, if its address is given.

        Args:
            client: a Dask client, a cluster such as LocalCluster, or the address of a scheduler.
            path: of the store.
            limit: in s, for a call of the function: workers under a nanny end themselves after it.
        """
        try:
            import distributed

            from multibody.sweep.executors import dask_worker
        except ImportError:
            raise missing_package("a cluster needs Dask", "sweep", "distributed") from None
        self._distributed, self._worker = distributed, dask_worker
        address = getattr(client, "scheduler_address", client)
        self._address = address if isinstance(address, str) else None
        self._name, self._packed_job = "", b""
        self._client: Any = client if self._address is None else self._connect()
        self._path, self._limit = path, limit
        self._ended: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._under_way: dict[int, tuple[Task, Any]] = {}
        """Task and future by the number of the submission."""
        self._number = 0
        self._has_warned = False
        self._is_new = False
        """Whether the scheduler may be a new one, without the study."""
        self.workers = self.ahead = 1
        self._seen, self._counted = time.monotonic(), -math.inf
        self._count()
        import dask.config

        # otherwise a LocalCluster of this process closes nannies whose workers die now and then
        self._settings = contextlib.ExitStack()
        self._settings.enter_context(dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}))

    def equip(self, job: Job, entries: dict[str, Any], cpu: str | None) -> None:
        self._unregister()
        self._name, self._packed_job = f"multibody-{os.urandom(8).hex()}", pack(job, entries, cpu)
        self._register()

    def submit(self, task: Task) -> None:
        self._number += 1
        number = self._number
        key = f"{self._name}-{task.chunk}-{number}"
        try:
            future = self._client.submit(self._worker.compute, self._name, task, self._limit, pure=False, key=key)
        except Exception as error:  # a client that loses its scheduler raises errors of many kinds
            self._ended.put((number, error))
            self._under_way[number] = task, None
            return
        self._under_way[number] = task, future
        future.add_done_callback(lambda ended: self._ended.put((number, ended)))

    def collect(self) -> list[ChunkResult]:
        results = []
        with contextlib.suppress(queue.Empty):
            while True:
                number, future = self._ended.get(timeout=0.0 if results else POLL_INTERVAL)
                task, _ = self._under_way.pop(number, (None, None))
                if task is not None:
                    results.append(self._gather(task, future))
        self._stay_connected()
        self._count()
        return results

    def close(self) -> None:
        futures = [future for _, future in self._under_way.values() if future is not None]
        with contextlib.suppress(Exception):  # the scheduler may be gone
            self._client.cancel(futures)
        for task, _ in self._under_way.values():  # workers continue, but other hosts would take them for dead
            attempts.discard_attempts(task.log(self._path))
        self._under_way.clear()
        self._unregister()
        self._settings.close()
        if self._address is not None:
            with contextlib.suppress(Exception):
                self._client.close(timeout=2)

    def _unregister(self) -> None:
        """Remove the study from all workers."""
        if self._name:
            with contextlib.suppress(Exception):  # the scheduler may be gone
                self._client.unregister_worker_plugin(self._name)

    def _gather(self, task: Task, future: Any) -> ChunkResult:
        """The result of a future, or that its worker or scheduler is lost, so that the task can be tried again."""
        try:
            if not isinstance(future, Exception):
                return future.result(timeout=GATHER_TIMEOUT)
            reason = f"the scheduler took no task: {future}"
        except (self._distributed.scheduler.KilledWorker, TimeoutError, OSError) as error:
            return lost(task.chunk, f"a worker was lost: {error}")
        except (asyncio.CancelledError, CancelledError) as error:
            reason = f"the scheduler lost a task: {error}"
        except self._worker.StudyMissing as error:
            reason = str(error)
        self._is_new = True
        return lost(task.chunk, reason)

    def _stay_connected(self) -> None:
        """Reconnect if the scheduler is gone, and register the study with a new one.

        All tasks that were under way at a lost scheduler are submitted again.
        """
        running = self._client.status == "running"
        if running and not self._is_new:
            return
        tasks: list[Task] = []
        if not running:
            log.warning("the scheduler is gone; waiting up to %g s for it to come back", MAX_SCHEDULER_ABSENCE)
            tasks = [task for task, _ in self._under_way.values()]
            self._under_way.clear()
            self._reconnect()
            self._seen = time.monotonic()
        else:
            time.sleep(POLL_INTERVAL)
        self._register()
        for task in tasks:
            self.submit(task)

    def _reconnect(self) -> None:
        if self._address is not None:
            with contextlib.suppress(Exception):
                self._client.close(timeout=2)
            self._client = self._connect()
            return
        deadline = time.monotonic() + MAX_SCHEDULER_ABSENCE
        while self._client.status != "running":
            if time.monotonic() > deadline or self._client.status == "closed":
                raise SweepError(_gone(self._client))
            time.sleep(0.2)

    def _register(self) -> None:
        """Give the study to all workers, now and in future.

        A worker that dies meanwhile interrupts this, although the scheduler has the study; then it is repeated later.
        """
        try:
            self._client.register_plugin(self._worker.StudyPlugin(self._name, self._packed_job), name=self._name)
            self._is_new = False
        except (OSError, TimeoutError) as error:
            log.info("not all workers could be given the study: %s", error)
            self._is_new = True

    def _connect(self) -> Any:
        import dask.config
        from dask.utils import parse_timedelta

        timeout = min(CONNECT_TIMEOUT, parse_timedelta(dask.config.get("distributed.comm.timeouts.connect", "30s")))
        deadline = time.monotonic() + MAX_SCHEDULER_ABSENCE
        while True:
            try:
                return self._distributed.Client(self._address, timeout=timeout, set_as_default=False)
            except (OSError, TimeoutError) as error:
                if time.monotonic() > deadline or not self._packed_job:
                    raise SweepError(f"{_gone(self._address)}: {error}") from None
                time.sleep(1.0)

    def _count(self) -> None:
        """Count the threads of all workers, now and then, because workers come and go."""
        if time.monotonic() - self._counted < COUNT_INTERVAL:
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
        elif time.monotonic() - self._seen > MAX_WORKER_ABSENCE:
            raise SweepError(
                f"{self._client.scheduler}: there has been no worker for {MAX_WORKER_ABSENCE:g} s; all chunks that "
                "were done are kept: start workers, and run the study again"
            )
        else:
            log.warning("there is no worker; waiting up to %g s for one", MAX_WORKER_ABSENCE)

    def _check_nannies(self) -> None:
        """Warn once of workers without a nanny, which no limit ends, because nothing restarts them."""
        if self._limit is None or self._has_warned:
            return
        known = self._client.scheduler_info(n_workers=-1)["workers"]  # some versions list five without it
        bare = [address for address, worker in known.items() if not worker["nanny"]]
        if bare:
            self._has_warned = True
            warnings.warn(
                f"limit: the Dask worker {bare[0]} has no nanny, so nothing ends a call that takes too long there: "
                "start workers with `dask worker --nanny`",
                SweepWarning,
                stacklevel=2,
            )


def _gone(address: Any) -> str:
    return (
        f"the scheduler {address} does not answer; all chunks that were done are kept: start it again, and run the "
        "study again"
    )
