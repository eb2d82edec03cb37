"""Helpers on arrays: checks of inputs, small vectors and matrices, batches cut into blocks.

The functions of this package are *traceable*: they use only NumPy functions that dispatch to array-like objects, which
record operations instead of computing them. Such an object derives from NumPy's own operator mixin, which `is_traced`
tests. Checks read the values of plain arrays only.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError, SingularityError

Array = NDArray[Any]
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))

BLOCK = 4096
"""Samples per block: the intermediate arrays of a block fit into the cache."""


def is_traced(x: object) -> bool:
    """Whether x records operations instead of holding values."""
    return isinstance(x, NDArrayOperatorsMixin)


def floats(x: ArrayLike, what: str, *core: int) -> NDArray[Any]:
    """Return x as a float array whose last axes have the lengths `core`; otherwise raise an InputError on `what`."""
    if is_traced(x):
        array: Any = x
    else:
        try:
            array = np.asarray(x)
        except ValueError as error:
            raise InputError(f"{what}: expected {_expected(core)}, got a ragged sequence ({error})") from None
        if array.dtype.kind in "iub":
            array = array.astype(np.float64)
        if array.dtype == object and any(map(is_traced, array.flat)):  # np.array([x, 0, 0]) of traced numbers
            array = np.stack(array.ravel().tolist()).reshape(array.shape)
        elif array.dtype not in FLOATS:
            kind = type(x).__name__ if array.dtype == object and not array.ndim else f"dtype {array.dtype}"
            raise InputError(f"{what}: expected {_expected(core)} (float64 or float32), got {kind}")
    if core and array.shape[-len(core) :] != core:
        raise InputError(f"{what}: expected {_expected(core)}, got shape {array.shape}")
    return array


def _expected(core: tuple[int, ...]) -> str:
    return f"an array of real floats of shape (..., {', '.join(map(str, core))})" if core else "real floats"


def numbers(x: ArrayLike, what: str, like: NDArray[Any]) -> NDArray[Any]:
    """Return x as floats of any shape; a Python number takes the precision of `like`."""
    return np.asarray(x, dtype=like.dtype) if isinstance(x, int | float) else floats(x, what)


def finite_point(x: ArrayLike, what: str) -> tuple[float, float, float]:
    """Return three finite numbers as a tuple; otherwise raise an InputError on `what`."""
    array = floats(x, what, 3)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise InputError(f"{what}: expected three finite numbers, got {x!r}")
    return tuple(array.tolist())


def choice(value: str, what: str, options: Sequence[str]) -> str:
    """Return the value if it is one of the options; otherwise raise an InputError that lists them."""
    if not isinstance(value, str) or value not in options:
        raise InputError(f"{what}: expected one of {', '.join(map(repr, options))}, got {value!r}")
    return value


def batch_shape(what: str, *parts: tuple[NDArray[Any], int]) -> tuple[int, ...]:
    """The common batch shape of (array, number of core axes) pairs; an InputError when they do not broadcast."""
    shapes = [array.shape[: array.ndim - core] for array, core in parts]
    try:
        return common_shape(shapes)
    except ValueError:
        raise InputError(f"{what}: batch shapes {', '.join(map(str, shapes))} do not broadcast") from None


def common_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape to which all shapes broadcast, without a computation if they are equal; otherwise a ValueError."""
    return shapes[0] if len(set(shapes)) == 1 else np.broadcast_shapes(*shapes)


def truth(value: Any, what: str) -> bool:
    """Return a Python or NumPy boolean as a bool; refuse anything else."""
    if value is True or value is False:
        return value
    if not isinstance(value, np.bool_):
        raise InputError(f"{what}: expected True or False, got {value!r}")
    return bool(value)


def batch_of(batch: int | tuple[int, ...]) -> tuple[int, ...]:
    """The requested batch shape: a tuple of lengths, or a number of samples."""
    if isinstance(batch, int | np.integer) and not isinstance(batch, bool):
        batch = (int(batch),)
    if not isinstance(batch, tuple) or not all(isinstance(n, int | np.integer) and n >= 0 for n in batch):
        raise InputError(f"batch: expected a number of samples or a tuple of lengths such as (10,), got {batch!r}")
    return batch


def solve(A: NDArray[Any], b: NDArray[Any], what: str) -> NDArray[Any]:
    """Solve A x = b for vectors b over the batch; raise a SingularityError that names the sample with a singular A."""
    try:
        return np.linalg.solve(A, b[..., None])[..., 0]
    except np.linalg.LinAlgError:
        raise SingularityError(f"{what}{at(_first_singular(A))} has no inverse") from None


def _first_singular(A: NDArray[Any]) -> tuple[int, ...]:
    for index in np.ndindex(A.shape[:-2]):
        try:
            np.linalg.inv(A[index])
        except np.linalg.LinAlgError:
            return index
    return ()


