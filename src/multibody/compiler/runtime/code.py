"""The native code of a kernel, in variants that are compiled and linked at their first call.

With helper processes, the first call of a large variant runs quick code. LLVM generates it without optimization in less
than half the time, and it runs at about half the speed, with the same bits. The helpers generate the final code, which
takes over at a later call. Quick code is neither stored nor sent to other processes.
"""

from __future__ import annotations

import itertools
import json
import threading
import weakref
import zlib
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple

from multibody.compiler.codegen import target
from multibody.compiler.codegen.variants import VECTOR
from multibody.compiler.config import config, final_code, waits_for_code
from multibody.compiler.runtime import helpers, native, progress
from multibody.compiler.runtime.once import single_flight
from multibody.errors import InputError

QUICK_LEVEL = 0
"""LLVM's level of optimization for quick code."""
MIN_QUICK_TEXT = 600_000
"""Letters of LLVM IR, about half a second of compilation, from which a variant has quick code."""


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
        return native.compile_objects(self.texts(variant), level)

    def texts(self, variant: str) -> list[str]:
        """The LLVM IR of a variant that is not compiled yet."""
        return json.loads(zlib.decompress(self.sources[variant]))

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

    __slots__ = ("__weakref__", "_level", "_libraries", "_pending", "_replaced", "after_compilation", "entry", "key")

    def __init__(self, entry: Entry, key: str = "") -> None:
        self.entry = entry
        self.key = key
        self.after_compilation: list[Callable[[Code], None]] = []
        """Called whenever the final code of a variant was compiled."""
        self._level = config.level
        self._libraries: dict[str, native.Library] = {}
        self._pending: dict[str, Pending] = {}
        """The final code that helpers generate."""
        self._replaced: list[native.Library] = []
        """Quick code that calls may still run."""

    @property
    def header(self) -> dict[str, Any]:
        """The header of the entry."""
        return self.entry.header

    def linked(self, variant: str) -> int:
        """The address of a variant's final code; 0 before it is linked."""
        variant = self._available(variant)
        library = None if variant in self._pending else self._libraries.get(variant)
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
                    self._link(variant, name)
        return self._libraries[variant].addresses[variant]

    def wait(self, name: str, *variants: str) -> None:
        """Return when final code is in place: of these variants, by default of all that were called."""
        for variant in {self._available(variant) for variant in variants or tuple(self._libraries)}:
            with final_code():
                self.address(variant, name)
            pending = self._pending.get(variant)
            if pending is not None and pending.is_stale:
                with single_flight((id(self), variant)):
                    if self._pending.get(variant) is pending:
                        self._finish(variant, self._compile(variant, name))
            elif pending is not None:
                with progress.compiling(name):
                    pending.done.wait()

    def _available(self, variant: str) -> str:
        """The variant itself if there is code for it, otherwise the one for batches."""
        return variant if variant in self.entry.objects or variant in self.entry.sources else VECTOR

    def _link(self, variant: str, name: str) -> None:
        """Link a variant: its final code, or quick code until that is generated."""
        if variant in self.entry.objects:
            self._libraries[variant] = native.link(self.entry.objects[variant], variant)
            return
        waits = waits_for_code() or not helpers.count()
        if waits or sum(map(len, texts := self.entry.texts(variant))) < MIN_QUICK_TEXT:
            self._finish(variant, self._compile(variant, name))
            return
        with progress.compiling(name):
            quick = native.link(native.compile_objects(texts, QUICK_LEVEL), variant)
        self._pending[variant] = Pending(self, variant, texts)
        self._libraries[variant] = quick
        self._pending[variant].start(self._level)

    def _compile(self, variant: str, name: str) -> list[bytes]:
        with progress.compiling(name):
            return self.entry.compile(variant, self._level)

    def _finish(self, variant: str, objects: list[bytes]) -> None:
        """Put the final code of a variant in place."""
        library = native.link(objects, variant)
        with native.LOCK:
            self.entry = self.entry.with_objects(variant, objects)
            quick = self._libraries.get(variant)
            if quick is not None:
                self._replaced.append(quick)
            self._libraries[variant] = library
            self._pending.pop(variant, None)
        for callback in self.after_compilation:
            callback(self)


class Pending:
    """The final code of a variant, while helpers generate it; the kernel may be gone before it is ready."""

    def __init__(self, code: Code, variant: str, texts: list[str]) -> None:
        self.done = threading.Event()
        self._code, self._variant, self._texts = weakref.ref(code), variant, texts
        self._owner = helpers.current()

    @property
    def is_stale(self) -> bool:
        """Whether the helpers are those of the parent of this forked process."""
        return self._owner is not helpers.current()

    def start(self, level: int) -> None:
        """Let helpers generate the modules; the last one that is ready puts all in place."""
        missing = itertools.count(len(self._texts) - 1, -1)
        requests = [native.request(text, level) for text in self._texts]
        results = helpers.submit(requests, background=True)

        def note(_: object) -> None:
            if next(missing) == 0:
                self._finish(results, level)

        for result in results:
            result.add_done_callback(note)
        code = self._code()
        if code is not None:
            weakref.finalize(code, _cancel, results).atexit = False

    def _finish(self, results: list[Future[bytes]], level: int) -> None:
        try:
            code = self._code()
            if code is not None:
                pairs = zip(results, self._texts, strict=True)
                code._finish(self._variant, [native.collect(result, text, level) for result, text in pairs])
        finally:
            self.done.set()


def _cancel(results: list[Future[bytes]]) -> None:
    for result in results:
        result.cancel()


def unpickle(
    machine: target.Machine, make: Callable[..., Any], name: str, signature: Any, entry: Entry, *rest: Any
) -> Any:
    """Make a pickled kernel or scan again, if its code was compiled for this machine."""
    if machine != target.host():
        raise InputError(f"{name}: expected code for {target.host().cpu}, got code for {machine.cpu}: compile it here")
    code = Code(entry)
    try:
        code.wait(name, VECTOR)
    except RuntimeError as error:
        raise InputError(f"{name}: expected code of this version of the library: compile it here ({error})") from None
    return make(name, signature, code, *rest)
