"""A crew out of any executor of `concurrent.futures`: threads, processes, mpi4py's."""

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from pathlib import Path
from typing import Any, final

from multibody.sweep import begun
from multibody.sweep.crew import Crew, Outcome
from multibody.sweep.errors import SweepError
from multibody.sweep.parcel import unpack
from multibody.sweep.work import Task, Token, compute, unwatched

PATIENCE = 1.0
"""In s: how long `collect` waits."""


@final
class Futures(Crew):
    """The user's executor, which stays open.

    A death in a pool takes all of its workers along. A chunk at which one died is given out when nothing else is, so
    that no other chunk is blamed for it.
    """

    def __init__(self, executor: Executor, path: Path) -> None:
        known = getattr(executor, "num_workers", None) or getattr(executor, "_max_workers", None)
        self.workers = int(known or os.cpu_count() or 1)
        self.ahead = 2 * self.workers
        self._executor, self._path = executor, path
        self._parcel = b""
        self._waiting: deque[Task] = deque()
        self._under_way: dict[Future[Token], Task] = {}
        self._alone = False
        """Whether what is under way is to be alone."""

    def equip(self, parcel: bytes) -> None:
        self._parcel = parcel

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        try:
            return self._executor.submit(_called, self._parcel, function, *args).result()
        except BrokenExecutor as error:
            raise _broken(error) from error

    def submit(self, task: Task) -> None:
        self._waiting.append(task)
        self._hand_out()

    def collect(self) -> list[Outcome]:
        ended, _ = wait(self._under_way, PATIENCE, FIRST_COMPLETED)
        outcomes = []
        for future in ended:
            task = self._under_way.pop(future)
            try:
                outcomes.append(Outcome(task, future.result()))
            except (BrokenExecutor, CancelledError) as error:
                raise _broken(error) from error
            except Exception as error:
                outcomes.append(Outcome(task, error))
        self._hand_out()
        return outcomes

    def close(self) -> None:
        self._waiting.clear()
        for future in self._under_way:
            future.cancel()
        self._under_way.clear()

    def _hand_out(self) -> None:
        self._alone = self._alone and bool(self._under_way)
        while self._waiting and not self._alone:
            if self._is_suspect(self._waiting[0]):
                if self._under_way:
                    return
                self._alone = True
            task = self._waiting.popleft()
            try:
                self._under_way[self._executor.submit(_computed, self._parcel, task)] = task
            except (BrokenExecutor, RuntimeError) as error:
                raise _broken(error) from error

    def _is_suspect(self, task: Task) -> bool:
        """Whether a process died at a chunk."""
        return begun.deaths(begun.place(self._path, task.chunk)) > 0


def _computed(parcel: bytes, task: Task) -> Token:
    return compute(unpack(parcel), task)


def _called(parcel: bytes, function: Callable[..., Any], *args: Any) -> Any:
    return function(unpack(parcel), unwatched, *args)


def _broken(error: BaseException) -> SweepError:
    return SweepError(
        f"the executor's workers died or were shut down ({error}); all chunks that were done are kept: run the study "
        'again with a new executor, which takes the chunks that were under way apart, or with executor="processes", '
        "which contains deaths by itself"
    )
