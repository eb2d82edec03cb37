"""NumPy functions on traced arrays: one table for ufuncs, one for all others."""

from collections.abc import Callable
from typing import Any

import numpy as np

from multibody.tracing.array import composed_ufuncs, lookup, products, reductions, shape_functions, sorting
from multibody.tracing.array.composed_ufuncs import COMPOSED, composed
from multibody.tracing.array.reductions import LOGICAL, reduction, running
from multibody.tracing.array.traced import BOOL, TracedArray, apply, floats, is_mask, nodes, numbers, refuse, truths
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.ops import OPS
from multibody.tracing.matrices import dense, linalg_unrolled

Dtype = np.dtype[Any]

# ---- elementwise -----------------------------------------------------------------------------------------------------


def elementwise(op: str, *, swap: bool = False) -> Callable[..., TracedArray]:
    """An operation on every element, after broadcasting."""
    boolean = OPS[op].boolean

    def run(graph: Graph, dtype: Dtype, *inputs: Any) -> TracedArray:
        convert = truths if op in LOGICAL else floats
        arrays = [convert(graph, x) for x in inputs]
        return TracedArray(graph, apply(graph, op, *arrays[:: -1 if swap else 1]), BOOL if boolean else dtype)

    return run


def _of_masks(op: str, numbers: Callable[..., TracedArray]) -> Callable[..., TracedArray]:
    """An operation that is a logical one if both sides are boolean, as in NumPy."""
    logical = elementwise(op)

    def run(graph: Graph, dtype: Dtype, x: Any, y: Any) -> TracedArray:
        return (logical if is_mask(x) and is_mask(y) else numbers)(graph, dtype, x, y)

    return run


def _positive(graph: Graph, dtype: Dtype, x: Any) -> TracedArray:
    return TracedArray(graph, floats(graph, x).copy(), dtype)


def _absolute(graph: Graph, dtype: Dtype, x: Any) -> TracedArray:
    return TracedArray(graph, nodes(graph, x), BOOL) if is_mask(x) else elementwise("abs")(graph, dtype, x)


def _xor(graph: Graph, dtype: Dtype, x: Any, y: Any) -> TracedArray:
    del dtype
    p, q = (TracedArray(graph, truths(graph, n), BOOL) for n in (x, y))
    return (p & ~q) | (~p & q)


def _matmul(graph: Graph, dtype: Dtype, a: Any, b: Any) -> TracedArray:
    masks, A, B = is_mask(a) and is_mask(b), floats(graph, a), floats(graph, b)
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
        out[index] = dense.unrolled_product(graph, A[index], B[index]) if whole is None else whole
    out = out[..., 0, :] if vector_a else out
    result = TracedArray(graph, out[..., 0] if vector_b else out, dtype)
    return result != 0.0 if masks else result  # of booleans: whether a product is true


UFUNCS: dict[Any, Callable[..., TracedArray]] = {
    **{op.ufunc: elementwise(name) for name, op in OPS.items() if op.ufunc},
    **{ufunc: composed(function) for ufunc, function in COMPOSED.items()},
    np.add: _of_masks("or", elementwise("add")),
    np.multiply: _of_masks("and", elementwise("mul")),
    np.positive: _positive,
    np.absolute: _absolute,
    np.fabs: elementwise("abs"),
    np.float_power: elementwise("pow"),
    np.minimum: _of_masks("and", elementwise("min")),
    np.maximum: _of_masks("or", elementwise("max")),
    np.greater: elementwise("lt", swap=True),
    np.greater_equal: elementwise("le", swap=True),
    np.bitwise_and: elementwise("and"),
    np.bitwise_or: elementwise("or"),
    np.logical_xor: _xor,
    np.bitwise_xor: _xor,
    np.invert: elementwise("not"),
    np.matmul: _matmul,
}
_FOLDS = {
    "add": (np.add, np.sum),
    "mul": (np.multiply, np.prod),
    "min": (np.minimum, np.min, np.amin),
    "max": (np.maximum, np.max, np.amax),
    "and": (np.logical_and, np.all),
    "or": (np.logical_or, np.any),
}
"""The ufunc of each operation that folds an axis, and the functions that do."""
REDUCTIONS = {ufunc: op for op, (ufunc, *_) in _FOLDS.items()}

# ---- structure -------------------------------------------------------------------------------------------------------


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


# ---- products and systems of equations -------------------------------------------------------------------------------


def _dot(self: TracedArray, a: Any, b: Any) -> TracedArray:
    A, B = nodes(self.graph, a), nodes(self.graph, b)
    if not A.ndim or not B.ndim:
        return UFUNCS[np.multiply](self.graph, self.float_dtype, a, b)
    if A.ndim > 2 or B.ndim > 2:
        raise refuse("np.dot of more than two axes cannot be traced: write np.matmul or np.einsum")
    return _matmul(self.graph, self.float_dtype, a, b)


_STRUCTURAL = (
    np.stack, np.concatenate, np.block, np.reshape, np.transpose, np.swapaxes, np.moveaxis, np.broadcast_to,
    np.expand_dims, np.squeeze, np.ravel, np.hstack, np.vstack, np.column_stack, np.flip, np.roll, np.repeat, np.tile,
    np.diagonal, np.split, np.array_split, np.dstack, np.fliplr, np.flipud,
    np.rot90, np.copy, np.delete,
)  # fmt: skip
_HANDLERS = (
    shape_functions.where, shape_functions.select, shape_functions.full_like, shape_functions.diag,
    shape_functions.broadcast_arrays, products.cross, products.inner, products.tensordot, products.einsum,
    products.trace, products.outer, products.kron, reductions.mean, reductions.var, reductions.std, reductions.ptp,
    reductions.diff, sorting.sort, sorting.argsort, lookup.take, lookup.searchsorted, lookup.interp,
    composed_ufuncs.nan_to_num, composed_ufuncs.isclose,
)  # fmt: skip
"""Each implements the NumPy function of its name."""
# ruff: noqa: ARG005 - every handler takes a traced array of the graph first
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{function: shape_functions.structural(function) for function in _STRUCTURAL},
    **{function: shape_functions.for_each(function) for function in (np.atleast_1d, np.atleast_2d, np.atleast_3d)},
    **{getattr(np, handler.__name__): handler for handler in _HANDLERS},
    **{function: reduction(op) for op, (_, *functions) in _FOLDS.items() for function in functions},
    np.clip: _clip,
    np.zeros_like: shape_functions.like(0.0),
    np.ones_like: shape_functions.like(1.0),
    np.tril: shape_functions.triangle(np.tril),
    np.triu: shape_functions.triangle(np.triu),
    np.dot: _dot,
    np.cumsum: running("add"),
    np.cumprod: running("mul"),
    np.argmin: sorting.extreme_index("lt"),
    np.argmax: sorting.extreme_index("gt"),
    np.round: composed_ufuncs.round_,
    np.around: composed_ufuncs.round_,
    np.linalg.norm: reductions.norm,
    np.linalg.det: products.determinant,
    np.linalg.solve: lambda self, A, b: linalg_unrolled.solve(numbers(self, A), numbers(self, b)),
    np.linalg.inv: lambda self, A: linalg_unrolled.inverse(numbers(self, A)),
    np.linalg.cholesky: lambda self, A: linalg_unrolled.cholesky(numbers(self, A)),
    np.shape: lambda self, x: x.shape,
    np.ndim: lambda self, x: x.ndim,
    np.size: lambda self, x: x.size,
}
NAMES = sorted({function.__name__ for function in (*UFUNCS, *FUNCTIONS)})
