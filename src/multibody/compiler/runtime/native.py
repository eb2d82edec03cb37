"""LLVM IR to code in memory: LLVM's options, object code and linking."""

import itertools
import logging
import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from multibody.compiler.codegen import target
from multibody.compiler.runtime import progress

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


@cache
def target_machine(level: int) -> Any:
    """LLVM's target machine at an optimization level."""
    machine = target.host()
    return llvm.Target.from_triple(machine.triple).create_target_machine(
        cpu=machine.cpu, features=machine.features, opt=level, reloc="pic", codemodel="default"
    )


@contextmanager
def source_order(text: str) -> Iterator[None]:
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
            is_scan = "\nstepped:" in text
            for option in (*SOURCE_ORDER, f"-disable-lsr={'false' if is_scan else 'true'}"):
                llvm.set_option("multibody", option)
            yield
        finally:
            for option in DEFAULTS:
                llvm.set_option("multibody", option)


@cache
def _jit() -> Any:
    return llvm.create_lljit_compiler(target_machine(2))


def compile_object(text: str, level: int = 2) -> bytes:
    """Compile an LLVM module to object code."""
    with source_order(text):
        return target_machine(level).emit_object(_parse(text))


def compile_objects(texts: list[str], level: int = 2) -> list[bytes]:
    """Compile LLVM modules to object code; if there are many, the logger "multibody" reports each as INFO."""
    objects = []
    for number, text in enumerate(texts, start=1):
        progress.say(f"module {number} of {len(texts)}")
        if len(texts) >= MIN_LOGGED_MODULES:
            logging.getLogger("multibody").info("compiling: module %d of %d", number, len(texts))
        objects.append(compile_object(text, level))
    return objects


def assembly(text: str, level: int = 2) -> str:
    """Compile an LLVM module to assembly, for people to read."""
    with source_order(text):
        return target_machine(level).emit_assembly(_parse(text))


def _parse(text: str) -> Any:
    machine = target_machine(2)
    module = llvm.parse_assembly(f'target triple = "{target.host().triple}"\n{text}')
    module.data_layout = str(machine.target_data)
    return module


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
