"""Eager blocks: the NumPy source of kernels runs instead of their native code."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from multibody.tracing.record.general_path import general_path

_eager: ContextVar[bool] = ContextVar("multibody_eager", default=False)


@contextmanager
def eager() -> Iterator[None]:
    """Run the NumPy source of kernels instead of their native code within this block.

    A kernel from a pickle has no source: its native code runs.
    """
    token = _eager.set(True)
    try:
        with general_path():
            yield
    finally:
        _eager.reset(token)


def is_eager() -> bool:
    """Return whether an `eager` block is open in this context."""
    return _eager.get()
