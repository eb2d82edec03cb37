"""Compiled code is shared by key: by the kernels of this process in memory, and by later processes on disk.

Two keys lead to the same code. The graph key stands for the traced graph. A text key, which the caller chooses, stands
for the function; it is an alias of the graph key, so that a kernel with a text key is found without tracing. On a miss
of the text key, the function is traced and the graph key looked up: equal graphs are compiled once, whatever their text
keys. Shared are native code and the plain data that describe it; each kernel has a Python function and name of its own.
"""

from collections.abc import Callable, Mapping
from weakref import WeakValueDictionary

from multibody import _sources
from multibody.compiler.cache import disk_cache
from multibody.compiler.cache.key import fingerprint
from multibody.compiler.cache.key import key as key_of
from multibody.compiler.codegen import variants
from multibody.compiler.config import config
from multibody.compiler.ir.passes import Block
from multibody.compiler.runtime import native, progress
from multibody.compiler.runtime.code import Code, Entry
from multibody.compiler.runtime.once import single_flight
from multibody.errors import CacheError
from multibody.tracing.record.trace import Trace

Modules = Callable[[Trace], tuple[variants.Texts, Block]]
"""Returns the LLVM modules of a trace, by variant, and the graph that they compute."""

_alive: WeakValueDictionary[str, Code] = WeakValueDictionary()
"""The code of the kernels of this process, by graph key and by text key."""


def code(
    name: str, record: Callable[[], Trace], modules: Modules, kind: tuple[object, ...], text_key: str | None = None
) -> Code:
    """Return the code of a function: shared, from disk, or traced now and compiled at its first call.

    Args:
        name: of the kernel, for messages.
        record: traces the function.
        modules: makes the LLVM modules of the trace.
        kind: distinguishes the code of a graph from other code of the same graph, such as a scan.
        text_key: see `key.key`; None if the function is traced to find its code.
    """
    with progress.compiling(name):
        if not config.cache:
            return Code(_entry(record(), modules))
        if text_key is None:
            return _find_by_graph(name, record(), modules, kind)
        with single_flight(text_key):
            return _find_by_text(name, record, modules, kind, text_key)


def entries() -> dict[str, Entry | str]:
    """Return all code of this process, for others of its machine: entries by graph key, graph keys by text key."""
    with native.LOCK:
        return {key: code.entry if key == code.key else code.key for key, code in _alive.items()}


def take(items: Mapping[str, Entry | str]) -> None:
    """Store the `entries` of another process, those that are not stored already."""
    if not config.cache or not _sources.match_disk():
        return
    for key, value in items.items():
        if isinstance(value, str):
            if disk_cache.load_alias(key) != value:
                disk_cache.store_alias(key, value)
        elif disk_cache.load(key) is None:
            disk_cache.store(key, value)


def _find_by_text(
    name: str, record: Callable[[], Trace], modules: Modules, kind: tuple[object, ...], text_key: str
) -> Code:
    code, origin = _alive.get(text_key), "in this process"
    if code is None:
        graph_key = disk_cache.load_alias(text_key)
        if graph_key is not None:
            code, origin = _load(graph_key)
    if code is not None:
        if config.verify:
            _verify(code.entry, _entry(record(), modules), name, origin)
    else:
        code = _find_by_graph(name, record(), modules, kind)
        if code.entry.objects:
            _store_alias(text_key, code)
        code.after_compilation.append(lambda code: _store_alias(text_key, code))
    return _share(text_key, code)


def _find_by_graph(name: str, traced: Trace, modules: Modules, kind: tuple[object, ...]) -> Code:
    graph = fingerprint(traced)
    graph_key = key_of((*kind, graph))
    with single_flight(graph_key):
        code, origin = _load(graph_key)
        if code is None:
            return _share(graph_key, _make(_entry(traced, modules, graph), graph_key))
        if config.verify:
            _verify(code.entry, _entry(traced, modules, graph), name, origin)
        return code


def _load(graph_key: str) -> tuple[Code | None, str]:
    """The code of a graph key, if there is any in memory or on disk, and where it was found."""
    code = _alive.get(graph_key)
    if code is not None:
        return code, "in this process"
    entry = disk_cache.load(graph_key)
    if entry is None:
        return None, ""
    return _share(graph_key, _make(entry, graph_key)), f"in the file {disk_cache.path(graph_key)}"


def _share(key: str, code: Code) -> Code:
    with native.LOCK:
        return _alive.setdefault(key, code)


def _make(entry: Entry, graph_key: str) -> Code:
    code = Code(entry, graph_key)
    code.after_compilation.append(_store)
    return code


def _store(code: Code) -> None:
    if _sources.match_disk():  # also after the imports that tracing may have caused
        disk_cache.store(code.key, code.entry)


def _store_alias(text_key: str, code: Code) -> None:
    if _sources.match_disk():
        disk_cache.store_alias(text_key, code.key)


def _entry(traced: Trace, modules: Modules, graph: str | None = None) -> Entry:
    texts, block = modules(traced)
    header = {
        "graph": graph or fingerprint(traced),
        "inputs": traced.inputs,
        "outputs": [ids.shape for ids in traced.outputs],
        "dtype": traced.dtype.name,
        "layout": traced.layout,
        "ops": block.graph.count(block.order),
        "work": block.graph.work(block.order),
    }
    return Entry.of_modules(header, texts)


def _verify(cached: Entry, fresh: Entry, name: str, origin: str) -> None:
    """Refuse cached code that differs from what the function compiles to now."""
    parts = [part for part in fresh.header if cached.header.get(part) != fresh.header[part]]
    same = cached.objects.keys() | cached.sources.keys() == fresh.sources.keys()
    if not same or any(source != fresh.sources[variant] for variant, source in cached.sources.items()):
        parts.append("source")
    elif any(objects != fresh.compile(variant, config.level) for variant, objects in cached.objects.items()):
        parts.append("object code")
    if parts:
        raise CacheError(
            f"{name}: the cached code {origin} differs from what the function compiles to now: {', '.join(parts)} "
            "differ. The key omits something that the function depends on, or the cache was changed"
        )
