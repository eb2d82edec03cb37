"""`compile_scan`: a step that is repeated over time inside the kernel, where the state stays.

What rollouts, integrators and closed loops stand on: per-step inputs are read as time goes on, outputs are kept as
often as asked for, and nothing returns to Python between the steps.
"""

import ctypes
import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from multibody.compiler import batch_and_single, native, sharing, workers
from multibody.compiler.config import config, is_eager
from multibody.compiler.entry_ir import Scan as Places
from multibody.compiler.kernel import PIECE, Argument, Signature, revive, rows_of, words
from multibody.compiler.key import fingerprint, key
from multibody.compiler.passes import Block, prepare
from multibody.compiler.program import LONG, cut
from multibody.errors import InputError
from multibody.tracing.graph import Graph
from multibody.tracing.layout import Layout, flatten, rebuild
from multibody.tracing.trace import Trace, trace

_ENTRY = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, *[ctypes.c_int64] * 5)


class Plan(NamedTuple):
    """What a scan takes: how many of the arguments are states, per-step inputs and parameters."""

    states: int
    inputs: int
    parameters: int
    state_layout: Layout


class Scan:
    """A compiled scan; see `compile_scan`."""

    def __init__(
        self,
        name: str,
        signature: Signature,
        code: native.Code,
        ops: Counter[str],
        work: int,
        plan: Plan,
        step: Callable[..., Any] | None = None,
    ) -> None:
        self.name = name
        self.plan = plan
        self.signature = signature
        self.inputs, self.outputs, self.dtype, layout = signature[:4]
        self.output_layout = layout[2] if len(layout) > 2 else None
        self.ops = ops
        """How often each operation occurs in a step."""
        self._work = work
        self._step = step
        self.code = code
        self.entry, self.single_entry = (_ENTRY(code.addresses[name]) for name in batch_and_single.ENTRIES)
        self.rate = 5e-10 * (1 + work)  # seconds per sample and step, a guess to begin with

    def __call__(
        self, state: Any, *args: Any, steps: int | None = None, every: int = 1, threads: int | None = None
    ) -> tuple[Any, Any]:
        """Run the steps.

        Args:
            state: the first state: an array, or a tuple of arrays, with any leading batch shape.
            *args: per-step inputs, (..., steps, *shape) each, then parameters; batches broadcast.
            steps: how many steps; needed only when there are no per-step inputs.
            every: outputs are kept after every so many steps.
            threads: over how many threads the batch is split.

        Returns:
            The last state, and the kept outputs, with an axis for time before the axes of each (or None).
        """
        several = self.plan.state_layout != "array"
        if several and not (isinstance(state, tuple | list) and len(state) == self.plan.states):
            raise InputError(f"{self.name}: state: expected a tuple of {self.plan.states} arrays, got {state!r:.60}")
        arrays = self._checked([*(state if several else [state]), *args])
        steps = self._count(arrays, steps)
        if not isinstance(every, int | np.integer) or every < 1:
            raise InputError(f"{self.name}: every: expected a positive integer, got {every!r}")
        cores = [len(spec.shape) + self._moves(i) for i, spec in enumerate(self.inputs)]
        try:
            batch = np.broadcast_shapes(*(a.shape[: a.ndim - core] for a, core in zip(arrays, cores, strict=True)))
        except ValueError:
            raise InputError(f"{self.name}: the batch shapes do not broadcast") from None
        arguments = [rows_of(array, batch, core) for array, core in zip(arrays, cores, strict=True)]
        kept = steps // every
        finals = [np.empty(batch + shape, self.dtype) for shape in self.outputs[: self.plan.states]]
        for final, array in zip(finals, arrays, strict=False):
            final[...] = array
        results = [np.empty((*batch, kept, *shape), self.dtype) for shape in self.outputs[self.plan.states :]]
        count = workers.count(threads)
        if is_eager() and self._step is not None:
            self._plain(self._step, arrays, finals, results, batch, steps, every)
        else:
            self._run(arguments, finals, results, math.prod(batch), steps, every, count)
        last = rebuild(self.plan.state_layout, (final if final.ndim else final[()] for final in finals))
        return last, None if self.output_layout is None else rebuild(self.output_layout, iter(results))

    def _moves(self, i: int) -> bool:
        return self.plan.states <= i < self.plan.states + self.plan.inputs

    def _checked(self, values: list[Any]) -> list[NDArray[Any]]:
        if len(values) != len(self.inputs):
            raise InputError(f"{self.name}: expected {len(self.inputs)} arrays, got {len(values)}")
        arrays = []
        for i, (value, spec) in enumerate(zip(values, self.inputs, strict=True)):
            try:
                array = np.asarray(value)
            except ValueError as error:
                raise InputError(f"{self.name}: {spec.name}: expected numbers, got {error}") from None
            core = len(spec.shape) + self._moves(i)
            if array.dtype.kind not in "fiub":
                raise InputError(f"{self.name}: {spec.name}: expected real numbers, got dtype {array.dtype}")
            if array.ndim < core or array.shape[array.ndim - len(spec.shape) :] != spec.shape:
                expected = ("steps", *spec.shape) if self._moves(i) else spec.shape
                raise InputError(
                    f"{self.name}: {spec.name}: expected (..., {', '.join(map(str, expected))}), got {array.shape}"
                )
            arrays.append(array.astype(self.dtype, copy=False))
        return arrays

    def _count(self, arrays: list[NDArray[Any]], steps: int | None) -> int:
        lengths = {
            array.shape[array.ndim - len(spec.shape) - 1]
            for i, (array, spec) in enumerate(zip(arrays, self.inputs, strict=True))
            if self._moves(i)
        } | ({steps} if steps is not None else set())
        if len(lengths) != 1:
            raise InputError(
                f"{self.name}: expected one number of steps, got {sorted(lengths) or 'none (pass steps=)'}"
            )
        count = lengths.pop()
        if not isinstance(count, int | np.integer) or count < 0:
            raise InputError(f"{self.name}: steps: expected an integer that is not negative, got {count!r}")
        return int(count)

    def _plain(
        self,
        step: Callable[..., Any],
        arrays: list[NDArray[Any]],
        finals: list[NDArray[Any]],
        results: list[NDArray[Any]],
        batch: tuple[int, ...],
        steps: int,
        every: int,
    ) -> None:
        """The NumPy source, sample by sample and step by step."""
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
                    for result, part in zip(results, parts[states:], strict=True):
                        result[(*index, now // every)] = part
            for final, part in zip(finals, sample, strict=False):
                final[index] = part

    def _run(
        self,
        arguments: list[Argument],
        finals: list[NDArray[Any]],
        results: list[NDArray[Any]],
        count: int,
        steps: int,
        every: int,
        threads: int,
    ) -> None:
        if not count or not steps:
            return
        share = -(-count // threads)
        parts = [(start, min(count, start + share)) for start in range(0, count, share)]

        def part(start: int, end: int, stop: Any) -> None:
            while start < end and not stop.is_set():
                piece = min(end, start + 4096)
                self._over_time(arguments, finals, results, start, piece, steps, every, stop)
                start = piece

        workers.run([lambda stop, a=a, b=b: part(a, b, stop) for a, b in parts], long=self._work > LONG)

    def _over_time(
        self,
        arguments: list[Argument],
        finals: list[NDArray[Any]],
        results: list[NDArray[Any]],
        start: int,
        end: int,
        steps: int,
        every: int,
        stop: Any,
    ) -> None:
        """All steps of some samples, in pieces after which a signal is heard; the state waits in `finals`."""
        done, total = 0, steps // every
        while done < steps and not stop.is_set():
            piece = min(steps - done, max(1, int(PIECE / self.rate / (end - start))))
            begun = time.perf_counter()
            data, strides, offsets = self._pointers(arguments, finals, start, done, stop)
            out = (ctypes.c_void_p * (len(finals) + len(results)))()
            for m, (array, shape) in enumerate(zip([*finals, *results], self.outputs, strict=True)):
                size = math.prod(shape) * array.itemsize
                kept = m >= len(finals)
                out[m] = array.ctypes.data + size * (start * total + done // every if kept else start)
            entry = self.single_entry if end - start == 1 else self.entry
            entry(data, strides, offsets, out, end - start, piece, every - done % every, every, total)
            self.rate = max(1e-11, (time.perf_counter() - begun) / (piece * (end - start)))
            done += piece

    def _pointers(
        self, arguments: list[Argument], finals: list[NDArray[Any]], start: int, done: int, stop: workers.Stop
    ) -> tuple[Any, ...]:
        data, strides, offsets = words(len(arguments), stop)
        for i, argument in enumerate(arguments):
            size = math.prod(self.inputs[i].shape) * self.dtype.itemsize
            if i < len(finals):
                data[i], strides[i] = finals[i].ctypes.data + start * size, size
                continue
            ahead = done * size if self._moves(i) else 0
            data[i] = argument.array.ctypes.data + ahead + (start * argument.stride if argument.offsets is None else 0)
            strides[i] = argument.stride
            offsets[i] = None if argument.offsets is None else argument.offsets.ctypes.data + 8 * start
        return data, strides, offsets

    def __reduce__(self) -> tuple[Any, ...]:
        code = self.code.objects, self.ops, self._work
        return revive, (native.host(), Scan, self.name, self.signature, *code, self.plan)

    def __repr__(self) -> str:
        return f"<Scan {self.name}, {sum(self.ops.values())} operations a step, {self.dtype}>"


def compile_scan(
    step: Callable[..., Any],
    state: Any,
    inputs: Sequence[Any] = (),
    parameters: Sequence[Any] = (),
    *,
    dtype: DTypeLike | None = None,
) -> Scan:
    """Compile a step of time, to be repeated in the kernel.

    Args:
        step: `step(state, *inputs, *parameters)` in plain NumPy; returns the next state and an output (or None).
        state: the shape of the state, or a list of shapes for a state that is a tuple of arrays.
        inputs: shapes of what changes from step to step.
        parameters: shapes of what stays.
        dtype: float64 or float32; by default that of `mb.config`.

    >>> scan = compile_scan(lambda x, u: (0.5 * x + u, x), (1,), [(1,)])
    >>> last, seen = scan([1.0], [[0.0], [0.0], [1.0]])
    >>> last, seen[:, 0]
    (array([1.125]), array([1.  , 0.5 , 0.25]))
    """
    several = isinstance(state, list)
    shapes = [*(state if several else [state]), *inputs, *parameters]
    count = len(state) if several else 1
    layout: Layout = ["tuple", *["array"] * count] if several else "array"

    def flat(*args: Any) -> Any:
        first = tuple(args[:count]) if several else args[0]
        result = step(first, *args[count:])
        if not isinstance(result, tuple) or len(result) != 2:
            raise InputError("a step must return the next state and an output: (state, output), or (state, None)")
        following, output = result
        states: list[Any] = []
        if flatten(following, states.append) != layout:
            raise InputError("a step must return a state that is nested as the one it takes")
        return (tuple(states), *(() if output is None else (output,)))

    names = [f"state{k}" for k in range(count)] + [f"input{k}" for k in range(len(inputs))]
    traced = trace(
        flat,
        shapes,
        [*names, *(f"parameter{k}" for k in range(len(parameters)))],
        config.dtype if dtype is None else dtype,
    )
    for spec, ids in zip(traced.inputs, traced.outputs, strict=False):
        if spec.name.startswith("state") and ids.shape != spec.shape:
            raise InputError(f"a step must keep the shape of the state: {spec.shape} became {ids.shape}")
    plan = Plan(count, len(inputs), len(parameters), layout)
    name = getattr(step, "__name__", "scan")
    code = sharing.code(
        key(("scan", fingerprint(traced), plan)), name, lambda: traced, lambda trace: _texts(trace, plan)
    )
    signature = Signature(traced.inputs, tuple(ids.shape for ids in traced.outputs), traced.dtype, traced.layout)
    return Scan(name, signature, code, Counter(code.header["ops"]), code.header["work"], plan, flat)


def _texts(traced: Trace, plan: Plan) -> tuple[list[str], Block]:
    """The modules of a step, and what they compute."""
    block = prepare(traced.graph, _with_all_states(traced, plan))
    leaves = {block.graph.value[k]: k for k in block.order if block.graph.op[k] == "input"}
    states = [(i, e) for i in range(plan.states) for e in range(math.prod(traced.inputs[i].shape))]
    sizes = [ids.size for ids in traced.outputs]
    program = cut(block, sizes, {position: leaves[element] for position, element in enumerate(states)})
    slots = {(argument, element): slot for argument, element, slot in program.inputs}
    moving = range(plan.states, plan.states + plan.inputs)
    places = Places(
        plan.states,
        [slots.get((i, 0), 0) for i in range(plan.states)],
        {i: math.prod(traced.inputs[i].shape) for i in moving},
    )
    return batch_and_single.texts(program, sizes, traced.dtype, places), block


def _with_all_states(traced: Trace, plan: Plan) -> list[int]:
    """The outputs; every element of the state is made to be used, so that it has a place to stay in."""
    graph: Graph = traced.graph
    roots = traced.roots
    needed = set(graph.live(roots))
    position = 0
    for i in range(plan.states):
        for e in range(math.prod(traced.inputs[i].shape)):
            leaf = graph.leaf("input", i, e)
            if leaf not in needed:  # a state that is written and never read
                roots[position] = graph._intern("select", (graph.truth(True), roots[position], leaf))
            position += 1
    return roots
