"""The arguments of a scan, and the LLVM modules of its step."""

import math
from typing import NamedTuple

from multibody.compiler.codegen import variants
from multibody.compiler.codegen.entry import ScanEntry
from multibody.compiler.ir.passes import Block, prepare
from multibody.compiler.ir.segments import cut
from multibody.tracing.graph.graph import Graph
from multibody.tracing.record.layout import Layout
from multibody.tracing.record.trace import Trace


class Plan(NamedTuple):
    """The numbers of states, per-step inputs and parameters of a scan, and their nested layouts."""

    states: int
    inputs: int
    parameters: int
    state_layout: Layout
    rest_layouts: list[Layout]
    """Of all inputs, then of all parameters."""
    parameter_arguments: int
    """The number of parameters as the user counts them; each may be nested."""
    stops: bool
    """Whether there is a last state, added to the user's, that marks finished samples."""


def scan_modules_of(traced: Trace, plan: Plan) -> tuple[variants.Texts, Block]:
    """The LLVM modules of a step, by variant, and the prepared graph that they compute."""
    block = prepare(traced.graph, _with_all_states(traced, plan))
    leaves = {block.graph.value[k]: k for k in block.order if block.graph.op[k] == "input"}
    states = [(i, e) for i in range(plan.states) for e in range(math.prod(traced.inputs[i].shape))]
    sizes = [ids.size for ids in traced.outputs]
    program = cut(block, sizes, {position: leaves[element] for position, element in enumerate(states)})
    slots = {(argument, element): slot for argument, element, slot in program.inputs}
    per_step = range(plan.states, plan.states + plan.inputs)
    first = [slots.get((i, 0), 0) for i in range(plan.states)]
    elements = {i: math.prod(traced.inputs[i].shape) for i in per_step}
    scan = ScanEntry(plan.states, first, elements, first[-1] if plan.stops else None)
    return variants.texts(program, sizes, traced.dtype, scan), block


def _with_all_states(traced: Trace, plan: Plan) -> list[int]:
    """The outputs, in which every element of the state is used, so that it has a slot."""
    graph: Graph = traced.graph
    roots = traced.roots
    needed = set(graph.live(roots))
    position = 0
    for i in range(plan.states):
        for e in range(math.prod(traced.inputs[i].shape)):
            leaf = graph.leaf("input", i, e)
            if leaf not in needed:  # a state that is written and never read
                roots[position] = graph.intern("select", (graph.truth(True), roots[position], leaf))
            position += 1
    return roots
