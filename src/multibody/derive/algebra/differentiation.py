"""Derivatives of large expressions: each part that occurs several times is differentiated once."""

from collections.abc import Iterable, Sequence
from typing import Any

import sympy as sp


class Derivative:
    """∂/∂x of expressions, as SymPy's `diff` has it, but for the order in which terms are written.

    >>> q, l = sp.symbols("q l")
    >>> Derivative(q)(l * sp.cos(2 * q) ** 2)
    -4*l*sin(2*q)*cos(2*q)
    """

    def __init__(self, x: sp.Symbol) -> None:
        self.x = x
        self._known: dict[Any, Any] = {x: sp.S.One}

    def __call__(self, e: Any) -> Any:
        """The derivative of an expression; other symbols do not depend on x."""
        slope = self._known.get(e)
        if slope is None:
            slope = self._known[e] = self._of(e)
        return slope

    def _of(self, e: Any) -> Any:
        if not e.args:
            return sp.S.Zero
        if e.is_Add:
            return sp.Add(*map(self, e.args))
        if e.is_Mul:
            slopes = [(k, d) for k, a in enumerate(e.args) if (d := self(a)) is not sp.S.Zero]
            return sp.Add(*(sp.Mul(*e.args[:k], d, *e.args[k + 1 :]) for k, d in slopes))
        if e.is_Pow and e.exp.is_Number:
            return e.exp * e.base ** (e.exp - 1) * self(e.base)
        if isinstance(e, sp.sin | sp.cos):
            return e.fdiff() * self(e.args[0])
        return sp.diff(e, self.x)


def slopes(entries: Iterable[Any], symbols: Sequence[sp.Symbol]) -> sp.Matrix:
    """The derivatives of expressions, a row for each, by symbols.

    >>> x, y = sp.symbols("x y")
    >>> slopes([x * y, y**2], [x, y])
    Matrix([
    [y,   x],
    [0, 2*y]])
    """
    derivatives, entries = [Derivative(x) for x in symbols], list(entries)
    return sp.Matrix(len(entries), len(symbols), [slope(e) for e in entries for slope in derivatives])
