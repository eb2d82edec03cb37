"""Signs of life for whatever takes longer than a second: on stderr, and only where that is a terminal."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.progress import Progress

from multibody.cli._tables import terminal

Item = TypeVar("Item")


@contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """A spinner beside words, which the function that it gives changes."""
    from multibody.compiler.runtime.progress import hidden

    console = terminal(stderr=True)
    if not console.is_interactive:
        yield lambda _: None
        return
    with hidden(), console.status(what) as status:
        yield status.update


@contextmanager
def progress() -> Iterator[Progress]:
    """A bar that vanishes at the end."""
    from multibody.compiler.runtime.progress import hidden

    console = terminal(stderr=True)
    with hidden(), Progress(console=console, transient=True, disable=not console.is_interactive) as bar:
        yield bar


@contextmanager
def share_done(what: str) -> Iterator[Callable[[float], None]]:
    """A bar for code that is compiled first; the function that it gives sets the share that is done, from 0 to 1."""
    with progress() as bar:
        task = bar.add_task("compiling", total=1.0)
        yield lambda share: bar.update(task, completed=share, description=what)


def track(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """The items, with a bar that says how many of them are done."""
    with progress() as bar:
        yield from bar.track(items, total=total, description=what)
