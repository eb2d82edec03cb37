"""How long calls take."""

import time
from collections.abc import Callable
from typing import Any

TURNS = 20


def in_turns(functions: dict[str, Callable[[], Any]], budget: float = 0.2) -> dict[str, float]:
    """The time of one call of each, in s: the least mean of several runs.

    The functions take turns, so that what else happens on the machine troubles all of them alike.

    Args:
        functions: by name.
        budget: about how many seconds the runs of each function take together.
    """
    calls, best = {}, {}
    for name, function in functions.items():
        function()
        best[name] = _mean(function, 1)
        calls[name] = max(1, int(budget / TURNS / max(best[name], 1e-7)))
    for _ in range(TURNS):
        for name, function in functions.items():
            best[name] = min(best[name], _mean(function, calls[name]))
    return best


def _mean(function: Callable[[], Any], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - start) / calls
