"""The crew of one: this process, with the threads of its kernels."""

from collections import deque
from collections.abc import Callable
from typing import Any, final

from multibody.sweep.crew import Crew, Outcome
from multibody.sweep.work import Task, Work, compute


@final
class Here(Crew):
    """Computes each chunk when it is waited for; nothing is pickled."""

    workers = ahead = 1

    def __init__(self) -> None:
        self._work: Work | None = None
        self._tasks: deque[Task] = deque()

    def begin(self, work: Work) -> None:
        """What the tasks after this are about."""
        self._work = work

    def equip(self, parcel: bytes) -> None:
        from multibody.sweep.parcel import unpack

        self._work = unpack(parcel)

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        return function(self._work, *args)

    def submit(self, task: Task) -> None:
        self._tasks.append(task)

    def collect(self) -> list[Outcome]:
        task = self._tasks.popleft()
        if self._work is None:
            raise RuntimeError("no work was given")
        try:
            return [Outcome(task, compute(self._work, task))]
        except Exception as error:
            return [Outcome(task, error)]

    def close(self) -> None:
        self._tasks.clear()
