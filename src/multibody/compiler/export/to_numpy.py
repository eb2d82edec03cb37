"""A trace as readable Python: one NumPy function on arrays with any leading batch axes."""

import inspect
import keyword
import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from multibody.tracing.emission import TEMPORARY, Lines, Target, Walk, fold, function_name, identifiers, uses
from multibody.tracing.graph.loop_nodes import ScanInput, stride
from multibody.tracing.graph.ops import OPS
from multibody.tracing.matrices.kinds import KINDS, operands
from multibody.tracing.matrices.reference import VALUES
from multibody.tracing.record.trace import Trace

MAX_EXPRESSION_LENGTH = 90
"""Characters after which an expression gets a name of its own."""
COMPARISON, OR, AND, SUM, PRODUCT, SIGN, POWER, ATOM = range(8)
"""How tightly Python's operators bind."""


class Expression(NamedTuple):
    """Text and how tightly its outermost operator binds."""

    text: str
    binds: int


TABLE: dict[str, tuple[str, int, tuple[int, ...]]] = {
    **{
        name: (f"np.{op.ufunc.__name__}({', '.join(['{}'] * op.arity)})", ATOM, (0,) * op.arity)
        for name, op in OPS.items()
        if op.ufunc
    },
    "true": ("np.True_", ATOM, ()),
    "false": ("np.False_", ATOM, ()),
    "neg": ("-{}", SIGN, (SIGN,)),
    "abs": ("np.abs({})", ATOM, (0,)),
    "add": ("{} + {}", SUM, (SUM, PRODUCT)),
    "sub": ("{} - {}", SUM, (SUM, PRODUCT)),
    "mul": ("{} * {}", PRODUCT, (PRODUCT, SIGN)),
    "div": ("{} / {}", PRODUCT, (PRODUCT, SIGN)),
    "pow": ("{} ** {}", POWER, (ATOM, SIGN)),
    "mod": ("{} % {}", PRODUCT, (PRODUCT, SIGN)),
    "fma": ("{} * {} + {}", SUM, (PRODUCT, SIGN, PRODUCT)),
    "fms": ("{} * {} - {}", SUM, (PRODUCT, SIGN, PRODUCT)),
    "fnma": ("{2} - {0} * {1}", SUM, (PRODUCT, SIGN, SUM)),
    "select": ("np.where({}, {}, {})", ATOM, (0, 0, 0)),
    "lt": ("{} < {}", COMPARISON, (OR, OR)),
    "le": ("{} <= {}", COMPARISON, (OR, OR)),
    "eq": ("{} == {}", COMPARISON, (OR, OR)),
    "ne": ("{} != {}", COMPARISON, (OR, OR)),
    "and": ("{} & {}", AND, (AND, SUM)),
    "or": ("{} | {}", OR, (OR, AND)),
    "not": ("~{}", SIGN, (SIGN,)),
}
"""The text, how tightly it binds, and how tightly each argument must bind to stand without parentheses."""


