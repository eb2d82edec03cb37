"""A line on stderr about a compilation that takes longer than a second; it is erased at the end.

The line is plain text, rewritten with carriage returns and erased with spaces: terminals, notebooks and pipes all show
it, while `rich.live` moves the cursor, which notebooks ignore, and needs ipywidgets there.
"""

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from multibody._fork import in_child
from multibody.compiler.config import config

SILENT_SECONDS = 1.0
"""Shorter compilations are not reported."""
REFRESH_INTERVAL = 0.1
"""Seconds between two updates of the line."""
MAX_COLUMNS = 79


class _Compilation:
    """A compilation in progress."""

    __slots__ = ("name", "stage", "start")

    def __init__(self, name: str) -> None:
        self.name, self.stage, self.start = name, "", time.monotonic()

    def __str__(self) -> str:
        stage = f", {self.stage}" if self.stage else ""
        return f"multibody: compiling {self.name}{stage}, {time.monotonic() - self.start:.0f} s"


class _Line:
    """The line of a process, shared by its compilations: it shows the oldest one."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.running: list[_Compilation] = []
        self.refreshes = False
        self.length = 0
        self.suppressions = 0

    def add(self, compilation: _Compilation) -> None:
        with self.lock:
            self.running.append(compilation)
            if not self.refreshes:
                self.refreshes = True
                threading.Thread(target=self._refresh, name="multibody-progress", daemon=True).start()

    def remove(self, compilation: _Compilation) -> None:
        with self.lock:
            if compilation in self.running:  # a forked child has no compilations of its parent
                self.running.remove(compilation)
                self._write("")

    def suppress(self, change: int) -> None:
        with self.lock:
            self.suppressions = max(0, self.suppressions + change)

    def _refresh(self) -> None:
        while True:
            time.sleep(REFRESH_INTERVAL)
            with self.lock:
                if not self.running:
                    self.refreshes = False
                    return
                if not self.suppressions and time.monotonic() - self.running[0].start > SILENT_SECONDS:
                    self._write(str(self.running[0])[:MAX_COLUMNS])

    def _write(self, text: str) -> None:
        if not (text or self.length):
            return
        erase = "\r" + " " * self.length + "\r" if self.length else ""
        try:
            sys.stderr.write(erase + text)
            sys.stderr.flush()
        except (AttributeError, OSError, ValueError):  # stderr is missing or closed
            pass
        self.length = len(text)


_line = _Line()
_current: ContextVar[_Compilation | None] = ContextVar("multibody_compilation", default=None)


def _renew() -> None:
    """Start a new line in a forked child, where the refreshing thread does not exist and may have held the lock."""
    global _line
    _line = _Line()


in_child(_renew)


@contextmanager
def compiling(name: str) -> Iterator[None]:
    """Report what this block does as a compilation, unless it is part of one that is reported."""
    if _current.get() is not None or not (config.progress is True or (config.progress and _is_watched(sys.stderr))):
        yield
        return
    compilation = _Compilation(name)
    token = _current.set(compilation)
    _line.add(compilation)
    try:
        yield
    finally:
        _current.reset(token)
        _line.remove(compilation)  # in a child that was forked meanwhile, this is another line


def say(stage: str) -> None:
    """Set the stage of the compilation that this thread runs, if it runs one."""
    compilation = _current.get()
    if compilation is not None:
        compilation.stage = stage


@contextmanager
def hidden() -> Iterator[None]:
    """Within this block nothing is written, because the caller shows progress of its own."""
    _line.suppress(1)
    try:
        yield
    finally:
        _line.suppress(-1)


def _is_watched(stream: Any) -> bool:
    """Whether the stream is a terminal that handles carriage returns, or a notebook."""
    if type(stream).__module__.startswith("ipykernel."):
        return True
    try:
        return stream.isatty() and os.environ.get("TERM") != "dumb"
    except (AttributeError, ValueError):  # it is missing or closed
        return False
