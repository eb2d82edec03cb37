"""From the arguments of a call to native code, and back: what the door does not take, and long batches in pieces."""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.compiler.codegen.variants import SCALAR, VECTOR
from multibody.compiler.ir.segments import MIN_INTERRUPTIBLE_WORK
from multibody.compiler.runtime import fastcall, fastcall_ir, workers
from multibody.compiler.runtime.code import Code
from multibody.compiler.runtime.execution import Source, check_out
from multibody.tracing.record.general_path import OPEN_BLOCKS
from multibody.tracing.record.layout import Layout, is_flat, rebuild
from multibody.tracing.record.trace import Input

PIECE = 0.03
"""Seconds of work between two looks for a signal."""
GUESSED = 4
"""How many times as long a guess may be, which counts all rounds of loops that stop, and no vectors."""
HELD = 2e-5
"""Seconds of work for which other threads may wait."""
LEAST = 16
"""Samples that run together in any case: the lanes of the widest machine."""
_ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)


class Signature(NamedTuple):
    """What a kernel takes and gives."""

    inputs: tuple[Input, ...]
    outputs: tuple[tuple[int, ...], ...]
    dtype: np.dtype[Any]
    layout: Layout
    """How the results are nested."""
    quaternions: tuple[tuple[int, int], ...] = ()
    """(input, first entry) of every four numbers that must be a unit quaternion."""


class Argument(NamedTuple):
    """An argument as the kernel's entry takes it."""

    array: NDArray[Any]
    stride: int
    offsets: NDArray[Any] | None


class Call(NamedTuple):
    """What all pieces of a call share."""

    entry: Any
    arguments: list[Argument]
    results: list[NDArray[Any]]


