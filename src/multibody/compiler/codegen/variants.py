"""The two variants of a kernel: one for batches, in vectors, and one for a single sample, in scalars.

A vector with one used lane costs as much as a full one, and its slots and rows are as long. Programs of some size
therefore have two variants, each compiled at its first call. A call with one sample runs the scalar one. Both do the
same operations in the same order: their results are equal bit for bit, except for the signs of NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from multibody.compiler.codegen import target
from multibody.compiler.ir.passes import Block, prepare
from multibody.compiler.ir.program import Program
from multibody.compiler.ir.segments import cut
from multibody.compiler.ir.tiling import choose_tiling, scalar_tiling
from multibody.tracing.record.trace import Trace

if TYPE_CHECKING:
    from multibody.compiler.codegen import entry

Texts = dict[str, list[str]]
"""The LLVM modules of every variant, by its name."""
VECTOR, SCALAR = "kernel", "one"
"""The variants, and the names of their entries."""
MIN_SCALAR_NODES = 100
"""Programs with at least this many nodes and results have a scalar variant: smaller ones are fast without."""


def modules_of(traced: Trace) -> tuple[Texts, Block]:
    """The LLVM modules of a trace, by variant, and the prepared graph that they compute."""
    block = prepare(traced.graph, traced.roots)
    sizes = [ids.size for ids in traced.outputs]
    return texts(cut(block, sizes), sizes, traced.dtype), block


def texts(program: Program, sizes: list[int], dtype: np.dtype[Any], scan: entry.ScanEntry | None = None) -> Texts:
    """The modules of each variant; a vector variant without a scalar one serves single samples, too.

    Args:
        program: to generate code for.
        sizes: the elements per sample of every result.
        dtype: float64 or float32.
        scan: for a scan over time.
    """
    from multibody.compiler.codegen import module  # which kernels from the disk do not need

    machine = target.host()
    lanes = machine.lanes_of(dtype)
    tiling = choose_tiling(program, lanes, dtype.name, fma=machine.fma, once=scan is None)
    variants = {VECTOR: module.modules(program, tiling, sizes, scan, VECTOR)}
    matrices = sum(segment.dense is not None for segment in program.segments)
    nodes = sum(len(segment.nodes) for segment in program.segments) + len(program.outputs)
    if lanes > 1 and nodes + MIN_SCALAR_NODES * matrices >= MIN_SCALAR_NODES:
        tiling = scalar_tiling(program, dtype.name, fma=machine.fma)
        variants[SCALAR] = module.modules(program, tiling, sizes, scan, SCALAR)
    return variants
