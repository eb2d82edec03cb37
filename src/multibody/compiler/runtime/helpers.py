"""Helper processes that generate code for this one: LLVM IR in, object code out, over pipes.

LLVM holds one lock in a process, so threads gain nothing. A helper is a plain subprocess that imports llvmlite only.
It ends when its pipe is closed: with this process, however this one ends. A forked child closes its copies of the pipes
and starts helpers of its own.
"""

from __future__ import annotations

import atexit
import itertools
import os
import subprocess
import sys
import threading
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, PriorityQueue
from typing import NamedTuple

from multibody._fork import ForkSafeLock, in_child
from multibody.compiler.config import config
from multibody.compiler.runtime import object_code
from multibody.compiler.runtime.object_code import Request

MAX_HELPERS = 4
IDLE_SECONDS = 20.0
"""Idle helpers exit after this time."""
JOIN_SECONDS = 2.0
"""How long the end of the process waits for the threads of helpers."""
MPI_VARIABLES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK", "MPI_LOCALNRANKS")
"""Set in processes that mpirun has started, which share the cores of their machine already."""


class HelperLostError(Exception):
    """A helper ended before it answered."""


class _Job(NamedTuple):
    """A module to compile; foreground jobs come first."""

    background: bool
    number: int
    request: Request
    result: Future[bytes]


def count() -> int:
    """The number of helpers that this process may have; 0 if it must compile in place."""
    executable = sys.executable
    if not (config.helpers and executable) or getattr(sys, "frozen", False) or not _is_own_interpreter(executable):
        return 0
    if "mpi4py" in sys.modules or any(name in os.environ for name in MPI_VARIABLES) or _has_siblings():
        return 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores - 1, MAX_HELPERS)


def submit(requests: list[Request], *, background: bool) -> list[Future[bytes]]:
    """Let helpers compile modules; a module that they cannot compile has an exception as its result.

    Args:
        requests: the modules, the most urgent first.
        background: whether nobody waits for them.
    """
    with _lock.hold():
        jobs = [_Job(background, next(_numbers), request, Future()) for request in requests]
        for job in jobs:
            _state.jobs.put(job)
        while len(_state.threads) < min(count(), _state.jobs.qsize()):
            thread = threading.Thread(target=_work, args=(_state,), name="multibody-helper", daemon=True)
            _state.threads.add(thread)
            thread.start()
    return [job.result for job in jobs]


def current() -> object:
    """The jobs and helpers of this process, as an opaque object; a forked child has another one."""
    return _state


class _State:
    """Jobs and helpers of a process."""

    def __init__(self) -> None:
        self.jobs: PriorityQueue[_Job] = PriorityQueue()
        self.threads: set[threading.Thread] = set()
        self.processes: set[subprocess.Popen[bytes]] = set()
        self.closed = False


_lock = ForkSafeLock()
_numbers = itertools.count()
_state = _State()


def _work(state: _State) -> None:
    """The thread of a helper: it hands jobs to its process, one by one."""
    process = None
    try:
        while not state.closed:
            try:
                job = state.jobs.get(timeout=IDLE_SECONDS)
            except Empty:
                with _lock.hold():
                    if state.jobs.empty():
                        state.threads.discard(threading.current_thread())
                        return
                continue
            if not job.result.set_running_or_notify_cancel():
                continue
            try:
                if process is None:
                    process = _start(state)
                code = _compile(process, job.request)
            except Exception as error:  # its caller compiles the module itself, or has the same error
                _end(state, process)
                process = None
                job.result.set_exception(HelperLostError(str(error)))
            else:
                job.result.set_result(code)
    finally:
        _end(state, process)
        with _lock.hold():
            state.threads.discard(threading.current_thread())


def _start(state: _State) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-I", object_code.__file__]
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere)
    state.processes.add(process)
    if state.closed:
        process.kill()
    return process


def _compile(process: subprocess.Popen[bytes], request: Request) -> bytes:
    assert process.stdin is not None
    assert process.stdout is not None
    object_code.send(process.stdin, request[1:], request.text.encode())
    answer = object_code.receive(process.stdout)
    if answer is None:
        raise HelperLostError("the helper process has ended")
    return answer[1]


def _end(state: _State, process: subprocess.Popen[bytes] | None) -> None:
    if process is not None:
        state.processes.discard(process)
        process.kill()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):  # what is left in the buffer cannot be written
                if pipe is not None:
                    pipe.close()
        process.wait()


def _close() -> None:
    """End all helpers, before the interpreter does."""
    state = _state
    state.closed = True
    for process in list(state.processes):
        process.kill()
    for thread in list(state.threads):
        thread.join(JOIN_SECONDS)


def _forget() -> None:
    """In a forked child: close the copies of the pipes, so that helpers end with the parent."""
    global _state
    for process in _state.processes:
        process.returncode = 0  # it is not a child of this process
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError, ValueError):
                    os.close(pipe.fileno())
    _kept.append(_state)
    _state = _State()


_kept: list[_State] = []
"""States of parents, whose pipes must not be closed a second time by their destructors."""


def _is_own_interpreter(executable: str) -> bool:
    """Whether the file is the running interpreter, not a program that embeds Python."""
    try:
        return os.path.samefile(executable, "/proc/self/exe")
    except OSError:  # no such system file: judge by the name
        return "python" in os.path.basename(executable).lower()


def _has_siblings() -> bool:
    """Whether multiprocessing started this process, as for studies: its siblings use the other cores."""
    multiprocessing = sys.modules.get("multiprocessing.process")
    return multiprocessing is not None and multiprocessing.parent_process() is not None


in_child(_forget)
atexit.register(_close)
