"""The retry policy: how often a sample, a chunk, a worker or a scheduler may be lost before a study gives it up."""

from multibody.sweep.errors import SweepError

MAX_DEATHS_PER_SAMPLE = 3
"""Process deaths at one sample before it counts as failed: other samples may have killed the process."""
MAX_DEATHS_PER_CHUNK = 2
"""Process deaths at a whole chunk before it is split. Split chunks have other bits if rows depend on neighbours."""
MAX_LOSSES = 50
"""Losses in a row of a chunk, without new evidence against one of its samples, before the run ends with an error."""
MAX_IDLE_DEATHS = 3
"""Own processes that may die in a row before they have begun anything."""
PROBED_PLACES = 5
"""Places at which a function may fail for several samples, and then for single ones, before it is rejected."""
MAX_SCHEDULER_ABSENCE = 120.0
"""The longest time that a run waits for a lost Dask scheduler, in s."""
MAX_WORKER_ABSENCE = 300.0
"""The longest time that a run waits for a first or another Dask worker, in s."""


def must_split(deaths: int, reason: str, samples: int, is_whole: bool) -> bool:
    """Whether a range of samples is not tried again as a whole.

    Args:
        deaths: of processes, while they computed exactly this range.
        reason: "died", "hung" or "memory"; a range that hung once is not tried again.
        samples: the length of the range.
        is_whole: whether the range is a whole chunk, or one of the first calls.
    """
    if reason == "hung":
        return deaths >= 1
    return deaths >= (MAX_DEATHS_PER_SAMPLE if samples == 1 else MAX_DEATHS_PER_CHUNK if is_whole else 1)


class LossCounter:
    """Counts the losses in a row of one piece of work; a new death in its attempt log starts the count again."""

    def __init__(self, name: str) -> None:
        self._name, self._losses, self._deaths = name, 0, 0

    def add(self, deaths: int, reason: object) -> None:
        """Count a loss.

        Args:
            deaths: all that the attempt log names.
            reason: of this loss, for the message.

        Raises:
            SweepError: after `MAX_LOSSES` in a row.
        """
        self._losses = 0 if deaths > self._deaths else self._losses + 1
        self._deaths = deaths
        if self._losses >= MAX_LOSSES:
            raise SweepError(
                f"{self._name} failed {MAX_LOSSES} times in a row on lost workers; the last loss: {reason}"
            )
