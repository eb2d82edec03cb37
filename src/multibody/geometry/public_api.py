"""Decorators of the public functions: NaN and Inf are data, and batches that do not broadcast are an InputError."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from multibody._signatures import readable
from multibody.errors import InputError, MultibodyError

P = ParamSpec("P")
T = TypeVar("T")

_SPECIAL = [f"__{name}__" for name in ["init", "matmul", "rmatmul", "add", "sub", "neg", "mul", "rmul", "getitem"]]


def public(function: Callable[P, T]) -> Callable[P, T]:
    """Wrap a function: no warnings on NaN and Inf, an InputError if batch shapes do not broadcast."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            with np.errstate(all="ignore"):
                return function(*args, **kwargs)
        except ValueError as error:
            if isinstance(error, MultibodyError) or "broadcast" not in str(error):
                raise
            shapes = ", ".join(str(_shape(x)) for x in (*args, *kwargs.values()))
            what = f"{function.__qualname__}: expected batch shapes that broadcast"
            raise InputError(f"{what}, got arguments of shapes {shapes}") from None

    return readable(run)


def public_methods(cls: type[T]) -> type[T]:
    """Make the public methods and operators of a class `public`, except for those listed in its `_plain`.

    `help` shows their signatures as written.
    """
    for name, member in list(vars(cls).items()):
        if (name.startswith("_") and name not in _SPECIAL) or name in vars(cls).get("_plain", ()):
            continue
        wrapped: Any = None
        if isinstance(member, classmethod):
            wrapped = classmethod(public(member.__func__))
        elif isinstance(member, property) and member.fget:
            wrapped = property(public(member.fget), doc=member.__doc__)
        elif callable(member) and not isinstance(member, type):
            wrapped = public(member)
        if wrapped is not None:
            setattr(cls, name, wrapped)
    return cls


def _shape(x: Any) -> tuple[int, ...]:
    """The batch shape of a value, the whole shape of an array."""
    try:
        return x.shape
    except AttributeError:
        return np.shape(x)
