"""The library's sources as this process imports them: their digest is part of the key of every kernel.

Importing the package notes only how its files look to the file system, which takes about a millisecond; they are read
when the digest is first asked for. Modules are imported late, and files may be replaced under a running process, even
by others of the same size and time of modification: `st_ctime`, which nobody can set, tells of it. A process whose
files have changed may run code of either kind, so its digest is one that no other process has.
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
"""Rooms whose kernels are traced in every process."""
_OWN = "of this process "

_Files = list[tuple[str, int, int, int, int]]


class _State(NamedTuple):
    files: _Files
    """How the files looked when this process last looked."""
    modules: list[Any]
    """What had been imported then: as long as there is nothing else, no other code has come in."""
    digest: str | None


def digest() -> str:
    """The digest of the sources that this process runs."""
    global _state
    # before the files are looked at: what is imported meanwhile is seen the next time; a reload has another spec
    ours = [module for name, module in [*sys.modules.items()] if name[:10] == "multibody."]
    modules = [getattr(module, "__spec__", None) for module in ours]
    if _state.digest is None or len(modules) != len(_state.modules) or not all(map(is_, modules, _state.modules)):
        known = _state.digest or _read(_state.files)
        files = _look()
        _state = _State(files, modules, known if files and files == _state.files else f"{_OWN}{uuid.uuid4()}")
    return _state.digest or ""


def match_disk() -> bool:
    """Whether other processes that import the same files have the same digest."""
    return not digest().startswith(_OWN)


def _read(files: _Files) -> str:
    sources = hashlib.sha256()
    for path, *_ in files:
        try:
            text = Path(path).read_bytes()
        except OSError:  # it is gone, as will be seen
            continue
        sources.update(f"{os.path.relpath(path, _ROOT)} {len(text)}\n".encode())
        sources.update(text)
    return sources.hexdigest()


def _look() -> _Files:
    """Path, size, times and identity of every source file; none where they lie in an archive."""
    files: _Files = []
    folders = [_ROOT]
    try:
        while folders:
            folder = folders.pop()
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.endswith((".py", ".c", ".ll")):
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


_state = _State(_look(), [], None)
