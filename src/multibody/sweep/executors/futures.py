"""The executor for any `concurrent.futures.Executor`: threads, processes, mpi4py's pools."""

from collections import deque
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from pathlib import Path
from typing import Any, final

from multibody.sweep import attempts
from multibody.sweep.chunks import ChunkResult, Job, Task, evaluate, write
from multibody.sweep.cpu import available_cores
from multibody.sweep.errors import SweepError
from multibody.sweep.executors.executor import POLL_INTERVAL, ChunkExecutor
from multibody.sweep.shipping import pack, unpack


@final
class Futures(ChunkExecutor):
    """The user's executor, which stays open.

    The death of one process ends all workers of a pool. A chunk with a death in its log is computed alone, so that no
    other chunk is blamed for another one.
    """

    def __init__(self, executor: Executor, path: Path) -> None:
        known = getattr(executor, "num_workers", None) or getattr(executor, "_max_workers", None)
        self.workers = int(known or available_cores())
        self.ahead = 2 * self.workers
        self._executor, self._path = executor, path
        self._packed_job = b""
        self._waiting: deque[Task] = deque()
        self._under_way: set[Future[ChunkResult]] = set()
        self._alone = False
        """Whether the chunk under way has to be the only one."""

    def equip(self, job: Job, entries: dict[str, Any], cpu: str | None) -> None:
        self._packed_job = pack(job, entries, cpu)

    def submit(self, task: Task) -> None:
        self._waiting.append(task)
        self._hand_out()

    def collect(self) -> list[ChunkResult]:
        ended, _ = wait(self._under_way, POLL_INTERVAL, FIRST_COMPLETED)
        results = []
        for future in ended:
            self._under_way.remove(future)
            try:
                results.append(future.result())
            except (BrokenExecutor, CancelledError) as error:
                raise _broken(error) from error
        self._hand_out()
        return results

    def close(self) -> None:
        self._waiting.clear()
        for future in self._under_way:
            future.cancel()
        self._under_way.clear()

    def _hand_out(self) -> None:
        self._alone = self._alone and bool(self._under_way)
        while self._waiting and not self._alone:
            if attempts.count_deaths(self._waiting[0].log(self._path)):
                if self._under_way:
                    return
                self._alone = True
            task = self._waiting.popleft()
            try:
                self._under_way.add(self._executor.submit(_compute, self._packed_job, task))
            except (BrokenExecutor, RuntimeError) as error:
                raise _broken(error) from error


def _compute(packed_job: bytes, task: Task) -> ChunkResult:
    return write(evaluate(unpack(packed_job), task))


def _broken(error: BaseException) -> SweepError:
    return SweepError(
        f"the executor's workers died or were shut down ({error}); all chunks that were done are kept: run the study "
        "again with a new executor, which splits the unfinished chunks to find the failing sample, or with "
        'executor="processes", which contains deaths by itself'
    )
