"""A worker process of a study's own: it reads tasks from its parent, and answers with results."""

import ctypes
import os
import pickle
import select
import signal
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, final

from multibody.sweep.chunks import Job, evaluate, write
from multibody.sweep.errors import SweepError
from multibody.sweep.evaluation import Evaluation, one_line
from multibody.sweep.executors.executor import raised
from multibody.sweep.shipping import unpack

READY = "ready"
"""The answer of a worker that has unpacked the study."""
FREE = "free"
"""The answer of a worker that has computed its chunk, and writes it while it computes the next one."""
_LENGTH = 8


@final
class Pipe:
    """Pickled objects both ways between a parent and its worker."""

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
        """Read an object; EOFError if the other end is closed."""
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
    """Serve a parent until it closes the pipe; before each call of the function it gets True, and False after it."""
    _die_with_parent()
    pipe = Pipe(os.dup(0), os.dup(1))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # users' functions print to stderr
    writer = _Writer(pipe)
    job: Job | None = None
    problem, writes_behind = "there is none", False
    while True:
        try:
            word, *rest = pipe.receive()
        except EOFError:
            return
        if word == "equip":
            try:
                job = unpack(rest[0])
            except Exception as error:
                job, problem = None, one_line(error)
            _limit_memory(rest[1])
            writes_behind = rest[1] is None  # under a limit, one chunk at a time is in memory
            pipe.send(READY)
            continue
        try:
            if job is None:
                raise SweepError(f"the study cannot be unpacked in another process: {problem}")
            answer = evaluate(job, rest[0], pipe.send) if word == "task" else rest[0](job, pipe.send, *rest[1])
            if isinstance(answer, Evaluation):
                if writes_behind:
                    writer.take(answer)
                    continue
                answer = write(answer)
        except Exception as error:
            answer = raised(rest[0].chunk, _sendable(error)) if word == "task" else _sendable(error)
        pipe.send(answer)


class _Writer:
    """Writes a chunk while the next one is computed; one at a time, to bound the memory."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="multibody-sweep")
        self._last: Future[None] | None = None

    def take(self, computed: Evaluation) -> None:
        """Begin to write, once the previous chunk is written."""
        if self._last is not None:
            self._last.result()
        self._pipe.send(FREE)
        self._last = self._thread.submit(self._write, computed)

    def _write(self, computed: Evaluation) -> None:
        try:
            result = write(computed)
        except Exception as error:
            result = raised(computed.commit.chunk, _sendable(error))
        self._pipe.send(result)


def _sendable(error: Exception) -> Exception:
    """The error, or one with the same message if it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return SweepError(one_line(error))
    return error


def _limit_memory(extra: int | None) -> None:
    """Limit the memory of this process to what it has now and so many bytes: more raises MemoryError."""
    if extra is None or not sys.platform.startswith("linux"):
        return
    import resource

    with open("/proc/self/status", encoding="ascii") as lines:
        data = next(int(line.split()[1]) for line in lines if line.startswith("VmData"))
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (1024 * data + extra, hard))


def _die_with_parent() -> None:
    """Let the kernel end this process with its parent, on Linux."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1: PR_SET_PDEATHSIG
