"""What each NumPy function does to traced arrays: one table for ufuncs, one for the rest."""

import math
from collections.abc import Callable
from functools import reduce as fold
from itertools import product
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from multibody.tracing import dense, linear_algebra
from multibody.tracing.graph import Graph
from multibody.tracing.traced import BOOL, TracedArray, floats, is_mask, nodes, refuse, truths

Dtype = np.dtype[Any]
LOGICAL = ("and", "or", "not")

# ---- elementwise -----------------------------------------------------------------------------------------------------


def elementwise(op: str, *, swap: bool = False, boolean: bool = False) -> Callable[..., TracedArray]:
    """The operation on every element, after broadcasting."""

    def run(graph: Graph, dtype: Dtype, *inputs: Any) -> TracedArray:
        convert = truths if op in LOGICAL else floats
        arrays = np.broadcast_arrays(*(convert(graph, x) for x in inputs))
        columns = [array.ravel().tolist() for array in arrays]
        apply = graph.apply
        ids = [apply(op, *group) for group in zip(*(columns[::-1] if swap else columns), strict=True)]
        return TracedArray(graph, np.array(ids, dtype=np.int64).reshape(arrays[0].shape), BOOL if boolean else dtype)

    return run


def _power(graph: Graph, dtype: Dtype, x: Any, y: Any) -> TracedArray:
    return elementwise("pow")(graph, dtype, x, y)


def _square(graph: Graph, dtype: Dtype, x: Any) -> TracedArray:
    return elementwise("mul")(graph, dtype, x, x)


def _reciprocal(graph: Graph, dtype: Dtype, x: Any) -> TracedArray:
    return elementwise("div")(graph, dtype, 1.0, x)


def _arctan(graph: Graph, dtype: Dtype, x: Any) -> TracedArray:
    return elementwise("atan2")(graph, dtype, x, 1.0)


def _positive(graph: Graph, dtype: Dtype, x: Any) -> TracedArray:
    return TracedArray(graph, nodes(graph, x), dtype)


def _matmul(graph: Graph, dtype: Dtype, a: Any, b: Any) -> TracedArray:
    A, B = floats(graph, a), floats(graph, b)
    if not A.ndim or not B.ndim:
        raise refuse("np.matmul needs arrays with at least one axis: write * for numbers")
    vector_a, vector_b = A.ndim == 1, B.ndim == 1
    A, B = (A[None] if vector_a else A), (B[:, None] if vector_b else B)
    if A.shape[-1] != B.shape[-2]:
        raise refuse(f"np.matmul of shapes {np.shape(a)} and {np.shape(b)}: the inner lengths differ")
    batch = np.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    A, B = np.broadcast_to(A, batch + A.shape[-2:]), np.broadcast_to(B, batch + B.shape[-2:])
    out = np.empty((*batch, A.shape[-2], B.shape[-1]), dtype=np.int64)
    for index in np.ndindex(*batch):
        whole = dense.product(graph, A[index], B[index])
        if whole is None:
            rows, columns = A[index].tolist(), B[index].T.tolist()
            whole = [[dot(graph, row, column) for column in columns] for row in rows]
        out[index] = whole
    out = out[..., 0, :] if vector_a else out
    return TracedArray(graph, out[..., 0] if vector_b else out, dtype)


def dot(graph: Graph, row: list[int], column: list[int]) -> int:
    """The sum of products, from the first to the last."""
    total = graph.const(0.0)
    for a, b in zip(row, column, strict=True):
        total = graph.apply("add", total, graph.apply("mul", a, b))
    return total


