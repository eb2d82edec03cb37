"""The processor: its class, within which results are equal bit for bit, and the cores that a process may use."""

import hashlib
import os
import sys
from functools import cache

from multibody.compiler.codegen import target


@cache
def cpu_class() -> str:
    """The class of the processor that this process computes for: its name and a digest of what it can do.

    >>> len(cpu_class().rsplit(" ", 1)[1])
    8
    """
    machine = target.host()
    return f"{machine.cpu} {hashlib.sha256(repr(machine).encode()).hexdigest()[:8]}"


def available_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
