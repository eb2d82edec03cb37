"""Formulas from the library's own NumPy functions: traced with symbols in the place of arrays, all numbers exact."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.parameters import distribute

from multibody.geometry import Rotation
from multibody.tracing.emission import Target, fold
from multibody.tracing.record.trace import trace

NOTHING = 1e-14
"""Numbers that are smaller are rounding errors of a zero."""
ULPS = 8 * np.finfo(float).eps
"""How far, relative to it, a float may be from the number that it stands for."""
DIGITS = 12
"""Decimals with at most so many digits are taken as they are written."""


def exact(x: float) -> sp.Expr:
    """The number that a float stands for: a decimal, a fraction, a root of one; or all its digits.

    >>> [exact(x) for x in (0.333, 0.1 + 0.2, 1 / 12, -(0.75**0.5), 6e-17)]
    [333/1000, 3/10, 1/12, -sqrt(3)/2, 0]
    """
    x = float(x)
    if abs(x) < NOTHING:
        return sp.Integer(0)
    short = f"{x:.{DIGITS}g}"
    for fraction in (Fraction(short), Fraction(x).limit_denominator(10**5)):
        if abs(fraction - x) <= ULPS * abs(x):
            return sp.Rational(fraction.numerator, fraction.denominator)
    square = Fraction(x * x).limit_denominator(10**4)
    if abs(square - x * x) <= ULPS * x * x:
        return sp.sign(x) * sp.sqrt(sp.Rational(square.numerator, square.denominator))
    return sp.Rational(repr(x))


def exact_rotation(R: Any) -> sp.ImmutableMatrix:
    """A rotation matrix whose columns are orthonormal to the last digit.

    Where the entries are no numbers that `exact` knows, it is the rotation of the quaternion 1, x, y, z of rational
    numbers next to it, not normalized.  [Kindr item 3]
    """
    matrix = sp.ImmutableMatrix(3, 3, [exact(x) for x in np.asarray(R).ravel()])
    if (matrix * matrix.T).applyfunc(sp.expand) == sp.eye(3):
        return matrix
    return _of_quaternion(R)


def _of_quaternion(R: Any) -> sp.ImmutableMatrix:
    q = Rotation.from_matrix(R).quaternion
    fractions = (Fraction(float(e)).limit_denominator(10**8) for e in q / q[np.argmax(np.abs(q))])
    parts: list[Any] = [sp.Rational(f.numerator, f.denominator) for f in fractions]
    return sp.ImmutableMatrix(sp.Quaternion(*parts).to_rotation_matrix())


def formulas(function: Callable[..., Any], *symbols: Any) -> list[sp.ImmutableMatrix]:
    """Trace a NumPy function of arrays; return a column of formulas for each vector, a matrix for each matrix.

    Args:
        function: plain NumPy; returns arrays of one or two axes in a tuple.
        *symbols: for each argument a sequence or a matrix of expressions; a matrix with one column is a vector.

    >>> x = sp.Symbol("x")
    >>> formulas(lambda q: (np.stack([np.sin(q[0]), 0.1 * q[0]]),), [x])
    [Matrix([
    [sin(x)],
    [  x/10]])]
    """
    flat = [[sp.sympify(e) for e in x] for x in symbols]
    shapes = [x.shape if isinstance(x, sp.MatrixBase) and x.cols > 1 else (len(x),) for x in symbols]
    recorded = trace(function, shapes, [f"x{k}" for k in range(len(shapes))])
    with distribute(False):
        values = fold(recorded, Target("SymPy", _TABLE, exact, lambda i, k: flat[i][k]))
    return [
        sp.ImmutableMatrix(*(*ids.shape, 1)[:2], column) for column, ids in zip(values, recorded.outputs, strict=True)
    ]


_TABLE: dict[str, Callable[..., Any]] = {
    "neg": lambda a: -a,
    "sqrt": sp.sqrt,
    "sin": sp.sin,
    "cos": sp.cos,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: sp.S.Zero if a == 0 or b == 0 else a * b,  # SymPy would ask whether the other is finite
    "div": lambda a, b: a / b,
    "pow": sp.Pow,
}
"""What the kinematics and dynamics of robots are made of."""
