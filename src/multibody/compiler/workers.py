"""Threads for batches: started when first asked for, forgotten by forked children."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from multibody.compiler.config import config
from multibody.errors import InputError

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


def run(parts: list[Callable[[threading.Event], None]]) -> None:
    """Run all parts, the first one here; when one fails or a signal comes, the others stop at their next piece."""
    stop = threading.Event()
    futures: list[Future[Any]] = []
    here = parts[:1]
    try:
        for part in parts[1:]:
            try:
                futures.append(_executor().submit(part, stop))
            except RuntimeError:  # Python is ending, and starts no threads any more
                here.append(part)
        for part in here:
            part(stop)
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
