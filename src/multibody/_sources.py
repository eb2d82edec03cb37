"""The digest of the library's sources as this process imports them, which is part of the key of every kernel.

Importing the package records only the metadata of its files, which takes about a millisecond; they are read for the
first digest. Modules are imported late, and files may be replaced under a running process, even by files of the same
size and modification time: `st_ctime`, which nobody can set, shows it. A process whose files have changed may run old
and new code, so its digest is unique to it.
"""

import hashlib
import os
import sys
import uuid
from operator import is_
from pathlib import Path
from typing import Any, NamedTuple

_ROOT = os.path.dirname(os.path.abspath(__file__))
_WITHOUT_KEYS = ("cli", "derive", "sweep")
"""Rooms that are no part of the digest: their kernels are traced in every process."""
_UNIQUE = "of this process "

_Files = list[tuple[str, int, int, int, int]]


class _State(NamedTuple):
    files: _Files
    """The metadata of the files at the last check."""
    modules: list[Any]
    """The modules imported then: while there are no others, no other code was loaded."""
    digest: str | None


def digest() -> str:
    """The digest of the sources that this process runs."""
    global _state
    # before the files are checked: later imports are seen the next time, and a reload has another spec
    ours = [module for name, module in [*sys.modules.items()] if name[:10] == "multibody."]
    modules = [getattr(module, "__spec__", None) for module in ours]
    if _state.digest is None or len(modules) != len(_state.modules) or not all(map(is_, modules, _state.modules)):
        known = _state.digest or _read(_state.files)
        files = _metadata()
        _state = _State(files, modules, known if files and files == _state.files else f"{_UNIQUE}{uuid.uuid4()}")
    return _state.digest or ""


def match_disk() -> bool:
    """Whether other processes that import these files have the same digest."""
    return not digest().startswith(_UNIQUE)


def _read(files: _Files) -> str:
    sources = hashlib.sha256()
    for path, *_ in files:
        try:
            text = Path(path).read_bytes()
        except OSError:  # it was removed, which the next check finds
            continue
        sources.update(f"{os.path.relpath(path, _ROOT)} {len(text)}\n".encode())
        sources.update(text)
    return sources.hexdigest()


def _metadata() -> _Files:
    """Path, size, times and inode of every source file; none if they are in an archive."""
    files: _Files = []
    folders = [_ROOT]
    try:
        while folders:
            folder = folders.pop()
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.endswith((".py", ".c", ".json", ".ll")):
                        status = entry.stat()
                        times = status.st_mtime_ns, status.st_ctime_ns
                        files.append((entry.path, status.st_size, *times, status.st_ino))
                    elif entry.name != "__pycache__" and entry.is_dir():
                        folders.append(entry.path)
            if folder is _ROOT:
                folders = [path for path in folders if os.path.basename(path) not in _WITHOUT_KEYS]
    except OSError:
        return []
    return sorted(files)


_state = _State(_metadata(), [], None)
