"""Limits of CPU time for tests: as stated on a machine of usual speed, and longer in proportion on slower ones."""

import time
from functools import cache

USUAL_SECONDS = 0.012
"""CPU time of the reference loop on the machines that the limits were chosen on, rounded up."""


@cache
def slowness() -> float:
    """How much slower than usual this machine is, at least 1: other work on its host can slow it down tenfold."""
    taken = []
    for _ in range(5):
        begun, total = time.process_time(), 0
        for k in range(200_000):
            total += k
        taken.append(time.process_time() - begun)
    return max(1.0, min(taken) / USUAL_SECONDS)


def cpu_limit(seconds: float) -> float:
    """The CPU time, in s, that takes `seconds` on a machine of usual speed."""
    return seconds * slowness()
