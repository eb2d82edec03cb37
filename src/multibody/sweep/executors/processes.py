"""The executor of a study's own worker processes, which contain samples that hang, die or eat memory."""

import contextlib
import math
import os
import subprocess
import sys
import time
from collections import deque
from multiprocessing.connection import Pipe, wait
from pathlib import Path
from typing import Any, final

from multibody.sweep import attempts
from multibody.sweep.chunks import ChunkResult, Job, Task
from multibody.sweep.errors import SweepError
from multibody.sweep.executors import worker_process
from multibody.sweep.executors.executor import POLL_INTERVAL, ChunkExecutor, lost
from multibody.sweep.executors.worker_process import FREE, READY
from multibody.sweep.retries import MAX_IDLE_DEATHS
from multibody.sweep.shipping import pack


class _Worker:
    """A worker process, its current chunk, and the chunks that it has computed and not yet written."""

    def __init__(self, packed_job: bytes, memory: int | None) -> None:
        quiet = "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN)"  # the parent handles it
        start = f"{quiet}; sys.path[:] = {sys.path!r}; from {worker_process.__name__} import main; main("
        single = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        self.connection, end = Pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-c", f"{start}{end.fileno()})"],
            stdin=subprocess.DEVNULL,
            stdout=2,  # users' functions print to stderr
            pass_fds=[end.fileno()],
            env={**single, **os.environ},
        )
        end.close()
        self.task: Task | None = None
        self.writing: set[int] = set()
        self.since = math.inf
        """The time at which it got a task or called the function; infinite while it writes what it has computed."""
        self.unopened = 0
        """Packed studies that it has not unpacked yet."""
        self.equip(packed_job, memory)

    def equip(self, packed_job: bytes, memory: int | None) -> None:
        self.unopened += 1
        self._send((packed_job, memory))

    def give(self, task: Task) -> None:
        self.task, self.since = task, time.monotonic()
        self._send(task)

    def _send(self, message: Any) -> None:
        with contextlib.suppress(OSError):  # a death is noticed when its answer is read
            self.connection.send(message)

    def receive(self) -> Any:
        """The next answer; None from a dead process."""
        try:
            answer = self.connection.recv()
        except (EOFError, OSError):
            return None
        if isinstance(answer, bool):
            self.since = time.monotonic() if answer else math.inf
        elif answer == READY:
            self.unopened -= 1
        return answer

    def lost(self, reason: str) -> list[ChunkResult]:
        """Results for all chunks that are lost with this process."""
        own = [] if self.task is None else [lost(self.task.chunk, reason)]
        return own + [lost(chunk, "its process died while it wrote") for chunk in self.writing]

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.connection.close()


@final
class Processes(ChunkExecutor):
    """Processes that are started on demand and replaced when they die."""

    def __init__(self, path: Path, workers: int, limit: float | None, memory: int | None) -> None:
        """An executor without a process yet.

        Args:
            path: of the store.
            workers: the number of processes.
            limit: in s, for each call of the function.
            memory: in bytes, for each process, in addition to what it has when it starts.
        """
        self.workers = workers
        self.ahead = 2 * self.workers + 1
        self._path, self._limit, self._memory = path, limit, memory
        self._packed_job = b""
        self._workers: list[_Worker] = []
        self._waiting: deque[Task] = deque()
        self._idle_deaths = 0

    def equip(self, job: Job, entries: dict[str, Any], cpu: str | None) -> None:
        self._packed_job = pack(job, entries, cpu)
        for worker in self._workers:
            worker.equip(self._packed_job, self._memory)

    def submit(self, task: Task) -> None:
        self._waiting.append(task)
        self._hand_out()
        while task.chunk < 0 and len(self._workers) < self.workers:  # all import during the first calls
            self._start()

    def collect(self) -> list[ChunkResult]:
        self._hand_out()
        results = []
        ready = wait([worker.connection for worker in self._workers], self._pause())
        for worker in [worker for worker in self._workers if worker.connection in ready]:
            results += self._receive(worker)
        results += self._end_late_workers()
        self._hand_out()
        return results

    def close(self) -> None:
        for worker in self._workers:
            worker.end()
            if worker.task is not None:
                attempts.discard_attempts(worker.task.log(self._path))
        self._workers.clear()
        self._waiting.clear()

    def _hand_out(self) -> None:
        for worker in self._workers:
            if not worker.unopened and worker.task is None and self._waiting:
                worker.give(self._waiting.popleft())
        starting = sum(bool(worker.unopened) for worker in self._workers)
        while len(self._waiting) > starting and len(self._workers) < self.workers:
            self._start()
            starting += 1

    def _start(self) -> None:
        self._workers.append(_Worker(self._packed_job, self._memory))

    def _receive(self, worker: _Worker) -> list[ChunkResult]:
        answer = worker.receive()
        if answer is None:
            self._drop(worker)
            self._note_death(worker.task)
            return worker.lost("its process died")
        if isinstance(answer, SweepError):
            raise answer
        self._idle_deaths = 0
        if answer == FREE and worker.task is not None:
            worker.writing.add(worker.task.chunk)
            worker.task = None
        if not isinstance(answer, ChunkResult):
            return []
        if answer.chunk in worker.writing:
            worker.writing.remove(answer.chunk)
        else:
            worker.task = None
        return [answer]

    def _note_death(self, task: Task | None) -> None:
        """Count deaths of processes that have not begun anything."""
        if task is None or not task.log(self._path).exists():
            self._idle_deaths += 1
        if self._idle_deaths >= MAX_IDLE_DEATHS:
            raise SweepError("the processes of the study die before they compute anything; their messages are above")

    def _end_late_workers(self) -> list[ChunkResult]:
        results: list[ChunkResult] = []
        for worker in list(self._workers):
            if worker.task is not None and self._is_late(worker):
                attempts.note_kill(worker.task.log(self._path), worker.process.pid, "hung")
                results += worker.lost("its process was late")
                self._drop(worker)
        return results

    def _is_late(self, worker: _Worker) -> bool:
        return self._limit is not None and time.monotonic() - worker.since > self._limit

    def _drop(self, worker: _Worker) -> None:
        worker.end()
        self._workers.remove(worker)

    def _pause(self) -> float:
        """The time until the next call is late, in s."""
        if self._limit is None:
            return POLL_INTERVAL
        late = min((worker.since for worker in self._workers), default=math.inf) + self._limit - time.monotonic()
        return min(POLL_INTERVAL, max(0.01, late))
