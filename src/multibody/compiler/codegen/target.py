"""The target machine: its vector width and instructions, and the options with which LLVM generates code for it."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np

from multibody.errors import InputError

SOURCE_ORDER = ("-enable-misched=false", "-pre-RA-sched=source", "-disable-post-ra=true", "-disable-cgp=true")
"""LLVM's options while it compiles kernels."""
DEFAULTS = ("-enable-misched=true", "-pre-RA-sched=default", "-disable-post-ra=false", "-disable-cgp=false")
"""LLVM's defaults of these options, which are set afterwards: llvmlite cannot read what they were before."""
LOCK: Any = getattr(llvm.ffi.lib, "_lock", None) or threading.RLock()
"""The reentrant lock that llvmlite takes in every call of LLVM, held in addition while LLVM has our options and while
code is shared or freed: no other user of llvmlite compiles with these options. It is taken around fork, so that a child
never inherits LLVM in an inconsistent state."""


def _release() -> None:
    LOCK.__exit__(None, None, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=LOCK.__enter__, after_in_parent=_release, after_in_child=_release)


class Machine(NamedTuple):
    """The processor that code is generated for."""

    triple: str
    cpu: str
    features: str
    lanes: int
    """Doubles in a vector register."""
    fma: bool

    def lanes_of(self, dtype: np.dtype[Any]) -> int:
        """Numbers of a precision in a vector register."""
        return self.lanes * 8 // dtype.itemsize


class Level(NamedTuple):
    """A level of the x86-64 architecture, by the features that it adds to the one below."""

    features: tuple[str, ...]
    lanes: int
    fma: bool


LEVELS = {
    "x86-64-v2": Level(("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"), 2, False),
    "x86-64-v3": Level(("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"), 4, True),
    "x86-64-v4": Level(("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"), 8, True),
}
"""The levels that $MULTIBODY_CPU can select, by LLVM's names."""


@cache
def host() -> Machine:
    """The target machine: this one, or the level of it that $MULTIBODY_CPU selects."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple, level = llvm.get_process_triple(), os.environ.get("MULTIBODY_CPU", "")
    if level in LEVELS and level in levels():
        return Machine(triple, level, "", LEVELS[level].lanes, LEVELS[level].fma)
    if level not in ("", "native"):
        known = "which this machine is not" if level in LEVELS else "which is not known"
        raise InputError(f"MULTIBODY_CPU: expected {', '.join(['native', *levels()])}, got {level!r}, {known}")
    features = llvm.get_host_cpu_features()
    lanes = 8 if features.get("avx512f") else 4 if features.get("avx2") else 2
    fma = bool(features.get("fma")) or triple.startswith(("aarch64", "arm64"))
    return Machine(triple, llvm.get_host_cpu_name(), features.flatten(), lanes, fma)


def levels() -> list[str]:
    """The levels of x86-64 that this machine has; none on other architectures."""
    features, present = llvm.get_host_cpu_features(), list[str]()
    for name, level in LEVELS.items():
        if not all(features.get(feature) for feature in level.features):
            break
        present.append(name)
    return present


@cache
def target_machine(level: int) -> Any:
    """LLVM's target machine at an optimization level."""
    machine = host()
    return llvm.Target.from_triple(machine.triple).create_target_machine(
        cpu=machine.cpu, features=machine.features, opt=level, reloc="pic", codemodel="default"
    )


@contextmanager
def source_order() -> Iterator[None]:
    """Within this block LLVM emits instructions in source order.

    Its schedulers would run one chain of dependent operations after the other, to save registers, and lose up to two
    thirds of the speed: the source order interleaves independent operations. The scheduler after register allocation
    changes nothing here, and takes most of the time of blocks with many stores. CodeGenPrepare would join the basic
    blocks that long code is cut into. These options are global to LLVM; no target machine has its own.
    """
    with LOCK:
        try:
            for option in SOURCE_ORDER:
                llvm.set_option("multibody", option)
            yield
        finally:
            for option in DEFAULTS:
                llvm.set_option("multibody", option)
