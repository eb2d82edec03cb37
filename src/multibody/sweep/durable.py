"""Files that are there whole or not at all, and stay when the power goes."""

import errno
import os
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

from multibody.sweep.errors import StoreError


def write(files: Mapping[Path, Sequence[bytes]], scratch: Path) -> None:
    """Write files, under their names only once they are whole; return when all of them are on disk.

    A file gets its name only after its content is on disk, and the names are on disk at the end. Disks take as long for
    one `fsync` as for several at once, so these run side by side.

    Args:
        files: what to write, by place, in parts.
        scratch: a folder of the same disk for what is not whole yet.

    Raises:
        StoreError: on a full or read-only disk, or where the store is gone.
    """
    parts = {place: scratch / uuid.uuid4().hex for place in files}
    threads = _threads(os.getpid())
    try:
        list(threads.map(_write_part, parts.values(), files.values()))
        for place, part in parts.items():
            os.replace(part, place)
        list(threads.map(flush, {place.parent for place in files}))
    except OSError as error:
        raise refused(error, next(iter(files))) from error
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def flush(place: Path) -> None:
    """Wait until a file, or the names in a folder, are on disk."""
    handle = os.open(place, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def refused(error: OSError, place: Path) -> StoreError:
    """What a user should hear when a file cannot be written."""
    words = {
        errno.ENOSPC: "the disk is full: free some space, then run the study again, which goes on where it was",
        errno.EDQUOT: "the quota of the disk is used up: free some space, then run the study again",
        errno.EROFS: "the disk is read-only: expected a store on a disk that can be written",
        errno.EACCES: "it may not be written by this user",
        errno.EPERM: "it may not be written by this user",
        errno.ENOENT: "the folder of the store is gone, or this worker does not see it: expected a shared disk",
    }
    return StoreError(f"cannot write {place}: {words.get(error.errno or 0, error.strerror)}", error.errno)


@lru_cache(maxsize=1)
def _threads(process: int) -> ThreadPoolExecutor:
    """Threads that wait for disks; a forked process has none of its parent's."""
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
