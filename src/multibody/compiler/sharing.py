"""Compiled code is made once: kernels with one key share it in a process, and later processes load it from the cache.

What is shared is native code and the plain data that describes it. The Python function, its name and the door to the
code are each kernel's own.
"""

import json
from collections.abc import Callable
from weakref import WeakValueDictionary

from multibody import _sources
from multibody.compiler import batch_and_single, cache, native, progress
from multibody.compiler.config import config
from multibody.compiler.key import fingerprint
from multibody.compiler.passes import Block
from multibody.errors import CacheError
from multibody.tracing.trace import Trace

Texts = Callable[[Trace], tuple[list[str], Block]]
"""What makes the texts of the modules of a trace, and tells what they compute."""

_alive: WeakValueDictionary[str, native.Code] = WeakValueDictionary()
"""The code of the kernels that live in this process, by their keys."""


def code(key: str, name: str, record: Callable[[], Trace], texts: Texts) -> native.Code:
    """The code of a key: of another kernel, from the cache, or compiled now.

    Args:
        key: see `key.key`.
        name: of the kernel, for messages.
        record: traces the function.
        texts: makes the modules of the trace.
    """
    with progress.compiling(name):
        return _code(key, name, record, texts)


def _code(key: str, name: str, record: Callable[[], Trace], texts: Texts) -> native.Code:
    if not config.cache:
        return _linked(_compiled(record(), texts))
    known = _alive.get(key)
    if known is not None:
        if config.verify:
            _verify(cache.Entry(known.header, known.objects), _compiled(record(), texts), name, "in this process")
        return known
    entry = cache.load(key)
    if entry is None:
        entry = _compiled(record(), texts)
        if _sources.are_those_on_disk():  # still, with all that tracing has imported
            cache.store(key, entry)
    elif config.verify:
        _verify(entry, _compiled(record(), texts), name, f"in the file {cache.directory() / key}")
    made = _linked(entry)
    with native.LOCK:  # of two threads that came here together, the first one's code serves both
        return _alive.setdefault(key, made)


def _compiled(traced: Trace, texts: Texts) -> cache.Entry:
    modules, block = texts(traced)
    header = {
        "graph": fingerprint(traced),
        "inputs": traced.inputs,
        "outputs": [ids.shape for ids in traced.outputs],
        "dtype": traced.dtype.name,
        "layout": traced.layout,
        "ops": block.graph.count(block.order),
        "work": block.graph.work(block.order),
    }
    return cache.Entry(json.loads(json.dumps(header)), native.compile_objects(modules, config.level))


def _linked(entry: cache.Entry) -> native.Code:
    return native.link(entry.objects, *batch_and_single.ENTRIES, header=entry.header)


def _verify(kept: cache.Entry, anew: cache.Entry, name: str, place: str) -> None:
    """Refuse code that was kept and is not what the function compiles to now."""
    parts = [part for part in anew.header if kept.header.get(part) != anew.header[part]]
    parts += ["object code"] if kept.objects != anew.objects else []
    if parts:
        raise CacheError(
            f"{name}: the code that was kept {place} is not that of the function, which was traced and compiled anew: "
            f"{', '.join(parts)} differ. The key leaves out what the function depends on, or the code was changed"
        )
