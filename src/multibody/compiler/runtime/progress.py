"""One line about a compilation that takes longer than a second, where a person looks; it goes away when all is done."""

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from multibody.compiler.config import config
from multibody.errors import InputError

PATIENCE = 1.0
"""Seconds that pass in silence."""
INTERVAL = 0.1
"""Seconds between two looks."""
COLUMNS = 79


class _Work:
    """A compilation that is under way."""

    __slots__ = ("begun", "name", "stage")

    def __init__(self, name: str) -> None:
        self.name, self.stage, self.begun = name, "", time.monotonic()

    def __str__(self) -> str:
        seconds = time.monotonic() - self.begun
        stage = f", {self.stage}" if self.stage else ""
        return f"multibody: compiling {self.name}{stage}, {seconds:.0f} s"


class _Line:
    """The line that all compilations of a process share; the one that has run longest has it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.works: list[_Work] = []
        self.ticking = False
        self.written = 0
        """Characters on the line."""
        self.hidden = 0
        """How many others say for themselves what is going on."""

    def add(self, work: _Work) -> None:
        with self.lock:
            self.works.append(work)
            if not self.ticking:
                self.ticking = True
                threading.Thread(target=self._tick, name="multibody-progress", daemon=True).start()

    def remove(self, work: _Work) -> None:
        with self.lock:
            self.works.remove(work)
            self._write("")

    def _tick(self) -> None:
        while True:
            time.sleep(INTERVAL)
            with self.lock:
                if not self.works:
                    self.ticking = False
                    return
                if not self.hidden and time.monotonic() - self.works[0].begun > PATIENCE:
                    self._write(str(self.works[0])[:COLUMNS])

    def _write(self, text: str) -> None:
        """Replace what stands on the line: with spaces, since not every place knows how to erase."""
        if not (text or self.written):
            return
        blank = "\r" + " " * self.written + "\r" if self.written else ""
        try:
            sys.stderr.write(blank + text)
            sys.stderr.flush()
        except (AttributeError, OSError, ValueError):  # there is no stderr, or it was closed meanwhile
            pass
        self.written = len(text)


_line = _Line()
_current: ContextVar[_Work | None] = ContextVar("multibody_compilation", default=None)


def _forget() -> None:
    """In a forked child the thread that writes does not exist, and its lock may be held for ever."""
    global _line
    _line = _Line()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@contextmanager
def compiling(name: str) -> Iterator[None]:
    """Within this block a person is told, after a second, that something is compiled; the innermost `say` how far."""
    if _current.get() is not None or not _wanted(sys.stderr):
        yield
        return
    work, line = _Work(name), _line
    token = _current.set(work)
    line.add(work)
    try:
        yield
    finally:
        _current.reset(token)
        line.remove(work)


def say(stage: str) -> None:
    """How far the compilation is that runs here, if one does."""
    work = _current.get()
    if work is not None:
        work.stage = stage


@contextmanager
def hidden() -> Iterator[None]:
    """Within this block nothing is written: whoever opens it has the line for signs of its own."""
    line = _line
    with line.lock:
        line.hidden += 1
    try:
        yield
    finally:
        with line.lock:
            line.hidden -= 1


def _wanted(stream: Any) -> bool:
    if config.progress not in (True, False, "auto"):
        raise InputError(f'config.progress: expected True, False or "auto", got {config.progress!r}')
    return config.progress is True or (config.progress == "auto" and _is_watched(stream))


def _is_watched(stream: Any) -> bool:
    """Whether a person sees what is written to the stream at once: in a terminal that can go back, or in a notebook."""
    if type(stream).__module__.startswith("ipykernel."):
        return True
    try:
        return stream.isatty() and os.environ.get("TERM") != "dumb"
    except (AttributeError, ValueError):  # there is none, or it was closed
        return False
