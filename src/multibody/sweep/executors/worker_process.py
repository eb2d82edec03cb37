"""A worker process of a study's own: it reads tasks from its parent, and answers with results."""

import ctypes
import pickle
import signal
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any, final

from multibody.sweep.chunks import Job, Task, write
from multibody.sweep.errors import SweepError
from multibody.sweep.evaluation import Evaluation, one_line
from multibody.sweep.executors.executor import raised
from multibody.sweep.shipping import unpack

READY = "ready"
"""The answer of a worker that has unpacked the study."""
FREE = "free"
"""The answer of a worker that has computed its chunk, and writes it while it computes the next one."""


@final
class Channel:
    """One end of the connection between a parent and its worker, which several threads may write to."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._lock = threading.Lock()

    def send(self, x: Any) -> None:
        """Write an object."""
        with self._lock:
            self.connection.send(x)


def main(handle: int) -> None:
    """Serve a parent until it closes the connection; it gets True before each call of the function, then False."""
    _die_with_parent()
    channel = Channel(Connection(handle))
    writer = _Writer(channel)
    job: Job | None = None
    problem, writes_behind = "there is none", False
    while True:
        try:
            message = channel.connection.recv()
        except (EOFError, OSError):
            return
        if not isinstance(message, Task):
            parcel, memory = message
            try:
                job = unpack(parcel)
            except Exception as error:
                job, problem = None, one_line(error)
            _limit_memory(memory)
            writes_behind = memory is None  # under a limit, one chunk at a time is in memory
            channel.send(READY)
            continue
        try:
            if job is None:
                raise SweepError(f"the study cannot be unpacked in another process: {problem}")
            answer = message.evaluate(job, channel.send)
            if isinstance(answer, Evaluation):
                if writes_behind:
                    writer.take(answer)
                    continue
                answer = write(answer)
        except Exception as error:
            answer = raised(message.chunk, _sendable(error))
        channel.send(answer)


class _Writer:
    """Writes a chunk while the next one is computed; one at a time, to bound the memory."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="multibody-sweep")
        self._last: Future[None] | None = None

    def take(self, computed: Evaluation) -> None:
        """Begin to write, once the previous chunk is written."""
        if self._last is not None:
            self._last.result()
        self._channel.send(FREE)
        self._last = self._thread.submit(self._write, computed)

    def _write(self, computed: Evaluation) -> None:
        try:
            result = write(computed)
        except Exception as error:
            result = raised(computed.commit.chunk, _sendable(error))
        self._channel.send(result)


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
