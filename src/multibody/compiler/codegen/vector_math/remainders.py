"""Remainders of divisions: exact, as in C and in NumPy."""

from multibody.compiler.codegen.vector_math.cold_paths import lane_by_lane, leave_if_any
from multibody.compiler.codegen.vector_math.vectors import Real, constant, fma, where


def fmod(x: Real, y: Real) -> tuple[Real]:
    """x - n y with n = x / y cut off; the sign is that of x."""
    return (_remainder(x, y, "fmod_huge"),)


def mod(x: Real, y: Real) -> tuple[Real]:
    """x - n y with n = x / y rounded down; the sign is that of y."""
    return (_with_sign_of(y, _remainder(x, y, "mod_huge")),)


def fmod_huge(x: Real, y: Real) -> tuple[Real]:
    """As fmod, for quotients that are no whole numbers of the format."""
    return (_by_library(x, y),)


def mod_huge(x: Real, y: Real) -> tuple[Real]:
    """As mod, for quotients that are no whole numbers of the format."""
    return (_with_sign_of(y, _by_library(x, y)),)


def _remainder(x: Real, y: Real, helper: str) -> Real:
    """The remainder with the sign of x; a quotient that is too large leaves through the helper.

    n = floor of the rounded quotient of |x| and |y| is right or one too large, and |x| - n |y| is a number of the
    format in both cases. So one fused multiply-add gives it exactly, and an addition mends it.
    """
    function = x.function
    if not function.tiling.fma:
        return _by_library(x, y)
    a, b = abs(x), abs(y)
    quotient = a / b
    limit = constant(function, 2.0**function.fmt.mantissa)
    leave_if_any(quotient > limit, helper, x, y)
    n = Real(function, function.intrinsic("floor", quotient.name))
    rest = fma(n * -1.0, b, a)
    rest = where(rest < 0.0, rest + b, rest)
    return where(quotient < 1.0, a, rest).signed(x.bits)


def _by_library(x: Real, y: Real) -> Real:
    kind = x.function.fmt.real
    return lane_by_lane({"double": "fmod", "float": "fmodf"}[kind], kind, x, y)


def _with_sign_of(y: Real, rest: Real) -> Real:
    """The remainder moved to the side of y; zero has the sign of y."""
    moved = where((rest.bits ^ y.bits).negative, rest + y, rest)
    return where(rest.equals(0.0), abs(rest).signed(y.bits), moved)
