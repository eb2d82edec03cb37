"""Warnings and notes of the loader, by kind or each of them."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from multibody.cli._messages import spelled

if TYPE_CHECKING:
    from multibody.model.diagnostics import Diagnostic

STYLES = {"warning": "yellow", "note": "cyan"}
VARYING = re.compile(r"'[^']*'|(?<![\w.])-?\d[\d.]*(?:e[-+]?\d+)?(?!\w)")
"""Differences between messages of one kind: names in quotes, and numbers."""
NAME = re.compile(r' (\w+)="[^"]*"')
LINES = 2
"""Lines of a kind that are named."""


class Kind(NamedTuple):
    """Diagnostics that say the same of different places."""

    first: "Diagnostic"
    times: int
    lines: tuple[int, ...]

    @property
    def text(self) -> str:
        """The message, with … for what differs."""
        if self.times == 1:
            return _text(self.first)
        element = NAME.sub("", self.first.element or "")
        message = VARYING.sub("…", self.first.message)
        said_already = not element or message.startswith(element.split()[0])
        return message if said_already else f"{element}: {message}"

    @property
    def places(self) -> str:
        """The first lines of the file that it is about."""
        shown = ", ".join(map(str, self.lines[:LINES])) + (", …" if len(self.lines) > LINES else "")
        return f" (line{'s' * (len(self.lines) > 1)} {shown})" if self.lines else ""


def kinds(diagnostics: Sequence["Diagnostic"]) -> list[Kind]:
    """Diagnostics by what they say, in the order in which they come.

    >>> from multibody.model.diagnostics import Diagnostic
    >>> at = [Diagnostic("note", "ignored", f"<a> is no. {k}", line=k) for k in range(3)]
    >>> [(kind.times, kind.text) for kind in kinds(at)]
    [(3, '<a> is no. …')]
    """
    groups: dict[tuple[str | None, ...], list[Diagnostic]] = {}
    for each in diagnostics:
        message, element = VARYING.sub("…", each.message), NAME.sub("", each.element or "")
        groups.setdefault((each.file, each.code, message, element), []).append(each)
    return [Kind(group[0], len(group), tuple(d.line for d in group if d.line)) for group in groups.values()]


def count(diagnostics: Sequence["Diagnostic"], level: str) -> str:
    """As "2 warnings"."""
    number = sum(d.level == level for d in diagnostics)
    return f"{number} {level}{'' if number == 1 else 's'}"


def show_level(console: Console, diagnostics: Sequence["Diagnostic"], level: str, rows: int | None = None) -> None:
    """Print those of a level, by file: a row for each kind, or so many rows with one diagnostic each."""
    chosen = [d for d in diagnostics if d.level == level]
    for file in dict.fromkeys(d.file for d in chosen):
        here = [d for d in chosen if d.file == file]
        title = count(here, level) + (f" in {file}" if file else "")
        console.print(Text(title, style=f"bold {STYLES[level]}"), soft_wrap=True)
        grid = Table.grid(padding=(0, 1))
        grid.add_column(justify="right", no_wrap=True)
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        for kind in kinds(here) if rows is None else ():
            grid.add_row(f"{kind.times} ×", kind.first.code, spelled(kind.text) + kind.places)
        for d in here[:rows] if rows is not None else ():
            grid.add_row("" if d.line is None else str(d.line), d.code, spelled(_text(d)))
        if rows is not None and len(here) > rows:
            grid.add_row("⋮", "", f"{len(here) - rows} more")
        console.print(grid, style=STYLES[level])
        console.print()


def _text(diagnostic: "Diagnostic") -> str:
    return f"{diagnostic.element}: {diagnostic.message}" if diagnostic.element else diagnostic.message
