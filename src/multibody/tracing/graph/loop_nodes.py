"""Loops of a graph: what belongs to them, in which order nodes run, and which values have escaped from a body.

A loop's values are leaves: ("carry", loop, position) and ("row", loop, position) within a round; ("result", loop,
position), ("kept", loop, position, round) and ("count", loop) after it, where the last one stands for the loop having
run. What a loop is can grow after its results were made, as derivatives add to it: so the order of creation is not
always one in which nodes can run, and `live` finds one.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from multibody.tracing.graph.graph import Graph

INSIDE = ("carry", "row")
"""Leaves that have a value within a round."""
AFTER = ("result", "kept", "count")
"""Leaves that have a value when the loop is over."""


_RULED = {"value": slice(1), "rule": slice(1, None), "both": slice(None)}
"""Which arguments of a value with a derivative of its own are needed."""


class Table(NamedTuple):
    """A number for every round of a loop."""

    nodes: tuple[int, ...]
    """One for each round; the node "count" of the loop whose kept values are read, where there is a source."""
    source: tuple[int, int] | None = None
    """(loop, position) of the kept values that are read."""


class Loop(NamedTuple):
    """Rounds of the same code on carried values.

    Within a round the values are the leaves `carried` and `rows`; the nodes `final` are the carried values after it.
    """

    rounds: int
    """How many at most; -1 while the body is being traced."""
    initial: tuple[int, ...]
    carried: tuple[int, ...]
    final: tuple[int, ...]
    parent: int
    """The loop around this one, or -1."""
    stop: int = -1
    """The truth value, asked before every round, that a sample is done; it keeps its carried values from then on."""
    rows: tuple[int, ...] = ()
    tables: tuple[Table, ...] = ()
    """What the leaves `rows` are in each round."""
    kept: tuple[int, ...] = ()
    """Nodes of the body whose values are stored in every round."""
    ran: int = -1
    """The node "count" of a loop that has run before: this one then has as many rounds as that one took."""
    backward: bool = False
    """Whether the rounds go from the last row to the first, in what is read and in what is kept."""

    def positions(self, needed: bytearray | set[int]) -> list[int]:
        """The carried values that are needed."""
        return [p for p, k in enumerate(self.carried) if _has(needed, k)]


def _has(needed: bytearray | set[int], k: int) -> bool:
    return bool(needed[k]) if isinstance(needed, bytearray) else k in needed


def live(graph: "Graph", outputs: list[int], *, rules: str = "value", ends: Collection[int] = ()) -> list[int]:
    """The nodes that the outputs need, every one after those that it needs itself.

    Outputs may lie within the body of a loop: its carried values are leaves then.

    Args:
        graph: with or without loops.
        outputs: the nodes that are wanted.
        rules: of values with a derivative of their own, what is needed: "value", inputs of the "rule", or "both".
        ends: nodes that are taken as they are, whatever they need.
    """
    needed = bytearray(len(graph.op))
    stack = list(outputs)
    if not graph.loops and not graph.rules and not ends:  # as most are
        args = graph.args
        while stack:
            node = stack.pop()
            if not needed[node]:
                needed[node] = 1
                stack.extend(args[node])
        return [k for k in range(len(needed)) if needed[k]]
    entered: set[int] = set()
    waiting: dict[int, list[int]] = {}  # values within a loop that has no result here: they are leaves
    while stack:
        node = stack.pop()
        if not needed[node]:
            needed[node] = 1
            if node in ends:
                continue
            op = graph.op[node]
            stack.extend(graph.args[node][_RULED[rules]] if op == "ruled" else graph.args[node])
            if op in INSIDE and graph.value[node][0] not in entered:
                waiting.setdefault(graph.value[node][0], []).append(node)
            elif op in INSIDE or op in AFTER:
                stack.extend(_parts(graph, node))
                if op in AFTER and graph.value[node][0] not in entered:
                    entered.add(graph.value[node][0])
                    stack.extend(k for leaf in waiting.pop(graph.value[node][0], ()) for k in _parts(graph, leaf))
    order = [k for k in range(len(needed)) if needed[k]]
    return _sorted(graph, order, needed, ends, rules) if entered else order


def _parts(graph: "Graph", node: int) -> list[int]:
    """What a leaf of a loop needs of that loop; nothing while the loop is being traced."""
    op, (number, *place) = graph.op[node], graph.value[node]
    loop = graph.loops[number] if number < len(graph.loops) else None
    if loop is None or loop.rounds < 0:
        return []
    parts = [k for k in (loop.stop, loop.ran) if k >= 0]
    if op in ("carry", "result"):
        parts += [loop.initial[place[0]], loop.carried[place[0]], loop.final[place[0]]]
    elif op == "kept":
        parts.append(loop.kept[place[0]])
    elif op == "row":
        table = loop.tables[place[0]]
        parts += table.nodes
        if table.source is not None:
            source, position = table.source
            parts.append(graph._loop(source).kept[position])
    return parts


def stride(graph: "Graph", table: Table) -> tuple[int, int, int] | None:
    """(argument, element, step), where a table has elements of one argument at equal distances."""
    if table.source is not None or any(graph.op[k] != "input" for k in table.nodes) or not table.nodes:
        return None
    places = [graph.value[k] for k in table.nodes]
    argument, element = places[0]
    step = places[1][1] - element if len(places) > 1 else 0
    regular = all(place == (argument, element + k * step) for k, place in enumerate(places))
    return (argument, element, step) if regular else None


def kept_positions(graph: "Graph", order: list[int]) -> dict[int, list[int]]:
    """For each loop which of its kept values live nodes need."""
    places: dict[int, set[int]] = {}
    for k in order:
        if graph.op[k] == "kept":
            places.setdefault(graph.value[k][0], set()).add(graph.value[k][1])
        elif graph.op[k] == "row":
            number, position = graph.value[k]
            tables = graph._loop(number).tables
            source = tables[position].source if tables else None
            if source is not None:
                places.setdefault(source[0], set()).add(source[1])
    return {number: sorted(positions) for number, positions in places.items()}


def _sorted(graph: "Graph", order: list[int], needed: bytearray, ends: Collection[int], rules: str) -> list[int]:
    """The order of creation, but with what a loop needs before its first result."""
    kept = kept_positions(graph, order)
    before: dict[int, list[int]] = {}

    def needs(k: int) -> tuple[int, ...] | list[int]:
        op = graph.op[k]
        if k in ends:
            return ()
        if op in AFTER:
            number = graph.value[k][0]
            if number not in before:
                loop = graph._loop(number)
                at = loop.positions(needed)
                nodes = [loop.initial[p] for p in at] + [loop.final[p] for p in at]
                nodes += [n for n in (loop.stop, loop.ran) if n >= 0]
                nodes += [loop.kept[p] for p in kept.get(number, ())]
                nodes += [
                    n for row, table in zip(loop.rows, loop.tables, strict=True) if needed[row] for n in table.nodes
                ]
                before[number] = nodes
            return before[number]
        return graph.args[k][_RULED[rules]] if op == "ruled" else graph.args[k]

    done = bytearray(len(graph.op))
    result: list[int] = []
    for root in order:
        stack = [root]
        while stack:
            k = stack[-1]
            waiting = [a for a in needs(k) if not done[a]] if not done[k] else []
            if waiting:
                stack.extend(reversed(waiting))
                continue
            stack.pop()
            if not done[k]:
                done[k] = 1
                result.append(k)
                if graph.op[k] in AFTER and k not in ends:
                    before[graph.value[k][0]] = []
    return result


def body(graph: "Graph", number: int, roots: Collection[int]) -> tuple[set[int], set[int]]:
    """The nodes that roots need in a round of a loop: those within it, and those that are taken from outside."""
    owner, outer = graph.owners(), around(graph, graph._loop(number).parent)
    inside, outside = set[int](), set[int]()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if owner[node] in outer:
            outside.add(node)
        elif node not in inside:
            inside.add(node)
            stack.extend(graph.args[node])
            op = graph.op[node]
            if op in AFTER or (op in INSIDE and graph.value[node][0] != number):
                stack.extend(_parts(graph, node))
    return inside, outside


def asked(graph: "Graph", number: int) -> set[int]:
    """The nodes of a loop's body that tell whether a sample is done."""
    stop = graph._loop(number).stop
    return body(graph, number, [stop])[0] if stop >= 0 else set()


