"""Compiled: what makes, keeps and calls the kernels of a robot, and several of them at once."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from multibody.compiler.config import is_eager
from multibody.compiler.kernel import Kernel
from multibody.errors import InputError
from multibody.geometry._arrays import floats, is_traced
from multibody.model import configuration
from multibody.model import parameters as numbers_of_robots
from multibody.robot import derivatives, kernels
from multibody.robot._dynamics import Wrenches, wrench_arrays
from multibody.robot._face import Face
from multibody.robot._kinematics import named_poses, pose_on
from multibody.robot.kernels import Task
from multibody.robot.requests import SIZES, WRENCH, Request, quantity, wrench_name


class Compiled(Face):
    """The part of Robot that has the kernels."""

    def _keep_kernels(self) -> None:
        """Begin without kernels."""
        self._kernels: dict[Any, Kernel] = {}
        self._tasks: dict[Any, Task] = {}
        self._calls = _Calls(self._call_of)
        self._poses = _Calls(lambda frame: self._calls["pose", frame])
        self._jacobians = _Calls(lambda frame: self._calls["jacobian", frame, "mixed"])

    def kernel(
        self,
        name: str,
        frame: str | None = None,
        *,
        constraints: Any = None,
        wrenches: Sequence[str] = (),
        optional: str | Sequence[str] = (),
        parameters: str | Sequence[str] = (),
        **options: Any,
    ) -> Kernel:
        """The native kernel of a quantity, for tight loops.

        Args:
            name: such as "inverse_dynamics" or "jacobian".
            frame: for quantities of a frame.
            constraints: a ConstraintSet or a list of constraints, for what they do to the robot, such as
                "constrained_dynamics", "impact", "constraint_jacobian".
            wrenches: the frames at which external wrenches act; each is a further argument (..., 6) after the others,
                in this order, called `wrench_trunk` for the frame "trunk".
            optional: inputs of these quantities that may be left out, further arguments after the wrenches: "active",
                (..., rows), "baumgarte", (..., 2), "restitution", (..., 1).
            parameters: numbers of the model that become further arguments, last of all, so that every sample can be
                another robot: "inertias", (..., bodies, 10) as `robot.parameters()` has them, "placements",
                (..., bodies, 7) as `robot.placements()`, or "positions" alone, (..., bodies, 3) as
                `robot.positions()`, "frame_placements", (..., frames, 7) as `robot.frame_placements()`, "gravity",
                (..., 3), or several in a tuple. `robot.check_parameters` tells whether a robot can have them.
            **options: such as representation="left".
        """
        request = Request.of(
            self.model, name, frame, wrenches=wrenches, constraints=constraints, optional=optional, **options
        )
        given = kernels.parameters_of(parameters)
        key = ("kernel", request, given)
        found = self._kernels.get(key)
        if found is None:
            task = kernels.task(self.model, [request], request.inputs(), single=True, parameters=given)
            found = self._kernels[key] = kernels.kernel(self.model, task, self.dtype.name)
        return found

    def evaluate(
        self,
        q: ArrayLike,
        v: ArrayLike | None,
        what: Sequence[str | tuple[Any, ...]],
        *,
        a: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        wrenches: Wrenches | None = None,
        out: Any = None,
        threads: int | None = None,
    ) -> dict[Any, Any]:
        """Several quantities together: what they share is computed once.

        Args:
            q: (..., nq).
            v: (..., nv); None when nothing asks for it.
            what: names such as "mass_matrix", or tuples of a name, a frame and options: ("jacobian", "hand"),
                ("velocity", "hand", {"representation": "left"}), ("constrained_dynamics", feet) for a ConstraintSet.
            a: (..., nv), for what asks for it.
            tau: (..., nv), for what asks for it.
            wrenches: {frame: (..., 6)}, external ones, for everything that takes them.
            out: a tuple of arrays, one for each of the results; for a result that is several, such as a pose, a tuple
                of arrays in its place.
            threads: over which a batch is split.

        Returns:
            The results, by the items of `what`, in their order.

        >>> import multibody as mb
        >>> import numpy as np
        >>> robot = mb.load("planar-arm")
        >>> found = robot.evaluate(robot.neutral(), np.zeros(3), ["mass_matrix", ("jacobian", robot.frames[-1])])
        >>> [x.shape for x in found.values()]
        [(3, 3), (6, 3)]
        """
        if isinstance(what, str) or not isinstance(what, Sequence):
            raise InputError(f"evaluate: expected a list of quantities, got {what!r}")
        items = [item if isinstance(item, tuple) else (item,) for item in what]
        names = [_hashable(item) for item in what]
        given = {name: value for name, value in (("q", q), ("v", v), ("a", a), ("tau", tau)) if value is not None}
        frames, arrays = wrench_arrays(wrenches)
        if frames:
            given |= dict(zip(map(wrench_name, frames), arrays, strict=True))
        key = ("evaluate", tuple(names), tuple(given))
        if key not in self._tasks:
            if not items:
                raise InputError("evaluate: expected at least one quantity, got none")
            requests = [self._request(item, frames) for item in items]
            if frames and not any(request.wrenches for request in requests):
                raise InputError("evaluate: expected a quantity that takes external wrenches, got none")
            for request in requests:
                missing = [name for name in request.inputs() if name not in given]
                if missing:
                    raise InputError(f"evaluate: {request.name!r} needs {', '.join(missing)}, which is not given")
            self._tasks[key] = kernels.task(self.model, requests, tuple(given), single=False)
        if out is not None and (not isinstance(out, tuple | list) or len(out) != len(items)):
            raise InputError(f"out: expected {len(items)} arrays in a tuple, one for each quantity, got {out!r}")
        nested = out is not None and any(isinstance(place, tuple | list) for place in out)
        results = self._run(key, tuple(given.values()), None if nested else out, threads)
        if nested:
            results = kernels.handed(results, out, self.dtype)
        shaped = []
        for item, result in zip(items, results, strict=True):
            named = {"pose": pose_on, "poses": lambda parts: named_poses(self.model, parts)}.get(item[0])
            shaped.append(result if named is None else named(result))
        return dict(zip(names, shaped, strict=True))

    def derivatives(
        self,
        name: str,
        *args: ArrayLike,
        frame: str | None = None,
        constraints: Any = None,
        parameters: str | Sequence[str] = (),
        out: Any = None,
        threads: int | None = None,
        **options: Any,
    ) -> Any:
        """The derivatives of any quantity by each of its arguments, in the tangent space, exact to rounding.

        They come from automatic differentiation, also of quantities that are derivatives themselves, and take several
        times the operations of `inverse_dynamics_derivatives`, which has a recursion of its own.

        Args:
            name: such as "velocity", "centroidal_momentum", "mass_matrix_product", "inverse_dynamics_derivatives".
            *args: the arguments of that quantity: q, v, ..., and then the parameters.
            frame: for quantities of a frame.
            constraints: as in `kernel`.
            parameters: as in `kernel`: numbers of the model that are arguments, so that there are derivatives by them.
            out: a tuple of arrays for the results.
            threads: over which a batch is split.
            **options: such as representation="left", or wrenches=["tool"] as in `kernel`.

        Returns:
            A tuple: for each argument an array (..., shape of the result, nv). Of a quantity with several results, a
            tuple of such tuples. Those by parameters have the shapes of these in place of nv; by placements it is
            (bodies, 6): by moves along the parent's axes, and turns about the axes of what is placed.

        >>> import multibody as mb
        >>> import numpy as np
        >>> robot = mb.load("planar-arm")
        >>> by_q, by_v = robot.derivatives("velocity", robot.neutral(), np.ones(3), frame=robot.frames[-1])
        >>> np.abs(by_v - robot.jacobian(robot.frames[-1], robot.neutral())).max() < 1e-12
        np.True_
        """
        request = Request.of(self.model, name, frame, constraints=constraints, **options)
        given = kernels.parameters_of(parameters)
        key = ("derivatives", request.wrenches, request, given)
        if key not in self._tasks:
            self._tasks[key] = derivatives.task(self.model, request, given)
        return self._run(key, args, out, threads)

    def _request(self, item: tuple[Any, ...], wrenches: tuple[str, ...]) -> Request:
        name, *rest = item or ((),)
        options = rest.pop() if rest and isinstance(rest[-1], Mapping) else {}
        if len(rest) > 1:
            raise InputError(f"evaluate: expected (name, frame, {{option: value}}), got {item!r}")
        if rest and quantity(name, self.model.name).constraints:
            options = {**options, "constraints": rest.pop()}
        pushed = wrenches if quantity(name, self.model.name).wrenches else ()
        return Request.of(self.model, name, *rest, **{"wrenches": pushed, **options})

    def _run(self, key: Any, args: tuple[Any, ...], out: Any = None, threads: int | None = None) -> Any:
        try:
            call = self._calls[key]
            return call(*args, out=out) if threads is None else call(*args, out=out, threads=threads)
        except (InputError, TypeError) as error:
            raise self._explained(error, key, args) from None

    def _call_of(self, key: Any) -> Callable[..., Any]:
        """What computes a key: a kernel, made now, or in eager mode the NumPy source."""
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = self._task_of(key)
        if is_eager():
            return kernels.plain(self.model, task, self.dtype)
        kernel = self._kernels[key] = kernels.kernel(self.model, task, self.dtype.name)
        return kernel.call

    def _task_of(self, key: Any) -> Task:
        """Of a key as `Face._run` has them."""
        name, *rest = key if isinstance(key, tuple) else (key,)
        entry = quantity(name, self.model.name)
        if entry.constraints:
            wrenches, constraints, optional, *values = rest
            options = dict(zip(entry.options, values, strict=True))
            request = Request.of(
                self.model, name, wrenches=wrenches, constraints=constraints, optional=optional, **options
            )
        elif entry.wrenches:
            request = Request.of(self.model, name, wrenches=rest[0] if rest else ())
        else:
            frame = rest.pop(0) if entry.frame else None
            request = Request.of(self.model, name, frame, **dict(zip(entry.options, rest, strict=False)))
        return kernels.task(self.model, [request], request.inputs(), single=True)

    def _explained(self, error: Exception, key: Any, args: tuple[Any, ...]) -> Exception:
        """The error of a kernel, in the words of the robot where sizes or names are wrong."""
        try:
            try:
                task = self._tasks.get(key)
            except TypeError:  # a name that is none, such as a list
                task = self._task_of(key)
            inputs, units = ({}, False) if task is None else (task.inputs, not task.any_length)
            for name, value in zip(inputs, args, strict=False):
                if name.startswith(WRENCH):
                    floats(value, f"the wrench at {name.removeprefix(WRENCH)!r}", 6)
                    continue
                if name in SIZES or name in ("active", "task", "wanted", *kernels.PARAMETERS):
                    array = floats(value, name, *np.atleast_1d(inputs[name]).tolist())
                    if name in kernels.TURNED and not is_traced(array):
                        numbers_of_robots.check_units(self.model.tree, array, name)
                    continue
                array = configuration.sized(self.model.tree, value, name)
                if units and name.startswith("q") and not is_traced(array):
                    configuration.check_units(self.model.tree, array)
        except InputError as better:
            return better
        return error


class _Calls(dict[Any, Callable[..., Any]]):
    """What kernels call, by their keys; made when first asked for."""

    def __init__(self, make: Callable[[Any], Callable[..., Any]]) -> None:
        self.make = make

    def __missing__(self, key: Any) -> Callable[..., Any]:
        call = self.make(key)
        if not is_eager():
            self[key] = call
        return call


def _hashable(item: Any) -> Any:
    if isinstance(item, tuple):
        item = tuple(tuple(sorted(part.items())) if isinstance(part, Mapping) else part for part in item)
    try:
        hash(item)
    except TypeError:
        raise InputError(f"evaluate: expected a name or a tuple (name, frame, options), got {item!r}") from None
    return item
