"""Products of traced vectors and matrices: outer, cross, Kronecker, einsum, trace, determinant."""

import math
from functools import reduce as fold
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple
from numpy.typing import NDArray

from multibody.tracing.array.reductions import reduce
from multibody.tracing.array.traced import TracedArray, floats, is_mask, numbers, refuse, traced
from multibody.tracing.matrices.linalg_unrolled import eliminate, exchange_rows


def outer(self: TracedArray, a: Any, b: Any) -> TracedArray:
    """All products of two elements."""
    return traced(self, a).ravel()[:, None] * traced(self, b).ravel()[None, :]


def inner(self: TracedArray, a: Any, b: Any) -> Any:
    """The sum of products over the last axes."""
    x, y = traced(self, a), traced(self, b)
    if not x.ndim or not y.ndim:
        return x * y
    return np.tensordot(x, y, axes=(-1, -1))  # type: ignore[call-overload]


def tensordot(self: TracedArray, a: Any, b: Any, axes: Any = 2) -> Any:
    """The sum of products over the given axes of both."""
    x, y = traced(self, a), traced(self, b)
    if isinstance(axes, int | np.integer):
        axes = list(range(-axes, 0)), list(range(axes))
    left, right = (normalize_axis_tuple(part, n) for part, n in zip(axes, (x.ndim, y.ndim), strict=True))
    if [x.shape[k] for k in left] != [y.shape[k] for k in right]:
        raise refuse(f"np.tensordot of shapes {x.shape} and {y.shape} over the axes {left} and {right}: lengths differ")
    first = list(range(x.ndim))
    second = list(range(x.ndim, x.ndim + y.ndim))
    for i, j in zip(left, right, strict=True):
        second[j] = first[i]
    letters = [chr(97 + k) for k in range(26)]
    kept = [k for k in first if k not in left] + [k for k in second if k >= x.ndim]
    text = ["".join(letters[k] for k in part) for part in (first, second, kept)]
    return einsum(self, f"{text[0]},{text[1]}->{text[2]}", x, y)


def kron(self: TracedArray, a: Any, b: Any) -> Any:
    """The blocks a_ij b."""
    x, y = traced(self, a), traced(self, b)
    axes = max(x.ndim, y.ndim)
    x, y = x.reshape([1] * (axes - x.ndim) + list(x.shape)), y.reshape([1] * (axes - y.ndim) + list(y.shape))
    lengths = [m * n for m, n in zip(x.shape, y.shape, strict=True)]
    spread = [length for n in x.shape for length in (n, 1)], [length for n in y.shape for length in (1, n)]
    return (x.reshape(spread[0]) * y.reshape(spread[1])).reshape(lengths)


def cross(self: TracedArray, a: Any, b: Any, *, axis: int = -1) -> TracedArray:
    """The vector product."""
    x, y = (np.moveaxis(numbers(self, n), axis, -1) for n in (a, b))  # type: ignore[arg-type]
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise refuse("np.cross is traced for vectors of three elements")
    parts = [x[..., (k + 1) % 3] * y[..., (k + 2) % 3] - x[..., (k + 2) % 3] * y[..., (k + 1) % 3] for k in range(3)]
    return np.moveaxis(np.stack(parts, axis=-1), -1, axis)  # type: ignore[arg-type, return-value]


