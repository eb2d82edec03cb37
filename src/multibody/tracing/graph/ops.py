"""The scalar operations of a graph: arity, result type, and their values on Python floats and NumPy arrays."""

import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Op(NamedTuple):
    """One scalar operation."""

    arity: int
    """The number of arguments; -1 for any number."""
    boolean: bool
    """Whether it returns a boolean."""
    evaluate: Callable[..., Any] | None
    """The value on Python floats, as in IEEE 754 and NumPy; None for leaves."""
    ufunc: Any = None
    """NumPy's ufunc of the same values: tracing records it as this operation, and the interpreter calls it."""


def _total(function: Callable[..., float]) -> Callable[..., float]:
    """A function of Python's math with NaN and infinity, as in IEEE 754, in place of exceptions."""

    def evaluate(*x: float) -> float:
        try:
            return function(*x)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return evaluate


def _divide(a: float, b: float) -> float:
    if b:
        return a / b
    return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _power(a: float, b: float) -> float:
    odd = b % 2 == 1
    try:
        return math.pow(a, b)
    except ValueError:  # zero to a negative power, or a negative number to a fraction
        return math.nan if a else math.copysign(math.inf, a) if odd else math.inf
    except OverflowError:
        return -math.inf if a < 0 and odd else math.inf


def _log(x: float) -> float:
    return -math.inf if x == 0 else math.log(x)


def _sign(x: float) -> float:
    return x if math.isnan(x) else float((x > 0) - (x < 0))


def _minimum(a: float, b: float) -> float:
    return a if a < b or math.isnan(a) else b


def _maximum(a: float, b: float) -> float:
    return a if a > b or math.isnan(a) else b


def _modulo(a: float, b: float) -> float:
    """The remainder with the sign of b, as in Python's % and np.mod."""
    rest = _total(math.fmod)(a, b)
    if rest and (rest < 0) != (b < 0):
        return rest + b
    return rest or math.copysign(0.0, b)


def _whole(function: Callable[[float], float]) -> Callable[[float], float]:
    """A rounding to integers that keeps the sign of zero, infinities and NaN."""
    return lambda x: math.copysign(float(function(x)), x) if math.isfinite(x) else x


_LEAF = Op(0, False, None)
OPS: dict[str, Op] = {
    **dict.fromkeys(("const", "input", "carry", "scan_input", "result", "stacked_output", "trip_count"), _LEAF),
    "custom_derivative": _LEAF,  # its first argument; the others are inputs of the derivative
    "dense": _LEAF,  # an operation on whole matrices
    "entry": _LEAF,  # one result of a dense operation
    "true": Op(0, True, lambda: True),
    "false": Op(0, True, lambda: False),
    "neg": Op(1, False, operator.neg, np.negative),
    "abs": Op(1, False, abs, np.abs),
    "sign": Op(1, False, _sign, np.sign),
    "sqrt": Op(1, False, _total(math.sqrt), np.sqrt),
    "sin": Op(1, False, _total(math.sin), np.sin),
    "cos": Op(1, False, _total(math.cos), np.cos),
    "tan": Op(1, False, _total(math.tan), np.tan),
    "asin": Op(1, False, _total(math.asin), np.arcsin),
    "acos": Op(1, False, _total(math.acos), np.arccos),
    "exp": Op(1, False, _total(math.exp), np.exp),
    "log": Op(1, False, _total(_log), np.log),
    "tanh": Op(1, False, math.tanh, np.tanh),
    "expm1": Op(1, False, _total(math.expm1), np.expm1),
    "log1p": Op(1, False, lambda x: -math.inf if x == -1 else _total(math.log1p)(x), np.log1p),
    "sinh": Op(1, False, lambda x: math.copysign(_total(math.sinh)(x), x), np.sinh),
    "cosh": Op(1, False, _total(math.cosh), np.cosh),
    "floor": Op(1, False, _whole(math.floor), np.floor),
    "rint": Op(1, False, _whole(round), np.rint),
    "add": Op(2, False, operator.add, np.add),
    "sub": Op(2, False, operator.sub, np.subtract),
    "mul": Op(2, False, operator.mul, np.multiply),
    "div": Op(2, False, _divide, np.divide),
    "min": Op(2, False, _minimum, np.minimum),
    "max": Op(2, False, _maximum, np.maximum),
    "atan2": Op(2, False, math.atan2, np.arctan2),
    "hypot": Op(2, False, math.hypot, np.hypot),
    "pow": Op(2, False, _power, np.power),
    "fmod": Op(2, False, _total(math.fmod), np.fmod),
    "mod": Op(2, False, _modulo, np.mod),
    "fma": Op(3, False, lambda a, b, c: a * b + c),
    "fms": Op(3, False, lambda a, b, c: a * b - c),
    "fnma": Op(3, False, lambda a, b, c: c - a * b),
    "select": Op(3, False, lambda p, a, b: a if p else b),
    "lookup": Op(-1, False, lambda k, *table: table[int(k)]),  # entry k of constants; k is an integer within bounds
    "lt": Op(2, True, operator.lt, np.less),
    "le": Op(2, True, operator.le, np.less_equal),
    "eq": Op(2, True, operator.eq, np.equal),
    "ne": Op(2, True, operator.ne, np.not_equal),
    "and": Op(2, True, operator.and_, np.logical_and),
    "or": Op(2, True, operator.or_, np.logical_or),
    "not": Op(1, True, operator.not_, np.logical_not),
}
TRIGONOMETRY = ("sin", "cos", "tan", "asin", "acos", "sinh", "cosh", "tanh")
ELEMENTARY = (*TRIGONOMETRY, "exp", "expm1", "log", "log1p", "atan2", "hypot", "fmod", "mod")
"""Functions that the hardware has no instruction for, except powers."""
COMMUTATIVE = {"add", "mul", "hypot", "eq", "ne", "and", "or"}  # not min and max: the sign of zero
FLOPS = {"add": 1, "sub": 1, "mul": 1, "div": 1, "fma": 2, "fms": 2, "fnma": 2}
"""Floating-point operations of each arithmetic operation."""
COSTS = {
    **dict.fromkeys(("div", "sqrt"), 2),
    **dict.fromkeys((*ELEMENTARY, "lookup"), 6),
    "pow": 32,
}
"""Approximate cost relative to an addition; 1 for all others."""
