"""A trace as readable Python: one NumPy function on arrays with any leading batch axes."""

import keyword
import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from multibody.tracing.emission import Target, fold, function_name, identifiers, uses
from multibody.tracing.trace import Trace

LONGEST = 90
"""Characters after which an expression gets a name of its own."""
COMPARISON, OR, AND, SUM, PRODUCT, SIGN, POWER, ATOM = range(8)
"""How tightly Python's operators bind."""


class Expression(NamedTuple):
    """Text and how tightly its outermost operator binds."""

    text: str
    binds: int


TABLE: dict[str, tuple[str, int, tuple[int, ...]]] = {
    "true": ("np.True_", ATOM, ()),
    "false": ("np.False_", ATOM, ()),
    "neg": ("-{}", SIGN, (SIGN,)),
    "abs": ("np.abs({})", ATOM, (0,)),
    "sign": ("np.sign({})", ATOM, (0,)),
    "sqrt": ("np.sqrt({})", ATOM, (0,)),
    "sin": ("np.sin({})", ATOM, (0,)),
    "cos": ("np.cos({})", ATOM, (0,)),
    "tan": ("np.tan({})", ATOM, (0,)),
    "asin": ("np.arcsin({})", ATOM, (0,)),
    "acos": ("np.arccos({})", ATOM, (0,)),
    "exp": ("np.exp({})", ATOM, (0,)),
    "log": ("np.log({})", ATOM, (0,)),
    "tanh": ("np.tanh({})", ATOM, (0,)),
    "expm1": ("np.expm1({})", ATOM, (0,)),
    "log1p": ("np.log1p({})", ATOM, (0,)),
    "sinh": ("np.sinh({})", ATOM, (0,)),
    "cosh": ("np.cosh({})", ATOM, (0,)),
    "floor": ("np.floor({})", ATOM, (0,)),
    "rint": ("np.rint({})", ATOM, (0,)),
    "add": ("{} + {}", SUM, (SUM, PRODUCT)),
    "sub": ("{} - {}", SUM, (SUM, PRODUCT)),
    "mul": ("{} * {}", PRODUCT, (PRODUCT, SIGN)),
    "div": ("{} / {}", PRODUCT, (PRODUCT, SIGN)),
    "min": ("np.minimum({}, {})", ATOM, (0, 0)),
    "max": ("np.maximum({}, {})", ATOM, (0, 0)),
    "atan2": ("np.arctan2({}, {})", ATOM, (0, 0)),
    "hypot": ("np.hypot({}, {})", ATOM, (0, 0)),
    "pow": ("{} ** {}", POWER, (ATOM, SIGN)),
    "fmod": ("np.fmod({}, {})", ATOM, (0, 0)),
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

    >>> from multibody.tracing.trace import trace
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
    names = identifiers(wanted, {*keyword.kwlist, "np", "batch", name}, "t")
    arguments, outputs = names[: len(trace.inputs)], names[len(trace.inputs) :]
    shapes = {argument: i.shape for argument, i in zip(arguments, trace.inputs, strict=True)}
    dtype = f"np.{trace.dtype}"
    lines = [f"{argument} = np.asarray({argument}, dtype={dtype})" for argument in arguments]
    lines.append(_batch(shapes))
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
                lines.append(f"{short} = {value.text}")
                return Expression(short, ATOM)
        if count[node] == 1 and len(value.text) <= LONGEST:
            return value
        lines.append(f"t{temporaries} = {value.text}")
        temporaries += 1
        return Expression(f"t{temporaries - 1}", ATOM)

    elements = fold(
        trace,
        Target(
            "NumPy", {op: _writer(op) for op in TABLE} | {"lookup": partial(_lookup, dtype)}, _number, element, keep
        ),
    )
    for output, ids, values in zip(outputs, trace.outputs, elements, strict=True):
        lengths = "".join(f", {n}" for n in ids.shape)
        lines.append(f"{output} = np.zeros({f'(*batch{lengths})' if lengths else 'batch'}, dtype={dtype})")
        for k, value in enumerate(values):
            if value.text != "0.0":
                lines.append(f"{output}[{', '.join(['...', *_place(k, ids.shape)])}] = {value.text}")
    lines.append(f"return {', '.join(outputs)}")
    body = "".join(f"    {line}\n" for line in lines)
    return f"import numpy as np\n\n\ndef {name}({', '.join(arguments)}):\n{body}"


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
