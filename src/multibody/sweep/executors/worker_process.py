"""A worker process of a study's own: it reads tasks from its parent, and answers with results."""

import ctypes
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

from multibody.sweep.chunks import Job, Task, evaluate, write
from multibody.sweep.errors import SweepError
from multibody.sweep.evaluation import Evaluation, one_line
from multibody.sweep.shipping import unpack

READY = "ready"
"""The answer of a worker that has unpacked the study."""
FREE = "free"
"""The answer of a worker that has computed its chunk, and writes it while it computes the next one."""


def main(handle: int) -> None:
    """Serve a parent until it closes the connection; it gets True before each call of the function, then False."""
    _die_with_parent()
    connection, lock = Connection(handle), threading.Lock()

    def send(x: Any) -> None:
        with lock:
            connection.send(x)

    writer = _Writer(send)
    job: Job | None = None
    writes_behind = False
    while True:
        try:
            message = connection.recv()
        except (EOFError, OSError):
            return
        if not isinstance(message, Task):
            packed_job, memory = message
            try:
                job = unpack(packed_job)
            except Exception as error:
                send(SweepError(f"the study cannot be unpacked in another process: {one_line(error)}"))
                return
            _limit_memory(memory)
            writes_behind = memory is None  # under a limit, one chunk at a time is in memory
            send(READY)
        elif job is not None:
            computed = evaluate(job, message, send)
            if isinstance(computed, Evaluation) and writes_behind:
                writer.take(computed)
            else:
                send(write(computed))


class _Writer:
    """Writes a chunk while the next one is computed; one at a time, to bound the memory."""

    def __init__(self, send: Callable[[Any], None]) -> None:
        self._send = send
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="multibody-sweep")
        self._last: Future[None] | None = None

    def take(self, computed: Evaluation) -> None:
        """Begin to write, once the previous chunk is written."""
        if self._last is not None:
            self._last.result()
        self._send(FREE)
        self._last = self._thread.submit(lambda: self._send(write(computed)))


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
