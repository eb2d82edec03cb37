"""LLVM IR to code in memory: object code and linking."""

import itertools
import logging
import weakref
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from multibody.compiler.codegen import target
from multibody.compiler.runtime import progress

MIN_LOGGED_MODULES = 8
"""Kernels of at least this many modules take seconds to compile, and their progress is logged."""
_names = itertools.count()


@cache
def _jit() -> Any:
    return llvm.create_lljit_compiler(target.target_machine(2))


def compile_object(text: str, level: int = 2) -> bytes:
    """Compile an LLVM module to object code."""
    with target.source_order():
        return target.target_machine(level).emit_object(_parse(text))


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
    with target.source_order():
        return target.target_machine(level).emit_assembly(_parse(text))


def _parse(text: str) -> Any:
    machine = target.target_machine(2)
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
    with target.LOCK:
        del _owners[number]


def link(objects: list[bytes], *symbols: str) -> Library:
    """Load object code, and look up symbols."""
    with target.LOCK:
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
