"""Remainders of divisions: exact, as in C and in NumPy."""

from multibody.compiler.codegen.vector_math.cold_paths import exit_if_any, lane_by_lane
from multibody.compiler.codegen.vector_math.vectors import Real, constant, fma, where


def fmod(x: Real, y: Real) -> tuple[Real]:
    """x - n y with n = x / y truncated; the sign is that of x."""
    return (_remainder(x, y, "fmod_huge"),)


def mod(x: Real, y: Real) -> tuple[Real]:
    """x - n y with n = x / y rounded down; the sign is that of y."""
    return (_with_sign_of(y, _remainder(x, y, "mod_huge")),)


def fmod_huge(x: Real, y: Real) -> tuple[Real]:
    """As fmod, for quotients beyond the integers of the format."""
    return (_by_library(x, y),)


def mod_huge(x: Real, y: Real) -> tuple[Real]:
    """As mod, for quotients beyond the integers of the format."""
    return (_with_sign_of(y, _by_library(x, y)),)


def _remainder(x: Real, y: Real, helper: str) -> Real:
    """The remainder with the sign of x; the helper computes those of huge quotients.

    n = floor of the rounded quotient of |x| and |y| is right or one too large, and |x| - n |y| is a number of the
    format in both cases. So one fused multiply-add gives it exactly, and an addition corrects it.
    """
    function = x.function
    if not function.tiling.fma:
        return _by_library(x, y)
    a, b = abs(x), abs(y)
    quotient = a / b
    limit = constant(function, 2.0**function.fmt.mantissa)
    exit_if_any(quotient > limit, helper, x, y)
    n = Real(function, function.intrinsic("floor", quotient.name))
    remainder = fma(n * -1.0, b, a)
    remainder = where(remainder < 0.0, remainder + b, remainder)
    return where(quotient < 1.0, a, remainder).signed(x.bits)


def _by_library(x: Real, y: Real) -> Real:
    kind = x.function.fmt.real
    return lane_by_lane({"double": "fmod", "float": "fmodf"}[kind], kind, x, y)


def _with_sign_of(y: Real, remainder: Real) -> Real:
    """The remainder moved to the side of y; zero has the sign of y."""
    moved = where((remainder.bits ^ y.bits).negative, remainder + y, remainder)
    return where(remainder.equals(0.0), abs(remainder).signed(y.bits), moved)
