"""Marks: a file a chunk that says that the chunk is on disk, and how to tell whether it still is what it was."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.sweep import durable
from multibody.sweep.errors import StoreError
from multibody.sweep.store import Column, Store, decode, encode


@dataclass(frozen=True, order=True)
class Failure:
    """A sample without a result, and why."""

    index: int
    kind: str
    """"raised", "nan", "shape", "dtype", "died", "hung" or "memory"."""
    error: str


class Mark(NamedTuple):
    """What is known of a chunk that is done."""

    chunk: int
    files: dict[str, tuple[int, str]]
    """By group/name: how many bytes the file has, and their digest."""
    failures: tuple[Failure, ...]
    seconds: float
    """That it took to compute."""
    cpu: str
    """The class of the processor that did."""
    generation: int
    """Which function of the store's history."""
    worker: str


def place(store: Store, k: int) -> Path:
    """Where the mark of a chunk is."""
    return store.journal / "marks" / f"{k:08d}"


def done(store: Store) -> list[int]:
    """The chunks that have a mark; other files, which disks and users leave, are none."""
    try:
        names = [entry.name for entry in (store.journal / "marks").iterdir()]
    except OSError as error:
        raise StoreError(f"{store.path}: the journal of the store is damaged: {error.strerror}") from None
    return [k for k in sorted(int(name) for name in names if name.isdecimal()) if k < store.chunks]


def load(store: Store, k: int) -> Mark | None:
    """The mark of a chunk; None where there is none that is whole."""
    try:
        text, _, check = place(store, k).read_bytes().rpartition(b"\n")
    except OSError:
        return None
    if _digest(text) != check.decode(errors="replace"):
        return None
    parts = json.loads(text)
    parts["files"] = {name: tuple(pair) for name, pair in parts["files"].items()}
    parts["failures"] = tuple(Failure(*each) for each in parts["failures"])
    return Mark(**parts) if parts["chunk"] == k else None


def commit(store: Store, rows: Mapping[Column, NDArray[Any]], mark: Mark) -> Mark:
    """Write the arrays of a chunk, wait until they are on disk, then mark it as done."""
    data = {column: encode(column, array, store.chunk) for column, array in rows.items()}
    durable.write({store.file(column, mark.chunk): image for column, image in data.items()}, store.scratch)
    files = {f"{column.group}/{column.name}": (sum(map(len, image)), _digest(*image)) for column, image in data.items()}
    mark = mark._replace(files=files)
    text = json.dumps({**mark._asdict(), "failures": [*map(astuple, mark.failures)]}).encode()
    durable.write({place(store, mark.chunk): [text, b"\n", _digest(text).encode()]}, store.scratch)
    return mark


def rows(store: Store, column: Column, mark: Mark) -> NDArray[Any]:
    """The rows of a chunk that is done.

    Raises:
        StoreError: when the file is missing or is not what was written.
    """
    file = store.file(column, mark.chunk)
    length, digest = mark.files.get(f"{column.group}/{column.name}", (-1, ""))
    try:
        data = file.read_bytes()
    except OSError as error:
        raise StoreError(f"{_damaged(store, mark.chunk)}: {file} cannot be read: {error.strerror}") from None
    if len(data) != length or _digest(data) != digest:
        raise StoreError(f"{_damaged(store, mark.chunk)}: {file} is not what was written")
    start, stop = store.span(mark.chunk)
    return decode(column, data, store.chunk)[: stop - start]


def damage(store: Store, k: int) -> str | None:
    """What is wrong with a chunk that has a mark; None when nothing is."""
    mark = load(store, k)
    if mark is None:
        return f"{_damaged(store, k)}: its mark is not what was written"
    try:
        for column in store.columns:
            rows(store, column, mark)
    except StoreError as error:
        return error.message
    return None


def forget(store: Store, k: int) -> None:
    """Take the mark of a chunk away: it is to be computed again."""
    place(store, k).unlink(missing_ok=True)


def empty(store: Store, count: int) -> dict[Column, NDArray[Any]]:
    """Arrays for so many samples, filled with what stands for no result."""
    return {column: np.full((count, *column.shape), column.fill, column.dtype) for column in store.columns}


def _damaged(store: Store, k: int) -> str:
    start, stop = store.span(k)
    return f"{store.path}: chunk {k} (samples {start} to {stop - 1}) is damaged, study.run() computes it again"


def _digest(*parts: bytes) -> str:
    whole = hashlib.blake2b(digest_size=16)
    for part in parts:
        whole.update(part)
    return whole.hexdigest()