class Native:
    """The code of one kernel and the ways to call it."""

    def __init__(
        self,
        name: str,
        code: Code,
        signature: Signature,
        work: int,
        function: Callable[..., Any] | None,
        variants: Any,
        *,
        batched: bool,
    ) -> None:
        inputs, outputs, dtype, _, quaternions = signature
        self.source = Source(function, inputs, dtype, quaternions, batched, outputs)
        self.variants = variants
        self.name = name
        self.code = code
        self.signature = signature
        self.tell: Callable[[str, int], None] | None = None
        numbers = sum(map(math.prod, (*(spec.shape for spec in signature.inputs), *signature.outputs)))
        self.rate = 5e-10 * (1 + work + numbers)  # seconds per sample, a guess until the first long run tells
        self.long = work > MIN_INTERRUPTIBLE_WORK
        easy = is_flat(signature.layout) and max(len(signature.inputs), len(signature.outputs)) <= fastcall_ir.MOST
        self.call = self.general
        if easy and not self.long and fastcall.available():
            self.call, self.tell = fastcall.make(
                code,
                signature.dtype,
                [spec.shape for spec in signature.inputs],
                list(signature.outputs),
                single=signature.layout == "array",
                slow=self.general,
                largest=int(GUESSED * PIECE / self.rate),
                alone=int(HELD / self.rate),
                eager=ctypes.addressof(OPEN_BLOCKS),
                quaternions=signature.quaternions,
            )

    def general(self, *args: Any, out: Any = None, threads: int | None = None, **named: Any) -> Any:
        """Evaluate any call that the fast path does not take: lists, other dtypes and layouts, names, threads."""
        extra = tuple(name for name in named if self.variants and name in self.variants.optional)
        options = {name: named.pop(name) for name in extra}
        options = {name: value for name, value in options.items() if value is not None}
        if options:
            kernel = self.variants.get(tuple(options), tuple(i.name for i in self.signature.inputs))
            return kernel(*args, **named, **options, out=out, threads=threads)
        return self.source.call(args, named, out, threads, self.launch)

    def launch(self, arrays: list[NDArray[Any]], batch: tuple[int, ...], out: Any, threads: int) -> Any:
        """Run the native code on checked arrays."""
        results, copies = self._results(out, batch, arrays)
        rows = [rows_of(a, batch, len(spec.shape)) for a, spec in zip(arrays, self.signature.inputs, strict=True)]
        self._run(rows, results, math.prod(batch), threads)
        for place, computed in copies:
            place[...] = computed
        if out is not None:
            return out
        return rebuild(self.signature.layout, (result if result.ndim else result[()] for result in results))

    def _results(self, out: Any, batch: tuple[int, ...], arrays: list[NDArray[Any]]) -> tuple[list[Any], list[Any]]:
        """Where the kernel writes, and (place, computed) pairs to copy afterwards."""
        shapes = [batch + core for core in self.signature.outputs]
        if out is None:
            return [np.empty(shape, self.signature.dtype) for shape in shapes], []
        results, copies = [], []
        for place in check_out(out, shapes, self.signature.layout, self.signature.dtype):
            direct = place.flags.c_contiguous and place.flags.aligned and place.dtype == self.signature.dtype
            if direct and not any(np.may_share_memory(place, array) for array in arrays):
                results.append(place)
            else:
                results.append(np.empty(place.shape, self.signature.dtype))
                copies.append((place, results[-1]))
        return results, copies

    def _run(self, arguments: list[Argument], results: list[NDArray[Any]], count: int, threads: int) -> None:
        if not count:
            return
        call = Call(self._entry(SCALAR if count == 1 else VECTOR), arguments, results)
        workers.run(count, threads, partial(self._pieces, call), long=self.long)

    def _entry(self, form: str) -> Any:
        """The entry of a form, compiled at its first call; the door takes the next ones."""
        address = self.code.address(form, self.name)
        if self.tell is not None:
            self.tell(form, address)
        return _ENTRY(address)

    def _pieces(self, call: Call, start: int, end: int, stop: workers.Stop) -> None:
        """Samples start to end, a piece at a time, so that a signal is heard."""
        while start < end and not stop.is_set():
            piece = min(end, start + max(LEAST, int(PIECE / self.rate)))
            begun = time.perf_counter()
            self._piece(call, start, piece, stop)
            if piece - start >= LEAST:
                self.rate = max(1e-10, (time.perf_counter() - begun) / (piece - start))
            start = piece

    def _piece(self, call: Call, start: int, end: int, stop: workers.Stop) -> None:
        m = len(call.results)
        data, strides, offsets = words(len(call.arguments), stop)
        for i, argument in enumerate(call.arguments):
            data[i] = argument.array.ctypes.data + (start * argument.stride if argument.offsets is None else 0)
            strides[i] = argument.stride
            offsets[i] = None if argument.offsets is None else argument.offsets.ctypes.data + 8 * start
        out = (ctypes.c_void_p * m)()
        for i, (result, core) in enumerate(zip(call.results, self.signature.outputs, strict=True)):
            out[i] = result.ctypes.data + start * math.prod(core) * result.itemsize
        call.entry(data, strides, offsets, out, end - start)


def rows_of(array: NDArray[Any], batch: tuple[int, ...], core: int) -> Argument:
    """Rows at one stride where the batch allows it, else a table of offsets; the numbers are not copied."""
    tail = array.shape[array.ndim - core :]
    sample = array[(0,) * (array.ndim - core)] if 0 not in array.shape[: array.ndim - core] else np.empty(tail)
    if not (sample.flags.c_contiguous and array.flags.aligned):
        array = np.require(array, requirements=("C", "A"))
    if not batch:
        return Argument(array, 0, None)
    rows = np.broadcast_to(array, batch + tail)
    lengths = [(n, s) for n, s in zip(batch, rows.strides, strict=False) if n != 1]
    for (_, outer), (n, inner) in pairwise(lengths):
        if outer != n * inner:
            offsets = np.zeros(batch, dtype=np.int64)
            for axis, (n, stride) in enumerate(zip(batch, rows.strides, strict=False)):
                offsets += np.arange(n).reshape(n, *[1] * (len(batch) - axis - 1)) * stride
            return Argument(array, 0, offsets.ravel())
    return Argument(array, lengths[-1][1] if lengths else 0, None)


def words(count: int, stop: workers.Stop) -> tuple[Any, Any, Any]:
    """Memory for the addresses, the strides and the tables of so many arguments, with that of the flag before all."""
    whole = (ctypes.c_void_p * (count + 1))(stop.address)
    data = (ctypes.c_void_p * count).from_buffer(whole, ctypes.sizeof(ctypes.c_void_p))
    return data, (ctypes.c_int64 * count)(), (ctypes.c_void_p * count)()
