"""Gradients through time: the adjoint of every step, over stored states, from the end to the start.

Contact impulses are differentiated as the solution of their conditions (`contact/impulse_gradient.py`). The energy
limiter is left out.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.compiler.compile import compile as compile_kernel
from multibody.compiler.compiled_scan import Scan
from multibody.compiler.ir.nested_shapes import flatten_shapes
from multibody.compiler.scan import compile_scan
from multibody.errors import InputError
from multibody.geometry._arrays import floats
from multibody.simulate.clock import step_number, time_of
from multibody.simulate.contact import height_jump
from multibody.simulate.inputs_and_parameters import Arguments, arguments_of
from multibody.simulate.nested_state import map_arrays, with_prefix
from multibody.simulate.pd import PD
from multibody.simulate.signatures import check_signature
from multibody.simulate.simulator import Simulator
from multibody.tracing.ad import api
from multibody.tracing.record.layout import parts_of, rebuild

NAMED = ("inputs", "state", "parameters", "data")
"""Arguments that costs ask for by name."""


class Gradients(NamedTuple):
    """A value and its derivatives, each with the shape of its argument."""

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


class _Named(dict[str, Any]):
    """The arrays of an argument by name; a cost that reads another name is refused."""

    def __init__(self, argument: str, arrays: Mapping[str, Any]) -> None:
        super().__init__(arrays)
        self.argument = argument

    def __missing__(self, name: str) -> Any:
        raise InputError(
            f"{self.argument}, {name}: a cost reads it, but the call has {', '.join(self) or 'none'}; expected "
            f"{self.argument}={{{name!r}: ...}}"
        )


Kernels = tuple[Scan, Scan, Callable[..., Any]]
"""For arguments of certain shapes: runs, storing the states; runs the adjoint of every step over the stored states; the
cost of the end and its derivatives, of (end, values, data)."""


def gradient(
    simulator: Simulator, cost: Callable[..., Any], running: Callable[..., Any] | None = None
) -> "CostGradient":
    """Return the function(q, v, inputs, parameters) whose value is a cost of a
    simulation, with its gradient.

    Costs are NumPy. After their positional arguments they may ask by name for `inputs` (those
    of the step, for the end of the last step, as the controller has them), `state` (the
    controller's, after the step), `parameters` (a dict of those that the call has) and `data`
    (a dict of the call's own arrays, such as a goal of each sample).

    Args:
        simulator: a Simulator of any method but "events".
        cost: of the end, cost(q, v), a number.
        running: of every step, running(t, q, v, tau), a number that is summed.

    >>> import multibody as mb
    >>> from multibody import simulate
    >>> robot = mb.load("double-pendulum")
    >>> pushed = lambda t, q, v, u: u
    >>> simulator = simulate.Simulator(robot, dt=0.01, method="rk4", controller=pushed)
    >>> slopes = gradient(simulator, lambda q, v: q[0] ** 2)
    >>> slope = slopes([0.3, 0.0], [0.0, 0.0], np.zeros((20, 2)))
    >>> slope.inputs.shape, slope.q.shape
    ((20, 2), (2,))

    A goal of each sample, and a cost of the inputs:

    >>> slope = gradient(
    ...     simulator,
    ...     lambda q, v, data: np.sum((q - data["goal"]) ** 2),
    ...     lambda t, q, v, tau, inputs: 1e-3 * np.sum(inputs**2),
    ... )
    >>> goals = np.array([[0.1, 0.0], [0.2, 0.0], [0.3, 0.0]])
    >>> slope([0.3, 0.0], None, np.zeros((20, 2)), data={"goal": goals}).inputs.shape
    (3, 20, 2)
    """
    return CostGradient(simulator, cost, running)


class CostGradient:
    """A cost of a simulation and its gradient as a function; see `gradient`."""

    def __init__(
        self, simulator: Simulator, cost: Callable[..., Any], running: Callable[..., Any] | None = None
    ) -> None:
        if not isinstance(simulator, Simulator):
            raise InputError(f"gradient: expected a Simulator, got {type(simulator).__name__}")
        if not simulator._step.method.has_derivatives:
            raise InputError('gradient: times of impacts have none here: expected another method, as "contact"')
        if not callable(cost) or not (running is None or callable(running)):
            raise InputError("gradient: expected cost(q, v), and running(t, q, v, tau) or None, as functions")
        self.simulator, self.cost, self.running = simulator, cost, running
        self._cost_names = _names_of(cost, "cost", ("q", "v"))
        self._running_names = () if running is None else _names_of(running, "running", ("t", "q", "v", "tau"))
        if simulator.memory is None and "state" in self._cost_names + self._running_names:
            raise InputError("gradient: a cost asks for state: expected a controller that is a function with a state")
        scene = replace(simulator._step.scene, exact=True)
        self._step = replace(simulator._step, scene=scene, outputs={})
        self._kernels: dict[Any, Kernels] = {}

    def __call__(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        inputs: Any = None,
        parameters: Mapping[str, ArrayLike] | None = None,
        *,
        seconds: float | None = None,
        threads: int | None = None,
        state: Any = None,
        data: Mapping[str, ArrayLike] | None = None,
    ) -> Gradients:
        """The cost of a simulation and its derivatives.

        Args:
            q: (..., nq), where the robot starts.
            v: (..., nv), by default at rest.
            inputs: of the controller, as a run takes them.
            parameters: as a run takes them.
            seconds: how long; by default as long as the inputs have rows.
            threads: over which a batch is split.
            state: the controller's first state, in place of the simulator's.
            data: for costs that ask for it: {name: (..., n)}, constant in time, without derivatives.
        """
        simulator = self.simulator
        steps = self._steps(inputs, seconds)
        given = arguments_of(simulator._step, steps, inputs, None, parameters)
        arrays = self._checked(given, steps, data)
        start = simulator.start(q, v, state)
        forward, backward, cost = self._kernels_of(given, arrays)
        last, stored = forward(start, given.moving, given.still, arrays, steps=steps, threads=threads)
        height_jump.warn(last, simulator._about, stacklevel=2)
        final = {name: x[..., -1, :] for name, x in given.moving.items() if steps} | given.still
        value, (by_end, by_values) = cost(last, final, arrays)
        axis = np.ndim(value)
        if self.running is not None:
            value = value + stored.pop("running").sum(axis=axis)
        weights = {name: map_arrays(np.zeros_like, last[name]) for name in self._names} | by_end
        zeros = {name: np.zeros((*np.shape(value), *given.cores[name])) for name in given.still}
        totals = {name: by_values.get(name, x) for name, x in zeros.items()}
        moving = {name: np.flip(x, x.ndim - 2) for name, x in given.moving.items()}
        bars, stored = {"weights": weights, "totals": totals}, map_arrays(lambda x: np.flip(x, axis), stored)
        first, by_step = backward(bars, stored, moving, given.still, arrays, steps=steps, threads=threads)
        tangent = np.einsum("...ij,...i->...j", simulator.robot.rate_matrix(start["q"]), first["weights"]["q"])
        by_step = {name: np.flip(x, axis).copy() for name, x in by_step.items()}
        for name in by_step:
            by_step[name][..., -1:, :] += by_values[name][..., None, :] if name in by_values else 0.0
        by_inputs = _by_inputs(inputs, by_step, first["totals"])
        by_parameter = {name: first["totals"][f"parameter:{name}"] for name in parameters or {}}
        return Gradients(value, tangent, first["weights"]["v"], by_inputs, by_parameter)

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(name for name in self.simulator._shapes if name in self._step.differentiated)

    def _steps(self, inputs: Any, seconds: float | None) -> int:
        if seconds is not None:
            return step_number(seconds, self.simulator.dt)
        arrays = [np.asarray(x) for x in (inputs.values() if isinstance(inputs, Mapping) else [inputs])]
        rows = {array.shape[-2] for array in arrays if inputs is not None and array.ndim > 1} - {1}
        if len(rows) != 1:
            raise InputError("gradient: expected seconds=, or inputs with a row for each step")
        return rows.pop()

    def _checked(self, given: Arguments, steps: int, data: Any) -> dict[str, NDArray[Any]]:
        """The arrays of `data`; refuse calls without what the costs ask for."""
        asked = {*self._cost_names, *self._running_names}
        if (data is None) == ("data" in asked):
            words = "data=, since a cost asks for it" if data is None else "a cost that asks for data, or no data="
            raise InputError(f"gradient: expected {words}")
        if "inputs" in asked and not (given.inputs or isinstance(self.simulator.controller, PD)):
            raise InputError("gradient: a cost asks for inputs: expected inputs of the controller")
        if "inputs" in self._cost_names and not steps and given.moving:
            raise InputError("gradient: the cost of the end asks for the inputs of the last step: expected a step")
        if data is not None and not isinstance(data, Mapping):
            raise InputError(f"data: expected {{name: (..., n)}}, got {type(data).__name__}")
        arrays = {str(name): floats(x, f"data, {name}") for name, x in (data or {}).items()}
        for name, x in arrays.items():
            if not x.ndim:
                raise InputError(f"data, {name}: expected shape (..., n), got (); one number of a sample is (..., 1)")
        return arrays

    def _kernels_of(self, given: Arguments, data: Mapping[str, NDArray[Any]]) -> Kernels:
        """The kernels for inputs, parameters and data of these shapes; made once."""
        cores = {name: x.shape[-1:] for name, x in data.items()}
        key = given.key, tuple(sorted(cores.items()))
        if key not in self._kernels:
            self._kernels[key] = *self._scans(given, cores), self._end(given, cores)
        return self._kernels[key]

    def _scans(self, given: Arguments, data: Mapping[str, Any]) -> tuple[Scan, Scan]:
        shapes, names, running = self.simulator._shapes, self._names, self.running

        def step(state: Any, values: Mapping[str, Any], data: Any) -> tuple[Any, Any]:
            after, record = self._step(state, values)
            if running is None:
                return after, np.zeros(())
            more = self._named(self._running_names, values, after, data)
            return after, running(time_of(after, self.simulator.dt), after["q"], after["v"], record["tau"], **more)

        def forward(state: Any, moving: Any, still: Any, data: Any) -> Any:
            after, cost = step(state, moving | still, data)
            return after, {**state} if running is None else {**state, "running": cost}

        def adjoint(bars: Any, stored: Any, moving: Any, still: Any, data: Any) -> Any:
            def function(parts: Any, moving: Any, still: Any) -> Any:
                after, cost = step({**stored, **parts}, moving | still, data)
                return {name: after[name] for name in names}, cost

            own = {name: stored[name] for name in names}
            weights = bars["weights"], np.ones(())
            _, (by_state, by_moving, by_still) = api.vjp(function)(own, moving, still, weights)
            totals = {name: x + by_still[name] for name, x in bars["totals"].items()}
            return {"weights": by_state, "totals": totals}, by_moving

        moving, still = ({name: given.cores[name] for name in part} for part in (given.moving, given.still))
        bars = {"weights": {name: shapes[name] for name in names}, "totals": still}
        kernel = partial(compile_scan, dtype=self.simulator.dtype)
        return kernel(forward, shapes, [moving], [still, data]), kernel(adjoint, bars, [shapes, moving], [still, data])

    def _end(self, given: Arguments, data: Mapping[str, Any]) -> Callable[..., Any]:
        names = ("q", "v", "memory") if "state" in self._cost_names else ("q", "v")
        asked = [word for word in ("input", "parameter") if f"{word}s" in self._cost_names]
        values = [name for name in given.cores if name.split(":")[0] in asked]
        own, cores = self.simulator._shapes, given.cores
        spec = {name: own[name] for name in names}, {name: cores[name] for name in values}, data
        layout, shapes = flatten_shapes(spec)

        def cost_and_gradient(*arrays: Any) -> Any:
            end, values, data = rebuild(layout, iter(arrays))

            def cost(end: Any, values: Any) -> Any:
                return self.cost(end["q"], end["v"], **self._named(self._cost_names, values, end, data))

            return cost(end, values), api.gradient(cost, (0, 1))(end, values)

        kernel = compile_kernel(cost_and_gradient, *shapes, dtype=self.simulator.dtype)

        def end(last: Any, final: Any, data: Any) -> Any:
            nested = {name: last[name] for name in names}, {name: final[name] for name in values}, dict(data)
            return kernel(*parts_of(layout, nested, "gradient"))

        return end

    def _named(self, names: tuple[str, ...], values: Mapping[str, Any], state: Any, data: Any) -> dict[str, Any]:
        """The arguments that a cost asks for by name."""
        parameters = with_prefix(values, "parameter:")
        every = {"inputs": self._step._input(values), "state": state.get("memory")}
        every |= {"parameters": _Named("parameters", parameters), "data": _Named("data", data)}
        return {name: every[name] for name in names}


def _names_of(cost: Callable[..., Any], what: str, positional: tuple[str, ...]) -> tuple[str, ...]:
    """The arguments that a cost asks for by name: those after the positional ones, without a default."""
    try:
        rest = list(inspect.signature(cost).parameters.values())[len(positional) :]
    except (TypeError, ValueError):  # of a function in C
        return ()
    names = tuple(x.name for x in rest if x.name in NAMED and x.default is x.empty)
    words = f"gradient, {what}: expected a function of ({', '.join(positional)}) and, by name, of {', '.join(NAMED)}"
    check_signature(cost, words, *positional, **dict.fromkeys(names))
    return names


def _by_inputs(inputs: Any, by_step: Mapping[str, Any], totals: Mapping[str, Any]) -> Any:
    """The derivatives with respect to the inputs, nested and shaped as they are."""
    if inputs is None:
        return None

    def of(name: str, x: Any) -> Any:
        if name in by_step:
            return by_step[name]
        return totals[name] if np.ndim(x) == 1 else totals[name][..., None, :]

    if isinstance(inputs, Mapping):
        return {key: of(f"input:{key}", x) for key, x in inputs.items()}
    return of("input", inputs)
