"""Derivatives of a trace, as traces: forward and reverse mode, dense and sparse Jacobians, gradients, Hessian products.

The derivatives are more nodes of the same graph, so what they share with the function is computed once. A derivative
that is zero for all values is never made: changes are kept as rows, {index: node}, that have no entry for it. Loops
stay loops: `forward` and `reverse` have the two modes.
`differentiate` has the same for plain NumPy functions.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.tracing.ad.forward import forward
from multibody.tracing.ad.jacobian import jacobian_rows
from multibody.tracing.ad.reverse import reverse
from multibody.tracing.ad.tangents import Row, without_zeros
from multibody.tracing.graph.graph import Graph
from multibody.tracing.record.layout import Layout
from multibody.tracing.record.trace import Input, Trace, input_nodes

Ids = NDArray[Any]
"""An array of nodes."""


# ---- on arrays of nodes ----------------------------------------------------------------------------------------------


def push(graph: Graph, outputs: Sequence[Ids], inputs: Sequence[Ids], changes: Sequence[Ids]) -> list[Ids]:
    """The changes of the outputs along changes of the inputs, which are different leaves."""
    seeds = {x: {0: dx} for x, dx in zip(_flat(inputs), _flat(changes), strict=True)}
    seeds = {x: without_zeros(graph, row) for x, row in seeds.items()}
    rows = forward(graph, _flat(outputs), seeds)
    return _shaped([row.get(0, graph.const(0.0)) for row in rows], outputs)


def pull(graph: Graph, outputs: Sequence[Ids], inputs: Sequence[Ids], weights: Sequence[Ids]) -> list[Ids]:
    """The derivatives of the outputs, weighted and summed, by the inputs, which are different leaves."""
    seeds = [without_zeros(graph, {0: w}) for w in _flat(weights)]
    rows = reverse(graph, _flat(outputs), seeds, _flat(inputs))
    return _shaped([row.get(0, graph.const(0.0)) for row in rows], inputs)


def blocks(graph: Graph, outputs: Sequence[Ids], inputs: Sequence[Ids]) -> list[Ids]:
    """All Jacobians, output by output and for each input by input, of shapes out.shape + in.shape."""
    return _tiles(graph, jacobian_rows(graph, _flat(outputs), _flat(inputs)), outputs, inputs)


def _tiles(graph: Graph, rows: Sequence[Row], outputs: Sequence[Ids], inputs: Sequence[Ids]) -> list[Ids]:
    """A matrix as its blocks, output by output and for each input by input."""
    full = np.full((len(rows), len(_flat(inputs))), graph.const(0.0), dtype=np.int64)
    for i, row in enumerate(rows):
        for j, node in row.items():
            full[i, j] = node
    tall = np.split(full, np.cumsum([ids.size for ids in outputs])[:-1], axis=0)
    widths = np.cumsum([ids.size for ids in inputs])[:-1]
    return [
        block.reshape(out.shape + x.shape)
        for out, band in zip(outputs, tall, strict=True)
        for x, block in zip(inputs, np.split(band, widths, axis=1), strict=True)
    ]


def _flat(arrays: Sequence[Ids]) -> list[int]:
    return [node for ids in arrays for node in ids.ravel().tolist()]


def _shaped(nodes: list[int], like: Sequence[Ids]) -> list[Ids]:
    parts = np.split(np.array(nodes, dtype=np.int64), np.cumsum([ids.size for ids in like])[:-1])
    return [part.reshape(ids.shape) for part, ids in zip(parts, like, strict=True)]


# ---- on traces -------------------------------------------------------------------------------------------------------


def jvp(trace: Trace) -> Trace:
    """Inputs (x, ..., dx, ...), result (y, dy): the function and its change along dx."""
    inputs = leaves(trace)
    directions, changes = _more(trace, [Input("d" + name, shape) for name, shape in trace.inputs])
    outputs = (*trace.outputs, *push(trace.graph, trace.outputs, inputs, changes))
    return _derived(trace, directions, outputs, ["tuple", trace.layout, plain(trace.layout)])


def vjp(trace: Trace) -> Trace:
    """Inputs (x, ..., ybar, ...), result (y, xbar): the function and the derivatives of Σ ybar · y by x."""
    inputs = leaves(trace)
    many = len(trace.outputs) > 1
    ybar = [Input(f"ybar{k}" if many else "ybar", ids.shape) for k, ids in enumerate(trace.outputs)]
    added, weights = _more(trace, ybar)
    outputs = (*trace.outputs, *pull(trace.graph, trace.outputs, inputs, weights))
    return _derived(trace, added, outputs, ["tuple", trace.layout, _arrays(len(trace.inputs))])


def jacobian(trace: Trace, wrt: str | Sequence[str] | None = None) -> Trace:
    """The dense Jacobians, of shape out.shape + in.shape, with structural zeros as constants.

    Args:
        trace: of the function.
        wrt: the name of an input, or several: then every output has a tuple of Jacobians. By default all inputs.
    """
    inputs = _chosen(trace, wrt)
    return _derived(
        trace, (), tuple(blocks(trace.graph, trace.outputs, inputs)), plain(trace.layout, _arrays(len(inputs)))
    )


class SparseJacobian(NamedTuple):
    """The entries of a Jacobian that are not zero for all values."""

    rows: NDArray[Any]
    """(nnz,), positions in all outputs laid end to end; sorted."""
    columns: NDArray[Any]
    """(nnz,), positions in the chosen inputs laid end to end; sorted within a row."""
    shape: tuple[int, int]
    values: Trace
    """Yields the entries, (nnz,)."""


def sparse_jacobian(trace: Trace, wrt: str | Sequence[str] | None = None) -> SparseJacobian:
    """The pattern of the Jacobian and a trace of its entries, row by row."""
    inputs = _chosen(trace, wrt)
    rows = jacobian_rows(trace.graph, trace.roots, _flat(inputs))
    entries = [(i, j, row[j]) for i, row in enumerate(rows) for j in sorted(row)]
    i, j, nodes = np.array(entries, dtype=np.int64).reshape(-1, 3).T
    shape = (len(rows), len(_flat(inputs)))
    return SparseJacobian(i, j, shape, _derived(trace, (), (nodes.copy(),), "array"))


def gradient(trace: Trace, wrt: str | Sequence[str] | None = None) -> Trace:
    """The derivatives of a scalar function by its inputs, one array for each."""
    inputs = _chosen(trace, wrt)
    weight = np.full(scalar_output(trace.outputs).shape, trace.graph.const(1.0))
    return _derived(trace, (), tuple(pull(trace.graph, trace.outputs, inputs, [weight])), _arrays(len(inputs)))


def hessian_vector(trace: Trace, wrt: str | Sequence[str] | None = None) -> Trace:
    """Inputs (x, ..., dx, ...), result the second derivatives of a scalar function times dx: forward over reverse."""
    inputs = _chosen(trace, wrt)
    slopes = gradient(trace, wrt).outputs
    names = _names(trace, wrt)
    directions = [Input("d" + name, ids.shape) for name, ids in zip(names, inputs, strict=True)]
    added, changes = _more(trace, directions)
    return _derived(trace, added, tuple(push(trace.graph, slopes, inputs, changes)), _arrays(len(inputs)))


def hessian(trace: Trace, wrt: str | Sequence[str] | None = None) -> Trace:
    """The second derivatives of a scalar function, for each input by each input: forward or reverse over reverse.

    They are symmetric, bit by bit: those above the diagonal are used twice.
    """
    inputs = _chosen(trace, wrt)
    slopes = gradient(trace, wrt)
    rows = jacobian_rows(slopes.graph, slopes.roots, _flat(inputs))
    rows = [{j: node for j, node in row.items() if j >= i} for i, row in enumerate(rows)]
    for i, row in enumerate(rows):
        for j in [j for j in row if j > i]:
            rows[j][i] = row[j]
    seconds = _tiles(slopes.graph, rows, slopes.outputs, inputs)
    nest = _arrays(len(inputs))
    return _derived(trace, (), tuple(seconds), plain(nest, nest))


def scalar_output(outputs: Sequence[Ids]) -> Ids:
    """The one output, when the function returns one number."""
    if len(outputs) != 1 or outputs[0].size != 1:
        shapes = ", ".join(str(ids.shape) for ids in outputs)
        raise InputError(
            f"a gradient needs a function that returns one number; this one returns shapes {shapes}: "
            "for a batch of samples pass shapes=, the shape of one sample of each argument"
        )
    return outputs[0]


def plain(layout: Layout, cell: Layout = "array") -> Layout:
    """The layout with the arrays of a value of geometry, or the one array, in its place; a cell for each array."""
    if layout == "array":
        return cell
    kind, *parts = layout
    if kind == "dict":
        return ["dict", *([key, plain(part, cell)] for key, part in parts)]
    members = [plain(part, cell) for part in (parts[1:] if kind == "value" else parts)]
    return members[0] if kind == "value" and len(members) == 1 else ["tuple", *members]


def _arrays(count: int) -> Layout:
    return "array" if count == 1 else ["tuple", *["array"] * count]


def _derived(trace: Trace, more: tuple[Input, ...], outputs: tuple[Ids, ...], layout: Layout) -> Trace:
    return trace._replace(inputs=trace.inputs + more, outputs=outputs, layout=layout)


def leaves(trace: Trace) -> list[Ids]:
    """The nodes of the inputs."""
    return [input_nodes(trace.graph, trace.first + i, shape) for i, (_, shape) in enumerate(trace.inputs)]


def _more(trace: Trace, inputs: list[Input]) -> tuple[tuple[Input, ...], list[Ids]]:
    """Further inputs, after those of the trace, under names that are not taken yet."""
    taken = {name for name, _ in trace.inputs}
    added: list[Input] = []
    for name, shape in inputs:
        while name in taken:
            name += "_"
        taken.add(name)
        added.append(Input(name, shape))
    first = trace.first + len(trace.inputs)
    return tuple(added), [input_nodes(trace.graph, first + k, shape) for k, (_, shape) in enumerate(added)]


def _chosen(trace: Trace, wrt: str | Sequence[str] | None) -> list[Ids]:
    """The nodes of the inputs wrt."""
    nodes = dict(zip((name for name, _ in trace.inputs), leaves(trace), strict=True))
    return [nodes[name] for name in _names(trace, wrt)]


def _names(trace: Trace, wrt: str | Sequence[str] | None) -> list[str]:
    """The names of the inputs wrt."""
    known = [name for name, _ in trace.inputs]
    names = known if wrt is None else [wrt] if isinstance(wrt, str) else list(wrt)
    if not names or not set(names) <= set(known) or len(set(names)) < len(names):
        raise InputError(f"wrt: expected names of inputs ({', '.join(known)}), each once, got {wrt!r}")
    return names
