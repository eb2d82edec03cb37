"""How a call runs: as nodes of an open trace, as its NumPy source, or as native code. This module alone decides it."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import Enum, auto
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.compiler.eager import is_eager
from multibody.compiler.runtime import unit_quaternions, workers
from multibody.errors import InputError
from multibody.tracing.array.traced import TracedArray, gathered
from multibody.tracing.interpret import batch_of
from multibody.tracing.record.layout import Layout, flatten, parts_of, rebuild, without_values
from multibody.tracing.record.trace import Input, open_graph

Launch = Callable[[list[NDArray[Any]], tuple[int, ...], Any, int], Any]
"""Runs native code on checked arrays, a batch shape, `out` and a number of threads."""
OUT_IS_NOT_TRACED = "out= is not traced: use the result that is returned"


class Mode(Enum):
    """How a call runs."""

    TRACED = auto()
    NUMPY = auto()
    NATIVE = auto()


def mode_of(values: Iterable[Any]) -> Mode:
    """Return how a call with these arguments runs in this context.

    With a traced argument, the source becomes part of the open trace. Plain arguments run the NumPy source in eager
    blocks and while a trace is open, so that constants of a trace do not depend on which kernels exist already.
    """
    if any(isinstance(value, TracedArray) for value in values):
        return Mode.TRACED
    return Mode.NUMPY if is_eager() or open_graph() is not None else Mode.NATIVE


class Source(NamedTuple):
    """The NumPy source of a kernel, and the arguments that it takes."""

    function: Callable[..., Any] | None
    """None for a kernel from a pickle, which has native code only."""
    inputs: tuple[Input, ...]
    dtype: np.dtype[Any]
    quaternions: tuple[tuple[int, int], ...] = ()
    """(input, first entry) of every unit quaternion in the arguments."""
    batched: bool = False
    """Whether the function takes any leading batch shape; otherwise it runs sample by sample."""
    outputs: tuple[tuple[int, ...], ...] | None = None
    """The shapes of one sample of the results; None if they are not known yet."""

    def call(self, args: tuple[Any, ...], named: Mapping[str, Any], out: Any, threads: int | None, run: Launch) -> Any:
        """Check the arguments, and run them in the mode of the call; `run` is its native code."""
        values = [gathered(value) for value in bind([spec.name for spec in self.inputs], args, named).values()]
        count, mode = workers.thread_count(threads), mode_of(values)
        if mode is Mode.TRACED:
            if out is not None:
                raise InputError(OUT_IS_NOT_TRACED)
            return self._trace(values)
        arrays = [check_array(value, spec).astype(self.dtype, copy=False) for value, spec in self._with_inputs(values)]
        batch = self._batch(arrays)
        unit_quaternions.check(self.inputs, self.quaternions, arrays)
        # without a sample, only the kernel knows the shapes of the results
        if mode is Mode.NATIVE or self.function is None or (0 in batch and not self.batched):
            return run(arrays, batch, out, count)
        leaves, layout = self._evaluate(self.function, arrays, batch)
        return deliver(rebuild(layout, iter(leaves)), out, self.dtype)

    def _trace(self, values: list[Any]) -> Any:
        """Run the source within the open trace."""
        if self.function is None:
            raise InputError("a kernel from a pickle came without its function, and cannot be part of another one")
        arrays: list[Any] = [
            value if isinstance(value, TracedArray) else check_array(value, spec).astype(self.dtype, copy=False)
            for value, spec in self._with_inputs(values)
        ]
        for array, spec in self._with_inputs(arrays):
            check_shape(array.shape, spec)
        plain = [place for place in self.quaternions if not isinstance(arrays[place[0]], TracedArray)]
        unit_quaternions.check(self.inputs, plain, arrays)
        batch = self._batch(arrays)
        if 0 in batch and not self.batched:
            raise InputError("expected at least one sample in a traced batch, got none")
        leaves, layout = self._evaluate(self.function, arrays, batch)
        return rebuild(layout, iter(leaves))

    def _evaluate(
        self, function: Callable[..., Any], arrays: list[Any], batch: tuple[int, ...]
    ) -> tuple[list[Any], Layout]:
        """The arrays of the results, and their nesting; sample by sample if the function takes no batches."""
        full = [np.broadcast_to(x, batch + spec.shape) if batch else x for x, spec in self._with_inputs(arrays)]
        leaves: list[Any] = []
        layout: Layout = None
        if self.batched or not batch:
            layout = flatten(function(*full), leaves.append)
            return [self._spread(leaf, k, batch) for k, leaf in enumerate(leaves)] if batch else leaves, layout
        for index in np.ndindex(*batch):
            layout = flatten(function(*(x[index] for x in full)), leaves.append)
        count = len(leaves) // int(np.prod(batch))
        stacks = [np.stack(leaves[k::count]) for k in range(count)]
        return [x.reshape(batch + x.shape[1:]) for x in stacks], layout

    def _spread(self, leaf: Any, k: int, batch: tuple[int, ...]) -> Any:
        """A result of a batched function over the whole batch; it has no batch axes if it depends on no argument."""
        shape = np.shape(leaf)
        core = (
            self.outputs[k] if self.outputs is not None else shape[len(batch) if shape[: len(batch)] == batch else 0 :]
        )
        return leaf if shape == batch + core else np.broadcast_to(leaf, batch + core)

    def _with_inputs(self, values: list[Any]) -> Iterable[tuple[Any, Input]]:
        return zip(values, self.inputs, strict=True)

    def _batch(self, arrays: list[Any]) -> tuple[int, ...]:
        return batch_of(self.inputs, [array.shape for array in arrays])


def bind(
    names: Sequence[str], args: tuple[Any, ...], named: Mapping[str, Any], optional: Collection[str] = ()
) -> dict[str, Any]:
    """Return the arguments of a call by name, required ones first; an optional one that is None is left out."""
    if len(args) > len(names):
        raise InputError(f"expected {len(names)} arguments ({', '.join(names)}), got {len(args)}")
    values = dict(zip(names, args, strict=False))
    for name, value in named.items():
        if name not in names and name not in optional:
            raise InputError(f"no argument is called {name!r}; expected {', '.join((*names, *optional))}, out, threads")
        if name in values:
            raise InputError(f"the argument {name!r} is given twice")
        if value is not None or name in names:
            values[name] = value
    missing = [name for name in names if name not in values]
    if missing:
        raise InputError(f"missing: {', '.join(missing)} (expected {', '.join(names)})")
    return {name: values[name] for name in (*names, *optional) if name in values}


def check_array(value: Any, spec: Input, *, over_time: bool = False) -> NDArray[Any]:
    """Return an argument as an array of real numbers that ends in the shape of one sample, or of one per step."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise InputError(f"{spec.name}: expected numbers of shape {_dots(spec.shape)}, got {error}") from None
    if array.dtype.kind not in "fiub":
        raise InputError(f"{spec.name}: expected real numbers, got dtype {array.dtype}")
    check_shape(array.shape, spec, over_time=over_time)
    return array


