"""The study's own processes: a sample that hangs, dies or eats memory costs its process, and is found."""

import contextlib
import math
import os
import selectors
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, final

from multibody.sweep import begun
from multibody.sweep.child import FREE, READY, Pipe, Written
from multibody.sweep.crew import Crew, Outcome, WorkerLost
from multibody.sweep.errors import SweepError
from multibody.sweep.work import Task

PATIENCE = 1.0
"""In s: how long `collect` waits."""
TRIES = 3
"""Processes in a row that may die before they have begun anything."""


class _Child:
    """A process, and what it is at."""

    def __init__(self, parcel: bytes, memory: int | None) -> None:
        quiet = "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN)"  # the parent hears it, and decides
        start = f"{quiet}; sys.path[:] = {sys.path!r}; from multibody.sweep.child import main; main()"
        single = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", start], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**single, **os.environ}
        )
        if self.process.stdin is None or self.process.stdout is None:
            raise SweepError("a process was started without pipes")
        self.pipe = Pipe(self.process.stdout.fileno(), self.process.stdin.fileno())
        self.task: Task | None = None
        self.writing: dict[int, Task] = {}
        """What it has computed and not yet written, by chunk."""
        self.since = math.inf
        """When it was given a task, or has called the function; never while it writes what it has computed."""
        self.unopened = 0
        """Parcels that it has not opened yet."""
        self.equip(parcel, memory)

    @property
    def ready(self) -> bool:
        """Whether it has its parcel, and waits for tasks."""
        return not self.unopened

    def equip(self, parcel: bytes, memory: int | None) -> None:
        self.unopened += 1
        self.tell("equip", parcel, memory)

    def give(self, task: Task) -> None:
        self.task, self.since = task, time.monotonic()
        self.tell("task", task)

    def tell(self, *words: Any) -> None:
        with contextlib.suppress(BrokenPipeError):  # it is dead: reading from it will say so
            self.pipe.send(words)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue


@final
class Processes(Crew):
    """Processes that are started when they are needed and replaced when they die."""

    def __init__(self, path: Path, workers: int, limit: float | None, memory: int | None) -> None:
        """How many, and what they may take.

        Args:
            path: of the store.
            workers: how many.
            limit: in s, for each call of the function.
            memory: in bytes, for each process, beyond what it has when it starts.
        """
        self.workers = workers
        self.ahead = 2 * self.workers + 1
        self._path, self._limit, self._memory = path, limit, memory
        self._parcel = b""
        self._children: list[_Child] = []
        self._waiting: deque[Task] = deque()
        self._idle_deaths = 0

    def equip(self, parcel: bytes) -> None:
        self._parcel = parcel
        for child in self._children:
            child.equip(parcel, self._memory)

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        while len(self._children) < self.workers:  # they import while the first one looks
            self._start()
        child = self._children[0]
        while not child.ready:
            if self._answer(child) is None:
                self._lost(None)
                raise WorkerLost("the process died before it computed anything")
        child.tell("call", function, args)
        answer: Any = True
        while isinstance(answer, bool):
            child.since = time.monotonic() if answer else math.inf
            while not child.pipe.ready(self._pause()):
                if self._is_late(child):
                    begun.killed(begun.first(self._path), child.process.pid, "hung")
                    self._drop(child)
                    raise WorkerLost(f"the first samples took longer than the limit of {self._limit:g} s")
            answer = self._answer(child)
        child.since = math.inf
        if answer is None:
            raise WorkerLost("the process died at the first samples")
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def submit(self, task: Task) -> None:
        self._waiting.append(task)
        self._hand_out()

    def collect(self) -> list[Outcome]:
        self._hand_out()
        outcomes = []
        with selectors.DefaultSelector() as selector:
            for child in self._children:
                selector.register(child.pipe.source, selectors.EVENT_READ, child)
            for key, _ in selector.select(self._pause()):
                outcomes += self._heard(key.data)
        outcomes += self._end_late_ones()
        self._hand_out()
        return outcomes

    def close(self) -> None:
        for child in self._children:
            child.end()
            if child.task is not None:
                begun.forgiven(begun.place(self._path, child.task.chunk))
        self._children.clear()
        self._waiting.clear()

    def _hand_out(self) -> None:
        for child in self._children:
            if child.ready and child.task is None and self._waiting:
                child.give(self._waiting.popleft())
        starting = sum(not child.ready for child in self._children)
        while len(self._waiting) > starting and len(self._children) < self.workers:
            self._start()
            starting += 1

    def _start(self) -> _Child:
        self._children.append(_Child(self._parcel, self._memory))
        return self._children[-1]

    def _heard(self, child: _Child) -> list[Outcome]:
        """What a process says; a task whose process died will be taken apart by the next one."""
        answer = self._answer(child)
        if isinstance(answer, bool):
            child.since = time.monotonic() if answer else math.inf
            return []
        if answer is None:
            return [*self._lost(child.task), *_unwritten(child)]
        self._idle_deaths = 0
        if isinstance(answer, Written):
            return [Outcome(child.writing.pop(answer.chunk), answer.result)]
        if answer == READY or child.task is None:
            return []
        task, child.task = child.task, None
        if answer == FREE:
            child.writing[task.chunk] = task
            return []
        return [Outcome(task, answer)]

    def _answer(self, child: _Child) -> Any:
        """What a process says next; None when it is dead."""
        try:
            answer = child.pipe.receive()
        except EOFError:
            self._drop(child)
            return None
        if answer == READY:
            child.unopened -= 1
        return answer

    def _lost(self, task: Task | None) -> list[Outcome]:
        if task is None or not begun.place(self._path, task.chunk).exists():
            self._idle_deaths += 1
        if self._idle_deaths >= TRIES:
            raise SweepError("the processes of the study die before they compute anything; their messages are above")
        return [] if task is None else [Outcome(task, WorkerLost("its process died"))]

    def _end_late_ones(self) -> list[Outcome]:
        late: list[Outcome] = []
        for child in list(self._children):
            if child.task is not None and self._is_late(child):
                begun.killed(begun.place(self._path, child.task.chunk), child.process.pid, "hung")
                late += [Outcome(child.task, WorkerLost("its process was late")), *_unwritten(child)]
                self._drop(child)
        return late

    def _is_late(self, child: _Child) -> bool:
        return self._limit is not None and time.monotonic() - child.since > self._limit

    def _drop(self, child: _Child) -> None:
        child.end()
        self._children.remove(child)

    def _pause(self) -> float:
        """Until the next one is late."""
        if self._limit is None:
            return PATIENCE
        late = min((child.since for child in self._children), default=math.inf) + self._limit - time.monotonic()
        return min(PATIENCE, max(0.01, late))


def _unwritten(child: _Child) -> list[Outcome]:
    """Chunks that a process had computed when it died."""
    return [Outcome(task, WorkerLost("its process died while it wrote")) for task in child.writing.values()]


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
