"""The target machine that code is generated for: its vector width and its instructions."""

import os
from functools import cache
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np

from multibody.errors import InputError


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
