"""Dispatcher: finds the kernel of a call by its key, passes the optional inputs on, and explains errors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from multibody.algorithms.constraints import ConstraintSet
from multibody.compiler.lazy_kernel import LazyKernel
from multibody.errors import InputError
from multibody.geometry import Wrench
from multibody.model.model import Model
from multibody.robot import kernels
from multibody.robot.quantities import quantity_of
from multibody.robot.request import Request, parameter_names

Wrenches = Mapping[str, ArrayLike | Wrench]
Parameters = Mapping[str, ArrayLike]
Call = Callable[..., Any]
CALL_ERRORS = (InputError, TypeError, ValueError)
"""Errors of a call that may have an explanation in the robot's terms; ValueError if an array is given as a name."""
CAPACITY = 256
"""Kernels of one robot that are kept; beyond, the oldest one is dropped and found in the cache when used again."""


class Options(TypedDict, total=False):
    """Options of all methods that compute; see `Robot`."""

    out: Any
    threads: int | None
    parameters: Parameters | None


class SolverOptions(TypedDict, total=False):
    """Options of `mb.control.InverseKinematics`."""

    position_tolerance: float
    rotation_tolerance: float
    limits: bool
    axes: str | Sequence[str]
    reference: str | None
    posture: ArrayLike | None
    base: str
    seeds: int | str | None
    follow: bool


class CallKey(NamedTuple):
    """Key of a call: a quantity with its frame and options, and the optional inputs that it has."""

    name: str
    frame: str | None = None
    options: tuple[Any, ...] = ()
    wrenches: tuple[str, ...] = ()
    constraints: ConstraintSet | None = None
    optional: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()

    @staticmethod
    def of(key: Any) -> CallKey:
        """The key itself, or that of its short form: a name, or (name, frame, *options), which are faster to make."""
        if isinstance(key, CallKey):
            return key
        name, frame, *options = (key, None) if isinstance(key, str) else key
        return CallKey(name, frame, tuple(options))


