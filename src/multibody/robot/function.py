"""RobotFunction: a user's function of a robot's state as a kernel, with the robot's checks."""

from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from multibody.compiler.kernel import Kernel
from multibody.errors import InputError
from multibody.geometry._arrays import batch_shape, is_traced
from multibody.model.model import Model
from multibody.robot import kernels
from multibody.robot.inputs import Kind, arrays_of, packed, unpacked
from multibody.tracing.record.layout import flatten, rebuild


@final
class RobotFunction:
    """A function of a robot, compiled when it is first called; `robot.function` makes it.

    It is called as the function itself, on single samples or batches: by position, or by name; optional inputs by name.
    `out=` takes arrays for the results, `threads=` splits a batch.
    """

    __slots__ = ("_dtype", "_function", "_inputs", "_kernels", "_key", "_model", "_optional")

    def __init__(
        self,
        model: Model,
        dtype: np.dtype[Any],
        function: Callable[..., Any],
        inputs: Mapping[str, Kind],
        optional: Mapping[str, Kind],
        key: str | None,
    ) -> None:
        if not callable(function):
            raise InputError(f"function: expected a function of arrays, got {type(function).__name__}")
        if not inputs:
            raise InputError("function: expected at least one input, such as q='configuration', got none")
        both = inputs.keys() & optional.keys()
        if both:
            raise InputError(f"function: the inputs {', '.join(sorted(both))} are both required and optional")
        arrays_of(model.tree, {**inputs, **optional})  # refuses kinds that do not exist
        self._model, self._dtype, self._function, self._key = model, dtype, function, key
        self._inputs, self._optional = dict(inputs), dict(optional)
        self._kernels: dict[tuple[str, ...], Kernel] = {}

    def kernel(self, *optional: str) -> Kernel:
        """The native kernel, with some of the optional inputs after the others; a pose is two arrays there."""
        for name in optional:
            if name not in self._optional:
                raise InputError(
                    f"no optional input is called {name!r}; there are {', '.join(self._optional) or 'none'}"
                )
        present = tuple(name for name in self._optional if name in optional)
        if present not in self._kernels:
            kinds = self._kinds(present)
            told = self._key is not None and self._model.tree_digest is not None
            key = f"{self._key} {present} {self._model.tree_digest}" if told else None
            self._kernels[present] = kernels.compiled(
                self._of_arrays(kinds),
                self._model,
                arrays_of(self._model.tree, kinds),
                self._dtype,
                key=key,
                name=getattr(self._function, "__name__", "function"),
                batched=False,
            )
        return self._kernels[present]

    def __call__(self, *args: Any, out: Any = None, threads: int | None = None, **named: Any) -> Any:
        """Evaluate; see the class."""
        values = self._bound(args, named)
        present = tuple(name for name in self._optional if name in values)
        kinds = self._kinds(present)
        arrays = unpacked(kinds, values)
        if all(type(x) is np.ndarray and x.dtype == self._dtype for x in arrays):  # what the kernel takes as it is
            kernel = self.kernel(*present)
            try:
                # without keywords a call goes straight to the code
                return kernel(*arrays) if out is None and threads is None else kernel(*arrays, out=out, threads=threads)
            except InputError:  # the checks below say it in the words of robots, if it is theirs to say
                pass
        inputs = arrays_of(self._model.tree, kinds)
        checked = [x.check(self._model.tree, value) for x, value in zip(inputs, arrays, strict=True)]
        if not any(is_traced(x) for x in checked):
            return self.kernel(*present)(*arrays, out=out, threads=threads)
        if out is not None:
            raise InputError("out= is not traced: use the result that is returned")
        cores = [len(x.shape) for x in inputs]
        batch = batch_shape(", ".join(values), *zip(checked, cores, strict=True))
        full = [np.broadcast_to(x, batch + x.shape[x.ndim - core :]) for x, core in zip(checked, cores, strict=True)]
        samples = [self._run(packed(kinds, [x[index] for x in full])) for index in np.ndindex(*batch)]
        return _stacked(samples, batch)

    def _run(self, values: Mapping[str, Any]) -> Any:
        """The function itself: required inputs by position, optional ones by name."""
        extras = {name: values[name] for name in values if name in self._optional}
        return self._function(*(values[name] for name in self._inputs), **extras)

    def _kinds(self, present: tuple[str, ...]) -> dict[str, Kind]:
        return self._inputs | {name: self._optional[name] for name in present}

    def _of_arrays(self, kinds: dict[str, Kind]) -> Callable[..., Any]:
        return lambda *arrays: self._run(packed(kinds, arrays))

    def _bound(self, args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        """The values of the inputs, by name."""
        if len(args) > len(self._inputs):
            raise InputError(f"expected {len(self._inputs)} arguments ({', '.join(self._inputs)}), got {len(args)}")
        values = dict(zip(self._inputs, args, strict=False))
        for name, value in named.items():
            if name not in self._inputs and name not in self._optional:
                known = ", ".join((*self._inputs, *self._optional))
                raise InputError(f"no argument is called {name!r}; expected {known}, out, threads")
            if name in values:
                raise InputError(f"the argument {name!r} is given twice")
            if value is not None or name in self._inputs:
                values[name] = value
        missing = [name for name in self._inputs if name not in values]
        if missing:
            raise InputError(f"missing: {', '.join(missing)} (expected {', '.join(self._inputs)})")
        return values

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}: {kind}" for name, kind in {**self._inputs, **self._optional}.items())
        return f"<function of {self._model.name!r}: {getattr(self._function, '__name__', 'function')}({inputs})>"


def _stacked(samples: list[Any], batch: tuple[int, ...]) -> Any:
    """The results of samples as those of a batch, nested as each of them."""
    if not batch:
        return samples[0]
    if not samples:
        raise InputError("expected at least one sample in a traced batch, got none")
    leaves: list[list[Any]] = [[] for _ in samples]
    layouts = [flatten(sample, own.append) for sample, own in zip(samples, leaves, strict=True)]
    return rebuild(
        layouts[0], iter([np.stack(part).reshape(batch + part[0].shape) for part in zip(*leaves, strict=True)])
    )
