"""LLVM IR to code in memory: LLVM's options, object code and linking."""

import itertools
import logging
import os
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from multibody.compiler.codegen import target
from multibody.compiler.runtime import helpers, object_code, progress
from multibody.compiler.runtime.object_code import Request

MIN_PARALLEL_TEXT = 400_000
"""Letters of LLVM IR, about 0.3 s of compilation, from which helper processes take part."""
MIN_LOGGED_MODULES = 8
"""Kernels of at least this many modules take seconds to compile, and their progress is logged."""
SOURCE_ORDER = (
    "-enable-misched=false",
    "-pre-RA-sched=source",
    "-disable-post-ra=true",
    "-disable-cgp=true",
)
"""LLVM's options while it compiles kernels."""
DEFAULTS = (
    "-enable-misched=true",
    "-pre-RA-sched=default",
    "-disable-post-ra=false",
    "-disable-cgp=false",
    "-disable-lsr=false",
)
"""LLVM's defaults of these options, which are set afterwards: llvmlite cannot read what they were before."""
LOCK: Any = getattr(llvm.ffi.lib, "_lock", None) or threading.RLock()
"""The reentrant lock that llvmlite takes in every call of LLVM, held in addition while LLVM has our options and while
code is shared or freed: no other user of llvmlite compiles with these options. It is taken around fork, so that a child
never inherits LLVM in an inconsistent state."""
_names = itertools.count()


def _release() -> None:
    LOCK.__exit__(None, None, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=LOCK.__enter__, after_in_parent=_release, after_in_child=_release)


def target_machine(level: int) -> Any:
    """LLVM's target machine at an optimization level."""
    return object_code.target_machine(*target.host()[:3], level)


def request(text: str, level: int) -> Request:
    """A module to compile for this process's machine."""
    is_scan = "\nstepped:" in text
    options = (*SOURCE_ORDER, f"-disable-lsr={'false' if is_scan else 'true'}")
    return Request(text, *target.host()[:3], level, options)


@contextmanager
def source_order(options: tuple[str, ...]) -> Iterator[None]:
    """Within this block LLVM emits the instructions of a module in source order.

    Its schedulers would run one chain of dependent operations after the other, to save registers, and lose up to two
    thirds of the speed: the source order interleaves independent operations. The scheduler after register allocation
    changes nothing here, and takes most of the time of blocks with many stores. CodeGenPrepare would join the basic
    blocks that long code is cut into. Loop strength reduction takes a quarter of the time of small kernels, whose
    loops over samples are as fast without it; only the loop over the steps of a scan has it, as steps of simulations
    take 6 % longer without it. These options are global to LLVM; no target machine has its own.
    """
    with LOCK:
        try:
            object_code.set_options(options)
            yield
        finally:
            object_code.set_options(DEFAULTS)


@cache
def _jit() -> Any:
    return llvm.create_lljit_compiler(target_machine(2))


def compile_object(text: str, level: int = 2) -> bytes:
    """Compile an LLVM module to object code."""
    module = request(text, level)
    with source_order(module.options):
        return object_code.emit(module)


def compile_objects(texts: list[str], level: int = 2) -> list[bytes]:
    """Compile LLVM modules to object code; if there are many, the logger "multibody" reports each as INFO."""
    shared = helpers.count() and len(texts) > 1 and sum(map(len, texts)) >= MIN_PARALLEL_TEXT
    results = helpers.submit([request(text, level) for text in texts], background=False) if shared else []
    objects: dict[int, bytes] = {}
    for position in reversed(range(len(texts))):  # helpers begin with the first
        if not results or results[position].cancel():
            _report(len(objects) + 1, len(texts))
            objects[position] = compile_object(texts[position], level)
    for position, text in enumerate(texts):
        if position not in objects:
            _report(len(objects) + 1, len(texts))
            objects[position] = collect(results[position], text, level)
    return [objects[position] for position in range(len(texts))]


def collect(result: Future[bytes], text: str, level: int) -> bytes:
    """The object code that a helper makes of a module, which is compiled here if the helper is lost."""
    try:
        return result.result()
    except helpers.HelperLostError:
        return compile_object(text, level)


def _report(number: int, count: int) -> None:
    progress.say(f"module {number} of {count}")
    if count >= MIN_LOGGED_MODULES:
        logging.getLogger("multibody").info("compiling: module %d of %d", number, count)


def assembly(text: str, level: int = 2) -> str:
    """Compile an LLVM module to assembly, for people to read."""
    module = request(text, level)
    with source_order(module.options):
        return target_machine(level).emit_assembly(object_code.parse(module))


class Library:
    """The addresses of symbols in memory; the code lives as long as this object."""

    __slots__ = ("__weakref__", "addresses")

    def __init__(self, addresses: dict[str, int]) -> None:
        self.addresses = addresses


_owners: dict[int, Any] = {}
"""LLVM's handles of the code, which must be freed under the lock: the garbage collector would not take it."""


def _free(number: int) -> None:
    with LOCK:
        del _owners[number]


def link(objects: list[bytes], *symbols: str) -> Library:
    """Load object code, and look up symbols."""
    with LOCK:
        builder = llvm.JITLibraryBuilder().add_current_process()
        for image in objects:
            builder.add_object_img(image)
        for symbol in symbols:
            builder.export_symbol(symbol)
        number = next(_names)
        owner = _owners[number] = builder.link(_jit(), f"multibody-{number}")
        library = Library({symbol: owner[symbol] for symbol in symbols})
        weakref.finalize(library, _free, number).atexit = False
        return library
