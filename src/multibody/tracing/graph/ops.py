"""The operations of a graph: how many arguments each has, what it yields, and what it does to numbers."""

import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple


class Op(NamedTuple):
    """One scalar operation."""

    arity: int
    """How many arguments; -1 for any number."""
    boolean: bool
    """Whether it yields a truth value."""
    evaluate: Callable[..., Any] | None
    """On Python numbers, as IEEE 754 and NumPy have it; None for leaves."""


def _total(function: Callable[..., float]) -> Callable[..., float]:
    """Python's math raises where IEEE 754 gives NaN or infinity."""

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
    except ValueError:  # zero to a negative power, or a negative number to one that is not whole
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
    """The remainder with the sign of b, as Python's % and np.mod have it."""
    rest = _total(math.fmod)(a, b)
    if rest and (rest < 0) != (b < 0):
        return rest + b
    return rest or math.copysign(0.0, b)


def _whole(function: Callable[[float], float]) -> Callable[[float], float]:
    """A rounding to whole numbers that keeps the sign of zero, and what is not finite."""
    return lambda x: math.copysign(float(function(x)), x) if math.isfinite(x) else x


def _fma(a: float, b: float, c: float) -> float:
    return a * b + c


OPS: dict[str, Op] = {
    "const": Op(0, False, None),
    "input": Op(0, False, None),
    "carry": Op(0, False, None),
    "scan_input": Op(0, False, None),
    "result": Op(0, False, None),
    "stacked_output": Op(0, False, None),
    "trip_count": Op(0, False, None),
    "custom_derivative": Op(0, False, None),  # its first argument, with a derivative of its own
    "dense": Op(0, False, None),  # on whole matrices; any number of arguments
    "entry": Op(0, False, None),  # one of its results
    "true": Op(0, True, lambda: True),
    "false": Op(0, True, lambda: False),
    "neg": Op(1, False, operator.neg),
    "abs": Op(1, False, abs),
    "sign": Op(1, False, _sign),
    "sqrt": Op(1, False, _total(math.sqrt)),
    "sin": Op(1, False, _total(math.sin)),
    "cos": Op(1, False, _total(math.cos)),
    "tan": Op(1, False, _total(math.tan)),
    "asin": Op(1, False, _total(math.asin)),
    "acos": Op(1, False, _total(math.acos)),
    "exp": Op(1, False, _total(math.exp)),
    "log": Op(1, False, _total(_log)),
    "tanh": Op(1, False, math.tanh),
    "expm1": Op(1, False, _total(math.expm1)),
    "log1p": Op(1, False, lambda x: -math.inf if x == -1 else _total(math.log1p)(x)),
    "sinh": Op(1, False, lambda x: math.copysign(_total(math.sinh)(x), x)),
    "cosh": Op(1, False, _total(math.cosh)),
    "floor": Op(1, False, _whole(math.floor)),
    "rint": Op(1, False, _whole(round)),
    "add": Op(2, False, operator.add),
    "sub": Op(2, False, operator.sub),
    "mul": Op(2, False, operator.mul),
    "div": Op(2, False, _divide),
    "min": Op(2, False, _minimum),
    "max": Op(2, False, _maximum),
    "atan2": Op(2, False, math.atan2),
    "hypot": Op(2, False, math.hypot),
    "pow": Op(2, False, _power),
    "fmod": Op(2, False, _total(math.fmod)),
    "mod": Op(2, False, _modulo),
    "fma": Op(3, False, _fma),  # a b + c
    "fms": Op(3, False, lambda a, b, c: a * b - c),
    "fnma": Op(3, False, lambda a, b, c: c - a * b),
    "select": Op(3, False, lambda p, a, b: a if p else b),
    "lookup": Op(-1, False, lambda k, *table: table[int(k)]),  # entry k of constants, k whole and among them
    "lt": Op(2, True, operator.lt),
    "le": Op(2, True, operator.le),
    "eq": Op(2, True, operator.eq),
    "ne": Op(2, True, operator.ne),
    "and": Op(2, True, operator.and_),
    "or": Op(2, True, operator.or_),
    "not": Op(1, True, operator.not_),
}
COMMUTATIVE = {"add", "mul", "hypot", "eq", "ne", "and", "or"}  # not min and max, whose zeros have signs
FLOPS = {"add": 1, "sub": 1, "mul": 1, "div": 1, "fma": 2, "fms": 2, "fnma": 2}
"""What counts as an arithmetic operation, and how many."""
COSTS = {
    **dict.fromkeys(("div", "sqrt"), 2),
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "exp", "log", "tanh", "atan2", "hypot"), 6),
    **dict.fromkeys(("expm1", "log1p", "sinh", "cosh", "fmod", "mod", "lookup"), 6),
    "pow": 32,
}
"""About how much longer than an addition an operation takes, where it does."""
