"""Symbols of a system: coordinates, their rates and accelerations, parameters, vectors and rotations made of them.

Coordinates are plain symbols, not functions of time: a time derivative is a chain rule, which is quick. The rate of `x`
is the symbol `x_dot`, its acceleration `x_ddot`. The symbol `t` is the time.
"""

from collections.abc import Iterable
from typing import Any

import sympy as sp

from multibody.errors import InputError

TIME = sp.Symbol("t", real=True)
"""The time: positions, rotations, constraints, forces and gravity may depend on it."""


def symbols(names: str) -> tuple[sp.Symbol, ...]:
    """Real symbols, one for each name.

    Raises:
        InputError: when it is no text.

    >>> symbols("m l g")
    (m, l, g)
    """
    if not isinstance(names, str):
        raise InputError(f"expected the names of symbols in a text, such as 'm l g', got {names!r}")
    return tuple(sp.Symbol(name, real=True) for name in names.replace(",", " ").split())


coordinates = symbols
"""Generalized coordinates, one for each name: the same as `symbols`, to say what they are."""


def rate(x: sp.Symbol) -> sp.Symbol:
    """The time derivative of a symbol, as a symbol.

    Raises:
        InputError: when it is no symbol.

    >>> x, = symbols("x")
    >>> rate(x), rate(rate(x))
    (x_dot, x_ddot)
    """
    if not isinstance(x, sp.Symbol):
        raise InputError(f"rate: expected a symbol, such as those of derive.coordinates, got {x!r}")
    stem = x.name[: -len("_dot")] + "_ddot" if x.name.endswith("_dot") else x.name + "_dot"
    return sp.Symbol(stem, real=True)


def expression(x: Any, name: str = "expression") -> sp.Expr:
    """A number or an expression, as an expression.

    Raises:
        InputError: when it is text, whose symbols would be others than those made by `symbols`, or no expression.

    >>> expression(2)
    2
    """
    if isinstance(x, str):
        raise InputError(
            f"{name}: expected an expression, got the text {x!r}: make its symbols with derive.symbols, and write it "
            "without quotes"
        )
    try:
        formula = sp.sympify(x)
    except (sp.SympifyError, TypeError, AttributeError):
        formula = None
    if (
        not isinstance(formula, sp.Expr)
        or isinstance(formula, sp.MatrixBase)
        or formula.is_real is False
        or formula.has(sp.I, sp.nan)
    ):
        raise InputError(f"{name}: expected an expression, got {x!r}")
    return formula


def vector(x: Any, name: str = "vector", size: int = 3) -> sp.ImmutableMatrix:
    """A column of expressions.

    >>> vector((0, 0, -1)).T
    Matrix([[0, 0, -1]])
    """
    components = x.flat() if isinstance(x, sp.MatrixBase) else x
    entries = list(components) if isinstance(components, Iterable) and not isinstance(x, str) else [x]
    if len(entries) != size:
        raise InputError(f"{name}: expected {size} expressions, got {len(entries)}")
    return sp.ImmutableMatrix([expression(entry, name) for entry in entries])


def matrix(x: Any, name: str, shape: tuple[int, int] | None = None) -> sp.ImmutableMatrix:
    """A matrix of expressions, of any shape or of a given one."""
    expected = f"{shape[0]} × {shape[1]} expressions" if shape else "a matrix of expressions"
    rows = x.tolist() if isinstance(x, sp.MatrixBase) else x
    if isinstance(rows, str) or not isinstance(rows, Iterable):
        raise InputError(f"{name}: expected {expected}, got {x!r}")
    entries = [list(row) if isinstance(row, Iterable) and not isinstance(row, str) else [row] for row in rows]
    widths = sorted({len(row) for row in entries})
    if len(widths) > 1 or (shape and (len(entries), *widths) != shape):
        raise InputError(f"{name}: expected {expected}, got {len(entries)} × {' or '.join(map(str, widths)) or 0}")
    return sp.ImmutableMatrix([[expression(entry, name) for entry in row] for row in entries])


def rotation_x(angle: Any) -> sp.ImmutableMatrix:
    """The rotation by an angle about x: A_R_B, where B is A turned about x.  [RD 2.40]"""
    c, s = _cos_sin(angle)
    return sp.ImmutableMatrix([[1, 0, 0], [0, c, -s], [0, s, c]])


def rotation_y(angle: Any) -> sp.ImmutableMatrix:
    """The rotation by an angle about y.  [RD 2.40]"""
    c, s = _cos_sin(angle)
    return sp.ImmutableMatrix([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def rotation_z(angle: Any) -> sp.ImmutableMatrix:
    """The rotation by an angle about z.  [RD 2.40]"""
    c, s = _cos_sin(angle)
    return sp.ImmutableMatrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def _cos_sin(angle: Any) -> tuple[Any, Any]:
    angle = expression(angle, "angle")
    return sp.cos(angle), sp.sin(angle)
