"""The crew of one: this process, with the threads of its kernels."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, final

from multibody.sweep.crew import Crew, Outcome
from multibody.sweep.work import Draft, Task, Token, Work, evaluate, unwatched, write


@final
class Here(Crew):
    """Computes each chunk when it is waited for, while the one before goes to the disk; nothing is pickled."""

    workers = 1
    ahead = 2

    def __init__(self) -> None:
        self._work: Work | None = None
        self._tasks: deque[Task] = deque()
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="multibody-sweep")
        self._written: deque[tuple[Task, Future[Token]]] = deque()

    def begin(self, work: Work) -> None:
        """What the tasks after this are about."""
        self._work = work

    def equip(self, parcel: bytes) -> None:
        from multibody.sweep.parcel import unpack

        self._work = unpack(parcel)

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        return function(self._work, unwatched, *args)

    def submit(self, task: Task) -> None:
        self._tasks.append(task)

    def collect(self) -> list[Outcome]:
        outcomes = []
        if self._tasks:
            task = self._tasks.popleft()
            result = self._evaluated(task)
            if isinstance(result, Draft):
                self._written.append((task, self._writer.submit(write, result)))
            else:
                outcomes.append(Outcome(task, result))
        while self._written and (self._written[0][1].done() or len(self._written) > 1 or not self._tasks):
            task, future = self._written.popleft()
            outcomes.append(Outcome(task, future.exception() or future.result()))
        return outcomes

    def close(self) -> None:
        self._tasks.clear()
        self._writer.shutdown()

    def _evaluated(self, task: Task) -> Draft | Token | Exception:
        if self._work is None:
            raise RuntimeError("no work was given")
        try:
            return evaluate(self._work, task)
        except Exception as error:
            return error
