"""The memory of a run's rows, checked before the run starts."""

import math
import os

from multibody.compiler.compiled_scan import Scan
from multibody.errors import InputError

UNCHECKED_BYTES = 2**26
"""The size of rows up to which free memory is not read, in bytes."""


def check_memory(scan: Scan, batch: tuple[int, ...], rows: int, itemsize: int) -> None:
    """Refuse a run whose rows do not fit into free memory."""
    numbers = sum(math.prod(shape) for shape in scan.outputs[scan.plan.states :])
    needed = math.prod(batch) * rows * numbers * itemsize
    free = available() if needed > UNCHECKED_BYTES else None
    if free is not None and needed > free:
        raise InputError(
            f"the run keeps {rows} rows of {math.prod(batch)} samples, {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB "
            "are free: keep fewer rows with every=, or simulate in parts that go on from each other's last"
        )


def available() -> int | None:
    """The free memory in bytes; None if the system does not report it."""
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
