"""Subexpressions, each visited once: SymPy's own walks visit a part as often as it occurs."""

from collections.abc import Iterable, Iterator
from typing import Any


def subexpressions(expressions: Iterable[Any]) -> Iterator[Any]:
    """The distinct parts of expressions, these among them.

    >>> import sympy as sp
    >>> x = sp.Symbol("x")
    >>> sorted(map(str, subexpressions([sp.sin(x) + x * sp.sin(x)])))
    ['sin(x)', 'x', 'x*sin(x)', 'x*sin(x) + sin(x)']
    """
    seen: set[Any] = set()
    stack = list(expressions)
    while stack:
        e = stack.pop()
        if e not in seen:
            seen.add(e)
            stack.extend(e.args)
            yield e
