"""Loop unrolling, for targets that cannot repeat: SymPy. Kernels, C, NumPy and the interpreter keep loops."""

from multibody.errors import InputError
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import AFTER, ScanInput, live_loops
from multibody.tracing.graph.substitute import levels_of
from multibody.tracing.record.trace import Trace, split

MAX_OPERATIONS = 200_000
"""Operations up to which loops are unrolled."""


def unrolled(trace: Trace, *, repeats: bool = False) -> Trace:
    """The trace without loops; the trace itself for a target that repeats."""
    if repeats:
        return trace
    roots = unroll(trace.graph, trace.roots)
    return trace._replace(outputs=tuple(split(roots, [ids.shape for ids in trace.outputs])))


def unroll(graph: Graph, roots: list[int]) -> list[int]:
    """Nodes of the same graph with the values of the roots, without loops."""
    order = graph.live(roots)
    loops = live_loops(graph, order)
    if not loops:
        return roots
    if graph.work(order) > MAX_OPERATIONS:
        longest = max(live.loop.iterations for live in loops.values())
        raise InputError(
            f"a loop of {longest} iterations is too long to be unrolled: the limit is about {MAX_OPERATIONS} operations"
        )
    levels = levels_of(graph, order)
    new: dict[int, int] = {}
    results: dict[int, list[int]] = {}
    kept: dict[int, dict[int, list[int]]] = {}

    def run(level: int) -> None:
        finished: set[int] = set()
        for k in levels.get(level, ()):
            op, args = graph.op[k], graph.operands(k)
            if op in AFTER:
                number, *place = graph.value[k]
                if number not in finished:
                    finished.add(number)
                    repeat(number)
                if op == "result":
                    new[k] = results[number][place[0]]
                elif op == "stacked_output":
                    new[k] = kept[number][place[1]][place[0]]
                else:
                    new[k] = k
            elif not args:
                new.setdefault(k, k)
            elif op == "custom_derivative":
                new[k] = new[args[0]]
            else:
                replaced = tuple(new[a] for a in args)
                new[k] = k if replaced == args else graph.with_args(k, replaced)

    def repeat(number: int) -> None:
        loop, at, inputs, _, visible, *_ = loops[number]
        state = {p: new[loop.initial[p]] for p in at}
        kept[number] = {}
        nan = graph.const(float("nan"))
        for k in range(loop.iterations)[:: -1 if loop.reverse else 1]:
            new.update((loop.carried[p], state[p]) for p in at)
            new.update((leaf, entry(x, k)) for leaf, x in inputs)
            run(number)
            stop = new[loop.stop] if loop.stop >= 0 else graph.truth(False)
            following = {p: graph.apply("select", stop, state[p], new[loop.final[p]]) for p in at}
            rows = [new.get(n, nan) for n in loop.outputs]
            kept[number][k] = [graph.apply("select", stop, nan, n) if p in visible else n for p, n in enumerate(rows)]
            state = following
        results[number] = [state.get(p, -1) for p in range(len(loop.carried))]

    def entry(table: ScanInput, k: int) -> int:
        return new[table.nodes[k]] if table.source is None else kept[table.source[0]][k][table.source[1]]

    run(-1)
    return [new[k] for k in roots]
