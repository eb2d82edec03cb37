"""The contract of an executor: whatever computes the chunks of a study, behind one interface."""

from abc import ABC, abstractmethod
from typing import Any

from multibody.sweep.chunks import ChunkResult, Job, Task

POLL_INTERVAL = 1.0
"""The longest time that `collect` waits, in s."""


class ChunkExecutor(ABC):
    """Workers that take tasks and return results, in any order.

    An executor does not retry. It reports a chunk whose worker died as `lost`; `retries.py` decides what follows.
    """

    workers: int
    """The number of chunks that are computed at the same time."""
    ahead: int
    """The queue depth: enough tasks to keep the workers busy."""

    @abstractmethod
    def equip(self, job: Job, entries: dict[str, Any], cpu: str | None) -> None:
        """Give the study of the tasks that follow to the workers.

        Args:
            job: the study.
            entries: kernels that are compiled already, by key.
            cpu: the class of processor for which they are compiled.
        """

    @abstractmethod
    def submit(self, task: Task) -> None:
        """Take a task."""

    @abstractmethod
    def collect(self) -> list[ChunkResult]:
        """Wait for at least one chunk to end, or for about a second."""

    @abstractmethod
    def close(self) -> None:
        """Stop, and drop all tasks under way."""


def lost(chunk: int, reason: str) -> ChunkResult:
    """The result of a chunk whose worker was lost."""
    return ChunkResult(chunk, "lost", error=reason)
