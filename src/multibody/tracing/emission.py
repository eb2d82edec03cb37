"""Translation of a trace: one walk over its live nodes, driven by the table of a target.

A table entry maps translated arguments to a result: text for C and NumPy source, expressions for SymPy, arrays for the
interpreter. A new target is a table, two leaves and a few lines around the result.
"""

import importlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from multibody.errors import InputError, missing_package
from multibody.tracing.array.traced import TraceError
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import AFTER, ScanInput, live_loops, stop_condition, stride
from multibody.tracing.graph.substitute import levels_of
from multibody.tracing.graph.unroll import unrolled
from multibody.tracing.record.trace import Trace

TEMPORARY = r"(?:t|loop\w*)"
"""The prefix of names of temporaries and loop values, which end with a number."""


class Target(NamedTuple):
    """A target language or evaluator."""

    name: str
    """The name of the target in messages."""
    table: Mapping[str, Callable[..., Any]]
    number: Callable[[float], Any]
    """Translates a constant."""
    element: Callable[[int, int], Any]
    """Translates an element of an input, by the positions of both."""
    keep: Callable[[int, Any], Any] = lambda _, value: value
    """Post-processes the expression of a node, for instance to bind it to a variable."""
    repeat: "Callable[[Walk, int], None] | None" = None
    """Runs or writes a loop and sets its results; without it loops are unrolled."""
    rows: bool = False
    """Whether loops read scan inputs from arguments and constants directly, so that their elements need no values."""
    dense: Callable[[str, tuple[int, ...], list[Any]], Any] | None = None
    """Translates a matrix operation, from kind, sizes and arguments to a sequence of results."""


def fold(trace: Trace, target: Target) -> list[list[Any]]:
    """Translate every output element, output by output; each node once, in an order of execution."""
    walk = Walk(unrolled(trace, repeats=target.repeat is not None), target)
    walk.run(walk.members(-1))
    return [[walk.values[k] for k in ids.ravel().tolist()] for ids in walk.trace.outputs]


class Walk:
    """The translation of the live nodes of a trace."""

    def __init__(self, trace: Trace, target: Target) -> None:
        self.trace, self.graph, self.target = trace, trace.graph, target
        self.order = self.graph.live(trace.roots)
        self.values: dict[int, Any] = {}
        self.left = uses(trace)
        self.loops = live_loops(self.graph, self.order)
        self.levels = levels_of(self.graph, self.order)
        for loop in filter(None, self.graph.loops):  # values that loops use are never released
            self.left.update(dict.fromkeys(loop.references(), len(self.order)))
        self.straight = len(self.levels) <= 1
        self.silent = self._read_directly() if target.rows and not self.straight else set()

    def _read_directly(self) -> set[int]:
        """Nodes that only scan inputs use which are read directly."""
        graph = self.graph
        tables = [x for live in self.loops.values() for _, x in live.inputs]
        plain = {k for table in tables if is_direct(graph, table) for k in table.nodes}
        used = {a for k in self.order for a in graph.operands(k)} | set(self.trace.roots)
        for live in self.loops.values():
            used.update(live.loop.initial, live.loop.final, live.loop.outputs)
        return plain - used - {k for table in tables if not is_direct(graph, table) for k in table.nodes}

    def members(self, number: int) -> list[int]:
        """The nodes of a loop's body, or those outside of all (-1)."""
        return self.levels.get(number, [])

    def body(self, number: int) -> tuple[list[int], list[int]]:
        """The nodes of a loop's body: those that the stop condition needs, and the others."""
        nodes, members = stop_condition(self.graph, number), self.members(number)
        return [k for k in members if k in nodes], [k for k in members if k not in nodes]

    def run(self, nodes: list[int]) -> None:
        """Translate nodes, in this order."""
        graph, target, values = self.graph, self.target, self.values
        for k in nodes:
            op, args = graph.op[k], graph.operands(k)
            if k in self.silent:
                continue
            if op == "const":
                values[k] = target.number(graph.value[k])
            elif op == "input":
                values[k] = target.keep(k, target.element(*graph.value[k]))
            elif op == "custom_derivative":
                values[k] = values[args[0]]
            elif op in AFTER and target.repeat:
                if k not in values:
                    target.repeat(self, graph.value[k][0])
            elif op == "dense":
                if target.dense is None:
                    what = f"the operation {graph.value[k][0]!r} on matrices"
                    raise TraceError(f"{target.name} cannot translate {what}")
                kind, sizes = graph.value[k]
                values[k] = target.dense(kind, sizes, [values[a] for a in args])
            elif op == "entry":
                values[k] = target.keep(k, values[args[0]][graph.value[k]])
            elif op in target.table:
                values[k] = target.keep(k, target.table[op](*(values[a] for a in args)))
            elif k not in values:  # otherwise an iteration has set it
                raise TraceError(f"{target.name} cannot translate the operation {op!r}")
            for a in args if self.straight else ():  # values that are not needed any more are released
                self.left[a] -= 1
                if not self.left[a]:
                    del values[a]


class Lines:
    """Lines of text, indented by the loops around them: `depth` counts those, and the braces of C."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.depth = 0

    def add(self, text: str) -> None:
        self.depth -= text.startswith("}")
        self.texts.append("    " * self.depth + text)
        self.depth += text.endswith("{")


def is_direct(graph: Graph, table: ScanInput) -> bool:
    """Whether a scan input is constant, or equally spaced elements of an argument."""
    constant = table.source is None and all(graph.op[k] == "const" for k in table.nodes)
    return constant or stride(graph, table) is not None


def uses(trace: Trace) -> Counter[int]:
    """The number of uses of each node as an argument or an output."""
    graph = trace.graph
    counts = Counter(a for k in graph.live(trace.roots) for a in graph.operands(k))
    counts.update(trace.roots)
    return counts


def identifiers(titles: Sequence[str], reserved: Collection[str], temporary: str) -> list[str]:
    """The names as distinct identifiers, none reserved and none like a numbered temporary.

    >>> identifiers(["q", "q.dot", "q_dot", "int", "t1"], {"int"}, "t")
    ['q', 'q_dot', 'q_dot_', 'int_', 't1_']
    """
    taken = set(reserved)
    names = []
    for name in titles:
        name = re.sub(r"\W", "_", name, flags=re.ASCII)
        name = name if re.match("[A-Za-z_]", name) else "_" + name
        while name in taken or re.fullmatch(temporary + r"\d+", name):
            name += "_"
        taken.add(name)
        names.append(name)
    return names


def function_name(name: str, reserved: Collection[str]) -> str:
    """The name, checked as one of a function."""
    if not isinstance(name, str) or not re.fullmatch("[A-Za-z_][A-Za-z_0-9]*", name) or name in reserved:
        raise InputError(f"name: expected an identifier for the emitted function, got {name!r}")
    return name


def optional(package: str, extra: str) -> Any:
    """Import an optional package; the error names the extra."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise missing_package(f"{package} is not installed", extra, package) from None
