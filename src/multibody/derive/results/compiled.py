"""Equations of motion as native kernels: batched, part of other compiled functions, or C."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from numpy.typing import DTypeLike

from multibody.compiler.compile import compile as compile_kernel
from multibody.compiler.ir.passes import prepare
from multibody.compiler.kernel import Kernel
from multibody.derive.algebra.numpy_evaluation import evaluate
from multibody.derive.system.symbols import TIME
from multibody.derive.system.values import numbers
from multibody.errors import InputError
from multibody.geometry._arrays import matrix, vector
from multibody.tracing.matrices import linalg
from multibody.tracing.record.trace import trace

if TYPE_CHECKING:
    from multibody.derive.results.equations import Equations

INPUTS = {
    "mass_matrix": ("q",),
    "bias": ("q", "v"),
    "inverse_dynamics": ("q", "v", "a"),
    "forward_dynamics": ("q", "v", "tau"),
    "multipliers": ("q", "v", "tau"),
    "forces": ("q", "v", "u"),
    "state_rate": ("q", "v", "u"),
}
"""The quantities, and what each is a function of, before time and parameters where they are needed."""

Values = Mapping[sp.Symbol, float] | Mapping[str, float] | Mapping[sp.Symbol | str, float]


def kernel(
    equations: "Equations", quantity: str, values: Values | None = None, dtype: DTypeLike | None = None
) -> Kernel:
    """A kernel of one of these quantities; see `Equations.kernel`."""
    function, names, shapes = source(equations, quantity, {} if values is None else values)
    q = equations.system.q
    starts = {"q": [q.index(unit[0]) for unit in equations.system.units]}
    return compile_kernel(function, *shapes, names=names, dtype=dtype, batched=True, quaternions=starts)


def operations(equations: "Equations") -> int:
    """Scalar operations of inverse dynamics with all parameters as inputs; a fused multiply-add is one."""
    function, names, shapes = source(equations, "inverse_dynamics", {})
    recorded = trace(function, shapes, names)
    block = prepare(recorded.graph, recorded.roots)
    return sum(block.graph.count(block.order).values())


def source(
    equations: "Equations", quantity: str, values: Values
) -> tuple[Callable[..., Any], list[str], list[tuple[int, ...]]]:
    """A quantity as a function of arrays (..., n) in plain NumPy, the names of its arguments and their shapes.

    Raises:
        InputError: when there is no such quantity, or a value for something that is no parameter.
    """
    if not isinstance(quantity, str) or quantity not in INPUTS:
        raise InputError(f"no kernel of {quantity!r}: there are {', '.join(INPUTS)}")
    if quantity == "multipliers" and not equations.J.rows:
        raise InputError(f"{equations.system.name}: without constraints there are no multipliers")
    system = equations.system
    fixed = numbers(system, values, "parameters")
    open_parameters = [x for x in system.parameters if x not in fixed]
    expressions = _expressions(equations, quantity)
    symbols: dict[str, Sequence[sp.Symbol]] = {
        "q": system.q,
        "v": system.v,
        "a": system.a,
        "tau": [sp.Dummy() for _ in system.v],
        "u": system.inputs,
        "t": [TIME] if any(TIME in x.free_symbols for x, _ in expressions) else [],
        "parameters": open_parameters,
    }
    names = [name for name in (*INPUTS[quantity], "t", "parameters") if symbols[name]]
    shapes: list[tuple[int, ...]] = [() if name == "t" else (len(symbols[name]),) for name in names]
    scalars = [symbol for name in names for symbol in symbols[name]]
    results: Any
    shared, results = sp.cse([entry for x, _ in expressions for entry in x])
    finish = _FINISH.get(quantity, lambda _, arrays: arrays[0])

    def function(*arrays: Any) -> Any:
        parts = [
            x if name == "t" else x[..., k]
            for name, x in zip(names, arrays, strict=True)
            for k in range(len(symbols[name]))
        ]
        zero = np.zeros_like(parts[0])
        known = dict(zip(scalars, parts, strict=True)) | fixed
        for symbol, value in shared:
            known[symbol] = evaluate([value], known)[0]
        filled = iter([zero + x if isinstance(x, int | float) else x for x in evaluate(results, known)])
        made = [_shaped([next(filled) for _ in x], x, axes) for x, axes in expressions]
        return finish(arrays, made)

    function.__name__ = quantity
    return function, names, shapes


def _shaped(entries: list[Any], like: Any, axes: int) -> Any:
    if axes == 1:
        return vector(*entries)
    return matrix([entries[i * like.cols : (i + 1) * like.cols] for i in range(like.rows)])


def _expressions(equations: "Equations", quantity: str) -> list[tuple[Any, int]]:
    """Columns and matrices from which the quantity is made, and how many axes their arrays have: 1 and 2."""
    M, rest = equations.M, equations.b + equations.g
    M = sp.ImmutableMatrix(M.rows, M.cols, lambda i, j: M[max(i, j), min(i, j)])  # symmetric to the letter
    if quantity == "mass_matrix":
        return [(M, 2)]
    if quantity == "bias":
        return [(rest, 1)]
    if quantity == "inverse_dynamics":
        return [(equations.inertial, 1)]
    if quantity == "forces":
        return [(equations.tau, 1)]
    constraints = [(equations.J, 2), (equations.drift, 1)] if equations.J.rows else []
    if quantity == "state_rate":
        return [(M, 2), (equations.tau - rest, 1), *constraints, (equations.system.q_dot, 1)]
    return [(M, 2), (-rest, 1), *constraints]


def _solved(M: Any, force: Any, *constraints: Any) -> tuple[Any, Any]:
    """v' and λ: M v' = force + J^T λ with J v' + drift = 0, as one symmetric system.  [RD 3.37, 3.72]"""
    if not constraints:
        return linalg.solve(M, force[..., None], definite=True)[..., 0], None
    J, drift = constraints
    J_T = np.swapaxes(J, -1, -2)
    above = np.concatenate([M, J_T], axis=-1)
    below = np.concatenate([J, np.zeros_like(J @ J_T)], axis=-1)
    K = np.concatenate([above, below], axis=-2)
    x = np.linalg.solve(K, np.concatenate([force, -drift], axis=-1)[..., None])[..., 0]
    return x[..., : M.shape[-1]], -x[..., M.shape[-1] :]


def _motion(arrays: Sequence[Any], made: Sequence[Any]) -> tuple[Any, Any]:
    """v' and λ under the generalized forces among the inputs."""
    M, minus_bias, *constraints = made
    return _solved(M, arrays[2] + minus_bias, *constraints)


_FINISH: dict[str, Callable[[Sequence[Any], Sequence[Any]], Any]] = {
    "forward_dynamics": lambda arrays, made: _motion(arrays, made)[0],
    "multipliers": lambda arrays, made: _motion(arrays, made)[1],
    "state_rate": lambda _, made: (made[-1], _solved(*made[:-1])[0]),
}
