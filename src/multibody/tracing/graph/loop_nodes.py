"""Loops of a graph: their fields, the order in which nodes run, and values that leak out of a body.

The values of a loop are leaves. Within an iteration these are ("carry", loop, position) and ("scan_input", loop,
position). After the loop they are ("result", loop, position), ("stacked_output", loop, position, iteration) and
("trip_count", loop). Derivatives extend a loop after its results exist. So the order of creation is not always an order
of execution; `live` finds one.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from multibody.tracing.graph.graph import Graph

INSIDE = ("carry", "scan_input")
"""Leaves that have a value within an iteration."""
AFTER = ("result", "stacked_output", "trip_count")
"""Leaves that have a value after the loop."""
_THROUGH = {"value": slice(1), "derivative": slice(1, None), "both": slice(None)}
"""The arguments of a node "custom_derivative" that are followed."""


class ScanInput(NamedTuple):
    """One value per iteration of a loop."""

    nodes: tuple[int, ...]
    """One per iteration; with a source, the node "trip_count" of the source loop."""
    source: tuple[int, int] | None = None
    """(loop, position) of the stacked output that is read."""


class Loop(NamedTuple):
    """Iterations of the same body on carried values, as in `jax.lax.scan`.

    Within an iteration the values are the leaves `carried` and `inputs`; the nodes `final` replace the carried values.
    """

    iterations: int
    """The upper bound; -1 while the body is being traced."""
    initial: tuple[int, ...]
    carried: tuple[int, ...]
    final: tuple[int, ...]
    parent: int
    """The enclosing loop, or -1."""
    stop: int = -1
    """The stop condition, evaluated before every iteration; a finished sample keeps its carried values."""
    inputs: tuple[int, ...] = ()
    xs: tuple[ScanInput, ...] = ()
    """The values of the leaves `inputs`."""
    outputs: tuple[int, ...] = ()
    """Nodes of the body that are stored in every iteration."""
    trip_count: int = -1
    """The node "trip_count" of an earlier loop; this loop then has as many iterations as that one took."""
    reverse: bool = False
    """Whether inputs and outputs are visited from the last iteration to the first."""

    def positions(self, needed: Collection[int]) -> list[int]:
        """The positions of the needed carried values."""
        return [p for p, k in enumerate(self.carried) if k in needed]

    def conditions(self) -> list[int]:
        """The stop condition and the trip count, as far as there are any."""
        return [k for k in (self.stop, self.trip_count) if k >= 0]

    def references(self) -> list[int]:
        """All nodes that the loop refers to, besides its leaves."""
        return [*self.initial, *self.final, *self.outputs, *self.conditions(), *(k for x in self.xs for k in x.nodes)]


class LiveLoop(NamedTuple):
    """The live part of a loop, which every back end runs or writes."""

    loop: Loop
    carries: list[int]
    """Positions of the carried values."""
    inputs: list[tuple[int, ScanInput]]
    """Leaves and their values."""
    outputs: list[int]
    """Positions of the stacked outputs."""
    visible: set[int]
    """Positions of the outputs that are used after the loop; these are NaN for the iterations of a finished sample."""
    results: list[int]
    """The leaves after the loop."""
    same_count_as: int
    """The earlier loop that determines the number of iterations, or -1."""

    def before(self) -> list[int]:
        """The nodes that the loop needs before its first iteration."""
        return [self.loop.initial[p] for p in self.carries] + [n for _, x in self.inputs for n in x.nodes]

    def within(self) -> list[int]:
        """The nodes that every iteration returns."""
        return [self.loop.final[p] for p in self.carries] + [self.loop.outputs[p] for p in self.outputs]


def live_loops(graph: "Graph", order: list[int]) -> dict[int, LiveLoop]:
    """The loops that are run for the nodes of an order, by number."""
    needed, outputs = set(order), output_positions(graph, order)
    results: dict[int, list[int]] = {}
    for k in order:
        if graph.op[k] in AFTER:
            results.setdefault(graph.value[k][0], []).append(k)
    loops: dict[int, LiveLoop] = {}
    for number, leaves in results.items():
        loop = graph.loop_at(number)
        loops[number] = LiveLoop(
            loop,
            loop.positions(needed),
            [(k, x) for k, x in zip(loop.inputs, loop.xs, strict=True) if k in needed],
            outputs.get(number, []),
            {graph.value[k][1] for k in leaves if graph.op[k] == "stacked_output"},
            leaves,
            graph.value[loop.trip_count][0] if loop.trip_count >= 0 else -1,
        )
    return loops


def live(graph: "Graph", outputs: list[int], *, through: str = "value", ends: Collection[int] = ()) -> list[int]:
    """The nodes that the outputs need, in an order of execution.

    Outputs may lie within the body of a loop: its carried values are leaves then.

    Args:
        graph: with or without loops.
        outputs: the requested nodes.
        through: the arguments of nodes "custom_derivative" to follow: the "value", the inputs of the "derivative", or
            "both".
        ends: nodes whose arguments are not followed.
    """
    order, has_loops = _creation_order(graph, outputs, through, ends)
    return _execution_order(graph, order, ends, through) if has_loops else order


def _creation_order(graph: "Graph", outputs: list[int], through: str, ends: Collection[int]) -> tuple[list[int], bool]:
    """The nodes that the outputs need, as they were made, and whether results of loops are among them; see `live`."""
    needed = bytearray(len(graph.op))
    stack = list(outputs)
    if not graph.loops and not graph.custom_derivatives and not ends:  # the usual case
        args = graph.args
        while stack:
            node = stack.pop()
            if not needed[node]:
                needed[node] = 1
                stack.extend(args[node])
        return [k for k in range(len(needed)) if needed[k]], False
    entered: set[int] = set()
    waiting: dict[int, list[int]] = {}  # values within a loop that has no result here: they are leaves
    while stack:
        node = stack.pop()
        if not needed[node]:
            needed[node] = 1
            if node in ends:
                continue
            op = graph.op[node]
            stack.extend(graph.args[node][_THROUGH[through]] if op == "custom_derivative" else graph.args[node])
            if op in INSIDE and graph.value[node][0] not in entered:
                waiting.setdefault(graph.value[node][0], []).append(node)
            elif op in INSIDE or op in AFTER:
                stack.extend(_leaf_needs(graph, node))
                if op in AFTER and graph.value[node][0] not in entered:
                    entered.add(graph.value[node][0])
                    stack.extend(k for leaf in waiting.pop(graph.value[node][0], ()) for k in _leaf_needs(graph, leaf))
    return [k for k in range(len(needed)) if needed[k]], bool(entered)


def _leaf_needs(graph: "Graph", node: int) -> list[int]:
    """The nodes of its loop that a leaf needs; none while the loop is being traced."""
    op, (number, *position) = graph.op[node], graph.value[node]
    loop = graph.loops[number] if number < len(graph.loops) else None
    if loop is None or loop.iterations < 0:
        return []
    nodes = loop.conditions()
    if op in ("carry", "result"):
        nodes += [loop.initial[position[0]], loop.carried[position[0]], loop.final[position[0]]]
    elif op == "stacked_output":
        nodes.append(loop.outputs[position[0]])
    elif op == "scan_input":
        nodes += input_nodes(graph, loop.xs[position[0]])
    return nodes


def input_nodes(graph: "Graph", x: ScanInput) -> tuple[int, ...]:
    """The nodes that a scan input needs."""
    return x.nodes if x.source is None else (*x.nodes, graph.loop_at(x.source[0]).outputs[x.source[1]])


def stride(graph: "Graph", x: ScanInput, op: str = "input") -> tuple[int, ...] | None:
    """(argument, element, step), if a scan input has elements of one argument at equal distances.

    With op "stacked_output": (loop, output, iteration, step), if it has one output of a loop.
    """
    if x.source is not None or any(graph.op[k] != op for k in x.nodes) or not x.nodes:
        return None
    places = [graph.value[k] for k in x.nodes]
    *array, first = places[0]
    step = places[1][-1] - first if len(places) > 1 else 0
    regular = all(place == (*array, first + k * step) for k, place in enumerate(places))
    return (*array, first, step) if regular else None


def output_positions(graph: "Graph", order: list[int]) -> dict[int, list[int]]:
    """For each loop the positions of the stacked outputs that live nodes need."""
    positions: dict[int, set[int]] = {}
    for k in order:
        if graph.op[k] == "stacked_output":
            positions.setdefault(graph.value[k][0], set()).add(graph.value[k][1])
        elif graph.op[k] == "scan_input":
            number, position = graph.value[k]
            xs = graph.loop_at(number).xs
            source = xs[position].source if xs else None
            if source is not None:
                positions.setdefault(source[0], set()).add(source[1])
    return {number: sorted(indices) for number, indices in positions.items()}


def _execution_order(graph: "Graph", order: list[int], ends: Collection[int], through: str) -> list[int]:
    """The order of creation, with the nodes that a loop needs before its first result."""
    loops = live_loops(graph, order)
    entered: set[int] = set()

    def needs(k: int) -> tuple[int, ...] | list[int]:
        op = graph.op[k]
        if k in ends:
            return ()
        if op in AFTER:
            if graph.value[k][0] in entered:
                return ()
            live = loops[graph.value[k][0]]
            return live.before() + live.within() + live.loop.conditions()
        return graph.args[k][_THROUGH[through]] if op == "custom_derivative" else graph.args[k]

    done = bytearray(len(graph.op))
    result: list[int] = []
    for root in order:
        stack = [root]
        while stack:
            k = stack[-1]
            if done[k]:
                stack.pop()
                continue
            waiting = [a for a in needs(k) if not done[a]]
            if waiting:
                stack.extend(reversed(waiting))
                continue
            stack.pop()
            done[k] = 1
            result.append(k)
            if graph.op[k] in AFTER and k not in ends:
                entered.add(graph.value[k][0])
    return result


def body(graph: "Graph", number: int, roots: Collection[int]) -> tuple[set[int], set[int]]:
    """The nodes that roots need in an iteration of a loop: those within the body, and those from outside."""
    owner, outer = graph.owners(), enclosing_loops(graph, graph.loop_at(number).parent)
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
                stack.extend(_leaf_needs(graph, node))
    return inside, outside


def stop_condition(graph: "Graph", number: int) -> set[int]:
    """The nodes of a loop's body that the stop condition needs."""
    stop = graph.loop_at(number).stop
    return body(graph, number, [stop])[0] if stop >= 0 else set()


