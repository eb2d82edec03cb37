"""A trace as SymPy expressions: to read, to simplify, to print."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from multibody.errors import InputError
from multibody.tracing.emission import Target, fold, optional, uses
from multibody.tracing.graph.ops import OPS, TRIGONOMETRY
from multibody.tracing.record.layout import rebuild, without_values
from multibody.tracing.record.trace import Trace

SAME_NAMES = (*TRIGONOMETRY, "sign", "sqrt", "exp", "log", "floor", "atan2")
"""Operations that are SymPy's functions of the same names."""


def to_sympy(trace: Trace, *symbols: Any) -> Any:
    """The result of the function, nested as it returns it: numbers as expressions, vectors as columns, matrices.

    Arrays of more than two axes become SymPy arrays; a value of geometry becomes the arrays that it is made of.
    Constants keep their binary digits, and whole numbers become integers. Large functions, and choices that depend on
    other choices (as in logarithms and pivoted solutions), are too much for one expression: see `to_sympy_steps`.

    Args:
        trace: of the function.
        *symbols: for each input something of its shape to put in: a matrix, nested lists of expressions, an expression.
            By default those of `symbols_of`.

    >>> from multibody.tracing.record.trace import trace
    >>> to_sympy(trace(lambda q: np.sin(q[0]) ** 2 - 2 * q[1], [2]))
    -2*q_1 + sin(q_0)**2
    """
    return _emit(trace, symbols, lambda _, value: value)


def to_sympy_steps(trace: Trace, *symbols: Any) -> tuple[list[tuple[Any, Any]], Any]:
    """As `to_sympy`, with a symbol for every value that is used twice or chosen, as `sympy.cse` has it.

    Returns:
        The list of (symbol, expression), each in terms of symbols before it, and the result in terms of all.

    >>> from multibody.tracing.record.trace import trace
    >>> to_sympy_steps(trace(lambda x: np.exp(np.sin(x)) / np.sin(x), [()]))
    ([(t0, sin(x))], exp(t0)/t0)
    """
    sympy = optional("sympy", "symbolic")
    count, op = uses(trace), trace.graph.op
    steps: list[tuple[Any, Any]] = []

    def keep(node: int, value: Any) -> Any:
        if op[node] == "input" or OPS[op[node]].boolean or (count[node] == 1 and op[node] != "select"):
            return value
        steps.append((sympy.Symbol(f"t{len(steps)}", real=True), value))
        return steps[-1][0]

    result = _emit(trace, symbols, keep)
    return steps, result


def _emit(trace: Trace, symbols: tuple[Any, ...], keep: Callable[[int, Any], Any]) -> Any:
    sympy = optional("sympy", "symbolic")
    values = list(symbols) or list(symbols_of(trace).values())
    if len(values) != len(trace.inputs):
        raise InputError(f"symbols: expected one for each of {len(trace.inputs)} inputs, got {len(values)}")
    flat = [_elements(x, i.name, i.shape) for x, i in zip(values, trace.inputs, strict=True)]

    def number(c: float) -> Any:
        return sympy.Integer(int(c)) if abs(c) < 1e15 and c == int(c) else sympy.Float(c)

    outputs = fold(trace, Target("SymPy", _table(sympy), number, lambda i, k: flat[i][k], keep))
    arrays = [_array(sympy, values, ids.shape) for values, ids in zip(outputs, trace.outputs, strict=True)]
    return rebuild(without_values(trace.layout), iter(arrays))


def symbols_of(trace: Trace) -> dict[str, Any]:
    """The real symbols that stand for the inputs: q, or q_0, q_1, ... in a column, or A_0_0, A_0_1, ... in a matrix."""
    sympy = optional("sympy", "symbolic")

    def symbol(name: str, *index: int) -> Any:
        return sympy.Symbol("_".join([name, *map(str, index)]), real=True)

    return {
        name: _array(sympy, [symbol(name, *index) for index in np.ndindex(*shape)], shape)
        for name, shape in trace.inputs
    }


def _elements(x: Any, name: str, shape: tuple[int, ...]) -> list[Any]:
    array = np.array(x.tolist() if hasattr(x, "tolist") else x, dtype=object)
    if array.shape not in (shape, (*shape, 1)):
        raise InputError(f"symbols of {name}: expected shape {shape}, got {array.shape}")
    return array.ravel().tolist()


def _array(sympy: Any, values: list[Any], shape: tuple[int, ...]) -> Any:
    if not shape:
        return values[0]
    if len(shape) <= 2:
        rows, columns = (*shape, 1)[:2]
        return sympy.ImmutableMatrix(rows, columns, values)
    return sympy.ImmutableDenseNDimArray(values, shape)


def _rint(sympy: Any, x: Any) -> Any:
    """The nearest whole number, of two the even one."""
    up = sympy.floor(x + sympy.Rational(1, 2))
    tie = sympy.And(sympy.Eq(sympy.Mod(x, 1), sympy.Rational(1, 2)), sympy.Eq(sympy.Mod(up, 2), 1))
    return sympy.Piecewise((up - 1, tie), (up, True))


def _table(sympy: Any) -> dict[str, Callable[..., Any]]:
    def as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
        """Without the search for relations between the arguments, which can take hours."""
        return partial(function, evaluate=False)

    return {
        **{name: getattr(sympy, name) for name in SAME_NAMES},
        "true": lambda: sympy.true,
        "false": lambda: sympy.false,
        "neg": lambda a: -a,
        "abs": sympy.Abs,
        "expm1": lambda a: sympy.exp(a) - 1,
        "log1p": lambda a: sympy.log(1 + a),
        "rint": partial(_rint, sympy),
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
        "min": as_it_is(sympy.Min),
        "max": as_it_is(sympy.Max),
        "hypot": lambda a, b: sympy.sqrt(a**2 + b**2),
        "pow": sympy.Pow,
        "fmod": lambda a, b: sympy.sign(a) * sympy.Mod(sympy.Abs(a), sympy.Abs(b)),
        "mod": sympy.Mod,
        "fma": lambda a, b, c: a * b + c,
        "fms": lambda a, b, c: a * b - c,
        "fnma": lambda a, b, c: c - a * b,
        "select": lambda p, a, b: sympy.Piecewise((a, p), (b, True), evaluate=False),
        "lookup": lambda k, *table: sympy.Piecewise(*((c, sympy.Eq(k, n)) for n, c in enumerate(table))),
        "lt": as_it_is(sympy.StrictLessThan),
        "le": as_it_is(sympy.LessThan),
        "eq": as_it_is(sympy.Eq),
        "ne": as_it_is(sympy.Ne),
        "and": as_it_is(sympy.And),
        "or": as_it_is(sympy.Or),
        "not": as_it_is(sympy.Not),
    }
