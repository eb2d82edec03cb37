"""Errors on the threads of a viewer: reported, so that the thread can continue."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reported() -> Iterator[None]:
    """Report an error of this block as that of a thread, with its traceback on stderr, and continue after the block."""
    try:
        yield
    except Exception as error:  # whatever the code of a user raises
        report = threading.ExceptHookArgs((type(error), error, error.__traceback__, threading.current_thread()))
        threading.excepthook(report)
