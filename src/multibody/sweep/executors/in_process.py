"""The executor of this process, with the threads of its kernels."""

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, final

from multibody.sweep.chunks import ChunkResult, Job, Task, evaluate, write
from multibody.sweep.executors.executor import ChunkExecutor


@final
class InProcess(ChunkExecutor):
    """Computes a chunk on `collect`, while the previous one is written; nothing is pickled."""

    workers = 1
    ahead = 2
    _job: Job

    def __init__(self) -> None:
        self._tasks: deque[Task] = deque()
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="multibody-sweep")
        self._writing: deque[Future[ChunkResult]] = deque()

    def equip(self, job: Job, entries: dict[str, Any], cpu: str | None) -> None:
        del entries, cpu  # the kernels are in this process
        self._job = job

    def submit(self, task: Task) -> None:
        self._tasks.append(task)

    def collect(self) -> list[ChunkResult]:
        results = []
        if self._tasks:
            self._writing.append(self._writer.submit(write, evaluate(self._job, self._tasks.popleft())))
        while self._writing and (self._writing[0].done() or len(self._writing) > 1 or not self._tasks):
            results.append(self._writing.popleft().result())
        return results

    def close(self) -> None:
        self._tasks.clear()
        self._writer.shutdown()