def singular_within(x: NDArray[Any]) -> float:
    """The distance to a singularity below which the precision of x does not resolve it."""
    return max(1e-9, 4 * float(np.finfo(x.dtype).eps))


def vector(*components: Any) -> NDArray[Any]:
    """The components, each of the batch's shape or a number, along a new last axis."""
    return _assemble(components, (len(components),))


def matrix(rows: Sequence[Sequence[Any]]) -> NDArray[Any]:
    """Rows of scalars, each of the batch's shape or a number, as a matrix on two new last axes."""
    return _assemble([entry for row in rows for entry in row], (len(rows), len(rows[0])))


def _assemble(entries: Sequence[Any], core: tuple[int, ...]) -> NDArray[Any]:
    numbers = (int, float)  # a NumPy number has a precision
    arrays = [entry for entry in entries if type(entry) not in numbers]
    batch = common_shape([array.shape for array in arrays])
    if any(map(is_traced, arrays)):
        fits = [type(entry) not in numbers and entry.shape == batch for entry in entries]
        whole = [entry if fit else np.broadcast_to(entry, batch) for entry, fit in zip(entries, fits, strict=True)]
        return np.stack(whole, axis=-1).reshape(batch + core)
    out = np.empty((*batch, len(entries)), dtype=np.result_type(*arrays) if arrays else np.float64)
    for position, entry in enumerate(entries):
        out[..., position] = entry
    return out.reshape(batch + core)


