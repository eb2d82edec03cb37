"""The store of a study: a Zarr group in a folder, with a journal of the chunks that are whole.

    gains.zarr/
      zarr.json                 a group of Zarr v3; its attributes say what the study is
      results/<name>/c.<k>...   one chunk of the study is one chunk of each array, with a CRC-32C behind it
      samples/<name>/...        only of samples that plain data does not describe
      journal/marks/<k>         the commit of chunk k: lengths and checksums of its files, failures, who computed it
      journal/begun/<k>         the attempt log of chunk k, while it is computed: a process that dies leaves it
      journal/lock, scratch/

Uncommitted files are ignored; a commit whose file is missing or altered is an error. Nothing here is ever unpickled.
"""

import contextlib
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
from multibody.sweep.designs.samples import KINDS
from multibody.sweep.errors import StoreError
from multibody.sweep.store.atomic_files import flush, store_error
from multibody.sweep.store.atomic_files import write as atomic_write

FORMAT = 1
"""The version of the format."""
MAX_SCRATCH_AGE = 3600.0
"""The age, in s, from which on a file in `scratch` was left by a process that died."""


class Column(NamedTuple):
    """An array that is kept: a name, with the shape and type of one sample."""

    group: str
    """"results" or "samples"."""
    name: str
    shape: tuple[int, ...]
    """Of one sample."""
    dtype: np.dtype[Any]

    @property
    def fill(self) -> Any:
        """The value of a sample without a result: NaN, or zero if the type has no NaN."""
        return np.nan if self.dtype.kind in "fc" else self.dtype.type(0)

    def empty(self, count: int) -> NDArray[Any]:
        """Samples without results."""
        return np.full((count, *self.shape), self.fill, self.dtype)


@final
@dataclass(frozen=True)
class Store:
    """The folder, and the header that describes its study."""

    path: Path
    header: Mapping[str, Any]

    @property
    def n(self) -> int:
        """The number of samples."""
        return self.header["n"]

    @property
    def chunk(self) -> int:
        """Samples of a chunk."""
        return self.header["chunk"]

    @property
    def chunks(self) -> int:
        """The number of chunks."""
        return -(-self.n // self.chunk)

    def span(self, k: int) -> tuple[int, int]:
        """The first sample of a chunk, and the one after its last."""
        return k * self.chunk, min(self.n, (k + 1) * self.chunk)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """All arrays that are kept."""
        return tuple(
            Column(group, name, tuple(kind["shape"]), np.dtype(kind["dtype"]))
            for group in ("samples", "results")
            for name, kind in self.header[group + "_kept"].items()
        )

    def file(self, column: Column, k: int) -> Path:
        """The file with a chunk of an array."""
        position = ".".join(["c", str(k), *("0" for _ in column.shape)])
        return self.path / column.group / column.name / position

    @property
    def journal(self) -> Path:
        """The folder of commits, attempt logs and the lock."""
        return self.path / "journal"

    @property
    def scratch(self) -> Path:
        """The folder of incomplete files."""
        return self.journal / "scratch"

    def tidy(self) -> None:
        """Remove the files that processes left when they died."""
        for left in self.scratch.iterdir():
            with contextlib.suppress(FileNotFoundError):
                if time.time() - left.stat().st_mtime > MAX_SCRATCH_AGE:
                    left.unlink()


def encode(column: Column, rows: NDArray[Any], chunk: int) -> tuple[bytes, bytes]:
    """A full chunk of an array as Zarr's codec `bytes` writes it, and the checksum that its codec `crc32c` appends."""
    kind = column.dtype.newbyteorder("<")
    data = np.asarray(rows, kind).tobytes()
    if len(rows) < chunk:
        data += column.empty(chunk - len(rows)).astype(kind).tobytes()
    return data, crc(data)


def decode(column: Column, data: bytes, chunk: int) -> NDArray[Any]:
    """The chunk that these bytes encode."""
    return np.frombuffer(data[:-4], column.dtype.newbyteorder("<")).reshape(chunk, *column.shape)


def crc(data: bytes) -> bytes:
    """CRC-32C, as Zarr appends it to a chunk."""
    import google_crc32c

    return int(google_crc32c.value(data)).to_bytes(4, "little")


def create(path: Path, header: Mapping[str, Any]) -> Store:
    """Create the folder, atomically.

    Raises:
        StoreError: if it cannot be made, or the path exists already.
    """
    try:
        import google_crc32c  # noqa: F401  workers need it
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
            root.create_array(
                f"{column.group}/{column.name}",
                shape=(store.n, *column.shape),
                chunks=(store.chunk, *(max(1, size) for size in column.shape)),
                dtype=column.dtype,
                fill_value=column.fill,
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
                flush(Path(base, name))
        os.rename(aside, path)
        flush(path.parent)
    except OSError as error:
        if path.exists():
            raise StoreError(f"{path}: another process has just made it: run the study again") from None
        raise store_error(error, path) from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return store


def read(path: Path) -> Store | None:
    """Open the store at a path; None if nothing is there.

    Raises:
        StoreError: for other files, a store of a later version, or a damaged header.
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
    for column in store.columns:  # names of files: a store from elsewhere is not trusted
        if not column.name.isidentifier() or column.dtype.kind not in KINDS:
            raise StoreError(f"{path}: expected numbers under a name, got {column.name!r} of {column.dtype}")
    return store


def rewrite(store: Store, header: Mapping[str, Any]) -> Store:
    """Replace the header of a store."""
    place = store.path / "zarr.json"
    node = json.loads(place.read_text(encoding="utf-8"))
    node["attributes"] |= {"multibody": dict(header), "digest": _digest(header)}
    atomic_write({place: [json.dumps(node, indent=1).encode()]}, store.scratch)
    return Store(store.path, header)


def check_path(path: Any) -> Path:
    """Check that a store can be at a path."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f'store: expected the name of a folder, such as "gains.zarr", got {path!r}')
    place = Path(path).absolute()
    if not place.parent.is_dir():
        raise InputError(f"store: expected a name in a folder that is there, got {str(path)!r}")
    if (place.parent / "journal" / "marks").is_dir():
        raise InputError(f"store: expected a folder of its own, got {str(path)!r}, which is within another store")
    return place


def size_of(columns: tuple[Column, ...]) -> int:
    """The bytes of one sample."""
    return sum(math.prod(column.shape) * column.dtype.itemsize for column in columns)


def _digest(header: Mapping[str, Any]) -> str:
    """The digest of a header, independent of the layout of its JSON."""
    return hashlib.blake2b(json.dumps(as_json(header), sort_keys=True).encode(), digest_size=16).hexdigest()


def as_json(x: Any) -> Any:
    """Plain data as a store returns it: tuples become lists."""
    return json.loads(json.dumps(x))
