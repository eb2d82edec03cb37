"""From the text of a module to code in memory: target, object code, linking."""

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

MANY_MODULES = 8
"""Modules of a kernel from which on it takes seconds to compile, and progress is told."""
OURS = ("-enable-misched=false", "-pre-RA-sched=source", "-disable-post-ra=true", "-disable-cgp=true")
"""LLVM's settings while it compiles kernels."""
THEIRS = ("-enable-misched=true", "-pre-RA-sched=default", "-disable-post-ra=false", "-disable-cgp=false")
"""What they are by default."""
_names = itertools.count()
LOCK = threading.RLock()
"""Held by all that LLVM does, freeing code included: a forked child must not find it in the midst of something."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)


@cache
def _target_machine(level: int) -> Any:
    machine = target.host()
    return llvm.Target.from_triple(machine.triple).create_target_machine(
        cpu=machine.cpu, features=machine.features, opt=level, reloc="pic", codemodel="default"
    )


@cache
def _jit() -> Any:
    return llvm.create_lljit_compiler(_target_machine(2))


@contextmanager
def _source_order() -> Iterator[None]:
    """Within this block LLVM emits instructions in the order of the text.

    Its schedulers would run one chain of dependent operations after the other, to save registers, and lose up to two
    thirds of the speed; the order of creation has independent operations side by side. The one that runs after the
    allocation of registers changes nothing here, and takes most of the time of blocks with many stores. CodeGenPrepare
    would join the basic blocks that long code is cut into. The settings are LLVM's own, and global: they are put back
    for others who use it in this process.
    """
    with LOCK:
        try:
            for option in OURS:
                llvm.set_option("multibody", option)
            yield
        finally:
            for option in THEIRS:
                llvm.set_option("multibody", option)


def compile_object(text: str, level: int = 2) -> bytes:
    """The object code of a module's text."""
    with _source_order():
        return _target_machine(level).emit_object(_parse(text))


def compile_objects(texts: list[str], level: int = 2) -> list[bytes]:
    """The object code of all modules; the logger "multibody" is told how far it is, as INFO, where they are many."""
    objects = []
    for number, text in enumerate(texts, start=1):
        progress.say(f"module {number} of {len(texts)}")
        if len(texts) >= MANY_MODULES:
            logging.getLogger("multibody").info("compiling: module %d of %d", number, len(texts))
        objects.append(compile_object(text, level))
    return objects


def assembly(text: str, level: int = 2) -> str:
    """The assembly of a module's text, to read."""
    with _source_order():
        return _target_machine(level).emit_assembly(_parse(text))


def _parse(text: str) -> Any:
    machine = _target_machine(2)
    module = llvm.parse_assembly(f'target triple = "{target.host().triple}"\n{text}')
    module.data_layout = str(machine.target_data)
    return module


class Library:
    """Object code in memory, by the addresses of its symbols: it lives as long as this does."""

    __slots__ = ("__weakref__", "addresses")

    def __init__(self, addresses: dict[str, int]) -> None:
        self.addresses = addresses


_owners: dict[int, Any] = {}
"""LLVM's handles of the code in memory: not in `Library`, which the garbage collector would free without the lock."""


def _free(number: int) -> None:
    with LOCK:
        del _owners[number]


def link(objects: list[bytes], *symbols: str) -> Library:
    """Load object code; the addresses of its symbols."""
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
