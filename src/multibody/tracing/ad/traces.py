"""Derivatives of traces, as traces: forward and reverse mode, Jacobians, gradients, Hessians.

The derivatives are further nodes of the same graph, so they share subexpressions with the function. Structural zeros
are never computed. Loops stay loops. `api` has the same functions for plain NumPy functions.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.tracing.ad.forward import forward
from multibody.tracing.ad.jacobian import jacobian_rows
from multibody.tracing.ad.reverse import reverse
from multibody.tracing.ad.tangents import Tangents, dense_rows, without_zeros
from multibody.tracing.graph.graph import Graph
from multibody.tracing.record.layout import Layout, without_values
from multibody.tracing.record.trace import Input, Trace, flat, input_nodes, split

Ids = NDArray[Any]
"""An array of nodes."""
Wrt = str | Sequence[str] | None
"""The name of an input, or several; by default all inputs."""


def jvp(trace: Trace) -> Trace:
    """Inputs (x, ..., dx, ...), result (y, dy): the function and its directional derivative."""
    directions, tangents = _more(trace, [Input("d" + name, shape) for name, shape in trace.inputs])
    outputs = (*trace.outputs, *_push(trace.graph, trace.outputs, leaves(trace), tangents))
    return _derived(trace, directions, outputs, ["tuple", trace.layout, without_values(trace.layout)])


def vjp(trace: Trace) -> Trace:
    """Inputs (x, ..., ybar, ...), result (y, xbar): the function and the gradient of Σ ybar · y."""
    many = len(trace.outputs) > 1
    ybar = [Input(f"ybar{k}" if many else "ybar", ids.shape) for k, ids in enumerate(trace.outputs)]
    added, cotangents = _more(trace, ybar)
    outputs = (*trace.outputs, *_pull(trace.graph, trace.outputs, leaves(trace), cotangents))
    return _derived(trace, added, outputs, ["tuple", trace.layout, _arrays(len(trace.inputs))])


def jacobian(trace: Trace, wrt: Wrt = None) -> Trace:
    """The dense Jacobians, of shape out.shape + in.shape; with several inputs, every output has a tuple of them."""
    inputs = list(_chosen(trace, wrt).values())
    blocks = _blocks(trace.graph, jacobian_rows(trace.graph, trace.roots, flat(inputs)), trace.outputs, inputs)
    return _derived(trace, (), blocks, without_values(trace.layout, _arrays(len(inputs))))


def gradient(trace: Trace, wrt: Wrt = None) -> Trace:
    """The derivatives of a scalar function with respect to its inputs, one array for each."""
    inputs = list(_chosen(trace, wrt).values())
    one = np.full(scalar_output(trace.outputs).shape, trace.graph.const(1.0))
    return _derived(trace, (), _pull(trace.graph, trace.outputs, inputs, [one]), _arrays(len(inputs)))


def hessian_vector(trace: Trace, wrt: Wrt = None) -> Trace:
    """Inputs (x, ..., dx, ...), result the Hessian of a scalar function times dx: forward over reverse."""
    inputs, slopes = _chosen(trace, wrt), gradient(trace, wrt).outputs
    added, tangents = _more(trace, [Input("d" + name, ids.shape) for name, ids in inputs.items()])
    return _derived(trace, added, _push(trace.graph, slopes, list(inputs.values()), tangents), _arrays(len(inputs)))


def hessian(trace: Trace, wrt: Wrt = None) -> Trace:
    """The second derivatives of a scalar function, for each input with respect to each input.

    The entries above the diagonal are used twice, so the Hessian is symmetric bit by bit.
    """
    inputs, slopes = list(_chosen(trace, wrt).values()), gradient(trace, wrt)
    rows = jacobian_rows(slopes.graph, slopes.roots, flat(inputs))
    rows = [{j: node for j, node in row.items() if j >= i} for i, row in enumerate(rows)]
    for i, row in enumerate(rows):
        for j in [j for j in row if j > i]:
            rows[j][i] = row[j]
    layout = _arrays(len(inputs))
    return _derived(trace, (), _blocks(slopes.graph, rows, slopes.outputs, inputs), without_values(layout, layout))


def scalar_output(outputs: Sequence[Ids]) -> Ids:
    """The output of a function that returns one number; other functions are refused."""
    if len(outputs) != 1 or outputs[0].size != 1:
        shapes = ", ".join(str(ids.shape) for ids in outputs)
        raise InputError(
            f"a gradient needs a function that returns one number; this one returns shapes {shapes}: "
            "for a batch of samples pass shapes=, the shape of one sample of each argument"
        )
    return outputs[0]


def leaves(trace: Trace) -> list[Ids]:
    """The nodes of the inputs."""
    return [input_nodes(trace.graph, trace.first + i, shape) for i, (_, shape) in enumerate(trace.inputs)]


# ---- arrays of nodes -------------------------------------------------------------------------------------------------


def _push(graph: Graph, outputs: Sequence[Ids], inputs: Sequence[Ids], tangents: Sequence[Ids]) -> tuple[Ids, ...]:
    """The tangents of the outputs, from those of the inputs, which are different leaves."""
    seeds = {x: without_zeros(graph, {0: dx}) for x, dx in zip(flat(inputs), flat(tangents), strict=True)}
    return _shaped(graph, forward(graph, flat(outputs), seeds), outputs)


def _pull(graph: Graph, outputs: Sequence[Ids], inputs: Sequence[Ids], cotangents: Sequence[Ids]) -> tuple[Ids, ...]:
    """The cotangents of the inputs, which are different leaves, from those of the outputs."""
    seeds = [without_zeros(graph, {0: node}) for node in flat(cotangents)]
    return _shaped(graph, reverse(graph, flat(outputs), seeds, flat(inputs)), inputs)


def _shaped(graph: Graph, rows: list[Tangents], like: Sequence[Ids]) -> tuple[Ids, ...]:
    """The only entry of each row, in arrays of the given shapes."""
    return tuple(split([row.get(0, graph.const(0.0)) for row in rows], [ids.shape for ids in like]))


def _blocks(graph: Graph, rows: list[Tangents], outputs: Sequence[Ids], inputs: Sequence[Ids]) -> tuple[Ids, ...]:
    """The blocks of a sparse matrix, output by output and for each input by input."""
    full = dense_rows(graph, rows, len(flat(inputs)))
    tall = np.split(full, np.cumsum([ids.size for ids in outputs])[:-1], axis=0)
    widths = np.cumsum([ids.size for ids in inputs])[:-1]
    return tuple(
        block.reshape(out.shape + x.shape)
        for out, band in zip(outputs, tall, strict=True)
        for x, block in zip(inputs, np.split(band, widths, axis=1), strict=True)
    )


# ---- inputs and layouts ----------------------------------------------------------------------------------------------


def _arrays(count: int) -> Layout:
    return "array" if count == 1 else ["tuple", *["array"] * count]


def _derived(trace: Trace, more: tuple[Input, ...], outputs: tuple[Ids, ...], layout: Layout) -> Trace:
    return trace._replace(inputs=trace.inputs + more, outputs=outputs, layout=layout)


def _more(trace: Trace, inputs: list[Input]) -> tuple[tuple[Input, ...], list[Ids]]:
    """Further inputs after those of the trace, with unused names, and their nodes."""
    taken = {name for name, _ in trace.inputs}
    added: list[Input] = []
    for name, shape in inputs:
        while name in taken:
            name += "_"
        taken.add(name)
        added.append(Input(name, shape))
    first = trace.first + len(trace.inputs)
    return tuple(added), [input_nodes(trace.graph, first + k, shape) for k, (_, shape) in enumerate(added)]


def _chosen(trace: Trace, wrt: Wrt) -> dict[str, Ids]:
    """The names and nodes of the inputs wrt."""
    known = dict(zip((name for name, _ in trace.inputs), leaves(trace), strict=True))
    names = list(known) if wrt is None else [wrt] if isinstance(wrt, str) else list(wrt)
    if not names or not set(names) <= set(known) or len(set(names)) < len(names):
        raise InputError(f"wrt: expected names of inputs ({', '.join(known)}), each once, got {wrt!r}")
    return {name: known[name] for name in names}
