"""Numbers as tables that fit the width of the terminal."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from multibody.model.joint import Joint
    from multibody.robot import Robot

TWIST = ("vx", "vy", "vz", "ωx", "ωy", "ωz")
GAP = 2


def terminal(**options: Any) -> Console:
    """A console that prints names from files as they are: brackets and colons mean nothing in them."""
    return Console(markup=False, emoji=False, highlight=False, **options)


def table(*headers: str, numbers: int = 0) -> Table:
    """A table whose last columns, as many as `numbers`, hold numbers."""
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    for k, header in enumerate(headers):
        right = k >= len(headers) - numbers
        made.add_column(header, justify="right" if right else "left", no_wrap=right, overflow="fold")
    return made


def show(console: Console, made: Table, title: str = "", caption: str = "") -> None:
    """Print a table, an empty line after it, and what stands above and below it."""
    if title:
        console.print(Text(title, style="bold"))
    console.print(made)
    if caption:
        console.print(Text(caption, style="dim"))
    console.print()


def number(x: float, digits: int = 4) -> str:
    """Few significant digits, and none where there is nothing: 0, 1.25, -0.003142, ∞."""
    x = float(x)
    if abs(x) < 1e-12:
        return "0"
    return f"{x:.{digits}g}".replace("inf", "∞")


def vector(x: Any) -> str:
    """Numbers in brackets."""
    return "(" + ", ".join(number(value) for value in np.asarray(x).tolist()) + ")"


def velocity_names(robot: "Robot") -> list[str]:
    """A name for each velocity: the joint's, with the part of it where it has several."""
    return names_of(robot, robot.nv, lambda joint: (joint.v, _parts(joint)))


def names_of(robot: "Robot", total: int, entries: Callable[["Joint"], tuple[slice, list[str]]]) -> list[str]:
    """So many names, from those of each joint that has coordinates of its own, and where they stand."""
    names = [""] * total
    for joint in robot.joints:
        if joint.mimic is None:
            where, own = entries(joint)
            names[where] = own
    return names


def _parts(joint: "Joint") -> list[str]:
    if joint.kind.nv == 1:
        return [joint.name]
    parts = TWIST if joint.kind.nv == 6 else [str(k) for k in range(joint.kind.nv)]
    return [f"{joint.name} {part}" for part in parts]


def matrix(
    console: Console, title: str, values: NDArray[Any], rows: Sequence[str], columns: Sequence[str], digits: int = 4
) -> None:
    """Print a matrix with names at its rows and columns; one that is too wide in blocks of columns."""
    text = [[number(x, digits) for x in row] for row in values.tolist()]
    widths = [max(len(columns[j]), *(len(row[j]) for row in text)) + GAP for j in range(len(columns))]
    blocks = _blocks(widths, console.width - max(map(len, rows)))
    for first, last in blocks:
        part = "" if len(blocks) == 1 else f", columns {columns[first]} to {columns[last - 1]}"
        block = table("", *columns[first:last], numbers=last - first)
        block.columns[0].no_wrap = True
        for name, row in zip(rows, text, strict=True):
            block.add_row(name, *(Text(x, style="dim" if x == "0" else "") for x in row[first:last]))
        show(console, block, title + part)


def _blocks(widths: Sequence[int], space: int) -> list[tuple[int, int]]:
    blocks, first, used = [], 0, 0
    for j, width in enumerate(widths):
        if used + width > space and j > first:
            blocks.append((first, j))
            first, used = j, 0
        used += width
    return [*blocks, (first, len(widths))]
