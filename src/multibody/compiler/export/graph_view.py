"""A graph to look at: as lines of text, as a DOT file, as a picture."""

from pathlib import Path

from multibody.compiler.ir.passes import prepare
from multibody.tracing.graph.graph import flops
from multibody.tracing.graph.loop_nodes import AFTER, INSIDE
from multibody.tracing.record.trace import Trace

DRAWN = 400
"""Nodes beyond which a picture shows nothing any more."""
_SIGNS = {"add": "+", "sub": "-", "mul": "·", "div": "/", "lt": "<", "le": "≤", "eq": "=", "ne": "≠", "select": "?"}


class GraphView:
    """The operations of a kernel, as they run: fused, without dead ones."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.block = prepare(trace.graph, trace.roots)

    def label(self, k: int) -> str:
        """The operation of a node, its constant, or the name of its input."""
        graph = self.block.graph
        op = graph.op[k]
        if op == "const":
            return f"{graph.value[k]:.6g}"
        if op == "input":
            argument, element = graph.value[k]
            spec = self.trace.inputs[argument]
            return f"{spec.name}[{element}]" if spec.shape else spec.name
        return f"{op}{list(graph.value[k])}" if op in (*INSIDE, *AFTER) else op

    def __str__(self) -> str:
        """One line a node: `%7 = mul %3 q[0]`."""
        graph = self.block.graph
        leaf = {k for k in self.block.order if not graph.args[k]}
        lines = [
            f"%{k} = {graph.op[k]} {' '.join(self.label(a) if a in leaf else f'%{a}' for a in graph.args[k])}"
            for k in self.block.order
            if k not in leaf
        ]
        results = " ".join(self.label(k) if k in leaf else f"%{k}" for k in self.block.outputs)
        counts = graph.count(self.block.order)
        return "\n".join([*lines, f"return {results}", f"# {sum(counts.values())} operations, {flops(counts)} flops"])

    def to_dot(self) -> str:
        """The graph for Graphviz."""
        graph = self.block.graph
        names = [f'  n{k} [label="{_SIGNS.get(graph.op[k], self.label(k))}"];' for k in self.block.order]
        edges = [f"  n{a} -> n{k};" for k in self.block.order for a in graph.args[k]]
        ends = [f'  y{m} [label="y{m}" shape=box];\n  n{k} -> y{m};' for m, k in enumerate(self.block.outputs)]
        return "\n".join(["digraph kernel {", "  rankdir=LR;", *names, *edges, *ends, "}"])

    def draw(self, picture: str | Path) -> None:
        """Save a picture: inputs on the left, every operation one column right of its last argument."""
        from matplotlib.figure import Figure

        graph, order = self.block.graph, self.block.order
        if len(order) > DRAWN:
            order = order[:DRAWN]
        column: dict[int, int] = {}
        place: dict[int, tuple[float, float]] = {}
        heights: dict[int, int] = {}
        for k in order:
            column[k] = 1 + max((column[a] for a in graph.args[k]), default=-1)
            heights[column[k]] = heights.get(column[k], 0) + 1
            place[k] = (column[k], -heights[column[k]])
        width, height = max(column.values(), default=0) + 2, max(heights.values(), default=1)
        figure = Figure(figsize=(min(40, 0.9 * width), min(40, 0.35 * height + 1)), layout="constrained")
        axes = figure.subplots()
        for k in order:
            for a in graph.args[k]:
                axes.plot(*zip(place[a], place[k], strict=True), color="0.75", lw=0.7, zorder=1)
            color = "#e8f0fe" if graph.args[k] else "#fef3e0"
            box = {"boxstyle": "round", "fc": color, "ec": "0.6", "lw": 0.5}
            text = _SIGNS.get(graph.op[k], self.label(k))
            axes.text(*place[k], text, ha="center", va="center", fontsize=8, bbox=box, zorder=2)
        axes.set(xlim=(-0.7, width - 0.7), ylim=(-height - 1, 0.3))
        axes.axis("off")
        figure.savefig(picture, dpi=110)
