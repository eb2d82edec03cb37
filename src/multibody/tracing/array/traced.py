"""The traced array: it behaves like a NumPy array of floats and records the operations on it.

Its elements are nodes of a graph in an integer array, so indexing, reshaping and stacking are NumPy's own. Other
operations raise a TraceError that names the user's line and the replacement.
"""

import inspect
import math
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import MultibodyError
from multibody.tracing.array.array_methods import ArrayMethods
from multibody.tracing.graph.graph import Graph

BOOL = np.dtype(bool)
_PLAIN = frozenset((int, slice, type(...), type(None)))
"""Types of indices that are never traced."""
ADVICE = "let the loop carry what changes from round to round, and return it; or work on a copy that is made within"
"""The remedy for side effects of a body that is recorded once for many iterations."""
_HERE = str(Path(__file__).parents[1])
_NUMPY = str(Path(np.__file__).parent)


class TraceError(MultibodyError, TypeError):
    """An operation on a traced array cannot be recorded."""

    __module__ = "multibody"  # tracebacks show the public name


def refuse(what: str) -> TraceError:
    """An error that names the line of the user's code."""
    return located(what, next(filter(from_user, reversed(traceback.extract_stack())), None))


def from_user(frame: traceback.FrameSummary) -> bool:
    """Whether a stack frame is neither of the recorder nor of NumPy."""
    return not frame.filename.startswith((_HERE, _NUMPY))


def located(what: str, frame: traceback.FrameSummary | None) -> TraceError:
    """An error that names a line."""
    if frame is None:
        return TraceError(what)
    return TraceError(f"{what} (at {Path(frame.filename).name}:{frame.lineno}: {frame.line})")


def _on_nodes(name: str) -> Callable[..., "TracedArray"]:
    """The method of that name of the array of nodes."""

    def method(self: "TracedArray", *arguments: Any, **options: Any) -> "TracedArray":
        return self._with(getattr(self.ids, name)(*arguments, **options))

    method.__name__ = name
    return method


def _arithmetic(op: str, *, reflected: bool = False) -> Callable[..., Any]:
    """An operator of two arrays, which calls no ufunc in the usual case: floats of one trace, or a Python number."""
    general = getattr(ArrayMethods, f"__{'r' * reflected}{'truediv' if op == 'div' else op}__")

    def method(self: "TracedArray", other: Any) -> Any:
        graph, dtype = self.graph, self.dtype
        if type(other) is TracedArray and other.graph is graph and other.dtype is dtype is not BOOL:
            ids = other.ids
        elif type(other) is float and dtype is not BOOL:
            ids = np.array(graph.const(other), dtype=np.int64)
        else:
            return general(self, other)
        a, b = (ids, self.ids) if reflected else (self.ids, ids)
        if a.ndim or b.ndim:
            return TracedArray(graph, apply(graph, op, a, b), dtype)
        return TracedArray(graph, np.array(graph.apply(op, a.item(), b.item()), dtype=np.int64), dtype)

    return method


