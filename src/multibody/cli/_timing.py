"""How long calls take."""

from collections.abc import Callable, Sequence
from time import perf_counter
from timeit import timeit
from typing import Any

from multibody.compiler.kernel import Kernel

TURNS = 20


def reusing_arrays(kernel: Kernel, states: Sequence[Any]) -> Callable[[], Any]:
    """A call of a kernel at as many of the states as it takes, into the arrays of its first results."""
    args = states[: len(kernel.signature.inputs)]
    out = kernel(*args)
    return lambda: kernel(*args, out=out)


def in_turns(
    functions: dict[str, Callable[[], Any]], budget: float = 0.2, timer: Callable[[], float] = perf_counter
) -> dict[str, float]:
    """The time of one call of each, in s: the least mean of several runs.

    The functions take turns, so that what else happens on the machine troubles all of them alike.

    Args:
        functions: by name.
        budget: about how many seconds the runs of each function take together.
        timer: the clock, in s.
    """
    calls, best = {}, {}
    for name, function in functions.items():
        function()
        best[name] = timeit(function, timer=timer, number=1)
        calls[name] = max(1, int(budget / TURNS / max(best[name], 1e-7)))
    for _ in range(TURNS):
        for name, function in functions.items():
            best[name] = min(best[name], timeit(function, timer=timer, number=calls[name]) / calls[name])
    return best
