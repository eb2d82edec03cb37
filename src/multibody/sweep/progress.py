"""The progress of a run, and its bar on the terminal: done, rate, time left, failures, workers."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar

from multibody._notebook import is_notebook, updated_line
from multibody.compiler.runtime.progress import hidden
from multibody.errors import InputError


@dataclass
class Progress:
    """The state of a run, which `run(progress=function)` passes on."""

    samples: int
    done: int = 0
    failed: int = 0
    workers: int = 1
    fresh: int = 0
    """Samples that this run has computed."""
    since: float = field(default_factory=time.monotonic)
    dependent: tuple[int, ...] = ()
    """Samples that have other results if they are computed alone."""

    @property
    def rate(self) -> float:
        """Samples a second, in this run."""
        return self.fresh / max(1e-9, time.monotonic() - self.since)

    @property
    def left(self) -> float | None:
        """Seconds to the end at this rate."""
        return (self.samples - self.done) / self.rate if self.fresh else None


Watcher = Callable[[Progress], Any]


@contextmanager
def progress_watcher(progress: bool | Callable[[Progress], None] | None) -> Iterator[Watcher]:
    """The function that is called with the progress of a run.

    Args:
        progress: whether to show a bar, by default if stderr is a terminal, or a line in a notebook; or the user's own
            function.
    """
    if progress is not None and not isinstance(progress, bool):
        if not callable(progress):
            raise InputError(f"progress: expected True, False or a function, got {progress!r}")
        yield progress
        return
    if progress is not False and is_notebook(sys.stderr):
        with hidden(), updated_line() as show:
            yield lambda now: show(words(now))
        return
    console = Console(stderr=True)
    if progress is False or not (progress or console.is_interactive):
        yield lambda _: None
        return
    columns = TextColumn("{task.percentage:3.0f} %"), BarColumn(), TextColumn("{task.description}")
    with hidden(), Bar(*columns, console=console) as bar:
        task = bar.add_task("starting")
        yield lambda now: bar.update(task, total=now.samples, completed=now.done, description=words(now))


def words(progress: Progress) -> str:
    """The progress of a run in one line.

    >>> words(Progress(1000, done=10, workers=2))
    '10 of 1000 samples, 2 workers'
    """
    parts = [f"{progress.done} of {progress.samples} samples"]
    if progress.left is not None:
        parts += [f"{progress.rate:.3g} a second", f"{duration(progress.left)} left"]
    if progress.failed:
        parts.append(f"{progress.failed} failed")
    return ", ".join([*parts, f"{progress.workers} worker{'s' * (progress.workers != 1)}"])


def duration(seconds: float) -> str:
    """A time in the units that fit.

    >>> duration(5.0), duration(605.0), duration(100000.0)
    ('5 s', '10 min', '27.8 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