class TracedArray(ArrayMethods):
    """An array of nodes of one graph.

    Views share nodes as NumPy's views share numbers: a write is seen through all views. Arguments are read-only,
    because a kernel cannot change the caller's array. In the body of a loop, arrays from outside are read-only too,
    because the body is recorded once. The body may write into the values that the loop passes to it.
    """

    __slots__ = ("dtype", "graph", "home", "ids")

    def __init__(self, graph: Graph, ids: NDArray[Any], dtype: np.dtype[Any]) -> None:
        self.graph = graph
        self.ids = ids
        self.dtype = dtype
        self.home = graph.open_loops[-1] if graph.open_loops else -1  # the loop in whose body the array was made

    # ---- attributes --------------------------------------------------------------------------------------------------

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
        array = TracedArray(self.graph, np.asarray(ids), self.dtype)
        if array.home != self.home and np.may_share_memory(array.ids, self.ids):
            array.home = self.home  # a view belongs to the loop of its base
        return array

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Any:
        return (self._with(row) for row in self.ids)

    def __getitem__(self, index: Any) -> "TracedArray":
        if _depends(index):
            raise refuse(
                "an index must not depend on traced values: write np.where over the candidates, or multibody.lookup "
                "for an index that is a number"
            )
        return self._with(self.ids[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        if not self.ndim:
            raise refuse("a traced number cannot be written into: give the result of an operation its name")
        if isinstance(index, TracedArray) and index.dtype == BOOL:
            rest = self.ndim - index.ndim
            if index.shape != self.shape[: index.ndim] or np.ndim(value) > rest:
                raise refuse("y[mask] = value with a traced mask needs a mask of the shape of y and a number")
            mask = index.reshape(*index.shape, *[1] * rest)
            self._write(..., np.where(mask, value, self))  # type: ignore[call-overload]
        elif _depends(index):
            raise refuse("a place to write must not depend on traced values: write np.where(condition, this, that)")
        else:
            self._write(index, value)

    def _write(self, index: Any, value: Any) -> None:
        if not self.ids.flags.writeable:
            raise refuse(
                "an argument of a traced function, and what np.broadcast_to returns, cannot be changed: work on a "
                "copy, as in y = x.copy(), or write y = y + ... in place of y += ..."
            )
        if self.home != (self.graph.open_loops[-1] if self.graph.open_loops else -1):
            raise refuse(f"the body of a loop is recorded once, and writes into an array from outside it: {ADVICE}")
        self.ids[index] = (truths if self.dtype == BOOL else floats)(self.graph, value)

    def __repr__(self) -> str:
        return f"TracedArray(shape={self.shape}, dtype={self.dtype})"

    # ---- operators that most traces consist of -----------------------------------------------------------------------

    __add__, __radd__ = _arithmetic("add"), _arithmetic("add", reflected=True)
    __sub__, __rsub__ = _arithmetic("sub"), _arithmetic("sub", reflected=True)
    __mul__, __rmul__ = _arithmetic("mul"), _arithmetic("mul", reflected=True)
    __truediv__, __rtruediv__ = _arithmetic("div"), _arithmetic("div", reflected=True)

    # ---- methods that forward to functions ---------------------------------------------------------------------------

    reshape, ravel, flatten = _on_nodes("reshape"), _on_nodes("ravel"), _on_nodes("flatten")
    transpose, swapaxes, squeeze = _on_nodes("transpose"), _on_nodes("swapaxes"), _on_nodes("squeeze")
    __copy__ = copy = _on_nodes("copy")

    def __deepcopy__(self, memo: Any) -> "TracedArray":
        del memo
        return self.copy()

    def astype(self, dtype: Any) -> "TracedArray":
        """The numbers as floats; integer types truncate, and stay floats of the trace."""
        kind = np.dtype(dtype).kind
        if kind not in "fiu":
            raise refuse(f"a traced array cannot become {np.dtype(dtype)}: only real numbers are traced")
        numbers = TracedArray(self.graph, floats(self.graph, self).copy(), self.float_dtype)
        return numbers if kind == "f" or self.dtype == BOOL else np.trunc(numbers)  # type: ignore[return-value]

    # ---- dispatch ----------------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        table = _functions()
        out = kwargs.pop("out", None)
        if out is not None:
            return self._store(getattr(ufunc, method)(*inputs, **kwargs), out[0])
        inputs = tuple([lifted(self.graph, x) for x in inputs])
        if method == "reduce" and ufunc in table.REDUCTIONS and kwargs.keys() <= {"axis", "keepdims"}:
            return table.reductions.reduce(table.REDUCTIONS[ufunc], inputs[0], **{"axis": 0, **kwargs})
        handler = table.UFUNCS.get(ufunc) if method == "__call__" else None
        if handler is None or kwargs:
            options = f" with {', '.join(kwargs)}" if kwargs else ""
            raise refuse(f"np.{ufunc.__name__}{'' if method == '__call__' else '.' + method}{options} cannot be traced")
        dtypes = [x.dtype for x in inputs if isinstance(x, TracedArray) and x.dtype != BOOL]
        return handler(self.graph, dtypes[0] if dtypes else self.float_dtype, *inputs)

    def _store(self, result: Any, target: Any) -> Any:
        """Store a result as `y += x` and `out=y` do; a traced number is replaced, not written."""
        if isinstance(target, TracedArray):
            if not target.ndim:
                return result
            target._write(..., result)
        elif target.dtype == object:
            target[...] = result
        else:
            raise refuse(
                f"traced values cannot be written into an array of {target.dtype}, as += and out= would: "
                "write z = z + ... in place of z += ..., and take the result that is returned in place of out="
            )
        return target

    def __array_function__(self, function: Callable[..., Any], _types: Any, args: Any, kwargs: Any) -> Any:
        table = _functions()
        handler = table.FUNCTIONS.get(function)
        name = f"{function.__module__.replace('numpy', 'np')}.{function.__name__}"
        if handler is None:
            raise refuse(f"{name} cannot be traced; traceable are {', '.join(table.NAMES)}")
        try:
            return handler(self, *(lifted(self.graph, x) for x in args), **kwargs)
        except TypeError as error:
            taken = inspect.signature(handler)
            try:
                taken.bind(self, *args, **kwargs)
            except TypeError:
                options = ", ".join(list(taken.parameters)[1:])
                raise refuse(f"{name} is traced with the arguments {options} only: {error}") from None
            raise

    # ---- unsupported conversions -------------------------------------------------------------------------------------

    def __bool__(self) -> bool:
        raise refuse("a Python branch cannot depend on traced values: write np.where(condition, this, that)")

    def __float__(self) -> float:
        raise refuse(
            "a traced value has no number yet: drop float(), and np.float64(); it cannot be written into an array that "
            "np.zeros made: begin with np.zeros_like(x, shape=...), x being traced, or collect a list for np.stack"
        )

    __int__ = __index__ = __complex__ = __float__  # type: ignore[assignment]

    def item(self, *index: Any) -> Any:
        del index
        raise refuse("a traced array has no numbers yet, and no item() or tolist(): write x[0], list(x), or x itself")

    tolist = item

    @property
    def flat(self) -> Any:
        raise refuse("a traced array has no flat: write x.ravel()")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """An array of objects, one traced number each, so that np.array([[x, 0], [0, y]]) works."""
        if dtype is not None and np.dtype(dtype).kind in "iu":
            raise refuse(
                f"traced values cannot become {np.dtype(dtype)}: for an index write multibody.lookup(table, index)"
            )
        if dtype is not None and np.dtype(dtype) != object:
            raise refuse(
                f"traced values cannot become an array of {np.dtype(dtype)}, or be written into one: leave dtype= out; "
                "begin with np.zeros_like(x, shape=...), x being traced, or collect a list for np.stack"
            )
        array = np.empty(self.shape, dtype=object)
        for index in np.ndindex(*self.shape):
            array[index] = self._with(self.ids[index])
        array.flags.writeable = bool(copy)  # np.asarray(x) shares the numbers of x
        return array


@cache
def _functions() -> ModuleType:
    """The tables of functions; imported late, because they use this class."""
    from multibody.tracing.array import numpy_functions

    return numpy_functions


def _depends(index: Any) -> bool:
    """Whether an index contains traced values."""
    for part in index if isinstance(index, tuple) else (index,):
        if type(part) not in _PLAIN and isinstance(gathered(part), TracedArray):
            return True
    return False


def gathered(x: Any) -> Any:
    """A list with traced values, or an array of objects, as a traced array; everything else unchanged."""
    return lifted(None, np.asarray(x) if isinstance(x, list | tuple) and _has_traced(x) else x)


def _has_traced(x: Any) -> bool:
    return isinstance(x, TracedArray) or (isinstance(x, list | tuple) and any(map(_has_traced, x)))


def lifted(graph: Graph | None, x: Any) -> Any:
    """An array of objects as a traced array; everything else unchanged."""
    if not isinstance(x, np.ndarray) or x.dtype != object:
        return x
    elements = x.ravel().tolist()
    traced = next((e for e in elements if isinstance(e, TracedArray)), None)
    if traced is None:
        return x
    if any(np.ndim(e) for e in elements):
        raise refuse("an array of traced arrays is not traced: join them with np.stack or np.concatenate")
    graph = traced.graph if graph is None else graph
    masks = is_mask(x)
    ids = [int((nodes if masks else floats)(graph, e)) for e in elements]
    return TracedArray(graph, np.array(ids, dtype=np.int64).reshape(x.shape), BOOL if masks else traced.float_dtype)


def nodes(graph: Graph, x: Any) -> NDArray[Any]:
    """The nodes of a traced array, or of constants."""
    if isinstance(x, TracedArray):
        if x.graph is not graph:
            raise refuse("arrays of two different traces cannot meet")
        return x.ids
    array = lifted(graph, np.asarray(x))
    if isinstance(array, TracedArray):
        return array.ids
    if array.dtype.kind == "b":
        return map_nodes(graph.truth, array)
    if array.dtype.kind not in "fiu":
        raise refuse(f"a traced array cannot meet an array of {array.dtype}: only real numbers are traced")
    return map_nodes(graph.const, array)


def map_nodes(function: Callable[[Any], int], array: NDArray[Any]) -> NDArray[Any]:
    """The nodes of a function of every element."""
    flat = [function(x) for x in array.ravel().tolist()]
    return np.array(flat, dtype=np.int64).reshape(array.shape)


def apply(graph: Graph, op: str, *arrays: NDArray[Any]) -> NDArray[Any]:
    """The nodes of an operation on every element, after broadcasting."""
    shapes = [array.shape for array in arrays]
    shape = max(shapes, key=len)
    if not shape:
        return np.array(graph.apply(op, *[array.item() for array in arrays]), dtype=np.int64)
    if any(own not in ((), shape) for own in shapes):
        arrays = np.broadcast_arrays(*arrays)
        shape = arrays[0].shape
    size = math.prod(shape)
    columns = [array.ravel().tolist() if array.shape else [array.item()] * size for array in arrays]
    ids = [graph.apply(op, *group) for group in zip(*columns, strict=True)]
    return np.array(ids, dtype=np.int64).reshape(shape)


def is_mask(x: Any) -> bool:
    """Whether x is boolean, traced or not."""
    if isinstance(x, TracedArray):  # the usual case
        return x.dtype == BOOL
    array = x if isinstance(x, np.ndarray) else np.asarray(x)
    if array.dtype == object:
        elements = array.ravel().tolist()
        return bool(elements) and all(isinstance(e, TracedArray | bool | np.bool_) and is_mask(e) for e in elements)
    return array.dtype == BOOL


def floats(graph: Graph, x: Any) -> NDArray[Any]:
    """The nodes of x, with 1.0 and 0.0 in place of booleans, as in NumPy's arithmetic."""
    if isinstance(x, TracedArray) and x.graph is graph and x.dtype != BOOL:  # the usual case
        return x.ids
    ids = nodes(graph, x)
    if type(x) is float or not is_mask(x):
        return ids
    one, zero = graph.const(1.0), graph.const(0.0)
    return map_nodes(lambda p: graph.apply("select", p, one, zero), ids)


def traced(like: TracedArray, x: Any) -> TracedArray:
    """X as an array of the graph of another one: booleans stay booleans."""
    return TracedArray(like.graph, nodes(like.graph, x), BOOL if is_mask(x) else like.float_dtype)


def numbers(like: TracedArray, x: Any) -> TracedArray:
    """X as an array of floats of the graph of another one: 1.0 and 0.0 in place of booleans."""
    return TracedArray(like.graph, floats(like.graph, x), like.float_dtype)


def truths(graph: Graph, x: Any) -> NDArray[Any]:
    """The nodes of x, which must be boolean."""
    if not is_mask(x):
        raise refuse("numbers cannot be traced as booleans: compare them, as in x != 0")
    return nodes(graph, x)
