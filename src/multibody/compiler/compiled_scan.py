"""Scan: a compiled step that native code repeats over time."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.compiler.codegen.scan_modules import Plan, scan_modules_of
from multibody.compiler.codegen.variants import Texts
from multibody.compiler.kernel import Compiled
from multibody.compiler.optional_inputs import select_optional
from multibody.compiler.runtime import scan_pieces, workers
from multibody.compiler.runtime.call_mode import Mode, check_array, check_out, mode_of
from multibody.compiler.runtime.code import Code
from multibody.compiler.runtime.launch import rows_of
from multibody.compiler.runtime.signature import Signature
from multibody.errors import InputError
from multibody.geometry._arrays import batch_shape
from multibody.tracing.record.layout import flatten, flatten_to_list, parts_of, rebuild
from multibody.tracing.record.loop import loop
from multibody.tracing.record.trace import Trace

Step = Callable[..., Any]


class ScanSource(NamedTuple):
    """The Python functions of a scan; a scan from a pickle has none."""

    record: Callable[[], Trace]
    flat: Step
    """The step as a function of arrays."""
    step: Step
    until: Callable[[Any], Any] | None
    variants: Any
    """The `OptionalInputs` of the step."""


class Scan(Compiled):
    """A compiled scan; see `compile_scan`. Its operations and its exports are those of one step."""

    exported_name = "step"

    def __init__(
        self, name: str, signature: Signature, code: Code, plan: Plan, source: ScanSource | None = None
    ) -> None:
        super().__init__(name, signature, code, None if source is None else source.record)
        self.plan = plan
        self.inputs, self.outputs, self.dtype, layout = signature[:4]
        self.output_layout = layout[2] if len(layout) > 2 else None
        self._source = source
        self._native = scan_pieces.Runner(name, code, signature, range(plan.states, plan.states + plan.inputs))

    def __call__(
        self,
        state: Any,
        *args: Any,
        steps: int | None = None,
        every: int | None = 1,
        out: Any = None,
        threads: int | None = None,
        **named: Any,
    ) -> tuple[Any, Any]:
        """Run the steps.

        Args:
            state: the first state, nested as it was declared, with any leading batch shape.
            *args: per-step inputs, (..., steps, *shape) each, or of that shape alone when they do not change; then
                parameters; batches broadcast.
            steps: how many steps; needed only when no per-step input tells.
            every: outputs are kept after every so many steps; None keeps none.
            out: (state, outputs) with arrays to write into, nested as the result.
            threads: over how many threads the batch is split.
            **named: optional inputs.

        Returns:
            The last state, and the kept outputs, with an axis for time before the axes of each (or None).
        """
        given = {name: value for name, value in named.items() if value is not None}
        if given:
            names, inputs = sorted(given), len(self.plan.rest_layouts) - self.plan.parameter_arguments
            values = [*args[:inputs], *(given[name] for name in names), *args[inputs:]]
            return self._variant(tuple(names))(state, *values, steps=steps, every=every, out=out, threads=threads)
        if every is not None and (not isinstance(every, int | np.integer) or every < 1):
            raise InputError(f"{self.name}: every: expected a positive integer or None, got {every!r}")
        values = parts_of(self.plan.state_layout, state, f"{self.name}: state")
        if len(args) != len(self.plan.rest_layouts):
            raise InputError(f"{self.name}: expected {1 + len(self.plan.rest_layouts)} arguments, got {1 + len(args)}")
        for layout, value in zip(self.plan.rest_layouts, args, strict=True):
            values += parts_of(layout, value, self.name)
        mode, count = mode_of(values), workers.thread_count(threads)
        if mode is Mode.TRACED:
            return self._within(state, values, steps, every, out)
        arrays = self._checked([*values[: self._own], *[0.0] * self.plan.stops, *values[self._own :]])
        steps = self._count(arrays, steps)
        arrays = [self._in_time(i, array, steps) for i, array in enumerate(arrays)]
        cores = [len(spec.shape) + self._moves(i) for i, spec in enumerate(self.inputs)]
        batch = batch_shape(self.name, *zip(arrays, cores, strict=True))
        arguments = [rows_of(array, batch, core) for array, core in zip(arrays, cores, strict=True)]
        often = steps + 1 if every is None else int(every)
        last, kept = self._results(batch, arrays, steps // often)
        results = scan_pieces.Results(last, kept, steps, often)
        if mode is Mode.NUMPY and self._source is not None:
            self._plain(self._source.flat, arrays, results, batch)
        else:
            self._native.run(arguments, results, math.prod(batch), count)
        following = rebuild(self.plan.state_layout, (final if final.ndim else final[()] for final in last[: self._own]))
        output = None
        if self.output_layout is not None and every is not None:
            output = rebuild(self.output_layout, iter(kept))
        return (following, output) if out is None else self._write(out, (following, output))

    @property
    def _own(self) -> int:
        """The number of arrays in the user's state."""
        return self.plan.states - self.plan.stops

    def _moves(self, i: int) -> bool:
        return self.plan.states <= i < self.plan.states + self.plan.inputs

    def _checked(self, values: list[Any]) -> list[NDArray[Any]]:
        try:
            arrays = [
                check_array(value, spec, over_time=self._moves(i))
                for i, (value, spec) in enumerate(zip(values, self.inputs, strict=True))
            ]
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from None
        return [array.astype(self.dtype, copy=False) for array in arrays]

    def _count(self, arrays: Sequence[Any], steps: int | None) -> int:
        lengths = {
            np.shape(array)[np.ndim(array) - len(spec.shape) - 1]
            for i, (array, spec) in enumerate(zip(arrays, self.inputs, strict=True))
            if self._moves(i) and np.ndim(array) > len(spec.shape)
        } | ({steps} if steps is not None else set())
        if len(lengths) != 1:
            raise InputError(
                f"{self.name}: expected one number of steps, got {sorted(lengths) or 'none (pass steps=)'}"
            )
        count = lengths.pop()
        if not isinstance(count, int | np.integer) or count < 0:
            raise InputError(f"{self.name}: steps: expected an integer that is not negative, got {count!r}")
        return int(count)

    def _in_time(self, i: int, array: Any, steps: int) -> Any:
        """An input with its time axis, also if it is constant."""
        if not self._moves(i) or np.ndim(array) > len(self.inputs[i].shape):
            return array
        return np.broadcast_to(array, (steps, *self.inputs[i].shape))

    def _results(
        self, batch: tuple[int, ...], arrays: list[NDArray[Any]], kept: int
    ) -> tuple[list[NDArray[Any]], list[NDArray[Any]]]:
        """Arrays for the state, with the initial one in them, and for the outputs: NaN if samples may stop."""
        states = self.plan.states
        finals = [np.empty(batch + shape, self.dtype) for shape in self.outputs[:states]]
        for final, array in zip(finals, arrays, strict=False):
            final[...] = array
        shapes = [(*batch, kept, *shape) for shape in self.outputs[states:]]
        if self.plan.stops:
            return finals, [np.full(shape, np.nan, self.dtype) for shape in shapes]
        return finals, [np.empty(shape, self.dtype) for shape in shapes]

    def _write(self, out: Any, results: tuple[Any, Any]) -> Any:
        """Write the results into the arrays of `out`."""
        if not isinstance(out, tuple | list) or len(out) != 2:
            raise InputError(f"{self.name}: out: expected (state, outputs), got {type(out).__name__}")
        present = results if results[1] is not None else results[:1]
        arrays, layout = flatten_to_list(present)
        targets = check_out(tuple(out[: len(present)]), list(map(np.shape, arrays)), layout, self.dtype)
        for target, array in zip(targets, arrays, strict=True):
            target[...] = array
        return out

    def _plain(
        self, step: Step, arrays: list[NDArray[Any]], results: scan_pieces.Results, batch: tuple[int, ...]
    ) -> None:
        """Run the NumPy source, sample by sample and step by step."""
        finals, outputs, steps, every = results
        cores = [((steps,) if self._moves(i) else ()) + spec.shape for i, spec in enumerate(self.inputs)]
        whole = [np.broadcast_to(array, batch + core) for array, core in zip(arrays, cores, strict=True)]
        states = self.plan.states
        for index in np.ndindex(*batch):
            sample = [array[index] for array in whole]
            for now in range(steps):
                values = (array[now] if self._moves(i) else array for i, array in enumerate(sample))
                parts: list[Any] = []
                flatten(step(*values), parts.append)
                sample[:states] = parts[:states]
                if (now + 1) % every == 0:
                    for result, part in zip(outputs, parts[states:], strict=True):
                        result[(*index, now // every)] = part
            for final, part in zip(finals, sample, strict=False):
                final[index] = part

    def _within(self, state: Any, values: list[Any], steps: int | None, every: int | None, out: Any) -> tuple[Any, Any]:
        """Record a loop over the step within an open trace."""
        if self._source is None:
            raise InputError(
                f"{self.name}: a scan from a pickle came without its step: it cannot be part of a function"
            )
        if out is not None:
            raise InputError("out= is not traced: use the result that is returned")
        source, plan = self._source, self.plan
        padded = [*values[: self._own], *[0.0] * plan.stops, *values[self._own :]]
        for i, (value, (name, shape)) in enumerate(zip(padded, self.inputs, strict=True)):
            lead = np.ndim(value) - len(shape)
            if np.shape(value)[max(lead, 0) :] != shape or lead not in ((0, 1) if self._moves(i) else (0,)):
                raise InputError(
                    f"{self.name}: {name}: expected one sample in a traced function, got {np.shape(value)}"
                )
        count = self._count(padded, steps)
        xs = [self._in_time(i, x, count) for i, x in enumerate(padded) if self._moves(i)]

        still = padded[plan.states + plan.inputs :]

        def body(carry: Any, row: Any) -> Any:
            rest = iter([*row, *still])
            following, output = source.step(carry, *(rebuild(layout, rest) for layout in plan.rest_layouts))
            return following, () if output is None else output

        last, kept = loop(count, body, state, source.until, xs if xs else np.zeros((count, 0)), outputs=True)
        if self.output_layout is None or every is None:
            return last, None
        arrays: list[Any] = []
        layout = flatten(kept, arrays.append)
        return last, rebuild(layout, (array[every - 1 :: every] for array in arrays))

    def _variant(self, names: tuple[str, ...]) -> "Scan":
        source = self._source
        select_optional({} if source is None else source.variants.optional, names, self.name)
        assert source is not None, "without a source every name is refused"
        return source.variants.kernel(names)

    def _variants(self) -> Texts:
        return scan_modules_of(self.trace(), self.plan)[0]

    def __reduce__(self) -> tuple[Any, ...]:
        return self._reduce(Scan, self.plan)

    def __repr__(self) -> str:
        return f"<Scan {self.name}, {sum(self.ops.values())} operations a step, {self.dtype}>"
