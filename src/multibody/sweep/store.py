"""The store of a study: a Zarr group in a folder, with a journal that says which chunks are whole.

    gains.zarr/
      zarr.json                 a group of Zarr v3; its attributes say what the study is
      results/<name>/c.<k>...   one chunk of the study is one chunk of each array, with a CRC-32C behind it
      samples/<name>/...        only where plain data does not say what the samples are
      journal/marks/<k>         chunk k is on disk: lengths and checksums of its files, failures, who computed it
      journal/begun/<k>         chunk k was begun: a process that dies leaves it
      journal/lock, scratch/

A file without a mark is nothing; a mark without its files is damage. Nothing here is ever unpickled.
"""

import hashlib
import json
import math
import os
import shutil
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError, missing_package
from multibody.sweep import durable
from multibody.sweep.errors import StoreError
from multibody.sweep.samples import KINDS

FORMAT = 1
"""Of the folder: a later version of the library may have a higher one."""
OLD = 3600.0
"""In s: what lies in `scratch` for longer was left by a process that died."""


class Column(NamedTuple):
    """What is kept of each sample under one name."""

    group: str
    """"results" or "samples"."""
    name: str
    shape: tuple[int, ...]
    """Of one sample."""
    dtype: np.dtype[Any]

    @property
    def fill(self) -> Any:
        """What stands where there is no result: NaN, or zero where a type has none."""
        return np.nan if self.dtype.kind in "fc" else self.dtype.type(0)


