"""Compiled code is made once: kernels with one key share it in a process, and later processes load it from the cache.

What is shared is native code and the plain data that describes it. The Python function, its name and the door to the
code are each kernel's own.
"""

import json
from collections.abc import Callable
from weakref import WeakValueDictionary

from multibody import _sources
from multibody.compiler.cache import disk_cache
from multibody.compiler.cache.key import fingerprint
from multibody.compiler.codegen import variants
from multibody.compiler.config import config
from multibody.compiler.ir.passes import Block
from multibody.compiler.runtime import native, progress
from multibody.compiler.runtime.code import Code
from multibody.compiler.runtime.once import single_flight
from multibody.errors import CacheError
from multibody.tracing.record.trace import Trace

Texts = Callable[[Trace], tuple[variants.Texts, Block]]
"""What makes the texts of the modules of a trace, and tells what they compute."""

_alive: WeakValueDictionary[str, Code] = WeakValueDictionary()
"""The code of the kernels that live in this process, by their keys."""


def code(key: str, name: str, record: Callable[[], Trace], texts: Texts) -> Code:
    """The code of a key: of another kernel, from the cache, or traced now and compiled at its first call.

    Args:
        key: see `key.key`.
        name: of the kernel, for messages.
        record: traces the function.
        texts: makes the modules of the trace.
    """
    with progress.compiling(name):
        return _code(key, name, record, texts)


def entries() -> dict[str, disk_cache.Entry]:
    """The code of all kernels that live in this process, by key, for other processes of the same machine."""
    with native.LOCK:
        return {key: code.entry for key, code in _alive.items()}


def take(key: str, entry: disk_cache.Entry) -> None:
    """Keep code that another process has compiled, where it is not known: kernels of that key need no compilation."""
    if config.cache and _sources.are_those_on_disk() and disk_cache.load(key) is None:
        disk_cache.store(key, entry)


def _code(key: str, name: str, record: Callable[[], Trace], texts: Texts) -> Code:
    if not config.cache:
        return Code(_traced(record(), texts))
    with single_flight(key):  # what a thread traces here, those who wait find among the living
        return _shared(key, name, record, texts)


def _shared(key: str, name: str, record: Callable[[], Trace], texts: Texts) -> Code:
    known = _alive.get(key)
    if known is not None:
        if config.verify:
            _verify(known.entry, _traced(record(), texts), name, "in this process")
        return known
    entry = disk_cache.load(key)
    if entry is None:
        entry = _traced(record(), texts)
    elif config.verify:
        _verify(entry, _traced(record(), texts), name, f"in the file {disk_cache.directory() / key}")

    def keep(compiled: disk_cache.Entry) -> None:
        if _sources.are_those_on_disk():  # still, with all that tracing has imported
            disk_cache.store(key, compiled)

    made = Code(entry, keep)
    with native.LOCK:
        return _alive.setdefault(key, made)


def _traced(traced: Trace, texts: Texts) -> disk_cache.Entry:
    forms, block = texts(traced)
    header = {
        "graph": fingerprint(traced),
        "inputs": traced.inputs,
        "outputs": [ids.shape for ids in traced.outputs],
        "dtype": traced.dtype.name,
        "layout": traced.layout,
        "ops": block.graph.count(block.order),
        "work": block.graph.work(block.order),
    }
    return disk_cache.Entry(
        json.loads(json.dumps(header)), {}, {form: disk_cache.pack(parts) for form, parts in forms.items()}
    )


def _verify(kept: disk_cache.Entry, anew: disk_cache.Entry, name: str, place: str) -> None:
    """Refuse code that was kept and is not what the function compiles to now."""
    parts = [part for part in anew.header if kept.header.get(part) != anew.header[part]]
    same = kept.objects.keys() | kept.sources.keys() == anew.sources.keys()
    if not same or any(source != anew.sources[form] for form, source in kept.sources.items()):
        parts.append("source")
    elif any(code != _objects(anew, form) for form, code in kept.objects.items()):
        parts.append("object code")
    if parts:
        raise CacheError(
            f"{name}: the code that was kept {place} is not that of the function, which was traced and compiled anew: "
            f"{', '.join(parts)} differ. The key leaves out what the function depends on, or the code was changed"
        )


def _objects(entry: disk_cache.Entry, form: str) -> list[bytes]:
    return native.compile_objects(disk_cache.unpack(entry.sources[form]), config.level)
