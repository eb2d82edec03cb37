"""Whether a function draws random numbers while it is traced: these would be frozen into its kernel.

A function is suspected when its code, or that of a function that it has by name (from its module, from an enclosing
function, as a default), speaks of `random` or makes a generator; when a generator that it has by name was used; and
when the global generator of np.random was. A suspicion is no proof: another thread may have drawn, a seed may make the
numbers the same each time, what is drawn may not be used. So the function is then traced a second time, and the graphs
are compared. Code of other packages is not read: a generator that only they know stays unseen.
"""

import ctypes
import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

_NAMES = {"random", "randn", "default_rng", "RandomState", "SystemRandom", "urandom", "uuid4"}
_TWISTER = 625 * 4
"""Bytes of the state of the Mersenne twister: 624 words and a position."""
_LIBRARIES = ("multibody", "numpy", "scipy")


class Draws:
    """The states of generators before a function is traced."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functions = list(reached(function))
        self._named = any(_NAMES & _names(f.__code__) for f in functions if _is_users(f))
        known = sys.modules.get("numpy.random")  # which is not imported for this
        self._shared = None if known is None else known.get_bit_generator()
        kinds = () if known is None else (known.Generator, known.RandomState)
        self._own = [x for f in functions for x in held_by(f) if isinstance(x, kinds)]
        self._before = self._states()

    def suspected(self) -> bool:
        """Whether numbers may have been drawn since."""
        return self._named or self._before != self._states()

    def _states(self) -> list[Any]:
        states: list[Any] = [repr(_state(x)) for x in self._own]
        if self._shared is not None and type(self._shared).__name__ == "MT19937":
            # `state` would take as long as the trace of a small function
            states.append(ctypes.string_at(self._shared.ctypes.state_address, _TWISTER))
        return states


def _state(generator: Any) -> Any:
    old = isinstance(generator, sys.modules["numpy.random"].RandomState)
    return generator.get_state(legacy=False) if old else generator.bit_generator.state


def reached(function: Any) -> Iterator[FunctionType]:
    """The function, those that it is made of, and those that it has by name."""
    seen: set[int] = set()
    waiting = [function]
    while waiting:
        f = waiting.pop()
        if id(f) in seen:
            continue
        seen.add(id(f))
        if isinstance(f, partial):
            waiting += [f.func, *f.args, *f.keywords.values()]
        elif isinstance(f, MethodType):
            waiting.append(f.__func__)
        elif isinstance(f, FunctionType):
            yield f
            waiting += held_by(f)


def held_by(function: FunctionType) -> list[Any]:
    """What a function has by name."""
    held = [cell.cell_contents for cell in function.__closure__ or () if cell != CellType()]  # but unbound names
    held += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    if _is_users(function):
        names = _names(function.__code__) & function.__globals__.keys()
        held += [function.__globals__[name] for name in sorted(names)]
    return held


def _is_users(function: FunctionType) -> bool:
    return function.__module__ is None or function.__module__.partition(".")[0] not in _LIBRARIES


def _names(code: CodeType) -> set[str]:
    """The names that a code, and the codes within it, ask for."""
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return {*code.co_names}.union(*inner)
