"""A crew out of any executor of `concurrent.futures`: threads, processes, mpi4py's."""

import os
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from typing import Any, final

from multibody.sweep.crew import Crew, Outcome
from multibody.sweep.errors import SweepError
from multibody.sweep.parcel import unpack
from multibody.sweep.work import Task, Token, compute

PATIENCE = 1.0
"""In s: how long `collect` waits."""


@final
class Futures(Crew):
    """The user's executor, which stays open."""

    def __init__(self, executor: Executor) -> None:
        known = getattr(executor, "num_workers", None) or getattr(executor, "_max_workers", None)
        self.workers = int(known or os.cpu_count() or 1)
        self.ahead = 2 * self.workers
        self._executor = executor
        self._parcel = b""
        self._under_way: dict[Future[Token], Task] = {}

    def equip(self, parcel: bytes) -> None:
        self._parcel = parcel

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        try:
            return self._executor.submit(_called, self._parcel, function, *args).result()
        except BrokenExecutor as error:
            raise SweepError(f"the executor broke at the first samples: {error}") from error

    def submit(self, task: Task) -> None:
        try:
            self._under_way[self._executor.submit(_computed, self._parcel, task)] = task
        except BrokenExecutor as error:
            raise _broken(error) from error

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
        return outcomes

    def close(self) -> None:
        for future in self._under_way:
            future.cancel()
        self._under_way.clear()


def _computed(parcel: bytes, task: Task) -> Token:
    return compute(unpack(parcel), task)


def _called(parcel: bytes, function: Callable[..., Any], *args: Any) -> Any:
    return function(unpack(parcel), *args)


def _broken(error: BaseException) -> SweepError:
    return SweepError(
        f"the executor's workers died or were shut down ({error}); all chunks that were done are kept: run the study "
        'again with a new executor, which takes the chunks that were under way apart, or with executor="processes", '
        "which contains deaths by itself"
    )
