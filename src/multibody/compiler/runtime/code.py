"""The native code of a kernel, in variants that are compiled and linked at their first call."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

from multibody.compiler.codegen import target
from multibody.compiler.codegen.variants import VECTOR
from multibody.compiler.config import config
from multibody.compiler.runtime import native, progress
from multibody.compiler.runtime.once import single_flight
from multibody.errors import InputError


class Entry(NamedTuple):
    """The code of a kernel as plain data, which is stored on disk and sent to other processes."""

    header: dict[str, Any]
    """JSON data: the fingerprint of the graph, the signature and the operation counts."""
    objects: dict[str, list[bytes]]
    """The object code of each variant that is compiled."""
    sources: dict[str, bytes]
    """The LLVM IR of each variant that is not compiled yet, compressed."""

    @classmethod
    def of_modules(cls, header: dict[str, Any], modules: dict[str, list[str]]) -> Entry:
        """An entry of LLVM IR only."""
        sources = {variant: zlib.compress(json.dumps(texts).encode(), 1) for variant, texts in modules.items()}
        return cls(json.loads(json.dumps(header)), {}, sources)

    def compile(self, variant: str, level: int) -> list[bytes]:
        """Compile the LLVM IR of a variant to object code."""
        return native.compile_objects(json.loads(zlib.decompress(self.sources[variant])), level)

    def with_objects(self, variant: str, objects: list[bytes]) -> Entry:
        """The entry with the object code of a variant instead of its LLVM IR."""
        sources = {name: source for name, source in self.sources.items() if name != variant}
        return Entry(self.header, {**self.objects, variant: objects}, sources)


class Code:
    """The code of an entry, ready to be called.

    Args:
        entry: the variants, as object code or as LLVM IR.
        key: of the graph; empty if the code is not cached.
    """

    __slots__ = ("__weakref__", "_level", "_libraries", "after_compilation", "entry", "key")

    def __init__(self, entry: Entry, key: str = "") -> None:
        self.entry = entry
        self.key = key
        self.after_compilation: list[Callable[[Code], None]] = []
        """Called whenever a variant was compiled."""
        self._level = config.level
        self._libraries: dict[str, native.Library] = {}

    @property
    def header(self) -> dict[str, Any]:
        """The header of the entry."""
        return self.entry.header

    def linked(self, variant: str) -> int:
        """The address of a variant; 0 before its first call."""
        variant = self._available(variant)
        library = self._libraries.get(variant)
        return 0 if library is None else library.addresses[variant]

    def address(self, variant: str, name: str) -> int:
        """The address of a variant, which is compiled and linked at the first call.

        Args:
            variant: see `codegen.variants`.
            name: of the kernel, for messages.
        """
        variant = self._available(variant)
        if variant not in self._libraries:
            with single_flight((id(self), variant)):
                if variant not in self._libraries:  # another thread may have linked it
                    self._libraries[variant] = native.link(self._objects(variant, name), variant)
        return self._libraries[variant].addresses[variant]

    def _available(self, variant: str) -> str:
        """The variant itself if there is code for it, otherwise the one for batches."""
        return variant if variant in self.entry.objects or variant in self.entry.sources else VECTOR

    def _objects(self, variant: str, name: str) -> list[bytes]:
        if variant not in self.entry.objects:
            with progress.compiling(name):
                objects = self.entry.compile(variant, self._level)
            with native.LOCK:
                self.entry = self.entry.with_objects(variant, objects)
            for callback in self.after_compilation:
                callback(self)
        return self.entry.objects[variant]


def unpickle(
    machine: target.Machine, make: Callable[..., Any], name: str, signature: Any, entry: Entry, *rest: Any
) -> Any:
    """Make a pickled kernel or scan again, if its code was compiled for this machine."""
    if machine != target.host():
        raise InputError(f"{name}: expected code for {target.host().cpu}, got code for {machine.cpu}: compile it here")
    code = Code(entry)
    try:
        code.address(VECTOR, name)
    except RuntimeError as error:
        raise InputError(f"{name}: expected code of this version of the library: compile it here ({error})") from None
    return make(name, signature, code, *rest)
