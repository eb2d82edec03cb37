"""The counter that sends calls of kernels to the general path: it is raised in eager blocks and while a trace is open.

The fast path of a kernel is C code that cannot read context variables. It reads this counter instead: if the counter is
zero, every call in every thread runs native code. Otherwise the general path decides by the context of the call.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from multibody._fork import ForkSafeLock, in_child

OPEN_BLOCKS = ctypes.c_int64(0)
"""Open `general_path` blocks of all threads; the fast path reads it at its address."""
_depth: ContextVar[int] = ContextVar("multibody_general_path_depth", default=0)
_lock = ForkSafeLock()


@contextmanager
def general_path() -> Iterator[None]:
    """Let all calls of kernels take the general path within this block."""
    token = _depth.set(_depth.get() + 1)
    with _lock.hold():
        OPEN_BLOCKS.value += 1
    try:
        yield
    finally:
        with _lock.hold():
            OPEN_BLOCKS.value -= 1
        _depth.reset(token)


def _count_own_blocks() -> None:
    """In a forked child, count only the blocks of the thread that forked."""
    OPEN_BLOCKS.value = _depth.get()


in_child(_count_own_blocks)
