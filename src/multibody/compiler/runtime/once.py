"""Single-flight locks: of several threads that request the same artefact, one builds it and the others wait."""

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary

from multibody._fork import ForkSafeLock, in_child


class _Flight:
    """A reentrant lock that its waiters keep alive."""

    __slots__ = ("__weakref__", "lock")

    def __init__(self) -> None:
        self.lock = threading.RLock()


_guard = ForkSafeLock()
_flights: WeakValueDictionary[Hashable, _Flight] = WeakValueDictionary()
in_child(_flights.clear)


@contextmanager
def single_flight(key: Hashable) -> Iterator[None]:
    """Within this block no other thread is in a block of the same key."""
    with _guard.hold():
        flight = _flights.get(key)
        if flight is None:
            flight = _flights[key] = _Flight()
    with flight.lock:
        yield