UFUNCS: dict[Any, Callable[..., TracedArray]] = {
    np.add: elementwise("add"),
    np.subtract: elementwise("sub"),
    np.multiply: elementwise("mul"),
    np.divide: elementwise("div"),
    np.negative: elementwise("neg"),
    np.positive: _positive,
    np.absolute: elementwise("abs"),
    np.fabs: elementwise("abs"),
    np.sign: elementwise("sign"),
    np.sqrt: elementwise("sqrt"),
    np.square: _square,
    np.reciprocal: _reciprocal,
    np.sin: elementwise("sin"),
    np.cos: elementwise("cos"),
    np.tan: elementwise("tan"),
    np.arcsin: elementwise("asin"),
    np.arccos: elementwise("acos"),
    np.arctan: _arctan,
    np.arctan2: elementwise("atan2"),
    np.exp: elementwise("exp"),
    np.log: elementwise("log"),
    np.tanh: elementwise("tanh"),
    np.hypot: elementwise("hypot"),
    np.power: _power,
    np.float_power: _power,
    np.minimum: elementwise("min"),
    np.maximum: elementwise("max"),
    np.less: elementwise("lt", boolean=True),
    np.less_equal: elementwise("le", boolean=True),
    np.greater: elementwise("lt", swap=True, boolean=True),
    np.greater_equal: elementwise("le", swap=True, boolean=True),
    np.equal: elementwise("eq", boolean=True),
    np.not_equal: elementwise("ne", boolean=True),
    np.logical_and: elementwise("and", boolean=True),
    np.logical_or: elementwise("or", boolean=True),
    np.logical_not: elementwise("not", boolean=True),
    np.bitwise_and: elementwise("and", boolean=True),
    np.bitwise_or: elementwise("or", boolean=True),
    np.invert: elementwise("not", boolean=True),
    np.matmul: _matmul,
}
REDUCTIONS = {
    np.add: "add",
    np.multiply: "mul",
    np.minimum: "min",
    np.maximum: "max",
    np.logical_and: "and",
    np.logical_or: "or",
}

# ---- structure -------------------------------------------------------------------------------------------------------


