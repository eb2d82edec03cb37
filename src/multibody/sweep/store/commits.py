"""Commits: a file for each chunk that is on disk, with the checksums of its files, its failures and who computed it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from multibody.sweep.errors import StoreError
from multibody.sweep.store import atomic_files
from multibody.sweep.store.format import Column, Store, decode, encode


@dataclass(frozen=True, order=True)
class Failure:
    """A sample without a result, and why."""

    index: int
    kind: str
    """"raised", "nan", "shape", "dtype", "died", "hung" or "memory"."""
    error: str


class ChunkCommit(NamedTuple):
    """The record of a chunk that is done."""

    chunk: int
    files: dict[str, tuple[int, str]]
    """By group/name: the length of the file in bytes, and its digest."""
    failures: tuple[Failure, ...]
    seconds: float
    """The time of computing."""
    cpu: str
    """The class of the processor that computed it."""
    generation: int
    """The function that computed it, in the store's history."""
    worker: str


def commit_file(store: Store, k: int) -> Path:
    """The file with the commit of a chunk."""
    return store.journal / "marks" / f"{k:08d}"


def committed(store: Store) -> list[int]:
    """The chunks that have a commit; other files, which disks and users leave, are ignored."""
    try:
        names = [entry.name for entry in (store.journal / "marks").iterdir()]
    except OSError as error:
        raise StoreError(f"{store.path}: the journal of the store is damaged: {error.strerror}") from None
    return [k for k in sorted(int(name) for name in names if name.isdecimal()) if k < store.chunks]


def load(store: Store, k: int) -> ChunkCommit | None:
    """The commit of a chunk; None without one that is whole."""
    try:
        text, _, check = commit_file(store, k).read_bytes().rpartition(b"\n")
    except OSError:
        return None
    if _digest(text) != check.decode(errors="replace"):
        return None
    parts = json.loads(text)
    parts["files"] = {name: tuple(pair) for name, pair in parts["files"].items()}
    parts["failures"] = tuple(Failure(*each) for each in parts["failures"])
    return ChunkCommit(**parts) if parts["chunk"] == k else None


def write(store: Store, rows: Mapping[Column, NDArray[Any]], commit: ChunkCommit) -> ChunkCommit:
    """Write the arrays of a chunk, wait until they are on disk, then commit the chunk."""
    data = {column: encode(column, array, store.chunk) for column, array in rows.items()}
    atomic_files.write({store.file(column, commit.chunk): image for column, image in data.items()}, store.scratch)
    files = {f"{column.group}/{column.name}": (sum(map(len, image)), _digest(*image)) for column, image in data.items()}
    commit = commit._replace(files=files)
    text = json.dumps({**commit._asdict(), "failures": [*map(astuple, commit.failures)]}).encode()
    atomic_files.write({commit_file(store, commit.chunk): [text, b"\n", _digest(text).encode()]}, store.scratch)
    return commit


def rows(store: Store, column: Column, commit: ChunkCommit) -> NDArray[Any]:
    """The rows of a chunk that is done.

    Raises:
        StoreError: if the file is missing, or its checksum is not the committed one.
    """
    file = store.file(column, commit.chunk)
    length, digest = commit.files.get(f"{column.group}/{column.name}", (-1, ""))
    try:
        data = file.read_bytes()
    except OSError as error:
        raise StoreError(f"{_damaged(store, commit.chunk)}: {file} cannot be read: {error.strerror}") from None
    if len(data) != length or _digest(data) != digest:
        raise StoreError(f"{_damaged(store, commit.chunk)}: {file} is not what was written")
    start, stop = store.span(commit.chunk)
    return decode(column, data, store.chunk)[: stop - start]


def damage(store: Store, k: int) -> str | None:
    """Describe the damage of a committed chunk; None if there is none."""
    commit = load(store, k)
    if commit is None:
        return f"{_damaged(store, k)}: its commit is not what was written"
    try:
        for column in store.columns:
            rows(store, column, commit)
    except StoreError as error:
        return error.message
    return None


def revoke(store: Store, k: int) -> None:
    """Remove the commit of a chunk, so that it is computed again."""
    commit_file(store, k).unlink(missing_ok=True)


def _damaged(store: Store, k: int) -> str:
    start, stop = store.span(k)
    return f"{store.path}: chunk {k} (samples {start} to {stop - 1}) is damaged, study.run() computes it again"


def _digest(*parts: bytes) -> str:
    whole = hashlib.blake2b(digest_size=16)
    for part in parts:
        whole.update(part)
    return whole.hexdigest()
