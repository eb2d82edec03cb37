"""Worker threads for batches: started at first use, and again in a forked child."""

import ctypes
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from multibody._fork import ForkSafeLock, in_child
from multibody.compiler.config import config
from multibody.errors import InputError

SIGNAL_INTERVAL = 0.1
"""Seconds between two checks for a signal. If another thread receives it, the main thread does not wake up."""
_pool: ThreadPoolExecutor | None = None
_lock = ForkSafeLock()


def _forget_pool() -> None:
    """In a forked child the threads of the parent do not exist."""
    global _pool
    _pool = None


in_child(_forget_pool)


def thread_count(threads: int | None) -> int:
    """The number of threads of a call, `config.threads` by default."""
    count = config.threads if threads is None else threads
    if not isinstance(count, int | np.integer) or count < 1:
        raise InputError(f"threads: expected a positive integer, got {count!r}")
    return int(count)


class Stop:
    """A flag that asks all parts of a call to stop; native code that runs for long reads it at its address."""

    def __init__(self) -> None:
        self._flag = ctypes.c_int64(0)
        self.address = ctypes.addressof(self._flag)

    def set(self) -> None:
        """Ask to stop."""
        self._flag.value = 1

    def is_set(self) -> bool:
        """Whether to stop."""
        return bool(self._flag.value)


def run(count: int, threads: int, task: Callable[[int, int, Stop], None], *, long: bool = False) -> None:
    """Split samples over threads, the first part on this one; if one fails or a signal comes, the others stop.

    Args:
        count: the number of samples.
        threads: the number of parts.
        task: runs the samples from `start` to `end`, and returns early if the flag is set.
        long: whether native code runs for long and reads the flag itself. The main thread, the only one that receives
            signals, and only in Python code, then runs no part.
    """
    stop = Stop()
    share = -(-count // threads)
    parts = [(start, min(count, start + share), stop) for start in range(0, count, share)]
    here = [] if long and threading.current_thread() is threading.main_thread() else parts[:1]
    futures: list[Future[Any]] = []
    try:
        for part in parts[len(here) :]:
            try:
                futures.append(_executor().submit(task, *part))
            except RuntimeError:  # the interpreter is shutting down and starts no threads
                here.append(part)
        for part in here:
            task(*part)
        while wait(futures, SIGNAL_INTERVAL).not_done:
            pass
        for future in futures:
            future.result()
    except BaseException:
        stop.set()
        raise
    finally:
        for future in futures:
            future.exception()


def _executor() -> ThreadPoolExecutor:
    global _pool
    with _lock.hold():
        if _pool is None:
            _pool = ThreadPoolExecutor(max_workers=os.cpu_count() or 1, thread_name_prefix="multibody")
        return _pool
