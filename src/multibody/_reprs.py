"""Short reprs: four digits, plain integers and truth values, and the shapes of long arrays; tables for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from html import escape
from typing import Any

import numpy as np

DIGITS = 4
"""Significant digits of a float."""
ROUNDING_ERROR = 1e-12
"""Entries below this, relative to the largest of an array, are shown as zero."""
MAX_ENTRIES = 64
"""Longer arrays show their shape."""
MAX_ROWS = 40
"""Longer tables show their first and last rows."""


def short(value: Any) -> str:
    """Return a number, or an array as nested lists, with four digits; arrays of more than 64 numbers as their shape."""
    if not isinstance(value, np.ndarray | np.generic | float):
        return repr(value)
    array = np.asarray(value)
    if array.dtype.kind not in "fbiu":
        return repr(value)
    if array.size > MAX_ENTRIES:
        return f"<array {array.shape}>"
    return str(_rounded(array) if array.dtype.kind == "f" else array.tolist())


def _rounded(array: np.ndarray[Any, Any]) -> Any:
    """The floats of an array with four digits each, as nested lists."""
    magnitudes = np.abs(array[np.isfinite(array)])
    smallest = ROUNDING_ERROR * magnitudes.max() if magnitudes.size else 0.0
    texts = [f"{x:.{DIGITS}g}" if not abs(x) < smallest else "0" for x in array.ravel().tolist()]
    return np.array([float(text) + 0.0 for text in texts]).reshape(array.shape).tolist()


def short_fields(self: Any) -> str:
    """Return the repr of a dataclass or named tuple: each field with four digits."""
    names = getattr(self, "_fields", None) or [field.name for field in fields(self) if field.repr]
    shown = ", ".join(f"{name}={short(getattr(self, name))}" for name in names)
    return f"{type(self).__name__}({shown})"


def latex_matrix(array: np.ndarray[Any, Any]) -> str:
    """Return a matrix with four digits for a notebook."""
    rows = r" \\ ".join(" & ".join(f"{x:g}" for x in row) for row in _rounded(np.asarray(array, float)))
    return rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}"


def html_table(title: str, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table for a notebook, floats with four digits; of many rows, the first and the last ones."""
    shown = [list(row) for row in rows]
    if len(shown) > MAX_ROWS:
        shown[MAX_ROWS // 2 : -MAX_ROWS // 2] = [["⋮"] * len(head)]
    first = [_cells("th", head)] if any(head) else []
    lines = "\n".join([*first, *(_cells("td", row) for row in shown)])
    return f"<p>{escape(title)}</p>\n<table>\n{lines}\n</table>"


def _cells(tag: str, row: Sequence[Any]) -> str:
    texts = (cell if isinstance(cell, str) else short(cell) for cell in row)
    return f"<tr>{''.join(f'<{tag}>{escape(text)}</{tag}>' for text in texts)}</tr>"
