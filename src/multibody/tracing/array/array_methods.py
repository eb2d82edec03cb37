"""Methods of a traced array besides its operators: each calls the NumPy function of its name."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        return function(self, *arguments, **options)

    method.__name__, method.__doc__ = function.__name__, f"As np.{function.__name__}."
    return method


class ArrayMethods(NDArrayOperatorsMixin):
    """Methods of NumPy arrays, and those that NumPy calls on the elements of an object array."""

    __slots__ = ()

    sum, prod, mean, var, std = (_method(f) for f in (np.sum, np.prod, np.mean, np.var, np.std))
    min, max, argmin, argmax = (_method(f) for f in (np.min, np.max, np.argmin, np.argmax))
    all, any, cumsum, cumprod = (_method(f) for f in (np.all, np.any, np.cumsum, np.cumprod))
    dot, trace, diagonal, repeat = (_method(f) for f in (np.dot, np.trace, np.diagonal, np.repeat))
    clip, round, argsort = (_method(f) for f in (np.clip, np.round, np.argsort))

    # np.sin of an array of objects calls the method sin of each of them
    sin, cos, tan, arcsin, arccos = (_method(f) for f in (np.sin, np.cos, np.tan, np.arcsin, np.arccos))
    arctan, arctan2, hypot = (_method(f) for f in (np.arctan, np.arctan2, np.hypot))
    sinh, cosh, tanh, arctanh = (_method(f) for f in (np.sinh, np.cosh, np.tanh, np.arctanh))
    exp, exp2, expm1, log = (_method(f) for f in (np.exp, np.exp2, np.expm1, np.log))
    log1p, log2, log10, sqrt = (_method(f) for f in (np.log1p, np.log2, np.log10, np.sqrt))
    rint, fabs, fmod, copysign = (_method(f) for f in (np.rint, np.fabs, np.fmod, np.copysign))
    deg2rad, rad2deg, radians, degrees = (_method(f) for f in (np.deg2rad, np.rad2deg, np.radians, np.degrees))
    __floor__, __ceil__, __trunc__ = (_method(f) for f in (np.floor, np.ceil, np.trunc))
    __round__ = _method(lambda x, decimals=0: np.round(x, decimals))
