"""A process of a study's own: it reads tasks from its parent and answers with tokens."""

import ctypes
import os
import pickle
import select
import signal
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, final

from multibody.sweep.errors import SweepError
from multibody.sweep.evaluation import said
from multibody.sweep.parcel import unpack
from multibody.sweep.work import Draft, Token, Work, evaluate, write

READY = "ready"
"""What a child says that has opened its parcel."""
FREE = "free"
"""What a child says that has computed its chunk, and writes it while it computes the next one."""
_LENGTH = 8


class Written(NamedTuple):
    """What a child says of a chunk after it was free."""

    chunk: int
    result: Token | Exception


@final
class Pipe:
    """Objects both ways between a parent and its child."""

    def __init__(self, source: int, target: int) -> None:
        self.source, self.target = source, target
        self._lock = threading.Lock()

    def send(self, x: Any) -> None:
        """Write an object."""
        data = pickle.dumps(x, protocol=5)
        rest = memoryview(len(data).to_bytes(_LENGTH, "little") + data)
        with self._lock:
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
    writer = _Writer(pipe)
    work: Work | None = None
    problem, behind = "there is none", False
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
            behind = rest[1] is None  # with a limit no other chunk is in the way
            pipe.send(READY)
            continue
        try:
            if work is None:
                raise SweepError(f"the study cannot be unpacked in another process: {problem}")
            answer = evaluate(work, rest[0], pipe.send) if word == "task" else rest[0](work, pipe.send, *rest[1])
            if isinstance(answer, Draft):
                if behind:
                    writer.take(answer)
                    continue
                answer = write(answer)
        except Exception as error:
            answer = _sendable(error)
        pipe.send(answer)


class _Writer:
    """Writes a chunk while the next one is computed, and tells the parent; one at a time, to bound the memory."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="multibody-sweep")
        self._last: Future[None] | None = None

    def take(self, draft: Draft) -> None:
        """Begin to write, once the one before is written."""
        if self._last is not None:
            self._last.result()
        self._pipe.send(FREE)
        self._last = self._thread.submit(self._write, draft)

    def _write(self, draft: Draft) -> None:
        try:
            result = write(draft)
        except Exception as error:
            result = _sendable(error)
        self._pipe.send(Written(draft.mark.chunk, result))


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