def to_numpy(trace: Trace, name: str = "f") -> str:
    """The source of a function that needs only `import numpy as np`; values that are used twice have names.

    It returns an array, or a tuple of arrays when there are several. Warnings of NumPy about invalid values in branches
    that are not taken are its own.

    >>> from multibody.tracing.record.trace import trace
    >>> import numpy as np
    >>> def tip(q):
    ...     a = q[..., 0] + q[..., 1]
    ...     return np.stack([np.cos(q[..., 0]) + np.cos(a), np.sin(q[..., 0]) + np.sin(a)], axis=-1)
    >>> print(to_numpy(trace(tip, [2]), "tip"))
    import numpy as np
    <BLANKLINE>
    <BLANKLINE>
    def tip(q):
        q = np.asarray(q, dtype=np.float64)
        batch = q.shape[:-1]
        q_0 = q[..., 0]
        t0 = q_0 + q[..., 1]
        y0 = np.zeros((*batch, 2), dtype=np.float64)
        y0[..., 0] = np.cos(q_0) + np.cos(t0)
        y0[..., 1] = np.sin(q_0) + np.sin(t0)
        return y0
    <BLANKLINE>
    """
    function_name(name, set(keyword.kwlist))
    wanted = [*(spec.name for spec in trace.inputs), *(f"y{k}" for k in range(len(trace.outputs)))]
    names = identifiers(wanted, {*keyword.kwlist, *(f"_{kind}" for kind in KINDS), "np", "batch", name}, TEMPORARY)
    arguments, outputs = names[: len(trace.inputs)], names[len(trace.inputs) :]
    shapes = {argument: i.shape for argument, i in zip(arguments, trace.inputs, strict=True)}
    dtype = f"np.{trace.dtype}"
    lines = Lines()
    for argument in arguments:
        lines.add(f"{argument} = np.asarray({argument}, dtype={dtype})")
    lines.add(_batch(shapes))
    count = uses(trace)
    temporaries = 0

    def element(i: int, k: int) -> Expression:
        shape = trace.inputs[i].shape
        return Expression(f"{arguments[i]}[{', '.join(['...', *_place(k, shape)])}]" if shape else arguments[i], ATOM)

    def keep(node: int, value: Expression) -> Expression:
        nonlocal temporaries
        if trace.graph.op[node] == "input":
            i, k = trace.graph.value[node]
            if count[node] == 1 or not trace.inputs[i].shape:
                return value
            short = "_".join([arguments[i], *_place(k, trace.inputs[i].shape)])
            if short not in names:
                lines.add(f"{short} = {value.text}")
                return Expression(short, ATOM)
        if count[node] == 1 and len(value.text) <= MAX_EXPRESSION_LENGTH:
            return value
        lines.add(f"t{temporaries} = {value.text}")
        temporaries += 1
        return Expression(f"t{temporaries - 1}", ATOM)

    kinds: list[str] = []

    def dense(kind: str, sizes: tuple[int, ...], values: list[Expression]) -> list[Expression]:
        nonlocal temporaries
        kinds.append(kind)
        numbers, result = f"t{temporaries}", f"t{temporaries + 1}"
        temporaries += 2
        listed = ", ".join(value.text for value in values)
        lines.add(f"{numbers} = np.stack(np.broadcast_arrays({listed}), axis=-1)")
        first, matrices = 0, list[str]()
        for rows, columns, *_ in operands(kind, sizes):
            part = f"{numbers}[..., {first}:{first + rows * columns}]"
            matrices.append(f"{part}.reshape(*{numbers}.shape[:-1], {rows}, {columns})")
            first += rows * columns
        lines.add(f"{result} = _{kind}({', '.join(matrices)}).reshape(*{numbers}.shape[:-1], -1)")
        return [Expression(f"{result}[..., {k}]", ATOM) for k in range(KINDS[kind].results(*sizes))]

    loops = _NumpyLoops(lines, arguments, [spec.shape for spec in trace.inputs])
    table = {op: _writer(op) for op in TABLE} | {"lookup": partial(_lookup, dtype)}
    elements = fold(trace, Target("NumPy", table, _number, element, keep, loops.repeat, rows=True, dense=dense))
    for output, ids, values in zip(outputs, trace.outputs, elements, strict=True):
        lengths = "".join(f", {n}" for n in ids.shape)
        lines.add(f"{output} = np.zeros({f'(*batch{lengths})' if lengths else 'batch'}, dtype={dtype})")
        for k, value in enumerate(values):
            if value.text != "0.0":
                lines.add(f"{output}[{', '.join(['...', *_place(k, ids.shape)])}] = {value.text}")
    lines.add(f"return {', '.join(outputs)}")
    body = "".join(f"    {line}\n" for line in lines.texts)
    functions = "".join(f"{_without_types(VALUES[kind])}\n\n" for kind in dict.fromkeys(kinds))
    return f"import numpy as np\n\n\n{functions}def {name}({', '.join(arguments)}):\n{body}"


def _without_types(function: Callable[..., object]) -> str:
    """The source of a function of matrices, as one would write it in a script."""
    return "_".join(inspect.getsource(function).partition("def ")[1:]).replace(": Matrix", "").replace(" -> Matrix", "")


