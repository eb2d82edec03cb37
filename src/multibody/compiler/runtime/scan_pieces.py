"""The launch of a scan: samples over threads, time in pieces between which signals are handled."""

import ctypes
import math
import time
from typing import Any

from numpy.typing import NDArray

from multibody.compiler.codegen.variants import SCALAR, VECTOR
from multibody.compiler.ir.program import MIN_INTERRUPTIBLE_WORK
from multibody.compiler.runtime import workers
from multibody.compiler.runtime.code import Code
from multibody.compiler.runtime.launch import PIECE_TIME, Argument, check_allocation, words
from multibody.compiler.runtime.signature import Signature

_ENTRY = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, *[ctypes.c_int64] * 5)
MAX_SAMPLES_PER_PIECE = 4096
"""Samples whose steps all run before those of the next samples."""


class Runner:
    """Runs the code of a scan."""

    def __init__(self, name: str, code: Code, signature: Signature, moving: range, work: int) -> None:
        self.name = name
        self.code = code
        self.inputs, self.outputs, self.dtype = signature.inputs, signature.outputs, signature.dtype
        self.moving = moving
        self.rate = 5e-10 * (1 + work)  # seconds per sample and step: an estimate until the first run
        self.long = work > MIN_INTERRUPTIBLE_WORK

    def run(
        self,
        arguments: list[Argument],
        finals: list[NDArray[Any]],
        results: list[NDArray[Any]],
        count: int,
        steps: int,
        every: int,
        threads: int,
    ) -> None:
        """Run all steps of all samples; `finals` have the initial state, and then the final one."""
        if not count or not steps:
            return
        entry = _ENTRY(self.code.address(SCALAR if count == 1 else VECTOR, self.name))

        def part(start: int, end: int, stop: workers.Stop) -> None:
            while start < end and not stop.is_set():
                piece = min(end, start + MAX_SAMPLES_PER_PIECE)
                self._over_time(entry, arguments, finals, results, start, piece, steps, every, stop)
                start = piece

        workers.run(count, threads, part, long=self.long)

    def _over_time(
        self,
        entry: Any,
        arguments: list[Argument],
        finals: list[NDArray[Any]],
        results: list[NDArray[Any]],
        start: int,
        end: int,
        steps: int,
        every: int,
        stop: workers.Stop,
    ) -> None:
        """Run all steps of some samples in pieces of time; between pieces the state is in `finals`."""
        done, total = 0, steps // every
        while done < steps and not stop.is_set():
            piece = min(steps - done, max(1, int(PIECE_TIME / self.rate / (end - start))))
            started = time.perf_counter()
            data, strides, offsets = self._pointers(arguments, finals, start, done, stop)
            out = (ctypes.c_void_p * (len(finals) + len(results) + 1))()
            for m, (array, shape) in enumerate(zip([*finals, *results], self.outputs, strict=True)):
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
        data, strides, offsets = words(len(arguments), stop)
        for i, argument in enumerate(arguments):
            size = math.prod(self.inputs[i].shape) * self.dtype.itemsize
            if i < len(finals):
                data[i], strides[i] = finals[i].ctypes.data + start * size, size
                continue
            ahead = done * size if i in self.moving else 0
            data[i] = argument.array.ctypes.data + ahead + (start * argument.stride if argument.offsets is None else 0)
            strides[i] = argument.stride
            offsets[i] = None if argument.offsets is None else argument.offsets.ctypes.data + 8 * start
        return data, strides, offsets