def trace(self: TracedArray, x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TracedArray:
    """The sum of the diagonal."""
    matrix = traced(self, x)
    return reduce("add", matrix._with(np.diagonal(matrix.ids, offset, axis1, axis2)), -1)


def determinant(self: TracedArray, a: Any) -> Any:
    """The determinant: by cofactors up to four rows, differentiable everywhere; else by elimination with pivots."""
    A = numbers(self, a)
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise refuse(f"np.linalg.det of shape {A.shape}: expected (..., n, n)")
    rows = [[A[..., i, j] for j in range(A.shape[-1])] for i in range(A.shape[-1])]
    return (_by_cofactors if len(rows) <= 4 else _by_elimination)(rows) if rows else np.ones_like(A, shape=A.shape[:-2])


def _by_cofactors(rows: list[list[Any]]) -> Any:
    if len(rows) == 1:
        return rows[0][0]
    minors = [_by_cofactors([row[:j] + row[j + 1 :] for row in rows[1:]]) for j in range(len(rows))]
    total = rows[0][0] * minors[0]
    for j in range(1, len(rows)):
        term = rows[0][j] * minors[j]
        total = total - term if j % 2 else total + term
    return total


def _by_elimination(rows: list[list[Any]]) -> Any:
    """The product of the pivots; every exchange of rows changes its sign."""
    rows = [list(row) for row in rows]
    total: Any = 1.0
    for j in range(len(rows)):
        for i in range(j + 1, len(rows)):
            total = np.where(exchange_rows(rows, i, j), -total, total)
        pivot = rows[j][j]
        total = total * pivot
        safe = np.where(pivot == 0.0, 1.0, pivot)  # a column of zeros: the product is zero already
        for i in range(j + 1, len(rows)):
            eliminate(rows, i, j, rows[i][j] / safe)
    return total


def einsum(self: TracedArray, subscripts: Any, *operands: Any, optimize: Any = False) -> Any:
    """np.einsum with letters; of booleans, whether any product is true."""
    del optimize  # the graph shares common subexpressions in any order
    if not isinstance(subscripts, str):
        raise refuse("np.einsum is traced with letters, as in np.einsum('ij,j->i', A, x)")
    graph = self.graph
    if operands and all(map(is_mask, operands)):
        return einsum(self, subscripts, *(numbers(self, x) for x in operands)) != 0.0
    arrays = [floats(graph, x) for x in operands]
    if subscripts.partition("->")[0].count(",") != len(arrays) - 1:
        raise refuse(f"np.einsum {subscripts!r}: got {len(arrays)} arrays")
    names, output = _subscripts(subscripts, [array.ndim for array in arrays])
    if _matrix_times_vector(names, output) and arrays[0].shape[1:] == arrays[1].shape:
        return np.matmul(numbers(self, operands[0]), numbers(self, operands[1]))  # a loop if it is large
    sizes: dict[str, int] = {}
    for letters, array in zip(names, arrays, strict=True):
        for letter, size in zip(letters, array.shape, strict=True):
            if sizes.setdefault(letter, size) in (1, size):
                sizes[letter] = size if sizes[letter] == 1 else sizes[letter]
            elif size != 1:
                raise refuse(f"np.einsum {subscripts!r}: the lengths {sizes[letter]} and {size} of {letter!r} differ")
    if not sizes.keys() >= set(output) or any(letter[0] == "." and letter not in output for letter in sizes):
        raise refuse(f"np.einsum {subscripts!r}: the output must have letters of the arrays, and their ellipsis")
    letters = [*output, *(letter for letter in sizes if letter not in output)]
    shape, apply = [sizes[letter] for letter in output], graph.apply
    terms = math.prod(sizes[letter] for letter in letters[len(output) :])
    flat = math.prod(shape), terms
    columns = [_along(letters, sizes, *pair).reshape(flat).tolist() for pair in zip(names, arrays, strict=True)]
    out = []
    for rows in zip(*columns, strict=True):
        total = graph.const(0.0)
        for factors in zip(*rows, strict=True):
            total = apply("add", total, fold(lambda a, b: apply("mul", a, b), factors))
        out.append(total)
    return TracedArray(graph, np.array(out, dtype=np.int64).reshape(shape), self.float_dtype)


def _matrix_times_vector(names: list[list[str]], output: list[str]) -> bool:
    """Whether the letters are those of "ij,j->i"."""
    if list(map(len, names)) != [2, 1] or len(output) != 1:
        return False
    (row, column), (inner,) = names
    return row != column == inner and output == [row]


def _along(letters: list[str], sizes: dict[str, int], own: list[str], array: NDArray[Any]) -> NDArray[Any]:
    """An array with one axis per letter; missing letters are broadcast."""
    grids = np.ogrid[tuple(slice(sizes[letter]) for letter in letters)]
    axes = dict(zip(letters, grids, strict=True))
    picks = tuple(0 if n == 1 else axes[letter] for letter, n in zip(own, array.shape, strict=True))
    return np.broadcast_to(array[picks], [sizes[letter] for letter in letters])


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
