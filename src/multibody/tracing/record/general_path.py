"""The counter that sends calls of kernels to the general path: it is raised in eager blocks and while a trace is open.

The fast path of a kernel is C code that cannot read context variables. It reads this counter instead: if the counter is
zero, every call in every thread runs native code. Otherwise the general path decides by the context of the call.
"""

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

OPEN_BLOCKS = ctypes.c_int64(0)
"""Open `general_path` blocks of all threads; the fast path reads it at its address."""
_depth: ContextVar[int] = ContextVar("multibody_general_path_depth", default=0)
_lock = threading.Lock()


@contextmanager
def general_path() -> Iterator[None]:
    """Let all calls of kernels take the general path within this block."""
    token = _depth.set(_depth.get() + 1)
    with _lock:
        OPEN_BLOCKS.value += 1
    try:
        yield
    finally:
        with _lock:
            OPEN_BLOCKS.value -= 1
        _depth.reset(token)


def _after_fork() -> None:
    """Keep the blocks of the thread that forked; in a child there are no others, and the lock may be taken."""
    global _lock
    _lock = threading.Lock()
    OPEN_BLOCKS.value = _depth.get()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
