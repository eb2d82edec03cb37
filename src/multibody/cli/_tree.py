"""The tree of a robot for the width of a terminal."""

import re
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multibody.robot import Robot

ROW = re.compile(r"^(?P<lead>[│├└─ ]*)(?P<cells>[^│├└─ +·].*  .*)$")
"""The row of a body: lines that lead to it, and cells with two spaces or more between them."""


def tree(robot: "Robot", width: int, rows: int = 400) -> str:
    """As `print(robot)`; where that is too wide without the ranges of joints, and at last on two rows a body."""
    from multibody.model import tree_text

    lines = tree_text.tree(robot.model, rows).splitlines()
    if max(map(len, lines)) <= width:
        return "\n".join(lines)
    cells = [_cells(line) for line in lines]
    columns = [max((len(row[k]) for row in cells if len(row) > 1), default=0) for k in range(4)]
    if sum(columns) + 2 * 3 > width:
        return "\n".join(_in_two(row) if len(row) > 1 else _folded(row[0], width) for row in cells)
    return "\n".join(_aligned(row, columns) if len(row) > 1 else _folded(row[0], width) for row in cells)


def _cells(line: str) -> list[str]:
    """Body, joint, motion and mass, or the only cell of another row."""
    match = ROW.match(line)
    if match is None:
        return [line]
    body, joint, motion, *rest = re.split(r" {2,}", match["cells"])
    return [match["lead"] + body, joint, motion, rest[-1]]


def _aligned(row: list[str], columns: list[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(row, columns, strict=True)).rstrip()


def _in_two(row: list[str]) -> str:
    below = _lead(row[0]).replace("├─", "│ ").replace("└─", "  ")
    return f"{row[0]}\n{below}   by {', '.join(row[1:])}"


def _folded(row: str, width: int) -> str:
    lead = _lead(row)
    text = textwrap.wrap(row[len(lead) :], width - len(lead), subsequent_indent="  ", break_long_words=False)
    return "\n".join(lead + line for line in text) or row


def _lead(row: str) -> str:
    return row[: len(row) - len(row.lstrip("│├└─ "))]
