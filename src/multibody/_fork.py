"""Locks of the whole process that a forked child finds free, because the threads that held them are not in it."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def in_child(renew: Callable[[], object]) -> None:
    """Call a function in every forked child of this process, on systems that fork."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=renew)


class ForkSafeLock:
    """A lock at module level; each is registered for as long as the process lives."""

    def __init__(self) -> None:
        self._renew()
        in_child(self._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Within this block no other thread of the process holds the lock."""
        with self._lock:  # a child that is forked within the block releases the lock of its parent
            yield
