"""A crew: whoever computes the chunks of a study, behind one interface."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

from multibody.sweep.errors import SweepError
from multibody.sweep.work import Task, Token


class WorkerLost(SweepError):  # noqa: N818  the chunk is given to another one
    """A worker that died, or was lost, with a chunk that can be tried again."""


class Outcome(NamedTuple):
    """What became of a task."""

    task: Task
    result: Token | BaseException


class Crew(ABC):
    """Processes that take tasks and give tokens."""

    workers: int
    """How many work at the same time."""
    ahead: int
    """Tasks that are given out before the first is done: enough that nobody waits, few enough to be nothing."""

    @abstractmethod
    def equip(self, parcel: bytes) -> None:
        """Tell the workers what the tasks after this are about."""

    @abstractmethod
    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """function(work, watch, *args), in one of the workers, where `work` is that of the parcel.

        Raises:
            WorkerLost: when another one may try.
        """

    @abstractmethod
    def submit(self, task: Task) -> None:
        """Give out a task."""

    @abstractmethod
    def collect(self) -> list[Outcome]:
        """Wait for at least one task to end, or for about a second."""

    @abstractmethod
    def close(self) -> None:
        """Give up what is under way."""
