"""Object code on disk, so that the next process starts in milliseconds.

An entry is one file, named by its graph key (`key.py`): a line of JSON, the object code of each variant that was called
and the LLVM IR of the other, under a checksum. An alias is a small file that leads from a text key to a graph key.
The directory must belong to the user, and nobody else may write to it. Its size is limited by `config.cache_size`: the
least recently used files are removed first. Any failure here costs a compilation and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from multibody.compiler.config import config
from multibody.compiler.runtime.code import Entry

_MAGIC = b"multibody kernel 4\n"
_ALIAS = ".alias"
_TEMPORARY = "."
MAX_TEMPORARY_AGE = 3600.0
"""Seconds after which a temporary file is a leftover of a process that was killed."""
USE_RESOLUTION = 86400.0
"""Seconds between two updates of the time at which a file was last used."""
FREE_FRACTION = 0.1
"""Fraction of the limit that is free after files were removed."""
CHECK_FRACTION = 1 / 16
"""Fraction of the limit that a process may write between two checks of the size."""


class File(NamedTuple):
    """A file of the cache."""

    path: str
    size: int
    used: float
    """When it was last used, in seconds since 1970, to within a day."""

    @property
    def is_alias(self) -> bool:
        """Whether it is not code, but the alias of a graph key."""
        return self.path.endswith(_ALIAS)


def directory() -> Path | None:
    """Return $MULTIBODY_CACHE_DIR or `multibody` in the user's cache directory; None if the user has no home."""
    if named := os.environ.get("MULTIBODY_CACHE_DIR"):
        return Path(named)
    try:
        if sys.platform == "win32":
            base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:  # neither HOME nor an entry in the table of users, as in some containers
        return None
    return Path(base) / "multibody"


def path(key: str) -> Path | None:
    """The file of an entry."""
    folder = directory()
    return None if folder is None else folder / key


def load(key: str) -> Entry | None:
    """The entry of a graph key; None if there is none, or if it is damaged."""
    data = _read(key)
    return None if data is None else _decode(key, data)


def store(key: str, entry: Entry) -> None:
    """Store an entry under its graph key."""
    _write(key, _encode(key, entry))


def load_alias(text_key: str) -> str | None:
    """The graph key that a text key stands for; None if there is none, or if it is damaged."""
    graph_key, _, check = (_read(text_key + _ALIAS) or b"").decode(errors="replace").partition(" ")
    return graph_key if check and check == _alias_check(text_key, graph_key) else None


def store_alias(text_key: str, graph_key: str) -> None:
    """Let a text key stand for a graph key."""
    _write(text_key + _ALIAS, f"{graph_key} {_alias_check(text_key, graph_key)}".encode())


def files() -> list[File]:
    """The files of the cache, the least recently used first, without temporary ones."""
    return sorted((file for file, temporary in _scan() if not temporary), key=lambda file: file.used)


def clear(older_than: float = 0.0) -> list[File]:
    """Remove all files, or those that were not used for so many seconds; return what was removed."""
    limit = time.time() - older_than
    removed = [file for file, _ in _scan() if file.used <= limit]
    for file in removed:
        _remove(file)
    return removed


def prune() -> None:
    """Remove leftover temporary files, and the least recently used ones if the cache exceeds its limit."""
    excess, kept = -float(config.cache_size), list[File]()
    for file, temporary in _scan():
        if not temporary:
            kept.append(file)
            excess += file.size
        elif time.time() - file.used > MAX_TEMPORARY_AGE:
            _remove(file)
    if excess > 0:
        excess += FREE_FRACTION * config.cache_size
        for file in sorted(kept, key=lambda file: file.used):
            if excess > 0:
                _remove(file)
                excess -= file.size


def _scan() -> Iterator[tuple[File, bool]]:
    """Every file of the directory, and whether it is temporary; other processes may remove files meanwhile."""
    folder = _usable_directory()
    if folder is None:
        return
    with suppress(OSError), os.scandir(folder) as items:
        for item in items:
            with suppress(OSError):
                if item.is_file(follow_symlinks=False):
                    status = item.stat(follow_symlinks=False)
                    file = File(item.path, status.st_size, status.st_mtime)
                    yield file, item.name.startswith(_TEMPORARY)


def _remove(file: File) -> None:
    with suppress(OSError):  # another process removed it first
        os.unlink(file.path)


_unchecked = float("inf")
"""Bytes that this process has written since it last checked the size of the cache."""


def _read(name: str) -> bytes | None:
    """The bytes of a file, which counts as used."""
    folder = _usable_directory()
    if folder is None:
        return None
    try:
        with open(folder / name, "rb") as file:
            data = file.read()
            used = os.fstat(file.fileno()).st_mtime
    except OSError:
        return None
    if time.time() - used > USE_RESOLUTION:
        with suppress(OSError):
            os.utime(folder / name)
    return data


def _write(name: str, data: bytes) -> None:
    """Write a temporary file and rename it, so that no reader ever sees half of it."""
    global _unchecked
    folder = _usable_directory()
    if folder is None:
        return
    with suppress(OSError):  # a full or read-only disk
        handle, temporary = tempfile.mkstemp(prefix=_TEMPORARY, dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, folder / name)
        except BaseException:
            os.unlink(temporary)
            raise
        _unchecked += len(data)
        if _unchecked > CHECK_FRACTION * config.cache_size:
            _unchecked = 0.0
            prune()


def _alias_check(text_key: str, graph_key: str) -> str:
    return hashlib.sha256(f"{_MAGIC!r} {text_key} {graph_key}".encode()).hexdigest()


def _encode(key: str, entry: Entry) -> bytes:
    parts = [("object", variant, code) for variant, objects in entry.objects.items() for code in objects]
    parts += [("source", variant, source) for variant, source in entry.sources.items()]
    table = [(kind, variant, len(data)) for kind, variant, data in parts]
    header = json.dumps({"key": key, "parts": table, **entry.header}).encode()
    body = header + b"\n" + b"".join(data for _, _, data in parts)
    return _MAGIC + hashlib.sha256(body).digest() + body


def _decode(key: str, data: bytes) -> Entry | None:
    start = len(_MAGIC) + 32
    body = data[start:]
    if data[: len(_MAGIC)] != _MAGIC or hashlib.sha256(body).digest() != data[len(_MAGIC) : start]:
        return None
    line, _, rest = body.partition(b"\n")
    header = json.loads(line)
    if header.pop("key") != key:  # a copy of another entry
        return None
    objects: dict[str, list[bytes]] = {}
    sources: dict[str, bytes] = {}
    for kind, variant, length in header.pop("parts"):
        if kind == "object":
            objects.setdefault(variant, []).append(rest[:length])
        else:
            sources[variant] = rest[:length]
        rest = rest[length:]
    return Entry(header, objects, sources)


def _usable_directory() -> Path | None:
    """The directory, created if it is missing; None if there is none or others can write to it."""
    folder = directory()
    if folder is None:
        return None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return None
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
        _warn(folder)
        return None
    return folder


@cache
def _warn(folder: Path) -> None:
    warnings.warn(
        f"the kernel cache {folder} belongs to another user or can be written by others: it is not used", stacklevel=2
    )
