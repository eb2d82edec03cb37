"""The native code of a kernel, in forms that are each compiled and linked when they are first called."""

from collections.abc import Callable
from typing import Any

from multibody.compiler.cache import disk_cache
from multibody.compiler.codegen.variants import BATCH
from multibody.compiler.config import config
from multibody.compiler.runtime import native, progress
from multibody.compiler.runtime.once import single_flight


class Code:
    """What an entry of the cache holds, ready to be called.

    Args:
        entry: the forms, as object code or as texts.
        keep: what to do with the entry when another form of it was compiled.
    """

    __slots__ = ("__weakref__", "_keep", "_level", "_libraries", "entry")

    def __init__(self, entry: disk_cache.Entry, keep: Callable[[disk_cache.Entry], None] | None = None) -> None:
        self.entry = entry
        self._keep = keep
        self._level = config.level
        self._libraries: dict[str, native.Library] = {}

    @property
    def header(self) -> dict[str, Any]:
        """What is known of the code, as plain data."""
        return self.entry.header

    def linked(self, form: str) -> int:
        """The address of the entry of a form; 0 while it was not called."""
        form = self._serving(form)
        library = self._libraries.get(form)
        return 0 if library is None else library.addresses[form]

    def address(self, form: str, name: str) -> int:
        """The address of the entry of a form, which is compiled and linked now if it never was.

        Args:
            form: of `batch_and_single`.
            name: of the kernel, for messages.
        """
        form = self._serving(form)
        if form not in self._libraries:
            with single_flight((id(self), form)):
                if form not in self._libraries:  # another thread may have linked it
                    self._libraries[form] = native.link(self._objects(form, name), form)
        return self._libraries[form].addresses[form]

    def _serving(self, form: str) -> str:
        """The form that serves calls of another one that there is not."""
        return form if form in self.entry.objects or form in self.entry.sources else BATCH

    def _objects(self, form: str, name: str) -> list[bytes]:
        entry = self.entry
        if form not in entry.objects:
            with progress.compiling(name):
                objects = native.compile_objects(disk_cache.unpack(entry.sources[form]), self._level)
            with native.LOCK:
                entry = self.entry = self.entry.compiled(form, objects)
            if self._keep is not None:
                self._keep(entry)
        return entry.objects[form]
