"""A process of a study's own: it reads tasks from its parent and answers with tokens."""

import ctypes
import os
import pickle
import select
import signal
import sys
from typing import Any, final

from multibody.sweep.errors import SweepError
from multibody.sweep.evaluation import said
from multibody.sweep.parcel import unpack
from multibody.sweep.work import Work, compute

READY = "ready"
"""What a child says that has opened its parcel."""
_LENGTH = 8


@final
class Pipe:
    """Objects both ways between a parent and its child."""

    def __init__(self, source: int, target: int) -> None:
        self.source, self.target = source, target

    def send(self, x: Any) -> None:
        """Write an object."""
        data = pickle.dumps(x, protocol=5)
        rest = memoryview(len(data).to_bytes(_LENGTH, "little") + data)
        while rest:
            rest = rest[os.write(self.target, rest) :]

    def receive(self) -> Any:
        """Read an object; EOFError when the other one is gone."""
        return pickle.loads(self._read(int.from_bytes(self._read(_LENGTH), "little")))

    def ready(self, seconds: float) -> bool:
        """Whether there is something to read, now or within so many seconds."""
        return bool(select.select([self.source], [], [], seconds)[0])

    def _read(self, count: int) -> bytes:
        parts = []
        while count:
            part = os.read(self.source, min(count, 2**20))
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)


def main() -> None:
    """Serve a parent until it is gone; between a task and its token, tell when the function is called and returns."""
    _die_with_parent()
    pipe = Pipe(os.dup(0), os.dup(1))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what functions print is not for the parent
    work: Work | None = None
    problem = "there is none"
    while True:
        try:
            word, *rest = pipe.receive()
        except EOFError:
            return
        if word == "equip":
            try:
                work = unpack(rest[0])
            except Exception as error:
                work, problem = None, said(error)
            _limit_memory(rest[1])
            pipe.send(READY)
            continue
        try:
            if work is None:
                raise SweepError(f"the study cannot be unpacked in another process: {problem}")
            answer = compute(work, rest[0], pipe.send) if word == "task" else rest[0](work, pipe.send, *rest[1])
        except Exception as error:
            answer = _sendable(error)
        pipe.send(answer)


def _sendable(error: Exception) -> Exception:
    """The error, or one that says the same where it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return SweepError(said(error))
    return error


def _limit_memory(extra: int | None) -> None:
    """Bytes that this process may take beyond what it has now: more than that raises MemoryError."""
    if extra is None or not sys.platform.startswith("linux"):
        return
    import resource

    with open("/proc/self/status", encoding="ascii") as lines:
        data = next(int(line.split()[1]) for line in lines if line.startswith("VmData"))
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (1024 * data + extra, hard))


def _die_with_parent() -> None:
    """On Linux the kernel ends this process with the one that started it."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1: PR_SET_PDEATHSIG
