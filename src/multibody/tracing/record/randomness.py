"""Whether a function draws random numbers while it is traced: these would be frozen into its kernel.

A function is suspected when its code, or that of a function that it has from outside, speaks of `random` or makes a
generator; when a generator that it has from outside was used; and when the global generator of np.random was. A
suspicion is no proof: another thread may have drawn, a seed may make the numbers the same each time, what is drawn may
not be used. So the function is then traced a second time, and the graphs are compared. Code of other packages is not
read: a generator that only they know stays unseen.
"""

import ctypes
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

from multibody.tracing.record.surroundings import is_users, names_in, surroundings

_NAMES = {"random", "randn", "default_rng", "RandomState", "SystemRandom", "urandom", "uuid4"}
_TWISTER = 625 * 4
"""Bytes of the state of the Mersenne twister: 624 words and a position."""


class Draws:
    """The states of generators before a function is traced."""

    def __init__(self, function: Callable[..., Any]) -> None:
        things = list(surroundings(function))
        functions = [thing.value for thing in things if isinstance(thing.value, FunctionType) and is_users(thing.value)]
        self._named = any(_NAMES & names_in(f.__code__) for f in functions)
        known = sys.modules.get("numpy.random")  # which is not imported for this
        self._shared = None if known is None else known.get_bit_generator()
        kinds = () if known is None else (known.Generator, known.RandomState)
        self._own = [thing.value for thing in things if isinstance(thing.value, kinds)]
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
