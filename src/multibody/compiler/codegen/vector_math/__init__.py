"""Elementary functions of vectors, in LLVM IR.

`library` returns the functions that a module needs, for one number of lanes and one format:

    sin, cos, sincos, tan, asin, acos, atan2, exp, expm1, log, log1p, sinh, cosh, tanh, hypot, pow, fmod, mod

They have few instructions, and no branch except a cold one. Errors stay below 2 units in the last place for
sin, cos, exp, log and atan2, and below 4 for the others, over the whole range of the format; fmod and mod are those of
C and of NumPy to the last bit. Special values are those of C99. A lane's result depends neither on the other lanes nor
on how many there are. float32 has polynomials and limits of its own. Angles beyond `trigonometry.LIMIT`, remainders of
huge quotients and all powers call the C library's sin, cos, tan, fmod, pow, fmodf and powf, lane by lane. These symbols
must be resolved from the process, and their errors are those of the C library.

tools/minimax.py computes the polynomials.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from multibody.compiler.codegen.vector_math import (
    exponentials,
    hyperbolics,
    inverse_trigonometry,
    powers,
    remainders,
    trigonometry,
)
from multibody.compiler.codegen.vector_math.function import Function
from multibody.compiler.codegen.vector_math.vectors import Real
from multibody.compiler.ir.tiling import Tiling

__all__ = ["library", "symbol"]


class _Operation(NamedTuple):
    arity: int
    write: Callable[..., tuple[Real, ...]]
    attributes: str = "nounwind"


_COLD = "nounwind noinline cold"
_OPERATIONS = {
    "sin": _Operation(1, trigonometry.sin),
    "cos": _Operation(1, trigonometry.cos),
    "sincos": _Operation(1, trigonometry.sincos),
    "tan": _Operation(1, trigonometry.tan),
    "sin_huge": _Operation(2, trigonometry.sin_huge, _COLD),
    "cos_huge": _Operation(2, trigonometry.cos_huge, _COLD),
    "sincos_huge": _Operation(3, trigonometry.sincos_huge, _COLD),
    "tan_huge": _Operation(2, trigonometry.tan_huge, _COLD),
    "asin": _Operation(1, inverse_trigonometry.asin),
    "acos": _Operation(1, inverse_trigonometry.acos),
    "atan2": _Operation(2, inverse_trigonometry.atan2),
    "exp": _Operation(1, exponentials.exp),
    "log": _Operation(1, exponentials.log),
    "expm1": _Operation(1, hyperbolics.expm1),
    "log1p": _Operation(1, exponentials.log1p),
    "sinh": _Operation(1, hyperbolics.sinh),
    "cosh": _Operation(1, hyperbolics.cosh),
    "tanh": _Operation(1, hyperbolics.tanh),
    "hypot": _Operation(2, powers.hypot),
    "pow": _Operation(2, powers.pow),
    "fmod": _Operation(2, remainders.fmod),
    "fmod_huge": _Operation(2, remainders.fmod_huge, _COLD),
    "mod": _Operation(2, remainders.mod),
    "mod_huge": _Operation(2, remainders.mod_huge, _COLD),
}


def symbol(op: str, lanes: int, dtype: str) -> str:
    """The name of an operation's function.

    >>> symbol("sin", 4, "float64")
    'mb_sin_v4f64'
    """
    return Function(Tiling(lanes, dtype)).symbol(op)


def library(ops: Iterable[str], lanes: int, dtype: str, *, fma: bool = True) -> str:
    """The functions of these operations, with the constants and functions that they use, as part of a module.

    sincos returns a structure of two vectors, the others return one. Nothing is declared twice.

    Args:
        ops: names of operations.
        lanes: of a vector.
        dtype: "float64" or "float32".
        fma: whether the machine has fused multiply-adds.

    >>> print(library(["hypot"], 2, "float64").splitlines()[-1])
    }
    """
    texts: dict[str, str] = {}
    outside: set[str] = set()
    needed = set(ops)
    while needed:
        op = min(needed)
        function, texts[op] = _define(op, lanes, dtype, fma=fma)
        outside |= function.globals
        needed = (needed | function.helpers) - texts.keys()
    return "\n".join([*sorted(outside), *texts.values()]) + "\n"


def _define(op: str, lanes: int, dtype: str, *, fma: bool) -> tuple[Function, str]:
    operation = _OPERATIONS[op]
    function = Function(Tiling(lanes, dtype, fma=fma))
    parameters = [Real(function, f"%x{n}") for n in range(operation.arity)]
    results = operation.write(*parameters)
    kind = function.results(len(results))
    value = results[0].name
    if len(results) > 1:
        value = "poison"
        for n, result in enumerate(results):
            value = function.let(f"insertvalue {kind} {value}, {result}, {n}")
    head = f"define internal {kind} @{function.symbol(op)}({', '.join(map(str, parameters))}) {operation.attributes} {{"
    return function, "\n".join([head, *function.lines, f"  ret {kind} {value}", "}"])
