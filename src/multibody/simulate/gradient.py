"""Gradients through time: the adjoint of every step, over stored states, from the end to the start.

Impulses of contacts are converged to 1e-12 there, and differentiated as the solution that they are, by the implicit
function; the derivative is that of the branch that each contact is on. The balance of energy, which acts on whirling
links alone, is left out.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.compiler.compile import compile as compile_kernel
from multibody.compiler.compiled_scan import Scan
from multibody.compiler.scan import compile_scan
from multibody.errors import InputError
from multibody.simulate.arguments import Arguments
from multibody.simulate.checks import step_number
from multibody.simulate.clock import time_of
from multibody.simulate.simulator import Simulator
from multibody.tracing.ad import api

DIFFERENTIATED = ("q", "v", "impulses", "memory", "held", "anchors", "slips")
"""What of a state is differentiated; counts and bounds are not."""


class Gradients(NamedTuple):
    """The value, and its derivatives, each of the shape of what it is by."""

    value: NDArray[Any]
    """(...)."""
    q: NDArray[Any]
    """(..., nv): along the velocities, in the tangent space."""
    v: NDArray[Any]
    """(..., nv)."""
    inputs: Any
    """As the inputs; None without them."""
    parameters: dict[str, NDArray[Any]]
    """By name."""


class gradient:  # noqa: N801  called as a function, it is one
    """The function(q, v, inputs, parameters) whose value is a cost of a simulation, with its gradient.

    Args:
        simulator: what is simulated.
        cost: of the end, cost(q, v), a number; NumPy.
        running: of every step, running(t, q, v, tau), a number that is summed.

    >>> import multibody as mb
    >>> from multibody import simulate
    >>> robot = mb.load("double-pendulum")
    >>> simulator = simulate.Simulator(robot, dt=0.01, method="rk4", controller=lambda t, q, v, u: u)
    >>> slope = gradient(simulator, lambda q, v: q[0] ** 2)([0.3, 0.0], [0.0, 0.0], np.zeros((20, 2)))
    >>> slope.inputs.shape, slope.q.shape
    ((20, 2), (2,))
    """

    def __init__(
        self, simulator: Simulator, cost: Callable[..., Any], running: Callable[..., Any] | None = None
    ) -> None:
        if not isinstance(simulator, Simulator):
            raise InputError(f"gradient: expected a Simulator, got {type(simulator).__name__}")
        if simulator.method == "events":
            raise InputError('gradient: times of impacts have none here: expected another method, as "contact"')
        if not callable(cost) or not (running is None or callable(running)):
            raise InputError("gradient: expected cost(q, v), and running(t, q, v, tau) or None, as functions")
        self.simulator, self.running = simulator, running
        scene = replace(simulator._stepping.scene, exact=True)
        self._stepping = replace(simulator._stepping, scene=scene, outputs={})
        tree = simulator.tree

        def at_the_end(q: Any, v: Any) -> Any:
            return (cost(q, v), *api.gradient(cost, (0, 1))(q, v))

        self._end = compile_kernel(at_the_end, (tree.nq,), (tree.nv,), dtype=simulator.dtype)
        self._scans: dict[Any, tuple[Scan, Scan]] = {}

    def __call__(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        inputs: Any = None,
        parameters: Mapping[str, ArrayLike] | None = None,
        *,
        seconds: float | None = None,
        threads: int | None = None,
    ) -> Gradients:
        """The cost of a simulation and its derivatives.

        Args:
            q: (..., nq), where the robot starts.
            v: (..., nv), by default at rest.
            inputs: of the controller, as a run takes them.
            parameters: as a run takes them.
            seconds: how long; by default as long as the inputs have rows.
            threads: over which a batch is split.
        """
        simulator = self.simulator
        steps = self._steps(inputs, seconds)
        given = simulator._arguments(steps, inputs, None, parameters)
        forward, backward = self._pair(given)
        start = simulator.start(q, v)
        rest = [part for part in (given.moving, given.still) if part]
        last, stored = forward(start, *rest, steps=steps, threads=threads)
        value, *weights = self._end(last["q"], last["v"])
        axis = np.ndim(value)
        if self.running is not None:
            value = value + stored.pop("running").sum(axis=axis)
        adjoint = {name: np.zeros_like(last[name]) for name in self._names if name not in ("q", "v")}
        adjoint = {"q": weights[0], "v": weights[1], **adjoint}
        totals = {name: np.zeros((*np.shape(value), *given.cores[name])) for name in given.still}
        back = {name: np.flip(x, axis) for name, x in stored.items()}
        moving = {name: np.flip(x, x.ndim - 2) for name, x in given.moving.items()}
        rest = [part for part in (moving, given.still) if part]
        state = (
            {"weights": {name: adjoint[name] for name in self._names}, "totals": totals}
            if totals
            else {"weights": {name: adjoint[name] for name in self._names}}
        )
        first, by_step = backward(state, back, *rest, steps=steps, threads=threads)
        tangent = np.einsum("...ij,...i->...j", simulator.robot.rate_matrix(start["q"]), first["weights"]["q"])
        by_step = {name: np.flip(x, axis) for name, x in (by_step or {}).items()}
        return Gradients(
            value,
            tangent,
            first["weights"]["v"],
            _by_inputs(inputs, by_step, first.get("totals", {})),
            {name: first["totals"][f"parameter:{name}"] for name in parameters or {}},
        )

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(name for name in self.simulator._shapes if name in DIFFERENTIATED)

    def _steps(self, inputs: Any, seconds: float | None) -> int:
        if seconds is not None:
            return step_number(seconds, self.simulator.dt)
        arrays = [np.asarray(x) for x in (inputs.values() if isinstance(inputs, Mapping) else [inputs])]
        rows = {array.shape[-2] for array in arrays if inputs is not None and array.ndim > 1} - {1}
        if len(rows) != 1:
            raise InputError("gradient: expected seconds=, or inputs with a row for each step")
        return rows.pop()

    def _pair(self, given: Arguments) -> tuple[Scan, Scan]:
        """The kernel that goes on and stores its states, and the one that goes back."""
        if given.key in self._scans:
            return self._scans[given.key]
        shapes, names, running = self.simulator._shapes, self._names, self.running

        def step(state: Any, values: Mapping[str, Any]) -> tuple[Any, Any]:
            after, record = self._stepping(state, values)
            return after, None if running is None else running(
                time_of(after, self.simulator.dt), after["q"], after["v"], record["tau"]
            )

        def ahead(state: Any, *values: Any) -> Any:
            after, cost = step(state, _joined(values))
            return after, {**state} if cost is None else {**state, "running": cost}

        def back(adjoint: Any, stored: Any, *values: Any) -> Any:
            def function(parts: Any, *values: Any) -> Any:
                after, cost = step({**stored, **parts}, _joined(values))
                result = {name: after[name] for name in names}
                return result if cost is None else (result, cost)

            weights = adjoint["weights"] if running is None else (adjoint["weights"], np.ones(()))
            own = {name: stored[name] for name in names}
            _, bars = api.vjp(function)(own, *values, weights)
            by_state, *by_values = bars if values else (bars,)
            following = {"weights": by_state}
            if given.still:
                changes = by_values[-1]
                following["totals"] = {name: x + changes[name] for name, x in adjoint["totals"].items()}
            return following, by_values[0] if given.moving else None

        ahead.__name__, back.__name__ = "forward", "adjoint"
        moving = [{name: given.cores[name] for name in given.moving}] if given.moving else []
        still = [{name: given.cores[name] for name in given.still}] if given.still else []
        weights: dict[str, Any] = {"weights": {name: shapes[name] for name in names}}
        if given.still:
            weights["totals"] = {name: given.cores[name] for name in given.still}
        dtype = self.simulator.dtype
        self._scans[given.key] = (
            compile_scan(ahead, shapes, moving, still, dtype=dtype),
            compile_scan(back, weights, [shapes, *moving], still, dtype=dtype),
        )
        return self._scans[given.key]


def _joined(parts: Any) -> dict[str, Any]:
    return {name: x for part in parts for name, x in part.items()}


def _by_inputs(inputs: Any, by_step: Mapping[str, Any], totals: Mapping[str, Any]) -> Any:
    """The derivatives by inputs, nested and shaped as they are."""
    if inputs is None:
        return None

    def of(name: str, x: Any) -> Any:
        if name in by_step:
            return by_step[name]
        return totals[name] if np.ndim(x) == 1 else totals[name][..., None, :]

    if isinstance(inputs, Mapping):
        return {key: of(f"input:{key}", x) for key, x in inputs.items()}
    return of("input", inputs)
