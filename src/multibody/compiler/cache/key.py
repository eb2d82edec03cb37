"""The key of compiled code: a digest of everything that the code depends on.

Code with the same key is the same code in all processes; `code_cache` and `disk_cache` rely on it. It depends on the
function, represented by a text or by the fingerprint of its graph, on the shapes, names and precision of its arguments,
on the library's sources as this process imports them, on the versions of NumPy and LLVM, and on the processor.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from multibody import _sources
from multibody.compiler.codegen import target
from multibody.compiler.config import config
from multibody.tracing.graph.loop_nodes import Loop
from multibody.tracing.record.trace import Trace, shape_of


def key(
    function: object, shapes: Sequence[Any] = (), names: Sequence[str] | None = None, dtype: np.dtype[Any] | None = None
) -> str:
    """The key of a kernel's code.

    Args:
        function: plain data that represents the function, compared by its `repr`.
        shapes: of the arguments.
        names: of the arguments; None for those of the function.
        dtype: of the arguments.
    """
    versions = llvmlite.__version__, llvm.llvm_version_info, np.__version__
    arguments = [shape_of(shape) for shape in shapes], names and list(names), dtype and dtype.name
    return _digest(_sources.digest(), versions, target.host(), config.level, config.tape, function, *arguments)


def fingerprint(traced: Trace) -> str:
    """A digest of a trace: equal graphs with equal arguments and results have equal ones."""
    graph = traced.graph
    order = graph.live(traced.roots)
    new = {k: position for position, k in enumerate(order)}
    nodes = [(graph.op[k], [new[a] for a in graph.operands(k)]) for k in order]
    values = [(new[k], graph.value[k]) for k in order if k in graph.value]
    loops = [None if loop is None else _loop(loop, new) for loop in graph.loops]
    outputs = [(ids.shape, [new[k] for k in ids.ravel().tolist()]) for ids in traced.outputs]
    return _digest(nodes, values, loops, traced.inputs, outputs, traced.layout, traced.dtype.name)


def _loop(loop: Loop, new: dict[int, int]) -> object:
    """A loop in terms of the positions of live nodes."""
    parts = [
        [new.get(k, -1) for k in part] for part in (loop.initial, loop.carried, loop.final, loop.inputs, loop.outputs)
    ]
    tables = [
        ([new.get(k, -1) for k in table.nodes], *table[1:])
        for row, table in zip(loop.inputs, loop.xs, strict=True)
        if row in new
    ]
    return (
        loop.iterations,
        loop.parent,
        loop.reverse,
        parts,
        tables,
        new.get(loop.stop, -1),
        new.get(loop.trip_count, -1),
    )


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()