@final
@dataclass(frozen=True)
class Store:
    """A folder and what it says of its study."""

    path: Path
    header: Mapping[str, Any]

    @property
    def n(self) -> int:
        """How many samples there are."""
        return self.header["n"]

    @property
    def chunk(self) -> int:
        """Samples of a chunk."""
        return self.header["chunk"]

    @property
    def chunks(self) -> int:
        """How many chunks there are."""
        return -(-self.n // self.chunk)

    def span(self, k: int) -> tuple[int, int]:
        """The first sample of a chunk, and the one after its last."""
        return k * self.chunk, min(self.n, (k + 1) * self.chunk)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """All that is kept of each sample."""
        return tuple(
            Column(group, name, tuple(kind["shape"]), np.dtype(kind["dtype"]))
            for group in ("samples", "results")
            for name, kind in self.header[group + "_kept"].items()
        )

    def file(self, column: Column, k: int) -> Path:
        """Where a chunk of an array is."""
        position = ".".join(["c", str(k), *("0" for _ in column.shape)])
        return self.path / column.group / column.name / position

    @property
    def journal(self) -> Path:
        """Where marks, the lock and what was begun are."""
        return self.path / "journal"

    @property
    def scratch(self) -> Path:
        """Where files are until they are whole."""
        return self.journal / "scratch"

    def tidy(self) -> None:
        """Remove what processes that died have left."""
        for left in self.scratch.iterdir():
            try:
                if time.time() - left.stat().st_mtime > OLD:
                    left.unlink()
            except FileNotFoundError:
                continue


def encode(column: Column, rows: NDArray[Any], chunk: int) -> tuple[bytes, bytes]:
    """A chunk of an array, full, as Zarr's codec `bytes` writes it, and what its codec `crc32c` puts behind."""
    kind = column.dtype.newbyteorder("<")
    data = np.asarray(rows, kind).tobytes()
    if len(rows) < chunk:
        data += np.full((chunk - len(rows), *column.shape), column.fill, kind).tobytes()
    return data, crc(data)


def decode(column: Column, data: bytes, chunk: int) -> NDArray[Any]:
    """The chunk of which these are the bytes."""
    return np.frombuffer(data[:-4], column.dtype.newbyteorder("<")).reshape(chunk, *column.shape)


def crc(data: bytes) -> bytes:
    """CRC-32C, as Zarr keeps it behind a chunk."""
    import google_crc32c

    return int(google_crc32c.value(data)).to_bytes(4, "little")


def create(path: Path, header: Mapping[str, Any]) -> Store:
    """Make the folder: all of it, or none.

    Raises:
        StoreError: where it cannot be made, or something is there already.
    """
    try:
        import google_crc32c  # noqa: F401  which workers need
        import zarr
        from zarr.codecs import Crc32cCodec
    except ImportError as error:
        raise missing_package("sweeps keep their results with zarr", "sweep", str(error.name)) from None
    header = {"format": FORMAT, **header}
    store = Store(path, header)
    aside = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
    try:
        aside.mkdir(parents=False)
        attributes = {"multibody": header, "digest": _digest(header)}
        root = zarr.create_group(store=str(aside), zarr_format=3, attributes=attributes)
        for group in ("results", "samples"):
            root.create_group(group)
        for column in store.columns:
            fill = None if column.dtype.kind in "fc" else column.fill
            root.create_array(
                f"{column.group}/{column.name}",
                shape=(store.n, *column.shape),
                chunks=(store.chunk, *(max(1, size) for size in column.shape)),
                dtype=column.dtype,
                fill_value=np.nan if fill is None else fill,
                compressors=[Crc32cCodec()],
                chunk_key_encoding={"name": "default", "configuration": {"separator": "."}},
                dimension_names=["sample", *(f"{column.name}_{k}" for k in range(len(column.shape)))],
                attributes={"units": header["units"].get(column.name, "")} if column.group == "samples" else {},
            )
        for folder in ("marks", "begun", "scratch"):
            (aside / "journal" / folder).mkdir(parents=True)
        (aside / "journal" / "zarr.json").write_text('{"attributes": {}, "zarr_format": 3, "node_type": "group"}')
        for base, _, names in os.walk(aside):
            for name in (*names, ""):
                durable.flush(Path(base, name))
        os.rename(aside, path)
        durable.flush(path.parent)
    except OSError as error:
        if path.exists():
            raise StoreError(f"{path}: another process has just made it: run the study again") from None
        raise durable.refused(error, path) from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return store


def read(path: Path) -> Store | None:
    """The store at a place; None where there is nothing.

    Raises:
        StoreError: where there is something else, a store of a later version, or one that is not what was written.
    """
    if not path.exists():
        return None
    try:
        attributes = json.loads((path / "zarr.json").read_text(encoding="utf-8"))["attributes"]
        header = attributes["multibody"]
        number = int(header["format"])
    except (OSError, ValueError, KeyError, TypeError):
        if path.is_dir() and not any(path.iterdir()):
            raise StoreError(f"{path}: an empty folder; expected the name of a store that is not there yet") from None
        raise StoreError(
            f"{path}: expected the store of a study, or a name that is not taken, got other files: two studies need "
            f"two folders, such as {path / 'gains.zarr'}"
        ) from None
    if number > FORMAT:
        raise StoreError(
            f"{path}: the store has format {number} of multibody {header.get('version')}, a later version than this "
            f"one, which knows {FORMAT}: update multibody to read it"
        )
    if attributes.get("digest") != _digest(header):
        raise StoreError(
            f"{path}: zarr.json, which says what the study is, is damaged: bring it back from a copy of the store, or "
            "begin the study anew in another one"
        )
    store = Store(path, header)
    for column in store.columns:  # they are names of files: a store from elsewhere is not trusted
        if not column.name.isidentifier() or column.dtype.kind not in KINDS:
            raise StoreError(f"{path}: expected numbers under a name, got {column.name!r} of {column.dtype}")
    return store


def rewrite(store: Store, header: Mapping[str, Any]) -> Store:
    """The store with another header."""
    place = store.path / "zarr.json"
    node = json.loads(place.read_text(encoding="utf-8"))
    node["attributes"] |= {"multibody": dict(header), "digest": _digest(header)}
    durable.write({place: [json.dumps(node, indent=1).encode()]}, store.scratch)
    return Store(store.path, header)


def check_path(path: Any) -> Path:
    """A place at which a store can be."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f'store: expected the name of a folder, such as "gains.zarr", got {path!r}')
    place = Path(path).absolute()
    if not place.parent.is_dir():
        raise InputError(f"store: expected a name in a folder that is there, got {str(path)!r}")
    if (place.parent / "journal" / "marks").is_dir():
        raise InputError(f"store: expected a folder of its own, got {str(path)!r}, which is within another store")
    return place


def size_of(columns: tuple[Column, ...]) -> int:
    """Bytes that a sample takes."""
    return sum(math.prod(column.shape) * column.dtype.itemsize for column in columns)


def _digest(header: Mapping[str, Any]) -> str:
    """Of what a store says, however its JSON is laid out."""
    return hashlib.blake2b(json.dumps(as_json(header), sort_keys=True).encode(), digest_size=16).hexdigest()


def as_json(x: Any) -> Any:
    """Plain data as it is read from a store: tuples are lists there."""
    return json.loads(json.dumps(x))