class _NumpyLoops:
    """Loops as while loops: loop_n3 counts the rounds of loop 3, loop_c3_0 is carried, loop_y3_0 is kept."""

    def __init__(self, lines: Lines, names: list[str], shapes: list[tuple[int, ...]]) -> None:
        self.lines, self.names, self.shapes = lines, names, shapes
        self.done: dict[int, str] = {-1: ""}

    def repeat(self, walk: Walk, n: int) -> None:
        """Write a loop."""
        graph, values, add = walk.graph, walk.values, self.lines.add
        loop, at, rows, kept, visible, results, same_count_as = walk.loops[n]
        for p in at:
            add(f"loop_c{n}_{p} = {values[loop.initial[p]].text}")
        for p in kept:
            add(f"loop_y{n}_{p} = {{}}")
        texts = [self.row(walk, n, j, table) for j, (_, table) in enumerate(rows)]
        limit = str(loop.iterations) if same_count_as < 0 else f"loop_n{same_count_as}"
        add(f"loop_n{n} = 0")
        add(f"while loop_n{n} < {limit}:")
        self.lines.depth += 1
        if rows or kept:
            add(f"loop_i{n} = {f'{limit} - 1 - loop_n{n}' if loop.reverse else f'loop_n{n}'}")
        values.update((loop.carried[p], Expression(f"loop_c{n}_{p}", ATOM)) for p in at)
        head, body = walk.body(n)
        walk.run(head)
        around = self.done.get(loop.parent, "")
        self.done[n] = around if loop.stop < 0 else f"loop_d{n}"
        if loop.stop >= 0:
            add(f"loop_d{n} = ({values[loop.stop].text}){f' | {around}' if around else ''}")
            add(f"if np.all(loop_d{n}):")
            add("    break")
        values.update((k, text) for (k, _), text in zip(rows, texts, strict=True))
        walk.run(body)
        for p in kept:
            text = values[loop.outputs[p]].text
            if loop.stop >= 0 and p in visible:
                text = f"np.where(loop_d{n}, np.nan, {text})"
            add(f"loop_y{n}_{p}[loop_i{n}] = {text}")
        finals = [values[loop.final[p]].text for p in at]
        if loop.stop >= 0:
            finals = [f"np.where(loop_d{n}, loop_c{n}_{p}, {text})" for p, text in zip(at, finals, strict=True)]
        if at:
            add(f"{', '.join(f'loop_c{n}_{p}' for p in at)} = {', '.join(finals)}")
        add(f"loop_n{n} += 1")
        self.lines.depth -= 1
        missing = ", np.nan" if loop.stop >= 0 else ", 0.0"
        for leaf in results:
            _, *place = graph.value[leaf]
            if graph.op[leaf] == "stacked_output":
                values[leaf] = Expression(f"loop_y{n}_{place[0]}.get({place[1]}{missing})", ATOM)
            else:
                values[leaf] = Expression(f"loop_c{n}_{place[0]}" if place else f"loop_n{n}", ATOM)

    def row(self, walk: Walk, n: int, j: int, table: ScanInput) -> Expression:
        """The scan input of loop n in one iteration; other tables than arguments and stacked outputs get a name."""
        graph = walk.graph
        if table.source is not None:
            return Expression(f"loop_y{table.source[0]}_{table.source[1]}[loop_i{n}]", ATOM)
        regular = stride(graph, table)
        if regular:
            argument, element, step = regular
            name, axes = self.names[argument], len(self.shapes[argument])
            flat = name if axes == 1 else f"{name}.reshape(*{name}.shape[:-{axes}], -1)"
            return Expression(f"{flat}[..., {element} + {step} * loop_i{n}]", ATOM)
        constant = all(graph.op[k] == "const" for k in table.nodes)
        texts = [_number(graph.value[k]).text if constant else walk.values[k].text for k in table.nodes]
        self.lines.add(f"loop_x{n}_{j} = [{', '.join(texts)}]")
        return Expression(f"loop_x{n}_{j}[loop_i{n}]", ATOM)


def _lookup(dtype: str, index: Expression, *entries: Expression) -> Expression:
    table = ", ".join(entry.text for entry in entries)
    return Expression(f"np.array([{table}], dtype={dtype})[np.asarray({index.text}).astype(int)]", ATOM)


def _writer(op: str) -> Callable[..., Expression]:
    template, binds, needs = TABLE[op]

    def write(*arguments: Expression) -> Expression:
        texts = [a.text if a.binds >= need else f"({a.text})" for a, need in zip(arguments, needs, strict=True)]
        return Expression(template.format(*texts), binds)

    return write


def _number(number: float) -> Expression:
    if not math.isfinite(number):
        return Expression(f"{'-' if number < 0 else ''}np.{'nan' if math.isnan(number) else 'inf'}", SIGN)
    return Expression(repr(number), SIGN if math.copysign(1.0, number) < 0 else ATOM)


def _place(k: int, shape: tuple[int, ...]) -> list[str]:
    """The indices of element k."""
    indices: list[str] = []
    for n in reversed(shape):
        k, index = divmod(k, n)
        indices.insert(0, str(index))
    return indices


def _batch(shapes: dict[str, tuple[int, ...]]) -> str:
    parts = [f"{name}.shape[:-{len(shape)}]" if shape else f"{name}.shape" for name, shape in shapes.items()]
    return f"batch = {parts[0]}" if len(parts) == 1 else f"batch = np.broadcast_shapes({', '.join(parts)})"