def check_shape(shape: tuple[int, ...], spec: Input, *, over_time: bool = False) -> None:
    """Refuse the shape of an argument that does not end as that of one sample."""
    if len(shape) < len(spec.shape) or shape[len(shape) - len(spec.shape) :] != spec.shape:
        expected = _dots(("steps", *spec.shape) if over_time else spec.shape)
        raise InputError(f"{spec.name}: expected shape {expected}, got {shape}")


def deliver(result: Any, out: Any, dtype: np.dtype[Any]) -> Any:
    """Return a result of NumPy with this precision, or write it into `out`; traced arrays stay as they are."""
    leaves: list[Any] = []
    layout = flatten(result, leaves.append)
    if out is not None:
        if mode_of(leaves) is Mode.TRACED:
            raise InputError(OUT_IS_NOT_TRACED)
        for place, leaf in zip(check_out(out, [np.shape(leaf) for leaf in leaves], layout, dtype), leaves, strict=True):
            place[...] = leaf
        return out
    return rebuild(layout, (x if isinstance(x, TracedArray) else np.asarray(x, dtype)[()] for x in leaves))


def check_out(out: Any, shapes: Sequence[tuple[int, ...]], layout: Layout, dtype: np.dtype[Any]) -> list[NDArray[Any]]:
    """Return the arrays of `out`, in the order of the results, if results of these shapes can be written into them.

    They are nested as the results, or all in one tuple or list.
    """
    places: list[Any] = []
    if layout == "array":
        places = [out]
    elif isinstance(out, tuple | list) and all(isinstance(place, np.ndarray) for place in out):
        places = list(out)
    elif isinstance(out, tuple | list) or (isinstance(out, dict) and layout[0] == "dict"):
        places = parts_of(without_values(layout), out, "out")
    if len(places) != len(shapes):
        raise InputError(f"out: expected {len(shapes)} arrays in a tuple, got {type(out).__name__}")
    for place, shape in zip(places, shapes, strict=True):
        if not isinstance(place, np.ndarray) or place.shape != shape:
            actual = place.shape if isinstance(place, np.ndarray) else type(place).__name__
            raise InputError(f"out: expected an array of shape {shape}, got {actual}")
        if place.dtype.kind != "f":
            raise InputError(f"out: expected dtype {dtype}, got {place.dtype}")
        if not place.flags.writeable:
            raise InputError("out: expected an array that can be written, got a read-only one")
    for k, place in enumerate(places):  # if two share memory, one result would be lost
        for i, other in enumerate(places[:k]):
            try:
                together = np.shares_memory(place, other, max_work=1000)  # type: ignore[arg-type]
            except np.exceptions.TooHardError:  # views with unusual strides, which nobody passes on purpose
                together = False
            if together:
                raise InputError(f"out: expected an array of its own for each result, got one memory for {i} and {k}")
    return places


def _dots(shape: tuple[Any, ...]) -> str:
    return f"(..., {', '.join(map(str, shape))})" if shape else "(...)"
