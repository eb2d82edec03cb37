"""Of threads that want to make the same thing, one makes it; those who come meanwhile wait, and find it made."""

import os
import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary

_guard = threading.Lock()
_turns: "WeakValueDictionary[Hashable, _Turn]" = WeakValueDictionary()


class _Turn:
    """A lock that its waiters keep alive; who has it may ask for it again."""

    __slots__ = ("__weakref__", "lock")

    def __init__(self) -> None:
        self.lock = threading.RLock()


def _forget() -> None:
    """In a child: threads that held a turn are not there any more."""
    global _guard
    _guard = threading.Lock()
    _turns.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@contextmanager
def turn(key: Hashable) -> Iterator[None]:
    """Within this block no other thread is in a block of the same key."""
    with _guard:
        mine = _turns.get(key)
        if mine is None:
            mine = _turns[key] = _Turn()
    with mine.lock:
        yield
