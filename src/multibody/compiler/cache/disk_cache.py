"""Files of object code, so that the next process starts in milliseconds.

An entry is one file, named by its key (`key.py`). It holds a line of JSON, the object code of each form that was called
(`batch_and_single.py`) and the text of the other, under a checksum; nothing in it is ever executed but that code. The
directory must belong to the user, and nobody else may write to it. Whatever goes wrong here costs a compilation and
nothing else.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
import tempfile
import warnings
import zlib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

_MAGIC = b"multibody kernel 3\n"


class Entry(NamedTuple):
    """What is kept of a kernel."""

    header: dict[str, Any]
    """Plain data: the fingerprint of the graph, the signature and the counts of operations."""
    objects: dict[str, list[bytes]]
    """The object code of each form that is compiled."""
    sources: dict[str, bytes]
    """The texts of each form that is not yet, packed."""

    def compiled(self, form: str, objects: list[bytes]) -> Entry:
        """The entry, with the object code of a form in place of its source."""
        rest = {name: source for name, source in self.sources.items() if name != form}
        return Entry(self.header, {**self.objects, form: objects}, rest)


def pack(texts: list[str]) -> bytes:
    """The texts of modules as a tenth of their bytes."""
    return zlib.compress(json.dumps(texts).encode(), 1)


def unpack(source: bytes) -> list[str]:
    """The texts that were packed."""
    return json.loads(zlib.decompress(source))


def directory() -> Path:
    """Where entries lie: $MULTIBODY_CACHE_DIR, or `multibody` in the user's cache directory."""
    named = os.environ.get("MULTIBODY_CACHE_DIR")
    if named:
        return Path(named)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "multibody"


def load(key: str) -> Entry | None:
    """The entry of that key, or None when there is none that can be trusted."""
    place = _usable()
    if place is None:
        return None
    try:
        data = (place / key).read_bytes()
    except OSError:
        return None
    return _decode(key, data)


def store(key: str, entry: Entry) -> None:
    """Keep an entry: written aside and then renamed, so that no reader ever sees half of it."""
    place = _usable()
    if place is None:
        return
    try:
        handle, name = tempfile.mkstemp(prefix=".", dir=place)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_encode(key, entry))
            os.replace(name, place / key)
        except BaseException:
            os.unlink(name)
            raise
    except OSError:  # a full or read-only disk
        return


def _encode(key: str, entry: Entry) -> bytes:
    parts = [("object", form, code) for form, objects in entry.objects.items() for code in objects]
    parts += [("source", form, source) for form, source in entry.sources.items()]
    table = [(kind, form, len(data)) for kind, form, data in parts]
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
    for kind, form, length in header.pop("parts"):
        if kind == "object":
            objects.setdefault(form, []).append(rest[:length])
        else:
            sources[form] = rest[:length]
        rest = rest[length:]
    return Entry(header, objects, sources)


def _usable() -> Path | None:
    """The directory, made when it is missing; None when it is not safe."""
    place = directory()
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = place.stat()
    except OSError:
        return None
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
        _warn(place)
        return None
    return place


@cache
def _warn(place: Path) -> None:
    warnings.warn(
        f"the kernel cache {place} belongs to another user or can be written by others: it is not used", stacklevel=2
    )