class Dispatcher(dict[Any, Call]):
    """Callables of compiled kernels, by CallKey or its short form, or by Request; an unknown key makes a kernel."""

    __slots__ = ("_kernels", "_lock", "_model", "dtype", "requests")

    def __init__(self, model: Model, dtype: np.dtype[Any]) -> None:
        self._model, self.dtype = model, dtype
        self._kernels: dict[Request, LazyKernel] = {}
        self.requests: dict[Any, Request] = {}
        """Requests of `Robot.evaluate`, by the items and inputs of a call."""
        self._lock = threading.Lock()

    def __missing__(self, key: Any) -> Call:
        lazy = self.kernel(key if isinstance(key, Request) else self._request(key))
        if lazy.is_compiled:
            self.store(self, key, lazy.call)
        return lazy.call

    def kernel(self, request: Request) -> LazyKernel:
        """The kernel of a request, which is compiled at its first native call."""
        lazy = self._kernels.pop(request, None)
        if lazy is None:
            lazy = kernels.lazy_kernel(self._model, request, self.dtype)
        self.store(self._kernels, request, lazy)  # last again: the first one is the least recently used
        return lazy

    def store(self, table: dict[Any, Any], key: Any, value: Any) -> None:
        """Add an entry to a table of this robot; drop the first one if there are too many."""
        with self._lock:
            while len(table) >= CAPACITY:
                del table[next(iter(table))]
            table[key] = value

    def run(self, key: Any, args: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
        """Compute a key with the options that all methods take."""
        if options:
            return self.run_with(key, args, **check_options(options, key))
        try:
            return self[key](*args)
        except CALL_ERRORS as error:
            raise self.explain(error, key, args) from None

    def run_optional(self, key: Any, args: tuple[Any, ...], options: Mapping[str, Any], **inputs: Any) -> Any:
        """As `run`, with the optional inputs of `run_with`."""
        return self.run_with(key, args, **check_options(options, key), **inputs)

    def run_with(
        self,
        key: Any,
        args: tuple[Any, ...],
        out: Any = None,
        threads: int | None = None,
        parameters: Parameters | None = None,
        *,
        wrenches: Wrenches | None = None,
        constraints: ConstraintSet | None = None,
        optional: Mapping[str, Any] | None = None,
    ) -> Any:
        """As `run`, with optional inputs; they extend the arguments and the key."""
        frames: tuple[str, ...] = ()
        names: tuple[str, ...] = ()
        if wrenches is not None:
            frames, forces = wrench_arrays(wrenches)
            args += forces
        if optional:
            args += tuple(optional.values())
        if parameters is not None:
            if not isinstance(parameters, Mapping):
                raise InputError(f"parameters: expected {{name: numbers}}, got {type(parameters).__name__}")
            names = parameter_names(tuple(parameters))
            args += tuple(parameters.values())
        if frames or optional or names or constraints is not None:
            key = CallKey(*CallKey.of(key)[:3], frames, constraints, tuple(optional or ()), names)
        return self.call(key, args, out, threads)

    def call(self, key: Any, args: tuple[Any, ...], out: Any, threads: int | None) -> Any:
        """Compute a key or a request."""
        try:
            call = self[key]
            return call(*args, out=out) if threads is None else call(*args, out=out, threads=threads)
        except CALL_ERRORS as error:
            raise self.explain(error, key, args) from None

    def explain(self, error: Exception, key: Any, args: tuple[Any, ...]) -> Exception:
        """The error of a call; in the robot's terms if a shape or a name is wrong."""
        tree = self._model.tree
        try:
            request = key if isinstance(key, Request) else None
            if request is None:
                name, frame, *_ = CallKey.of(key)
                behind = [] if isinstance(frame, str | None) else [x for x in args if isinstance(x, str)]
                if behind and behind[0] in tree.frames:
                    return InputError(f"{name}: expected the frame first, robot.{name}({behind[0]!r}, q, ...)")
                request = self._request(key)
            for x, value in zip(request.arrays(tree), args, strict=False):
                x.check(tree, value)
        except InputError as better:
            return better
        return error

    def _request(self, key: Any) -> Request:
        name, frame, values, *inputs, parameters = CallKey.of(key)
        quantity = quantity_of(name, self._model.name)
        under = dict(zip(("wrenches", "constraints", "optional"), inputs, strict=True))
        options = dict(zip(quantity.options, values, strict=False))
        return Request.of(self._model, name, frame, parameters=parameters, **under, **options)


class FrameCalls(dict[str, Call]):
    """Callables of compiled kernels by frame alone, for the quantities that tight loops compute."""

    __slots__ = ("_calls", "_name")

    def __init__(self, calls: Dispatcher, name: str) -> None:
        self._calls, self._name = calls, name

    def __missing__(self, frame: str) -> Call:
        key = self._name, frame
        call = self._calls[key]
        if key in self._calls:  # compiled
            self[frame] = call
        return call


def frames_first(method: str, frames: tuple[Any, ...], others: tuple[Any, ...]) -> None:
    """Refuse arguments that are no names of frames in their places, with the call to write."""
    if not all(isinstance(frame, str) for frame in frames):
        names = [x for x in (*frames, *others) if isinstance(x, str)][: len(frames)] or ["frame"]
        what = "the frame" if len(frames) == 1 else "the frames"
        raise InputError(f"{method}: expected {what} first, robot.{method}({', '.join(map(repr, names))}, q, ...)")


def check_options(options: Mapping[str, Any], key: Any) -> Mapping[str, Any]:
    """Return the options of a call, if they are those that all methods take."""
    for option in options:
        if option not in Options.__annotations__:
            known = ", ".join(Options.__annotations__)
            raise TypeError(f"{CallKey.of(key).name}() has no argument {option!r}; it takes {known}, too")
    return options


def wrench_arrays(wrenches: Wrenches | None) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """The frames of external wrenches, in alphabetical order, and their arrays."""
    if wrenches is None:
        return (), ()
    if not isinstance(wrenches, Mapping):
        raise InputError(f"wrenches: expected {{frame: (..., 6)}}, got {type(wrenches).__name__}")
    frames = tuple(sorted(wrenches, key=str))
    return frames, tuple(w.vector if isinstance(w, Wrench) else w for w in map(wrenches.__getitem__, frames))


def constraint_inputs(
    constraints: ConstraintSet, active: ArrayLike | None, **others: ArrayLike | None
) -> dict[str, Any]:
    """The optional inputs of constraints that a call has, by name."""
    optional = {"active": None if active is None else constraints.mask(active), **others}
    return {name: value for name, value in optional.items() if value is not None}
