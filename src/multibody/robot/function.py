"""RobotFunction: a user's function of a robot's state as a kernel, with the robot's checks."""

from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from multibody.compiler.kernel import Kernel
from multibody.compiler.lazy_kernel import LazyKernel
from multibody.compiler.optional_inputs import OptionalInputs, extend_key, select_optional
from multibody.compiler.runtime.call_mode import bind
from multibody.errors import InputError
from multibody.model.model import Model
from multibody.robot import kernels
from multibody.robot.inputs import Kind, arrays_from_values, arrays_of, values_from_arrays


@final
class RobotFunction:
    """A function of a robot, compiled at its first call; `robot.function` makes it.

    It is called as the function itself, on single samples or batches, by position or by name; optional inputs by name.
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
        arrays_of(model.tree, {**inputs, **optional})  # raises for unknown kinds
        self._model, self._dtype, self._function, self._key = model, dtype, function, key
        self._inputs, self._optional = dict(inputs), dict(optional)
        self._kernels = OptionalInputs(optional, self._lazy)

    def kernel(self, *optional: str) -> Kernel:
        """Return the native kernel with some of the optional inputs after the others; a pose is two arrays there."""
        return self._kernels.kernel(select_optional(self._optional, optional, self)).kernel

    def __call__(self, *args: Any, out: Any = None, threads: int | None = None, **named: Any) -> Any:
        """Evaluate; see the class."""
        values = bind(tuple(self._inputs), args, named, self._optional)
        present = tuple(name for name in self._optional if name in values)
        kinds = self._kinds(present)
        arrays = arrays_from_values(kinds, values)
        call = self._kernels.kernel(present).call
        try:
            # a call without keywords takes the fast path
            return call(*arrays) if out is None and threads is None else call(*arrays, out=out, threads=threads)
        except InputError:
            inputs = arrays_of(self._model.tree, kinds)
            for x, value in zip(inputs, arrays, strict=True):
                x.check(self._model.tree, value)  # says it in the terms of the robot, if it can
            raise

    def _lazy(self, present: tuple[str, ...]) -> LazyKernel:
        """The kernel with these optional inputs."""
        kinds, name = self._kinds(present), getattr(self._function, "__name__", "function")
        arrays, function = arrays_of(self._model.tree, kinds), self._of_arrays(kinds)
        return kernels.lazy_kernel_of(
            function, self._model, arrays, self._dtype, lambda: self._cache_key(present), name, batched=False
        )

    def _cache_key(self, present: tuple[str, ...]) -> str | None:
        tree = self._model.tree_digest
        return None if self._key is None or tree is None else extend_key(f"{self._key} {tree}", present)

    def _run(self, values: Mapping[str, Any]) -> Any:
        """The function itself: required inputs by position, optional ones by name."""
        extras = {name: values[name] for name in values if name in self._optional}
        return self._function(*(values[name] for name in self._inputs), **extras)

    def _kinds(self, present: tuple[str, ...]) -> dict[str, Kind]:
        return self._inputs | {name: self._optional[name] for name in present}

    def _of_arrays(self, kinds: dict[str, Kind]) -> Callable[..., Any]:
        return lambda *arrays: self._run(values_from_arrays(kinds, arrays))

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}: {kind}" for name, kind in {**self._inputs, **self._optional}.items())
        return f"<function of {self._model.name!r}: {getattr(self._function, '__name__', 'function')}({inputs})>"
