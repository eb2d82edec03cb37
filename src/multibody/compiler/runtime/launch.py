"""The general path of a call: native code on arrays of any layout and batch shape, over threads, in pieces."""

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
from multibody.compiler.ir.program import MIN_INTERRUPTIBLE_WORK
from multibody.compiler.runtime import fastcall, workers
from multibody.compiler.runtime.call_mode import Source, check_out
from multibody.compiler.runtime.code import Code
from multibody.compiler.runtime.signature import Signature
from multibody.tracing.record.layout import rebuild

PIECE_TIME = 0.03
"""Seconds of work between two checks for a signal."""
ESTIMATE_FACTOR = 4
"""Safety factor on the estimated run time, which assumes that loops run to their bounds and ignores vectorization."""
MAX_TIME_WITH_GIL = 2e-5
"""Estimated run times, in seconds, below which the GIL is kept."""
MIN_SPLIT_TIME = 4e-4
"""Estimated run times, in seconds, from which a batch is worth splitting over `config.threads`."""
MIN_PIECE = 16
"""Samples of the smallest piece: the lanes of the widest machine."""
_ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)


class Argument(NamedTuple):
    """An argument in memory: rows at a stride, or at a table of offsets."""

    array: NDArray[Any]
    stride: int
    offsets: NDArray[Any] | None


class Call(NamedTuple):
    """The data that all pieces of a call share."""

    entry: Any
    arguments: list[Argument]
    results: list[NDArray[Any]]


class Launcher:
    """The fast path and the general path of the calls of one kernel."""

    def __init__(
        self,
        name: str,
        code: Code,
        signature: Signature,
        function: Callable[..., Any] | None,
        variants: Any,
        *,
        batched: bool,
    ) -> None:
        inputs, outputs, dtype, _, quaternions = signature
        work = code.header["work"]
        self.source = Source(function, inputs, dtype, quaternions, batched, outputs)
        self.variants = variants
        self.name = name
        self.code = code
        self.signature = signature
        entries = sum(map(math.prod, (*(spec.shape for spec in signature.inputs), *signature.outputs)))
        self.rate = 5e-10 * (1 + work + entries)  # seconds per sample: an estimate until the first long run
        self.long = work > MIN_INTERRUPTIBLE_WORK
        self.call: Callable[..., Any] = self.general
        self.set_address: Callable[[str, int], None] | None = None
        if not self.long and fastcall.supports(signature):
            max_samples = int(ESTIMATE_FACTOR * PIECE_TIME / self.rate)
            min_split = min(max_samples, int(MIN_SPLIT_TIME / self.rate))
            limits = fastcall.Limits(max_samples, min_split, int(MAX_TIME_WITH_GIL / self.rate))
            self.call, self.set_address = fastcall.make(code, signature, self.general, limits)

    def general(self, *args: Any, out: Any = None, threads: int | None = None, **named: Any) -> Any:
        """Evaluate any call that the fast path does not take: lists, other dtypes and layouts, names, threads.

        Args:
            *args: the inputs of the kernel, in their order; help(kernel) has their shapes.
            out: an array for the result; a tuple of arrays for several.
            threads: the number of threads that a batch is split over.
            **named: inputs by name, and optional ones.
        """
        if self.variants is not None:
            optional = self.variants.optional
            named = {name: value for name, value in named.items() if value is not None or name not in optional}
            present = tuple(sorted(named.keys() & optional.keys()))
            if present:
                return self.variants.kernel(present)(*args, **named, out=out, threads=threads)
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
        """Arrays for the results, and (destination, result) pairs to copy afterwards."""
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

    def _entry(self, variant: str) -> Any:
        """The function of a variant, compiled at its first call; the fast path serves the next ones."""
        address = self.code.address(variant, self.name)
        final = self.code.linked(variant)
        if self.set_address is not None and final:
            self.set_address(variant, final)
        return _ENTRY(address)

    def _pieces(self, call: Call, start: int, end: int, stop: workers.Stop) -> None:
        """Run samples start to end in pieces, between which signals are handled."""
        while start < end and not stop.is_set():
            piece = min(end, start + max(MIN_PIECE, int(PIECE_TIME / self.rate)))
            started = time.perf_counter()
            self._piece(call, start, piece, stop)
            if piece - start >= MIN_PIECE:
                self.rate = max(1e-10, (time.perf_counter() - started) / (piece - start))
            start = piece

    def _piece(self, call: Call, start: int, end: int, stop: workers.Stop) -> None:
        m = len(call.results)
        data, strides, offsets = pointers(call.arguments, start, stop)
        out = (ctypes.c_void_p * (m + 1))()
        for i, (result, core) in enumerate(zip(call.results, self.signature.outputs, strict=True)):
            out[i] = result.ctypes.data + start * math.prod(core) * result.itemsize
        call.entry(data, strides, offsets, out, end - start)
        check_allocation(self.name, out)


def check_allocation(name: str, out: Any) -> None:
    """Raise MemoryError if a kernel could not allocate its buffer: it then stores the bytes after the results."""
    if out[-1]:
        raise MemoryError(f"{name}: expected {out[-1]} bytes of free memory for the kernel's buffer")


def rows_of(array: NDArray[Any], batch: tuple[int, ...], core: int) -> Argument:
    """Rows at one stride if the batch allows it, otherwise a table of offsets; contiguous samples are not copied."""
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


def pointers(arguments: list[Argument], start: int, stop: workers.Stop) -> tuple[Any, Any, Any]:
    """Addresses, strides and offset tables from a sample on; the word before them is the address of the stop flag."""
    count = len(arguments)
    whole = (ctypes.c_void_p * (count + 1))(stop.address)
    data = (ctypes.c_void_p * count).from_buffer(whole, ctypes.sizeof(ctypes.c_void_p))
    strides, offsets = (ctypes.c_int64 * count)(), (ctypes.c_void_p * count)()
    for i, argument in enumerate(arguments):
        data[i] = argument.array.ctypes.data + (start * argument.stride if argument.offsets is None else 0)
        strides[i] = argument.stride
        offsets[i] = None if argument.offsets is None else argument.offsets.ctypes.data + 8 * start
    return data, strides, offsets