def dot(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """The scalar product over the last axis, short and unrolled."""
    return sum((a[..., k] * b[..., k] for k in range(1, a.shape[-1])), start=a[..., 0] * b[..., 0])


def read_only(x: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only copy; arrays that nobody can write into, and traced ones, as they are."""
    if is_traced(x) or (x.base is None and not x.flags.writeable):
        return x
    copy = x.copy()
    copy.flags.writeable = False
    return copy


def not_zero(x: NDArray[Any], what: str) -> NDArray[Any]:
    """Return x; refuse concrete zero vectors, which have no direction."""
    if not is_traced(x):
        zero = ~x.any(axis=-1)
        if zero.any():
            raise InputError(f"{what}{at(first(zero))}: expected a direction, got zero")
    return x


def check_values(
    x: NDArray[Any], what: str, accept: Callable[[NDArray[Any]], NDArray[Any]], expected: str, core: int = 0
) -> NDArray[Any]:
    """Return x if `accept` is true for all values; otherwise name the first sample, before the `core` last axes."""
    if not is_traced(x):
        bad = ~accept(x)
        if bad.any():
            raise InputError(f"{what}{at(first(bad)[: x.ndim - core])}: expected {expected}, got {x[bad][0]}")
    return x


def generator(rng: np.random.Generator) -> np.random.Generator:
    """Return the random number generator; refuse seeds and other types."""
    if isinstance(rng, int | np.integer | tuple):
        raise InputError(
            f"rng: expected a numpy.random.Generator, got {type(rng).__name__}: {rng!r} could be a seed or a number of "
            f"samples, random(np.random.default_rng({rng!r})) or random(rng, {rng!r})"
        )
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng: expected a numpy.random.Generator, got {type(rng).__name__}")
    return rng


def unit(x: NDArray[Any]) -> NDArray[Any]:
    """x / |x| over the last axis, scaled first so that no square under- or overflows."""
    largest = np.abs(x[..., 0])
    for k in range(1, x.shape[-1]):
        largest = np.maximum(largest, np.abs(x[..., k]))
    x = x / largest[..., None]
    return x / np.sqrt(dot(x, x))[..., None]


def matvec(A: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    """A x over the batch: (..., n, m) and (..., m) to (..., n)."""
    return np.einsum("...ij,...j->...i", A, x)


def transpose(A: NDArray[Any]) -> NDArray[Any]:
    """The last two axes swapped."""
    return np.swapaxes(A, -1, -2)


def mirror_upper(M: NDArray[Any]) -> NDArray[Any]:
    """A matrix that is symmetric up to rounding, made exactly symmetric: the upper triangle on both sides."""
    n = M.shape[-1]
    return matrix([[M[..., min(i, j), max(i, j)] for j in range(n)] for i in range(n)])


def congruence(R: NDArray[Any], I: NDArray[Any]) -> NDArray[Any]:
    """R I R^T of a symmetric I, (..., 3, 3): a kernel computes the upper triangle only."""
    return mirror_upper(np.matmul(np.matmul(R, I), transpose(R)))


def concatenate_last(parts: Sequence[NDArray[Any]], batch: tuple[int, ...] | None = None) -> NDArray[Any]:
    """The parts (..., n_k) one after the other along the last axis, (..., Σ n_k), in their common or a given batch."""
    shape = np.broadcast_shapes(*(part.shape[:-1] for part in parts)) if batch is None else batch
    return np.concatenate([np.broadcast_to(part, (*shape, part.shape[-1])) for part in parts], axis=-1)


def eye_like(x: NDArray[Any], n: int) -> NDArray[Any]:
    """The n × n identity in the precision of x."""
    return np.eye(n, dtype=x.dtype)


def diagonal(x: NDArray[Any]) -> NDArray[Any]:
    """(..., n, n): the matrix with x (..., n) on its diagonal; the other entries are exact zeros."""
    return np.where(np.eye(x.shape[-1], dtype=bool), x[..., None], 0.0)


def positive_or_one(x: Array) -> Array:
    """x where it is positive, otherwise 1: a divisor."""
    return np.where(x > 0, x, np.ones_like(x))


def is_zero(x: NDArray[Any]) -> bool:
    """Whether all values are known to be zero; those of traced arrays are not known."""
    return not is_traced(x) and not x.any()


def damped_inverse3(E: NDArray[Any], squared: Any) -> NDArray[Any]:
    """E^T (E E^T + δ² 1)^-1, (..., 3, 3), which exists everywhere; δ² a number or (..., 1, 1)."""
    E_T = transpose(E)
    A = np.matmul(E, E_T) + squared * eye_like(E, 3)  # symmetric: its rows are its columns
    x, y, z = A[..., 0, :], A[..., 1, :], A[..., 2, :]
    adjugate = np.stack([np.cross(y, z), np.cross(z, x), np.cross(x, y)], axis=-1)
    return np.matmul(E_T, adjugate / dot(x, np.cross(y, z))[..., None, None])


def block_matrix(rows: Sequence[Sequence[Any]]) -> NDArray[Any]:
    """Assemble matrices, or an integer 0 for zero blocks; every row and column of blocks has at least one matrix."""
    blocks = [list(row) for row in rows]
    batch = np.broadcast_shapes(*(entry.shape[:-2] for row in blocks for entry in row if not isinstance(entry, int)))
    heights = [next(e.shape[-2] for e in row if not isinstance(e, int)) for row in blocks]
    widths = [next(e.shape[-1] for e in column if not isinstance(e, int)) for column in zip(*blocks, strict=True)]
    dtype = next(e.dtype for row in blocks for e in row if not isinstance(e, int))

    def full(block: Any, height: int, width: int) -> NDArray[Any]:
        block = np.zeros((height, width), dtype) if isinstance(block, int) else block
        return np.broadcast_to(block, (*batch, height, width))

    lines = [[full(e, h, w) for e, w in zip(row, widths, strict=True)] for row, h in zip(blocks, heights, strict=True)]
    return np.concatenate([np.concatenate(line, axis=-1) for line in lines], axis=-2)


def blockwise(function: Callable[..., NDArray[Any]], *parts: tuple[NDArray[Any], int]) -> NDArray[Any]:
    """Evaluate function(*arrays), in blocks if all arrays have the same large batch shape.

    Each part is an array with its number of core axes.
    """
    arrays = [array for array, _ in parts]
    if any(is_traced(array) for array in arrays):
        return function(*arrays)
    batches = {array.shape[: array.ndim - core] for array, core in parts}
    batch = next(iter(batches))
    count = math.prod(batch)
    if len(batches) > 1 or count <= 2 * BLOCK:
        return function(*arrays)
    flat = [array.reshape(count, *array.shape[array.ndim - core :]) for array, core in parts]
    head = function(*(array[:BLOCK] for array in flat))
    out = np.empty((count, *head.shape[1:]), head.dtype)
    out[:BLOCK] = head
    for start in range(BLOCK, count, BLOCK):
        out[start : start + BLOCK] = function(*(array[start : start + BLOCK] for array in flat))
    return out.reshape(batch + out.shape[1:])


def first(bad: Any) -> tuple[int, ...]:
    """The index of the first true sample."""
    return tuple(int(k) for k in np.argwhere(bad)[0])


def at(index: tuple[int, ...]) -> str:
    """The name of a sample in a message; empty for a single one."""
    return f" (sample {', '.join(map(str, index))})" if index else ""


def cross_sign(i: int, j: int) -> int:
    """The sign in e_i × e_j = ± e_l, for two different axes."""
    return 1 if (j - i) % 3 == 1 else -1


def split_last(x: Array, ends: Iterable[int]) -> list[Array]:
    """The parts of x along its last axis that end at these indices, and the rest; `np.split` takes 9 µs for four."""
    ends = tuple(ends)
    return [x[..., start:end] for start, end in zip((0, *ends), (*ends, None), strict=True)]
