"""The traced array: it looks like a NumPy array of floats and records what is done to it.

Its elements are nodes of a graph, kept as an integer array, so that indexing, reshaping and stacking are NumPy's own.
What cannot be recorded raises a TraceError that names the user's line and says what to write instead.
"""

import inspect
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from multibody.errors import MultibodyError
from multibody.tracing.graph import Graph
from multibody.tracing.ops import OPS

BOOL = np.dtype(bool)
_HERE = str(Path(__file__).parent)
_NUMPY = str(Path(np.__file__).parent)


class TraceError(MultibodyError, TypeError):
    """Something that cannot be recorded was done to a traced array."""


def refuse(what: str) -> TraceError:
    """An error that names the line of the user's code."""
    for frame in reversed(traceback.extract_stack()):
        if not frame.filename.startswith((_HERE, _NUMPY)):
            return TraceError(f"{what} (at {Path(frame.filename).name}:{frame.lineno}: {frame.line})")
    return TraceError(what)


class TracedArray(NDArrayOperatorsMixin):
    """An array of nodes of one graph."""

    __slots__ = ("dtype", "graph", "ids")

    def __init__(self, graph: Graph, ids: NDArray[Any], dtype: np.dtype[Any]) -> None:
        self.graph = graph
        self.ids = ids
        self.dtype = dtype

    # ---- what an array has -------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        return self.ids.shape

    @property
    def ndim(self) -> int:
        return self.ids.ndim

    @property
    def size(self) -> int:
        return self.ids.size

    @property
    def float_dtype(self) -> np.dtype[Any]:
        """The dtype of floats that are made from this array."""
        return self.graph.dtype if self.dtype == BOOL else self.dtype

    @property
    def T(self) -> "TracedArray":
        return self._with(self.ids.T)

    def _with(self, ids: Any) -> "TracedArray":
        return TracedArray(self.graph, np.asarray(ids), self.dtype)

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Any:
        return (self._with(row) for row in self.ids)

    def __getitem__(self, index: Any) -> "TracedArray":
        parts = index if isinstance(index, tuple) else (index,)
        if any(isinstance(part, TracedArray) for part in parts):
            raise refuse("an index must not depend on traced values: write np.where over the candidates")
        return self._with(self.ids[index])

    def __repr__(self) -> str:
        return f"TracedArray(shape={self.shape}, dtype={self.dtype})"

    # ---- methods that forward to functions ---------------------------------------------------------------------------

    def reshape(self, *shape: Any) -> "TracedArray":
        return self._with(self.ids.reshape(*shape))

    def ravel(self) -> "TracedArray":
        return self._with(self.ids.ravel())

    flatten = ravel

    def transpose(self, *axes: Any) -> "TracedArray":
        return self._with(self.ids.transpose(*axes))

    def swapaxes(self, a: int, b: int) -> "TracedArray":
        return self._with(self.ids.swapaxes(a, b))

    def squeeze(self, axis: Any = None) -> "TracedArray":
        return self._with(self.ids.squeeze(axis))

    def copy(self) -> "TracedArray":
        return self

    def astype(self, dtype: Any) -> "TracedArray":
        if np.dtype(dtype).kind != "f":
            raise refuse(f"a traced array cannot become {np.dtype(dtype)}: only floats are traced")
        return TracedArray(self.graph, floats(self.graph, self), self.float_dtype)

    def sum(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        return np.sum(self, axis=axis, keepdims=keepdims)  # type: ignore[call-overload]

    def prod(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        return np.prod(self, axis=axis, keepdims=keepdims)  # type: ignore[call-overload]

    def mean(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        return np.mean(self, axis=axis, keepdims=keepdims)  # type: ignore[call-overload]

    def min(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        return np.min(self, axis=axis, keepdims=keepdims)  # type: ignore[call-overload]

    def max(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        return np.max(self, axis=axis, keepdims=keepdims)  # type: ignore[call-overload]

    def all(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        return np.all(self, axis=axis, keepdims=keepdims)  # type: ignore[call-overload]

    def any(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        return np.any(self, axis=axis, keepdims=keepdims)  # type: ignore[call-overload]

    def dot(self, other: Any) -> Any:
        return np.dot(self, other)  # type: ignore[call-overload]

    # ---- dispatch ----------------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from multibody.tracing import numpy_functions as table  # which knows this class

        if kwargs.pop("out", None) is not None:
            raise refuse("out= is not traced: use the result that is returned")
        if method == "reduce" and ufunc in table.REDUCTIONS and kwargs.keys() <= {"axis", "keepdims"}:
            return table.reduce(table.REDUCTIONS[ufunc], inputs[0], **{"axis": 0, **kwargs})
        handler = table.UFUNCS.get(ufunc) if method == "__call__" else None
        if handler is None or kwargs:
            options = f" with {', '.join(kwargs)}" if kwargs else ""
            raise refuse(f"np.{ufunc.__name__}{'' if method == '__call__' else '.' + method}{options} cannot be traced")
        dtypes = (x.dtype for x in inputs if isinstance(x, TracedArray) and x.dtype != BOOL)
        return handler(self.graph, next(dtypes, self.float_dtype), *inputs)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        del types
        from multibody.tracing import numpy_functions as table

        name = f"{function.__module__.replace('numpy', 'np')}.{function.__name__}"
        handler = table.FUNCTIONS.get(function)
        if handler is None:
            raise refuse(f"{name} cannot be traced; traceable are {', '.join(table.NAMES)}")
        try:
            return handler(self, *args, **kwargs)
        except TypeError as error:
            taken = inspect.signature(handler)
            try:
                taken.bind(self, *args, **kwargs)
            except TypeError:
                options = ", ".join(list(taken.parameters)[1:])
                raise refuse(f"{name} is traced with the arguments {options} only: {error}") from None
            raise

    # ---- what a recording cannot give --------------------------------------------------------------------------------

    def __bool__(self) -> bool:
        raise refuse("a Python branch cannot depend on traced values: write np.where(condition, this, that)")

    def __float__(self) -> float:
        raise refuse("a traced array has no number yet: drop float() and work with the array")

    __int__ = __index__ = __complex__ = __float__  # type: ignore[assignment]

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise refuse(
            "a traced array cannot become a NumPy array: build arrays with np.stack or np.concatenate "
            "instead of np.array([...])"
        )

    def __setitem__(self, index: Any, value: Any) -> None:
        raise refuse("a traced array cannot be changed: build a new one with np.stack, np.concatenate or np.where")


def nodes(graph: Graph, x: Any) -> NDArray[Any]:
    """The nodes of a traced array, or those of constants."""
    if isinstance(x, TracedArray):
        if x.graph is not graph:
            raise refuse("arrays of two different traces cannot meet")
        return x.ids
    array = np.asarray(x)
    if array.dtype.kind == "b":
        return _map(graph.truth, array)
    if array.dtype.kind not in "fiu":
        raise refuse(f"a traced array cannot meet an array of {array.dtype}: only real numbers are traced")
    return _map(graph.const, array)


def _map(function: Callable[[Any], int], array: NDArray[Any]) -> NDArray[Any]:
    flat = [function(x) for x in array.ravel().tolist()]
    return np.array(flat, dtype=np.int64).reshape(array.shape)


def is_mask(x: Any) -> bool:
    """Whether x has truth values, traced or not."""
    return (x if isinstance(x, TracedArray | np.ndarray) else np.asarray(x)).dtype == BOOL


def floats(graph: Graph, x: Any) -> NDArray[Any]:
    """The nodes of x, with 1.0 and 0.0 in place of truth values, as NumPy has it in arithmetic."""
    ids = nodes(graph, x)
    if not is_mask(x):
        return ids
    one, zero = graph.const(1.0), graph.const(0.0)
    return _map(lambda p: graph.apply("select", p, one, zero), ids)


def truths(graph: Graph, x: Any) -> NDArray[Any]:
    """The nodes of x, which must be truth values."""
    if not is_mask(x):
        raise refuse("numbers cannot be traced as truth values: compare them, as in x != 0")
    return nodes(graph, x)


def is_boolean(graph: Graph, ids: NDArray[Any]) -> bool:
    """Whether the nodes yield truth values."""
    return bool(ids.size) and OPS[graph.op[ids.flat[0]]].boolean
