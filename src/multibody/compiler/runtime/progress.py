"""A line on stderr about a compilation that takes longer than half a second; it is erased at the end.

The line is plain text, rewritten with carriage returns and erased with spaces. In a notebook it is a display, because
a saved notebook keeps all that was written to a stream. A file or a pipe gets a new line every 30 seconds instead.
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
from multibody._notebook import is_notebook, show_line
from multibody.compiler.config import config

SILENT_SECONDS = 0.5
"""Shorter compilations are not reported."""
REFRESH_INTERVAL = 0.1
"""Seconds between two updates of the line."""
PIPE_INTERVAL = 30.0
"""Seconds between two lines in a file or a pipe."""
MAX_COLUMNS = 79
MIN_NAME = 8
"""Letters of a kernel's name that stay where the line is too short for all."""


class _Compilation:
    """A compilation in progress."""

    __slots__ = ("lines", "name", "stage", "start")

    def __init__(self, name: str) -> None:
        self.name, self.stage, self.start = name, "", time.monotonic()
        self.lines = 0
        """Lines about it in a file or a pipe."""

    @property
    def seconds(self) -> float:
        """Its duration until now."""
        return time.monotonic() - self.start

    def __str__(self) -> str:
        stage = f", {self.stage}" if self.stage else ""
        rest = f"{stage}, {self.seconds:.0f} s{'; once, then cached' if config.cache else ''}"
        letters = max(MIN_NAME, MAX_COLUMNS - len("multibody: compiling ") - len(rest))
        name = self.name if len(self.name) <= letters else f"{self.name[: letters - 3]}..."
        return f"multibody: compiling {name}{rest}"[:MAX_COLUMNS]


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
                if not self.suppressions:
                    self._report(self.running[0])

    def _report(self, compilation: _Compilation) -> None:
        if config.progress is True or _is_watched(sys.stderr):
            if compilation.seconds > SILENT_SECONDS:
                self._write(str(compilation))
        elif compilation.seconds > PIPE_INTERVAL * (compilation.lines + 1):
            compilation.lines += 1
            self._write(f"{compilation}\n")
            self.length = 0

    def _write(self, text: str) -> None:
        if not (text or self.length):
            return
        erase = "\r" + " " * self.length + "\r" if self.length else ""
        try:
            if is_notebook(sys.stderr):
                show_line(text)
            else:
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
    if _current.get() is not None or not config.progress:
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
    if is_notebook(stream):
        return True
    try:
        return stream.isatty() and os.environ.get("TERM") != "dumb"
    except (AttributeError, ValueError):  # it is missing or closed
        return False
