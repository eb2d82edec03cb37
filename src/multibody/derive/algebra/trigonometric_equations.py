"""Exact solutions of equations that are linear in coordinates and in sines and cosines of their sums."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import sympy as sp
from sympy.solvers.solveset import NonlinearError

Solution = dict[sp.Symbol, sp.Expr]
MAX_FACTORED_TERMS = 30
"""Terms of an equation beyond which it is not searched for factors, which may take minutes."""


def solutions(equations: Sequence[Any], unknowns: Sequence[sp.Symbol]) -> list[Solution] | None:
    """All solutions, with angles between -π and π; None when there is no exact way here.

    A polynomial in one coordinate is solved first. Then all sines, cosines and coordinates are unknowns of a linear
    system, in which every row must be left with one angle alone: a sin α + b cos α = c. Where that fails, the angle of
    an equation that has no other is substituted, and a product is zero where one of its factors is.

    >>> a, b, k = sp.symbols("a b k", real=True)
    >>> solutions([sp.sin(a) + sp.sin(a + b), sp.sin(a + b)], [a, b])
    [{a: 0, b: 0}, {a: 0, b: pi}, {a: pi, b: pi}, {a: pi, b: 0}]
    >>> solutions([k * a - sp.cos(b), a * sp.sin(b)], [a, b])
    [{a: 0, b: pi/2}, {a: 0, b: -pi/2}, {b: 0, a: 1/k}, {b: pi, a: -1/k}]
    """
    equations = [x for x in map(sp.expand, equations) if x != 0]
    active = [x for x in unknowns if any(x in e.free_symbols for e in equations)]
    if not active:
        return [] if equations else [{}]
    for equation in equations:
        inside = [x for x in active if x in equation.free_symbols]
        if len(inside) == 1 and equation.is_polynomial(inside[0]):
            return _substituted(equations, equation, _roots(equation, inside[0]), unknowns)
    exact = _linear(equations, active)
    for equation in equations if exact is None else ():
        inside = [x for x in active if x in equation.free_symbols]
        if len(inside) == 1 < len(equations) and (first := _linear([equation], inside)) is not None:
            return _substituted(equations, equation, first, unknowns)
    return _factored(equations, unknowns) if exact is None else exact


def _roots(equation: sp.Expr, x: sp.Symbol) -> list[Solution] | None:
    """The roots of a polynomial that may be real."""
    if sp.Poly(equation, x).degree() > 4:
        return None
    return [{x: root} for root in sp.roots(equation, x) if root.is_real is not False]


def _substituted(
    equations: Sequence[sp.Expr], equation: sp.Expr, first: list[Solution] | None, unknowns: Sequence[sp.Symbol]
) -> list[Solution] | None:
    """The solutions of one equation, each with the solutions of the rest."""
    if first is None:
        return None
    extended = []
    for solution in first:
        left = [e.subs(list(solution.items())) for e in equations if e is not equation]
        rest = solutions(left, [x for x in unknowns if x not in solution])
        if rest is None:
            return None
        extended += [solution | other for other in rest]
    return extended


def _factored(equations: Sequence[sp.Expr], unknowns: Sequence[sp.Symbol]) -> list[Solution] | None:
    """Through the factors of a product: the solutions where one of them is zero, without those that others include."""
    for equation in equations:
        if len(sp.Add.make_args(equation)) > MAX_FACTORED_TERMS:
            continue
        numerator, denominator = sp.fraction(sp.factor(equation))
        factors = [x for x, _ in sp.factor_list(numerator)[1] if x.free_symbols & set(unknowns)]
        if len(factors) < 2 or denominator.free_symbols & set(unknowns):
            continue
        parts = [solutions([*(e for e in equations if e is not equation), x], unknowns) for x in factors]
        if any(part is None for part in parts):
            return None
        distinct = {frozenset(solution.items()): solution for part in parts for solution in part or ()}
        return [solution for key, solution in distinct.items() if not any(other < key for other in distinct)]
    return None


def _linear(equations: Sequence[sp.Expr], active: Sequence[sp.Symbol]) -> list[Solution] | None:
    """Through the linear system of sines and cosines."""
    angles = _angles(equations, active)
    if angles is None:
        return None
    names = [(sp.sin(angle), sp.Dummy()) for angle in angles], [(sp.cos(angle), sp.Dummy()) for angle in angles]
    pairs = [pair for both in zip(*names, strict=True) for pair in both]
    named = [e.subs(dict(pairs)) for e in equations]
    plain = [x for x in active if any(x in e.free_symbols for e in named)]
    if any(x in angle.free_symbols for x in plain for angle in angles):
        return None
    columns = [name for _, name in pairs] + plain
    try:
        A, c = sp.linear_eq_to_matrix(named, columns)
    except NonlinearError:
        return None
    reduced, pivots = A.row_join(c).rref(simplify=True)
    if len(columns) in pivots:
        return []
    choices = _choices(reduced, pivots, angles, plain)
    return None if choices is None else _combined(choices, active)


def _angles(equations: Sequence[Any], active: Sequence[sp.Symbol]) -> list[Any] | None:
    """The arguments of sines and cosines; None when something else than these is a function of a coordinate."""
    inside = {f for e in equations for f in e.atoms(sp.Function) if f.free_symbols & set(active)}
    if any(not isinstance(f, sp.sin | sp.cos) for f in inside):
        return None
    angles = sorted({f.args[0] for f in inside}, key=sp.default_sort_key)
    for angle in angles:
        if any(not sp.diff(angle, x).is_Integer for x in active):
            return None
    return angles


def _choices(reduced: Any, pivots: Any, angles: Sequence[sp.Expr], plain: Sequence[sp.Symbol]) -> Any:
    """For each angle, or coordinate, the values that the rows of the linear system leave it."""
    choices: list[tuple[sp.Expr, list[sp.Expr]]] = []
    for row in range(len(pivots)):
        used = [k for k in range(reduced.cols - 1) if reduced[row, k] != 0]
        value = reduced[row, reduced.cols - 1]
        which = {k // 2 if k < 2 * len(angles) else k for k in used}
        if len(which) != 1:
            return None
        if used[0] >= 2 * len(angles):
            choices.append((plain[used[0] - 2 * len(angles)], [value]))
            continue
        angle = angles[used[0] // 2]
        sine, cosine = (reduced[row, 2 * (used[0] // 2) + k] for k in (0, 1))
        choices.append((angle, _values(sine, cosine, value)))
    if len({angle for angle, _ in choices}) < len(choices):  # sine and cosine both known: an angle, if they fit
        return None
    return choices


def _values(a: Any, b: Any, c: Any) -> list[Any]:
    """The angles with a sin α + b cos α = c."""
    size = sp.sqrt(a**2 + b**2)
    ratio: Any = sp.simplify(c / size)
    if ratio.is_number and sp.Abs(ratio) > 1:
        return []
    if b == 0:
        first = sp.asin(sp.simplify(c / a))
        return [first] if ratio.is_number and sp.Abs(ratio) == 1 else [first, sp.pi - first]
    if a == 0:
        first = sp.acos(sp.simplify(c / b))
        return [first] if ratio.is_number and sp.Abs(ratio) == 1 else [first, -first]
    half, middle = sp.acos(ratio), sp.atan2(a, b)
    return [middle] if half == 0 else [middle + half, middle - half]


def _combined(choices: list[tuple[sp.Expr, list[sp.Expr]]], active: Sequence[sp.Symbol]) -> list[Solution] | None:
    """Coordinates from the values of their sums, each of which may be a whole turn more."""
    K = sp.Matrix([[sp.diff(angle, x) for x in active] for angle, _ in choices])
    determinant: Any = K.det() if K.rows == K.cols else 0
    several = abs(int(determinant))
    if not several:
        return None
    offset = sp.Matrix([angle.subs(dict.fromkeys(active, 0)) for angle, _ in choices])
    turning = [len(angle.free_symbols & set(active)) > 0 and angle not in active for angle, _ in choices]
    turns = range(several)
    distinct: list[Solution] = []
    inverse = K.inv()
    for values in product(*(values for _, values in choices)):
        for whole in product(*(turns if turn else (0,) for turn in turning)):
            at = inverse * (sp.Matrix(values) - offset + 2 * sp.pi * sp.Matrix(whole))
            solution = {x: _wrapped(value) for x, value in zip(active, at, strict=True)}
            if solution not in distinct:
                distinct.append(solution)
    return distinct


def _wrapped(x: sp.Expr) -> sp.Expr:
    """A number between -π and π; what has symbols stays as it is."""
    x = sp.simplify(x)
    if not x.is_number:
        return x
    return sp.simplify(x - 2 * sp.pi * sp.ceiling((x - sp.pi) / (2 * sp.pi)))
