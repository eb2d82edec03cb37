"""The functions that studies take: functions of batches, kernels, and simulators with metrics."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from multibody.compiler.kernel import Kernel
from multibody.errors import InputError
from multibody.simulate import Run, Simulator
from multibody.sweep.designs.samples import Sample
from multibody.sweep.evaluation import parameters_of

STATE = ("q", "v", "inputs")
"""Names of samples that are arguments of a simulator; all others are its parameters."""


@final
@dataclass(frozen=True, eq=False)
class Simulation:
    """A simulator as a function of samples, and the metrics of its runs.

    Samples named q, v and inputs are where the robot starts and what its controller is given;
    all others are parameters of the simulator by name, such as mass, friction, kp and kd. The
    inputs of a sample are (n,) for constant ones, or (steps, n); a single number stands for
    (1,).
    """

    simulator: Simulator
    seconds: float
    metrics: Mapping[str, Callable[[Run], Any]]
    """By name, functions(run) -> (samples, ...)."""
    every: int = 1
    """The steps from one row that is kept for the metrics to the next."""
    q: Any = None
    """(nq,), the initial configuration, unless samples have one; by default the home of the robot."""

    def __post_init__(self) -> None:
        if not isinstance(self.metrics, Mapping) or not self.metrics or not all(map(callable, self.metrics.values())):
            raise InputError(f"metrics: expected {{name: function of the run}}, got {self.metrics!r}")

    def run(self, sample: Sample, every: int | None = None) -> Run:
        """The run of one sample; or of a batch, which has its q."""
        q = sample.get("q", self._start)
        return self.simulator(
            q,
            sample.get("v"),
            seconds=self.seconds,
            every=self.every if every is None else every,
            inputs=_with_time_axis(sample.get("inputs"), np.ndim(q) - 1),
            parameters={name: x for name, x in sample.items() if name not in STATE},
        )

    @property
    def _start(self) -> NDArray[Any]:
        return np.asarray(self.simulator.robot.home() if self.q is None else self.q)

    def __call__(self, sample: Sample) -> dict[str, NDArray[Any]]:
        count = len(next(iter(sample.values())))
        run = self.run({"q": np.broadcast_to(self._start, (count, *self._start.shape)), **sample})
        return {name: np.asarray(metric(run)) for name, metric in self.metrics.items()}


def _with_time_axis(inputs: Any, batch_axes: int) -> Any:
    """Inputs (..., steps or 1, n): the simulator takes the axis before the last for time."""
    if inputs is None:
        return None
    inputs = np.asarray(inputs)
    if inputs.ndim == batch_axes:
        inputs = inputs[..., None]
    return inputs[..., None, :] if inputs.ndim == batch_axes + 1 else inputs


@final
@dataclass(frozen=True, eq=False)
class KernelFunction:
    """A kernel as a function of samples that have the names of its arguments."""

    kernel: Kernel

    def __call__(self, sample: Sample) -> dict[str, Any]:
        """Results by the kernel's own names, or `result`, or `result_0`, `result_1`, ... where it has none."""
        result = self.kernel(**sample)
        if isinstance(result, Mapping):
            return dict(result)
        if isinstance(result, tuple | list):
            return {f"result_{k}": x for k, x in enumerate(result)}
        return {"result": result}


def function_of(function: Any, options: Mapping[str, Any]) -> Callable[..., Any]:
    """The function of a study, from the user's argument."""
    if isinstance(function, Simulator):
        if options.get("seconds") is None or options.get("metrics") is None:
            raise InputError(
                "Study of a Simulator: expected seconds= and metrics=, as {'height': lambda run: run.q[..., -1, 2]}"
            )
        return Simulation(function, **{name: x for name, x in options.items() if x is not None})
    surplus = [name for name, x in options.items() if x is not None]
    if surplus:
        raise InputError(f"{', '.join(surplus)}: expected only with a Simulator, got {type(function).__name__}")
    if isinstance(function, Kernel):
        return KernelFunction(function)
    if not callable(function):
        raise InputError(f"expected a function(sample) -> {{name: array}}, a kernel or a Simulator, got {function!r}")
    others = _surplus(function)
    if others:
        raise InputError(
            f"expected function(sample) or function(sample, rng), of one dict {{name: array}}, got one that also needs "
            f"{', '.join(others)}: write sample[{others[0]!r}] in it"
        )
    return function


def _surplus(function: Callable[..., Any]) -> list[str]:
    """The names of parameters beyond the first that need a value, but for `rng`."""
    varied = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [part.name for part in parameters_of(function) if part.default is part.empty and part.kind not in varied]
    return [name for name in needed[1:] if name != "rng"]
