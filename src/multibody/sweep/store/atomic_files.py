"""Atomic writes: files are there as a whole or not at all, even after a loss of power."""

import errno
import os
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

from multibody.sweep.errors import StoreError


def write(files: Mapping[Path, Sequence[bytes]], scratch: Path) -> None:
    """Write files atomically; return when all of them are on disk.

    A file gets its name only after its content is on disk, and the names are on disk at the end. Disks take as long for
    one `fsync` as for several at once, so these run side by side.

    Args:
        files: their contents, in parts, by path.
        scratch: a folder of the same disk for incomplete files.

    Raises:
        StoreError: on a full or read-only disk, or if the store is gone.
    """
    parts = {path: scratch / uuid.uuid4().hex for path in files}
    threads = _threads(os.getpid())
    try:
        list(threads.map(_write_part, parts.values(), files.values()))
        for path, part in parts.items():
            os.replace(part, path)
        list(threads.map(flush, {path.parent for path in files}))
    except OSError as error:
        raise store_error(error, next(iter(files))) from error
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def store_error(error: OSError, path: Path) -> StoreError:
    """The error for users if a file cannot be written."""
    words = {
        errno.ENOSPC: "the disk is full: free some space, then run the study again, which goes on where it was",
        errno.EDQUOT: "the quota of the disk is used up: free some space, then run the study again",
        errno.EROFS: "the disk is read-only: expected a store on a disk that can be written",
        errno.EACCES: "it may not be written by this user",
        errno.EPERM: "it may not be written by this user",
        errno.ENOENT: "the folder of the store is gone, or this worker does not see it: expected a shared disk",
    }
    return StoreError(f"cannot write {path}: {words.get(error.errno or 0, error.strerror)}", error.errno)


@lru_cache(maxsize=1)
def _threads(process: int) -> ThreadPoolExecutor:
    """Threads that wait for disks; a forked process needs its own."""
    del process
    return ThreadPoolExecutor(8, thread_name_prefix="multibody-fsync")


def _write_part(part: Path, parts: Sequence[bytes]) -> None:
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        for data in parts:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
    finally:
        os.close(handle)