def depths(graph: "Graph") -> list[int]:
    """The nesting depth of each loop's body; the last entry, of number -1, is 0."""
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
            owner.append(graph.loop_at(graph.value[k][0]).parent)
        else:
            innermost = -1
            for a in args:
                if depth[owner[a]] > depth[innermost]:
                    innermost = owner[a]
            owner.append(innermost)
    return owner


def enclosing_loops(graph: "Graph", number: int) -> set[int]:
    """A loop, all loops that enclose it, and -1."""
    chain = {-1}
    while number >= 0:
        chain.add(number)
        number = graph.loop_at(number).parent
    return chain


def leaks(graph: "Graph", outputs: list[int]) -> bool:
    """Whether a value of a loop's body is used outside of it; the bodies of open loops have not ended yet."""
    owner = graph.owners()
    order, _ = _creation_order(graph, outputs, "both", ())
    here = enclosing_loops(graph, graph.open_loops[-1]) if graph.open_loops else {-1}
    if any(owner[k] not in here for k in outputs):
        return True
    chains = {n: enclosing_loops(graph, n) for n in {owner[k] for k in order}}
    if any(owner[a] not in chains[owner[k]] for k in order for a in graph.args[k]):
        return True
    for number, live_loop in live_loops(graph, order).items():
        outer, inner = enclosing_loops(graph, live_loop.loop.parent), enclosing_loops(graph, number)
        last = live_loop.within() + [k for k in (live_loop.loop.stop,) if k >= 0]
        if any(owner[k] not in outer for k in live_loop.before()) or any(owner[k] not in inner for k in last):
            return True
    return False
