"""A line of progress in a notebook: updated in place, and empty once the work is done."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

REFRESH_INTERVAL = 0.1
"""Minimum time in s between two updates of a line."""
_shown = ""
"""The identity of the latest display."""


def is_notebook(stream: Any) -> bool:
    """Whether a stream leads to the page of a notebook."""
    return type(stream).__module__.startswith("ipykernel.")


def show_line(text: str) -> None:
    """Show a line below the running cell in place of the cell's last line; an empty text removes it from the page.

    A display is updated because a stream keeps all that was ever written to it, and shows it in red.
    """
    from IPython.core.getipython import get_ipython
    from IPython.display import display

    global _shown
    cell = f"multibody-{os.getpid()}-{getattr(get_ipython(), 'execution_count', 0)}"
    content = {"text/plain": text, "text/html": f"<pre>{escape(text)}</pre>" if text else ""}
    display(content, raw=True, display_id=cell, update=cell == _shown)
    _shown = cell


@contextmanager
def updated_line() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows a line; the line disappears at the end of the block."""
    last = -REFRESH_INTERVAL

    def show(text: str) -> None:
        nonlocal last
        if time.monotonic() - last >= REFRESH_INTERVAL:
            last = time.monotonic()
            show_line(text)

    try:
        yield show
    finally:
        show_line("")
