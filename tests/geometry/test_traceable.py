"""Every function of geometry can be traced: it runs on an array that refuses all but the agreed idioms.

The probe below stands for the traced array of the compiler. It computes, so that results can be compared with the eager
ones, but it has no `__array__`, no truth value, no `float()`, no item assignment, and knows only the NumPy
functions that design.md allows.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from multibody.geometry import Pose, Rotation, SpatialInertia, Twist, Wrench

from ..every_law import each_case
from ..surface import KINDS, TABLE

UFUNCS = """add subtract multiply divide negative positive absolute sign sqrt sin cos tan arcsin arccos arctan2 exp log
    tanh hypot power minimum maximum less less_equal greater greater_equal equal not_equal matmul
    logical_and logical_or logical_not bitwise_and bitwise_or invert""".split()
FUNCTIONS = """where clip stack concatenate block zeros_like ones_like cross dot einsum trace outer sum prod norm solve
    inv cholesky reshape transpose swapaxes moveaxis broadcast_to""".split()


class Probe(NDArrayOperatorsMixin):
    """A stand-in for a traced array."""

    def __init__(self, value: np.ndarray) -> None:
        self.value = value
        self.shape, self.ndim, self.dtype = value.shape, value.ndim, value.dtype

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> "Probe":
        assert method == "__call__", f"{ufunc.__name__}.{method} is not traceable"
        assert ufunc.__name__ in UFUNCS, f"{ufunc.__name__} is not traceable"
        with np.errstate(all="ignore"):
            return wrap(ufunc(*unwrap(inputs), **unwrap(kwargs)))

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        assert function.__name__ in FUNCTIONS, f"np.{function.__name__} is not traceable"
        return wrap(function(*unwrap(args), **unwrap(kwargs)))

    def __getitem__(self, index: Any) -> "Probe":
        index = index if isinstance(index, tuple) else (index,)
        assert all(i is None or i is Ellipsis or isinstance(i, int | slice) for i in index), f"index {index}"
        return Probe(np.asarray(self.value[index]))

    def reshape(self, *shape: Any) -> "Probe":
        return Probe(self.value.reshape(*shape))

    def _refuse(self, *_: Any) -> Any:
        raise AssertionError("traced code asked for a value")

    __array__ = __bool__ = __float__ = __int__ = __iter__ = __setitem__ = _refuse


def unwrap(x: Any) -> Any:
    if isinstance(x, Probe):
        return x.value
    if isinstance(x, list | tuple):
        return type(x)(unwrap(y) for y in x)
    return {key: unwrap(y) for key, y in x.items()} if isinstance(x, dict) else x


def wrap(x: Any) -> Any:
    return Probe(np.asarray(x))


def numbers(result: Any) -> list[Any]:
    """The arrays that a result is made of."""
    if isinstance(result, tuple):
        return [array for part in result for array in numbers(part)]
    return list(result._arrays()) if isinstance(result, Rotation | Pose | Twist | Wrench | SpatialInertia) else [result]


@each_case("label", TABLE)
def test_a_trace_computes_what_the_eager_run_computes(label: str) -> None:
    function = TABLE[label]
    arrays = function.draw(np.random.default_rng(5), (3,))

    def run(*inputs: Any) -> list[Any]:
        return numbers(function.call(*(KINDS[k].value(x) for k, x in zip(function.kinds, inputs, strict=True))))

    for eager, traced in zip(run(*arrays), run(*map(Probe, arrays)), strict=True):
        value = traced.value if isinstance(traced, Probe) else traced  # what depends on no value stays a constant
        assert value.shape == np.shape(eager)
        np.testing.assert_allclose(value, eager, rtol=1e-13, atol=1e-14)  # einsum may sum in another order
