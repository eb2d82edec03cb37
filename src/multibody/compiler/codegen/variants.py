"""The two forms of a kernel: one for batches, in vectors, and one for a single sample, without any.

A vector of which one lane is used costs as much as a full one, and its slots and rows are as long. A program of some
size therefore has two forms, each compiled when it is first called (`code.py`), and a call with one sample goes to the
form `one`. Both do the same operations in the same order: their results are equal bit for bit, but for the signs of
NaN.
"""

from typing import Any

import numpy as np

from multibody.compiler.codegen import entry, module, target
from multibody.compiler.ir.passes import Block, prepare
from multibody.compiler.ir.segments import Program, cut
from multibody.compiler.ir.tiling import choose_shape, lone_shape
from multibody.tracing.record.trace import Trace

Texts = dict[str, list[str]]
"""The texts of the modules of a form, by its name."""
BATCH, SINGLE = "kernel", "one"
"""The forms, which are also the names of their entries."""
LEAST = 100
"""Nodes and results of a program that has two forms: fewer are fast in any form."""


def modules_of(traced: Trace) -> tuple[Texts, Block]:
    """The LLVM modules of a trace, by variant, and the prepared graph that they compute."""
    block = prepare(traced.graph, traced.roots)
    sizes = [ids.size for ids in traced.outputs]
    return texts(cut(block, sizes), sizes, traced.dtype), block


def texts(program: Program, sizes: list[int], dtype: np.dtype[Any], scan: entry.Scan | None = None) -> Texts:
    """The texts of the modules of each form; where there is one form, that for batches, it serves single samples, too.

    Args:
        program: what to compute.
        sizes: the elements per sample of every result.
        dtype: float64 or float32.
        scan: for a scan over time.
    """
    machine = target.host()
    lanes = machine.lanes * (2 if dtype == np.float32 else 1)
    shape = choose_shape(program, lanes, dtype.name, fma=machine.fma, once=scan is None)
    batch = module.modules(program, shape, sizes, scan, BATCH)
    weight = sum(len(segment.nodes) + LEAST * (segment.dense is not None) for segment in program.segments) + len(
        program.outputs
    )
    if lanes == 1 or weight < LEAST:
        return {BATCH: batch}
    alone = module.modules(program, lone_shape(program, dtype.name, fma=machine.fma), sizes, scan, SINGLE)
    return {BATCH: batch, SINGLE: alone}