def structural(function: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's own function, on the array of nodes."""

    def run(self: TracedArray, arrays: Any, *rest: Any, **kwargs: Any) -> Any:
        if "dtype" in kwargs or "out" in kwargs:
            raise refuse(f"np.{function.__name__} with dtype= or out= cannot be traced")
        masks = _all_masks(arrays)

        def convert(x: Any) -> Any:
            if isinstance(x, list | tuple):
                return type(x)(convert(y) for y in x)
            return nodes(self.graph, x) if masks else floats(self.graph, x)

        result = function(convert(arrays), *rest, **kwargs)  # shapes and axes, in the rest, stay as they are
        dtype = BOOL if masks else self.float_dtype
        parts = [TracedArray(self.graph, np.asarray(part), dtype) for part in _listed(result)]
        return parts if isinstance(result, list) else parts[0]

    return run


def _all_masks(arrays: Any) -> bool:
    return all(map(_all_masks, arrays)) if isinstance(arrays, list | tuple) else is_mask(arrays)


def _listed(result: Any) -> list[Any]:
    return result if isinstance(result, list) else [result]


def _like(number: float) -> Callable[..., TracedArray]:
    def run(self: TracedArray, x: Any, dtype: Any = None, *, shape: Any = None) -> TracedArray:
        return _full_like(self, x, number, dtype, shape=shape)

    return run


def _full_like(self: TracedArray, x: Any, value: Any, dtype: Any = None, *, shape: Any = None) -> TracedArray:
    if dtype is not None and np.dtype(dtype).kind != "f":
        raise refuse(f"an array of {np.dtype(dtype)} cannot be traced: only floats are")
    shape = np.shape(x) if shape is None else shape
    return TracedArray(self.graph, np.broadcast_to(floats(self.graph, value), shape), self.float_dtype)


def _where(self: TracedArray, condition: Any, a: Any = None, b: Any = None) -> TracedArray:
    if a is None or b is None:
        raise refuse("np.where(condition) alone cannot be traced: write np.where(condition, this, that)")
    graph = self.graph
    if is_mask(a) and is_mask(b):
        p, q = (TracedArray(graph, truths(graph, x), BOOL) for x in (condition, a))
        return (p & q) | (~p & b)
    dtype = next((x.dtype for x in (a, b) if isinstance(x, TracedArray) and not is_mask(x)), self.float_dtype)
    p, x, y = np.broadcast_arrays(truths(graph, condition), floats(graph, a), floats(graph, b))
    groups = zip(p.ravel().tolist(), x.ravel().tolist(), y.ravel().tolist(), strict=True)
    ids = [graph.apply("select", *group) for group in groups]
    return TracedArray(graph, np.array(ids, dtype=np.int64).reshape(p.shape), dtype)


def _clip(
    self: TracedArray,
    x: Any,
    a_min: Any = None,
    a_max: Any = None,
    *,
    min: Any = None,  # noqa: A002
    max: Any = None,  # noqa: A002
) -> Any:
    low, high = (min if a_min is None else a_min), (max if a_max is None else a_max)
    x = x if low is None else elementwise("max")(self.graph, self.float_dtype, x, low)
    return x if high is None else elementwise("min")(self.graph, self.float_dtype, x, high)


# ---- sums and products -----------------------------------------------------------------------------------------------


def reduce(op: str, x: TracedArray, axis: Any, keepdims: bool = False) -> TracedArray:
    """Fold an operation along axes, first element first."""
    graph = x.graph
    ids = (truths if op in LOGICAL else floats)(graph, x)
    axes = normalize_axis_tuple(tuple(range(x.ndim)) if axis is None else axis, x.ndim)
    kept = [a for a in range(x.ndim) if a not in axes]
    shape = [x.shape[a] for a in kept]
    flat = np.transpose(ids, [*kept, *axes]).reshape(*shape, math.prod(x.shape[a] for a in axes))
    start = {"add": graph.const(0.0), "mul": graph.const(1.0), "and": graph.truth(True), "or": graph.truth(False)}
    if not flat.shape[-1] and op not in start:
        raise refuse(f"the {op} of no elements does not exist")
    out = np.empty(shape, dtype=np.int64)
    for index in np.ndindex(*shape):
        out[index] = fold(lambda a, b: graph.apply(op, a, b), flat[index].tolist() or [start[op]])
    dtype = BOOL if op in LOGICAL else x.float_dtype
    return TracedArray(graph, np.expand_dims(out, axes) if keepdims else out, dtype)


def reduction(op: str) -> Callable[..., TracedArray]:
    """A NumPy reduction such as np.sum."""

    def run(self: TracedArray, x: Any, axis: Any = None, *, keepdims: bool = False) -> TracedArray:
        return reduce(op, self._with(nodes(self.graph, x)), axis, keepdims)

    return run


def _mean(self: TracedArray, x: Any, axis: Any = None, *, keepdims: bool = False) -> Any:  # noqa: ARG001
    total = reduce("add", x, axis, keepdims)
    return total * (total.size / x.size)


def _norm(self: TracedArray, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A002, ARG001
    matrix = x.ndim == 2 if axis is None else np.size(axis) == 2
    if ord not in (None, 2, "fro") or (ord == 2 and (matrix or (axis is None and x.ndim != 1))):
        raise refuse(f"np.linalg.norm with ord={ord!r} cannot be traced: only the Euclidean norm is")
    return np.sqrt(reduce("add", x * x, axis, keepdims))


def _dot(self: TracedArray, a: Any, b: Any) -> TracedArray:
    A, B = nodes(self.graph, a), nodes(self.graph, b)
    if not A.ndim or not B.ndim:
        return elementwise("mul")(self.graph, self.dtype, a, b)
    if A.ndim > 2 or B.ndim > 2:
        raise refuse("np.dot of more than two axes cannot be traced: write np.matmul or np.einsum")
    return _matmul(self.graph, self.dtype, a, b)


def _outer(self: TracedArray, a: Any, b: Any) -> TracedArray:
    A, B = nodes(self.graph, a).ravel(), nodes(self.graph, b).ravel()
    return elementwise("mul")(self.graph, self.dtype, self._with(A[:, None]), self._with(B[None, :]))


def _cross(self: TracedArray, a: Any, b: Any, *, axis: int = -1) -> TracedArray:
    A = np.moveaxis(nodes(self.graph, a), axis, -1)
    B = np.moveaxis(nodes(self.graph, b), axis, -1)
    if A.shape[-1] != 3 or B.shape[-1] != 3:
        raise refuse("np.cross is traced for vectors of three elements")
    x, y = self._with(A), self._with(B)
    parts = [x[..., (k + 1) % 3] * y[..., (k + 2) % 3] - x[..., (k + 2) % 3] * y[..., (k + 1) % 3] for k in range(3)]
    return np.moveaxis(np.stack(parts, axis=-1), -1, axis)  # type: ignore[arg-type, return-value]


def _trace(self: TracedArray, x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TracedArray:
    return reduce("add", self._with(np.diagonal(nodes(self.graph, x), offset, axis1, axis2)), -1)


def _einsum(self: TracedArray, subscripts: str, *operands: Any, **_: Any) -> TracedArray:
    graph = self.graph
    arrays = [nodes(graph, x) for x in operands]
    if subscripts.partition("->")[0].count(",") != len(arrays) - 1:
        raise refuse(f"np.einsum {subscripts!r}: got {len(arrays)} arrays")
    names, output = _subscripts(subscripts, [array.ndim for array in arrays])
    sizes: dict[str, int] = {}
    for letters, array in zip(names, arrays, strict=True):
        for letter, size in zip(letters, array.shape, strict=True):
            if sizes.setdefault(letter, size) in (1, size):
                sizes[letter] = size if sizes[letter] == 1 else sizes[letter]
            elif size != 1:
                raise refuse(f"np.einsum {subscripts!r}: the lengths {sizes[letter]} and {size} of {letter!r} differ")
    if not sizes.keys() >= set(output) or any(letter[0] == "." and letter not in output for letter in sizes):
        raise refuse(f"np.einsum {subscripts!r}: the output must have letters of the arrays, and their ellipsis")
    summed = [letter for letter in sizes if letter not in output]
    out = np.empty([sizes[letter] for letter in output], dtype=np.int64)
    for index in np.ndindex(*out.shape):
        at = dict(zip(output, index, strict=True))
        total = graph.const(0.0)
        for inner in product(*(range(sizes[letter]) for letter in summed)):
            at.update(zip(summed, inner, strict=True))
            picks = (
                int(array[tuple(at[s] if n > 1 else 0 for s, n in zip(letters, array.shape, strict=True))])
                for letters, array in zip(names, arrays, strict=True)
            )
            total = graph.apply("add", total, fold(lambda a, b: graph.apply("mul", a, b), picks))
        out[index] = total
    return self._with(out)


def _subscripts(text: str, ndims: list[int]) -> tuple[list[list[str]], list[str]]:
    """The letters of each operand and of the output; an ellipsis becomes numbered ones."""
    left, arrow, right = text.replace(" ", "").partition("->")
    terms = left.split(",")
    hidden = max((n - len(t.replace("...", "")) for t, n in zip(terms, ndims, strict=True) if "..." in t), default=0)

    def letters(term: str, count: int) -> list[str]:
        before, dots, after = term.partition("...")
        names = [f".{k}" for k in range(hidden - count, hidden)] if dots else []
        return [*before, *names, *after]

    names = [letters(t, n - len(t.replace("...", ""))) for t, n in zip(terms, ndims, strict=True)]
    if arrow:
        return names, letters(right, hidden)
    everything = [s for term in names for s in term if not s.startswith(".")]
    implicit = sorted(s for s in set(everything) if everything.count(s) == 1)
    return names, [*(f".{k}" for k in range(hidden)), *implicit]


def _solve(self: TracedArray, A: Any, b: Any) -> TracedArray:
    return linear_algebra.solve(self._with(nodes(self.graph, A)), self._with(nodes(self.graph, b)))


def _inv(self: TracedArray, A: Any) -> TracedArray:
    return linear_algebra.inverse(self._with(nodes(self.graph, A)))


def _cholesky(self: TracedArray, A: Any) -> TracedArray:
    return linear_algebra.cholesky(self._with(nodes(self.graph, A)))


_STRUCTURAL = (
    np.stack, np.concatenate, np.block, np.reshape, np.transpose, np.swapaxes, np.moveaxis, np.broadcast_to,
    np.expand_dims, np.squeeze, np.ravel, np.hstack, np.vstack, np.column_stack, np.flip, np.roll, np.repeat, np.tile,
    np.diagonal, np.atleast_1d, np.atleast_2d, np.split,
)  # fmt: skip
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{function: structural(function) for function in _STRUCTURAL},
    np.where: _where,
    np.clip: _clip,
    np.zeros_like: _like(0.0),
    np.ones_like: _like(1.0),
    np.full_like: _full_like,
    np.cross: _cross,
    np.dot: _dot,
    np.einsum: _einsum,
    np.trace: _trace,
    np.outer: _outer,
    np.sum: reduction("add"),
    np.prod: reduction("mul"),
    np.amin: reduction("min"),
    np.amax: reduction("max"),
    np.min: reduction("min"),
    np.max: reduction("max"),
    np.all: reduction("and"),
    np.any: reduction("or"),
    np.mean: _mean,
    np.linalg.norm: _norm,
    np.linalg.solve: _solve,
    np.linalg.inv: _inv,
    np.linalg.cholesky: _cholesky,
    np.shape: lambda self, x: x.shape,  # noqa: ARG005
    np.ndim: lambda self, x: x.ndim,  # noqa: ARG005
}
NAMES = sorted({function.__name__ for function in (*UFUNCS, *FUNCTIONS)})
