"""Attempt logs: they find the sample that kills its process, by splitting chunks over restarts.

Before a range of samples is computed, a line of the chunk's log says so; after it, another. A process that dies leaves
the first without the second. The next process does not try that range again as a whole (`retries.must_split`).
"""

import os
import socket
import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import final

from multibody.sweep.retries import must_split
from multibody.sweep.store.atomic_files import store_error

REASONS = {
    "died": "the process died while it computed this sample",
    "hung": "the sample took longer than the time limit",
    "memory": "the sample took more memory than the limit",
}

DISCARDED = "forgiven"
PF_EXITING = 0x4
"""Linux's flag of a process that exits."""

Span = tuple[int, int]


def chunk_log(store: Path, k: int) -> Path:
    """The log of a chunk, in a store."""
    return store / "journal" / "begun" / f"{k:08d}"


def first_log(store: Path) -> Path:
    """The log of the first calls of a function, beside the store that does not exist yet."""
    return store.with_name(f".{store.name}.begun")


def count_deaths(log: Path) -> int:
    """The number of process deaths that a log names."""
    return _history(log)[0].total()


def note_kill(log: Path, pid: int, reason: str) -> None:
    """Note why a process of this machine is about to be killed."""
    _append(log, f"{process_name(pid)} killed {reason}")


def discard_attempts(log: Path) -> None:
    """Note that the user ended all attempts so far, so that they are no evidence against a sample."""
    if log.exists():
        _append(log, DISCARDED)


def _append(log: Path, line: str) -> None:
    try:
        with open(log, "a", encoding="ascii") as file:
            file.write(f"{line}\n")
    except OSError:  # the reason of a death is then unknown
        return


@final
class AttemptLog:
    """The log of a chunk that is being computed, or of the first calls of a function."""

    def __init__(self, path: Path, whole: Span | None, watch: Callable[[bool], None]) -> None:
        """Open the log, and read which processes died.

        Args:
            path: of the log.
            whole: all samples of the chunk; None if every range counts as whole.
            watch: called with True before each call of the function, and with False after it.
        """
        self._path, self._whole, self._watch = path, whole, watch
        self._name = f"{process_name()}:{uuid.uuid4().hex[:8]}"
        self.deaths, self.reasons = _history(self._path)
        try:
            self._handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise store_error(error, self._path) from None

    def begin(self, start: int, stop: int) -> None:
        """Note that these samples are computed next."""
        self._write(f"begin {start} {stop}")
        self._watch(True)

    def end(self, start: int, stop: int) -> None:
        """Note that these samples are computed, or raised an exception: the process lives."""
        self._watch(False)
        self._write(f"end {start} {stop}")

    def must_split(self, start: int, stop: int) -> bool:
        """Whether a range is not tried again as a whole."""
        span = start, stop
        return must_split(self.deaths[span], self.reasons.get(span, "died"), stop - start, self._whole in (None, span))

    def close(self, *, remove: bool) -> None:
        """Close the log; remove it if it names no death that matters any more."""
        os.close(self._handle)
        if remove:
            self._path.unlink(missing_ok=True)

    def _write(self, line: str) -> None:
        try:
            os.write(self._handle, f"{self._name} {line}\n".encode())
        except OSError as error:
            raise store_error(error, self._path) from None


def _history(log: Path) -> tuple[Counter[Span], dict[Span, str]]:
    """The number of process deaths within each range, and their reasons as far as they are known."""
    deaths: Counter[Span] = Counter()
    reasons: dict[Span, str] = {}
    under_way: dict[str, Span] = {}
    try:
        lines = log.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return deaths, reasons
    for line in lines:
        match line.split():
            case [attempt, "begin", start, stop] if start.isdigit() and stop.isdigit():
                under_way[attempt] = int(start), int(stop)
            case [attempt, "end", _, _]:
                under_way.pop(attempt, None)
            case [process, "killed", reason] if reason in REASONS:
                for attempt, span in under_way.items():
                    if attempt.startswith(process + ":"):
                        reasons[span] = reason
            case [word] if word == DISCARDED:
                under_way.clear()
    for attempt, span in under_way.items():
        deaths[span] += not is_alive(attempt)
    return deaths, reasons


def process_name(pid: int | None = None) -> str:
    """The name of a process of this machine, by default this one, among all machines."""
    return f"{socket.gethostname()}:{os.getpid() if pid is None else pid}"


def is_alive(attempt: str) -> bool:
    """Whether the process of an attempt still runs; processes of other machines count as dead."""
    host, pid, _ = attempt.rsplit(":", 2)
    if host != socket.gethostname() or int(pid) == os.getpid():
        return False
    try:
        os.kill(int(pid), 0)
    except OSError:
        return False
    return not _is_exiting(int(pid))


def _is_exiting(pid: int) -> bool:
    """Whether a process is a zombie, or exits: a signal reaches it until its parent has reaped it.

    The system marks a process before it closes its connections, so whoever sees a connection close sees the mark.
    """
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:  # no /proc here
        return False
    return status[0] in ("Z", "X") or bool(int(status[6]) & PF_EXITING)
