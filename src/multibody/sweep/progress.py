"""A bar on the terminal: done, rate, time left, failures, workers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from multibody.compiler.runtime.progress import hidden
from multibody.errors import InputError
from multibody.sweep.running import Tally


@contextmanager
def watcher(progress: bool | Callable[[Tally], None] | None) -> Iterator[Callable[[Tally], Any]]:
    """Whoever watches a run.

    Args:
        progress: whether there is a bar, by default where stderr is a terminal; or a function that is told.
    """
    if progress is not None and not isinstance(progress, bool):
        if not callable(progress):
            raise InputError(f"progress: expected True, False or a function, got {progress!r}")
        yield progress
        return
    console = Console(stderr=True)
    if progress is False or not (progress or console.is_interactive):
        yield lambda _: None
        return
    columns = TextColumn("{task.percentage:3.0f} %"), BarColumn(), TextColumn("{task.description}")
    with hidden(), Progress(*columns, console=console) as bar:
        task = bar.add_task("starting")
        yield lambda tally: bar.update(task, total=tally.samples, completed=tally.done, description=words(tally))


def words(tally: Tally) -> str:
    """How far a run is.

    >>> words(Tally(1000, done=10, workers=2))
    '10 of 1000 samples, 2 workers'
    """
    parts = [f"{tally.done} of {tally.samples} samples"]
    if tally.left is not None:
        parts += [f"{tally.rate:.3g} a second", f"{duration(tally.left)} left"]
    if tally.failed:
        parts.append(f"{tally.failed} failed")
    return ", ".join([*parts, f"{tally.workers} worker{'s' * (tally.workers != 1)}"])


def duration(seconds: float) -> str:
    """A time in the units that fit.

    >>> duration(5.0), duration(605.0), duration(100000.0)
    ('5 s', '10 min', '27.8 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
