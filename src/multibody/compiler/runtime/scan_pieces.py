"""The launch of a scan: samples over threads, time in pieces between which signals are handled."""

import ctypes
import math
import time
from typing import Any, NamedTuple

from numpy.typing import NDArray

from multibody.compiler.codegen.variants import SCALAR, VECTOR
from multibody.compiler.ir.program import MIN_INTERRUPTIBLE_WORK
from multibody.compiler.runtime import workers
from multibody.compiler.runtime.code import Code
from multibody.compiler.runtime.launch import PIECE_TIME, Argument, check_allocation, pointers
from multibody.compiler.runtime.signature import Signature

_ENTRY = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, *[ctypes.c_int64] * 5)
MAX_SAMPLES_PER_PIECE = 4096
"""Samples whose steps all run before those of the next samples."""


class Results(NamedTuple):
    """The arrays that a run writes, and its steps."""

    finals: list[NDArray[Any]]
    """The initial state, and then the final one."""
    outputs: list[NDArray[Any]]
    steps: int
    every: int
    """Outputs are stored after every so many steps."""


class Runner:
    """Runs the code of a scan."""

    def __init__(self, name: str, code: Code, signature: Signature, moving: range) -> None:
        self.name = name
        self.code = code
        self.inputs, self.outputs, self.dtype = signature.inputs, signature.outputs, signature.dtype
        self.moving = moving
        work = code.header["work"]
        self.rate = 5e-10 * (1 + work)  # seconds per sample and step: an estimate until the first run
        self.long = work > MIN_INTERRUPTIBLE_WORK

    def run(self, arguments: list[Argument], results: Results, count: int, threads: int) -> None:
        """Run all steps of all samples."""
        if not count or not results.steps:
            return
        entry = _ENTRY(self.code.address(SCALAR if count == 1 else VECTOR, self.name))

        def part(start: int, end: int, stop: workers.Stop) -> None:
            while start < end and not stop.is_set():
                piece = min(end, start + MAX_SAMPLES_PER_PIECE)
                self._over_time(entry, arguments, results, start, piece, stop)
                start = piece

        workers.run(count, threads, part, long=self.long)

    def _over_time(
        self, entry: Any, arguments: list[Argument], results: Results, start: int, end: int, stop: workers.Stop
    ) -> None:
        """Run all steps of some samples in pieces of time; between pieces the state is in `finals`."""
        finals, outputs, steps, every = results
        done, total = 0, steps // every
        while done < steps and not stop.is_set():
            piece = min(steps - done, max(1, int(PIECE_TIME / self.rate / (end - start))))
            started = time.perf_counter()
            data, strides, offsets = self._pointers(arguments, finals, start, done, stop)
            out = (ctypes.c_void_p * (len(finals) + len(outputs) + 1))()
            for m, (array, shape) in enumerate(zip([*finals, *outputs], self.outputs, strict=True)):
                size = math.prod(shape) * array.itemsize
                kept = m >= len(finals)
                out[m] = array.ctypes.data + size * (start * total + done // every if kept else start)
            entry(data, strides, offsets, out, end - start, piece, every - done % every, every, total)
            check_allocation(self.name, out)
            self.rate = max(1e-11, (time.perf_counter() - started) / (piece * (end - start)))
            done += piece

    def _pointers(
        self, arguments: list[Argument], finals: list[NDArray[Any]], start: int, done: int, stop: workers.Stop
    ) -> tuple[Any, ...]:
        """The pointers of arguments from a sample and a step on; the state is read where it is written."""
        data, strides, offsets = pointers(arguments, start, stop)
        sizes = [math.prod(spec.shape) * self.dtype.itemsize for spec in self.inputs]
        for i, final in enumerate(finals):
            data[i], strides[i], offsets[i] = final.ctypes.data + start * sizes[i], sizes[i], None
        for i in self.moving:
            data[i] = (data[i] or 0) + done * sizes[i]  # null if an input has no elements
        return data, strides, offsets
