"""Memory for what a run keeps: counted before the run starts."""

import math
import os

from multibody.compiler.compiled_scan import Scan
from multibody.errors import InputError

SMALL = 2**26
"""Bytes that any machine has, so that nobody needs to ask."""


def check_memory(scan: Scan, batch: tuple[int, ...], rows: int, itemsize: int) -> None:
    """Refuse a run whose outputs do not fit, with a word on how to keep less."""
    numbers = sum(math.prod(shape) for shape in scan.outputs[scan.plan.states :])
    needed = math.prod(batch) * rows * numbers * itemsize
    free = available() if needed > SMALL else None
    if free is not None and needed > free:
        raise InputError(
            f"the run keeps {rows} rows of {math.prod(batch)} samples, {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB "
            "are free: keep fewer rows with every=, or simulate in parts that go on from each other's last"
        )


def available() -> int | None:
    """Free memory in bytes; None where the system does not tell."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return 1024 * int(line.split()[1])
    except OSError:
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None
