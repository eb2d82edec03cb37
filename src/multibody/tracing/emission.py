"""What all emitters share: one walk over the live nodes of a trace, driven by a table of what operations become.

A table entry takes what its arguments became: text for C and NumPy source, expressions for SymPy, arrays for the
interpreter. A new target is a table, two leaves and a few lines that frame the result.
"""

import importlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from multibody.errors import InputError, missing_package
from multibody.tracing.trace import Trace
from multibody.tracing.traced import TraceError
from multibody.tracing.unroll import unrolled


class Target(NamedTuple):
    """What becomes of the nodes."""

    name: str
    """What the target is called in messages."""
    table: Mapping[str, Callable[..., Any]]
    number: Callable[[float], Any]
    """What a constant becomes."""
    element: Callable[[int, int], Any]
    """What an element of an input becomes, from the positions of both."""
    keep: Callable[[int, Any], Any] = lambda _, value: value
    """Last word on a node that has arguments or is an input, for instance to give it a name."""


def fold(trace: Trace, target: Target) -> list[list[Any]]:
    """What every output element becomes, output by output; in the order of creation, each node once.

    Loops are written out.
    """
    trace = unrolled(trace)
    graph = trace.graph
    left = uses(trace)
    values: dict[int, Any] = {}
    for k in graph.live(trace.roots):
        op, args = graph.op[k], graph.args[k]
        if op == "const":
            values[k] = target.number(graph.value[k])
        elif op == "input":
            values[k] = target.keep(k, target.element(*graph.value[k]))
        elif op in target.table:
            values[k] = target.keep(k, target.table[op](*(values[a] for a in args)))
        else:
            raise TraceError(f"{target.name} has no way to write the operation {op!r}")
        for a in args:  # what nobody needs any more is let go: batches are large
            left[a] -= 1
            if not left[a]:
                del values[a]
    return [[values[k] for k in ids.ravel().tolist()] for ids in trace.outputs]


def uses(trace: Trace) -> Counter[int]:
    """How often each node is an argument or an output, once loops are written out."""
    trace = unrolled(trace)
    graph = trace.graph
    counts = Counter(a for k in graph.live(trace.roots) for a in graph.args[k])
    counts.update(trace.roots)
    return counts


def identifiers(titles: Sequence[str], reserved: Collection[str], temporary: str) -> list[str]:
    """The titles as identifiers, all different, none reserved and none like a numbered temporary.

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
    """The name, if a function can have it."""
    if not re.fullmatch("[A-Za-z_][A-Za-z_0-9]*", name) or name in reserved:
        raise InputError(f"name: expected an identifier for the emitted function, got {name!r}")
    return name


def optional(package: str, extra: str) -> Any:
    """A package that is imported only when it is used; without it an error that names the extra."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise missing_package(f"{package} is not installed", extra, package) from None