def depths(graph: "Graph") -> list[int]:
    """How many loops are around the body of each; the last entry, of number -1, is for what is outside of all."""
    result: list[int] = []
    for loop in graph.loops:
        result.append(1 if loop is None or loop.parent < 0 else result[loop.parent] + 1)
    return [*result, 0]


def owners(graph: "Graph") -> list[int]:
    """For each node the innermost loop whose values it depends on, or -1."""
    if not graph.loops:
        return [-1] * len(graph.op)
    depth = depths(graph)
    owner: list[int] = []
    for k, (op, args) in enumerate(zip(graph.op, graph.args, strict=True)):
        if op in INSIDE:
            owner.append(graph.value[k][0])
        elif op in AFTER:
            owner.append(graph._loop(graph.value[k][0]).parent)
        else:
            innermost = -1
            for a in args:
                if depth[owner[a]] > depth[innermost]:
                    innermost = owner[a]
            owner.append(innermost)
    return owner


def around(graph: "Graph", number: int) -> set[int]:
    """A loop and all those around it, and -1."""
    chain = {-1}
    while number >= 0:
        chain.add(number)
        number = graph._loop(number).parent
    return chain


def escapes(graph: "Graph", outputs: list[int]) -> bool:
    """Whether a value of a loop's body is used outside of it; the bodies of loops that are still open are not over."""
    owner = graph.owners()
    order = live(graph, outputs, rules="both")
    kept = kept_positions(graph, order)
    here = around(graph, graph.opened[-1]) if graph.opened else {-1}
    if any(owner[k] not in here for k in outputs):
        return True
    chains = {n: around(graph, n) for n in {owner[k] for k in order}}
    if any(owner[a] not in chains[owner[k]] for k in order for a in graph.args[k]):
        return True
    needed = set(order)
    for number in {graph.value[k][0] for k in order if graph.op[k] in AFTER}:
        loop = graph._loop(number)
        outer, inner = around(graph, loop.parent), around(graph, number)
        at = loop.positions(needed)
        first = [loop.initial[p] for p in at]
        first += [n for row, table in zip(loop.rows, loop.tables, strict=True) if row in needed for n in table.nodes]
        last = [loop.final[p] for p in at] + [loop.kept[p] for p in kept.get(number, ())]
        last += [loop.stop] if loop.stop >= 0 else []
        if any(owner[k] not in outer for k in first) or any(owner[k] not in inner for k in last):
            return True
    return False
