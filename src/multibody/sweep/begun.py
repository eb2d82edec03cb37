"""What was begun and not ended: how a chunk that killed its process is found, and then the sample that did.

Before a range of samples is computed, a line of the chunk's file says so; after it, another. A process that dies leaves
the first without the second. Whoever comes next does not try that range again as a whole.
"""

import os
import socket
import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import final

from multibody.sweep.durable import refused

CHANCES = 3
"""Deaths of one sample until it is taken for the reason: others may have killed the process."""
WHOLE = 2
"""Deaths of a chunk until it is taken apart: rows that depend on their neighbours have other bits in pieces."""
WORDS = {
    "died": "the process died while it computed this sample",
    "hung": "the sample took longer than the time limit",
    "memory": "the sample took more memory than the limit",
}

FORGIVEN = "forgiven"
PF_EXITING = 0x4
"""Linux's flag of a process that exits."""

Span = tuple[int, int]


def place(path: Path, k: int) -> Path:
    """The file of a chunk, in the store at a path."""
    return path / "journal" / "begun" / f"{k:08d}"


def first(path: Path) -> Path:
    """The file of the first look at a function, beside the store that is not there yet."""
    return path.with_name(f".{path.name}.begun")


def deaths(place: Path) -> int:
    """How many processes died at what a file is about."""
    return _history(place)[0].total()


def killed(place: Path, pid: int, reason: str) -> None:
    """Note why a process of this machine is about to be killed."""
    _add(place, f"{_process(pid)} killed {reason}")


def forgiven(place: Path) -> None:
    """Note that what was begun until now was given up by the user, and tells nothing of a sample."""
    if place.exists():
        _add(place, FORGIVEN)


def _add(place: Path, line: str) -> None:
    try:
        with open(place, "a", encoding="ascii") as file:
            file.write(f"{line}\n")
    except OSError:  # then a process is said to have died
        return


@final
class Begun:
    """The file of a chunk that is being computed, or of the first look at a function."""

    def __init__(self, path: Path, whole: Span | None, watch: Callable[[bool], None]) -> None:
        """The file, with what it tells of processes that died.

        Args:
            path: where it is.
            whole: all samples of the chunk; None where any range is one.
            watch: is told before each call of the function, and after it.
        """
        self._path, self._whole, self._watch = path, whole, watch
        self._me = f"{_process(os.getpid())}:{uuid.uuid4().hex[:8]}"
        self.deaths, self.reasons = _history(self._path)
        try:
            self._handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise refused(error, self._path) from None

    def begin(self, start: int, stop: int) -> None:
        """These samples are computed next."""
        self._say(f"begin {start} {stop}")
        self._watch(True)

    def end(self, start: int, stop: int) -> None:
        """They are, or they raised an exception: the process lives."""
        self._watch(False)
        self._say(f"end {start} {stop}")

    def is_deadly(self, start: int, stop: int) -> bool:
        """Whether the range is not to be tried as a whole."""
        span = start, stop
        if self.reasons.get(span) == "hung":
            return self.deaths[span] >= 1
        return self.deaths[span] >= (CHANCES if stop - start == 1 else WHOLE if self._whole in (None, span) else 1)

    def close(self, *, remove: bool) -> None:
        """No process is at it any more; remove the file when there is nothing to be learned from it."""
        os.close(self._handle)
        if remove:
            self._path.unlink(missing_ok=True)

    def _say(self, line: str) -> None:
        try:
            os.write(self._handle, f"{self._me} {line}\n".encode())
        except OSError as error:
            raise refused(error, self._path) from None


def _history(path: Path) -> tuple[Counter[Span], dict[Span, str]]:
    """How often processes died within each range, and why, where that is known."""
    deaths: Counter[Span] = Counter()
    reasons: dict[Span, str] = {}
    under_way: dict[str, Span] = {}
    try:
        lines = path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return deaths, reasons
    for line in lines:
        match line.split():
            case [who, "begin", start, stop] if start.isdigit() and stop.isdigit():
                under_way[who] = int(start), int(stop)
            case [who, "end", _, _]:
                under_way.pop(who, None)
            case [process, "killed", reason] if reason in WORDS:
                for who, span in under_way.items():
                    if who.startswith(process + ":"):
                        reasons[span] = reason
            case [word] if word == FORGIVEN:
                under_way.clear()
    for who, span in under_way.items():
        deaths[span] += not _lives(who)
    return deaths, reasons


def _process(pid: int) -> str:
    return f"{socket.gethostname()}:{pid}"


def _lives(who: str) -> bool:
    """Whether a process of this machine is still running; processes of other machines count as dead."""
    host, pid, _ = who.rsplit(":", 2)
    if host != socket.gethostname() or int(pid) == os.getpid():
        return False
    try:
        os.kill(int(pid), 0)
    except OSError:
        return False
    return not _exits(int(pid))


def _exits(pid: int) -> bool:
    """Whether a process is a zombie, or exits: a signal reaches it until its parent has reaped it.

    The system marks a process before it closes its connections, so whoever sees a connection close sees the mark.
    """
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:  # no /proc here
        return False
    return status[0] in ("Z", "X") or bool(int(status[6]) & PF_EXITING)
