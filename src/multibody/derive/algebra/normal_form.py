"""A normal form of trigonometric polynomials: products as sums, terms collected; and exact tests for zero.

Dynamics of robots are polynomials in parameters, rates and accelerations, times sines and cosines of sums of angles.
Products to sums (`trigonometric_polynomials.product_to_sum`) make them unique, so that equal ones are equal term by
term, in the time of multiplying out.
"""

import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from multibody.derive.algebra.differentiation import slopes
from multibody.derive.algebra.expressions_to_forms import FormReader
from multibody.derive.algebra.forms_to_expressions import ORDERS, FormWriter
from multibody.derive.algebra.trigonometric_polynomials import Form, TooLargeError, monomial

MAX_TERMS = 20_000
"""Terms of a form beyond which an expression is left as it is."""


def normal(x: Any, *, units: Sequence[Sequence[Any]] = (), most: int = MAX_TERMS) -> Any:
    """An expression or a matrix as a sum over sines and cosines of sums of angles, with few operations.

    Roots, quotients and other functions stand as they are, with their arguments in normal form. Floats are taken as the
    decimal numbers that they are written as. What has too many terms is given back as it is.

    Args:
        x: the expression or matrix; the entries of a matrix are collected alike.
        units: quadruples of symbols whose squares add up to 1, as of unit quaternions; the first is taken out.
        most: terms.

    >>> q, m, l = sp.symbols("q m l")
    >>> normal((m * l * sp.cos(q)) ** 2 + (m * l * sp.sin(q)) ** 2 + 2 * m * l * sp.sin(q) * sp.cos(q))
    l**2*m**2 + l*m*sin(2*q)
    """
    return shaped_like(x, next(normals(entries_of(x), units=units, most=most)))


def normals(
    expressions: Sequence[Any],
    *,
    units: Sequence[Sequence[Any]] = (),
    most: int = MAX_TERMS,
    orders: Sequence[Sequence[str]] = (ORDERS,),
) -> Iterator[list[Any]]:
    """`normal` of several expressions together, what is common to them alike, for each choice of what to collect by."""
    reader = FormReader(expressions, units, most)
    forms: dict[int, Form] = {}
    for n, e in enumerate(expressions):
        with suppress(TooLargeError):
            forms[n] = reader.read(e)
    writer = FormWriter(reader, list(forms.values()))
    for by in orders:
        done = dict(zip(forms, writer.expressions(by), strict=True))
        yield [done.get(n, e) for n, e in enumerate(expressions)]


def jacobian(
    x: Any, symbols: Sequence[Any], *, units: Sequence[Sequence[Any]] = (), most: int = MAX_TERMS
) -> sp.Matrix:
    """The derivatives of an expression or of the entries of a column by symbols, in normal form, a row for each entry.

    It takes a fraction of the time of SymPy's `diff`, as derivatives of forms are forms.

    >>> q, l = sp.symbols("q l")
    >>> jacobian(sp.Matrix([l * sp.cos(q), l * sp.sin(q) ** 2]), [q, l])
    Matrix([
    [ -l*sin(q),           cos(q)],
    [l*sin(2*q), 1/2 - cos(2*q)/2]])
    """
    entries = entries_of(x)
    reader = FormReader(entries, (), most)  # a derivative by one of four symbols does not keep their length
    try:
        forms = [reader.derivative(reader.read(e), s) for e in entries for s in symbols]
        reader.know(units)
        forms = [reader.times(f, monomial()) for f in forms]
        written = list(FormWriter(reader, forms).expressions())
    except TooLargeError:
        return slopes(entries, symbols)
    return sp.Matrix(len(entries), len(symbols), written)


def is_zero(x: Any, *, units: Sequence[Sequence[Any]] = (), most: int = MAX_TERMS) -> bool:
    """Whether an expression, or every entry of a matrix, is zero for all values of its symbols.

    The answer is exact for quotients of trigonometric polynomials with independent symbols, and with their roots. Other
    functions are taken for independent ones: what is not zero on that view might still be. An expression with too many
    terms is evaluated at random points instead, with 50 digits.

    >>> a, b = sp.symbols("a b")
    >>> is_zero(sp.tan(a + b) * (1 - sp.tan(a) * sp.tan(b)) - sp.tan(a) - sp.tan(b))
    True
    """
    entries = entries_of(x)
    reader = FormReader(entries, units, most, quotients=True)
    return all(_is_zero(reader, e, units) for e in entries)


def _is_zero(reader: FormReader, e: Any, units: Sequence[Sequence[Any]]) -> bool:
    try:
        return not reader.numerator(reader.read(e)).parts
    except TooLargeError:
        return all(abs(_at_random(e, units, seed)) < 1e-30 for seed in range(3))


def _at_random(e: Any, units: Sequence[Sequence[Any]], seed: int) -> Any:
    rng = random.Random(seed)
    atoms = sorted(e.free_symbols | e.atoms(AppliedUndef, sp.Derivative), key=str)
    values = {x: sp.Rational(rng.randint(100, 999), 1000) for x in atoms}
    for unit in units:
        length = sp.sqrt(sum(values.get(x, 0) ** 2 for x in unit))
        values.update({x: values.get(x, 0) / length for x in unit})
    return e.evalf(50, subs=values, maxn=500)


def entries_of(x: Any) -> list[Any]:
    """The entries of a matrix, row by row, or the expression alone."""
    return list(x) if isinstance(x, sp.MatrixBase) else [sp.sympify(x)]  # type: ignore[arg-type]


def shaped_like(x: Any, entries: Sequence[Any]) -> Any:
    """A matrix like x with other entries, or the only entry."""
    return type(x)(*x.shape, list(entries)) if isinstance(x, sp.MatrixBase) else entries[0]  # type: ignore[call-arg]
