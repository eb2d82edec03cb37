"""Threads for batches: started when first asked for, forgotten by forked children."""

import ctypes
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from multibody.compiler.config import config
from multibody.errors import InputError

LISTEN = 0.1
"""Seconds between two looks for a signal: one that the system hands to another thread does not wake the main one."""
_pool: ThreadPoolExecutor | None = None
_lock = threading.Lock()


def _forget() -> None:
    """In a forked child the threads of the parent do not exist, and its locks may be held for ever."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def count(threads: int | None) -> int:
    """How many threads to use: those asked for, or those of the configuration."""
    asked = config.threads if threads is None else threads
    if not isinstance(asked, int | np.integer) or asked < 1:
        raise InputError(f"threads: expected a positive integer, got {asked!r}")
    return int(asked)


class Stop:
    """Whether to stop: known to Python, and at an address in memory to code that runs for long."""

    def __init__(self) -> None:
        self._flag = ctypes.c_int64(0)
        self.address = ctypes.addressof(self._flag)

    def set(self) -> None:
        """Ask to stop."""
        self._flag.value = 1

    def is_set(self) -> bool:
        """Whether to stop."""
        return bool(self._flag.value)


def run(parts: list[Callable[[Stop], None]], *, long: bool = False) -> None:
    """Run all parts, the first one here; when one fails or a signal comes, the others stop at their next piece.

    Parts that are `long` without a piece to stop at look at the flag themselves. The main thread, which alone hears
    signals and hears them only in Python, runs none of these.
    """
    stop = Stop()
    futures: list[Future[Any]] = []
    here = [] if long and threading.current_thread() is threading.main_thread() else parts[:1]
    try:
        for part in parts[len(here) :]:
            try:
                futures.append(_executor().submit(part, stop))
            except RuntimeError:  # Python is ending, and starts no threads any more
                here.append(part)
        for part in here:
            part(stop)
        while wait(futures, LISTEN).not_done:
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
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(max_workers=os.cpu_count() or 1, thread_name_prefix="multibody")
        return _pool
