"""The lock of a study: one process at a time runs it, and the lock dies with its holder."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from multibody.sweep.errors import StoreError, StudyBusyError
from multibody.sweep.store.atomic_files import store_error

_handles: set[int] = set()


def _close_in_child() -> None:
    """Close the lock in a forked child, in which it would outlive its holder."""
    for handle in _handles:
        os.close(handle)
    _handles.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)


@contextmanager
def locked(path: Path, store: Path) -> Iterator[None]:
    """Hold the lock of a store within this block.

    Raises:
        StudyBusyError: when another process, or this one, holds it.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise store_error(error, path) from None
    try:
        if not _acquire(handle, store):
            holder = os.pread(handle, 1000, 0).decode(errors="replace").strip() or "another process"
            raise StudyBusyError(f"{store}: the study is being run by {holder}; mb.sweep.open(...).status() watches it")
        _handles.add(handle)
        os.ftruncate(handle, 0)
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()} since {since}".encode(), 0)
        yield
        os.ftruncate(handle, 0)
    finally:
        _handles.discard(handle)
        os.close(handle)


def _acquire(handle: int, store: Path) -> bool:
    """Take the lock, if it is free; `is_locked` of another process holds it for a moment."""
    try:
        for _ in range(5):
            if _try_lock(handle):
                return True
            time.sleep(0.02)
    except OSError as error:
        raise StoreError(
            f"{store}: its disk cannot lock files ({error.strerror}): expected one that can, as local disks and NFS "
            "do, so that no two processes run one study"
        ) from None
    return False


def is_locked(path: Path) -> bool:
    """Whether a process runs the study."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        return not _try_lock(handle, shared=True)
    except OSError:  # a disk without locks, on which no study runs
        return False
    finally:
        os.close(handle)


def _try_lock(handle: int, *, shared: bool = False) -> bool:
    import fcntl

    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
