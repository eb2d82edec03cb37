"""Robot: the face that users hold, over models, algorithms and kernels."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.algorithms import regressor as regression
from multibody.compiler.config import config, is_eager
from multibody.compiler.kernel import Kernel
from multibody.errors import InputError
from multibody.geometry._arrays import choice, floats, is_traced, numbers
from multibody.geometry.pose import pose_of
from multibody.model import actuation, configuration, show
from multibody.model.builder import Builder
from multibody.model.diagnostics import Diagnostic
from multibody.model.joint import Joint
from multibody.model.model import Model
from multibody.model.parametric import placements_of
from multibody.model.structure import Body
from multibody.robot import derivatives, kernels
from multibody.robot._dynamics import Dynamics
from multibody.robot._kinematics import Kinematics
from multibody.robot._surgery import Surgery
from multibody.robot.kernels import Task
from multibody.robot.quantities import Request, quantity


class Robot(Kinematics, Dynamics, Surgery):
    """A robot: its model, and everything that can be computed about it.

    Functions of q (..., nq), v, a, tau (..., nv) take single states and batches of any leading shape, which broadcast,
    lists too, and `out=`; they are compiled when first used. `with mb.eager():` runs the plain NumPy instead. What they
    return has the precision of the robot, float64 unless `astype` says otherwise. Robots are frozen: surgery
    returns new ones. They compare, hash, copy and pickle by their models, and can be shared between threads.

    >>> import multibody as mb
    >>> robot = mb.load("planar-arm")
    >>> robot.nq, robot.nv
    (3, 3)
    >>> robot.mass_matrix(robot.neutral()).shape
    (3, 3)
    """

    def __init__(self, model: Model | Builder, *, dtype: str | None = None) -> None:
        if isinstance(model, Builder):
            model = model.model()
        if not isinstance(model, Model):
            raise InputError(f"Robot: expected a Model or a Builder, got {type(model).__name__}; mb.load reads files")
        self.model = model
        self.dtype = _precision(config.dtype if dtype is None else dtype)
        self._kernels: dict[Any, Kernel] = {}
        self._tasks: dict[Any, Task] = {}
        self._calls = _Calls(self._call_of)
        self._poses = _Calls(lambda frame: self._calls["pose", frame])
        self._jacobians = _Calls(lambda frame: self._calls["jacobian", frame, "mixed"])

    # ---- what it is --------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name in the file."""
        return self.model.name

    @property
    def nq(self) -> int:
        """The number of coordinates."""
        return self.model.nq

    @property
    def nv(self) -> int:
        """The number of velocities."""
        return self.model.nv

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The moving bodies: links that are fixed to each other are one."""
        return self.model.bodies

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The joints that move, each with its `name`, its places `q` and `v`, and its `limits`."""
        return self.model.joints

    @property
    def frames(self) -> tuple[str, ...]:
        """The names of all frames: every link, then extra frames."""
        return self.model.frames

    @property
    def mass(self) -> float:
        """Of the moving bodies, in kg."""
        return self.model.mass

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What the loader ignored, assumed, merged or found odd."""
        return self.model.diagnostics

    @property
    def selection(self) -> NDArray[Any]:
        """S, (actuators, nv): M a + h = S^T u + ..., u before the gears, which S has in it.  [RD 3.55-3.56]"""
        return actuation.selection(self.model)

    # ---- configurations ----------------------------------------------------------------------------------------------

    def neutral(self) -> NDArray[Any]:
        """(nq,): all joints at zero, quaternions at the identity."""
        return configuration.neutral(self.model).astype(self.dtype)

    def home(self) -> NDArray[Any]:
        """(nq,): the configuration that the model starts from; the neutral one when it names none."""
        return self.neutral() if self.model.home is None else np.array(self.model.home, self.dtype)

    def random(self, rng: np.random.Generator, batch: tuple[int, ...] = ()) -> NDArray[Any]:
        """(..., nq): uniform within the limits; joints without limits within a turn or a metre to either side."""
        return configuration.random(self.model, rng, batch).astype(self.dtype)

    def check(self, q: ArrayLike, *, limits: bool = True) -> NDArray[Any]:
        """q as an array, when it is a configuration of the robot; an InputError that says what is wrong otherwise."""
        return configuration.check(self.model, q, limits=limits)

    def normalize(self, q: ArrayLike, *, out: Any = None) -> NDArray[Any]:
        """q with quaternions of length one."""
        result = configuration.normalize(self.model, configuration.sized(self.model, q, "q").astype(self.dtype))
        return kernels.handed(result, out, self.dtype)

    def integrate(self, q: ArrayLike, dv: ArrayLike, *, out: Any = None) -> NDArray[Any]:
        """The configuration after moving at the velocity dv for one unit of time.  [MDN 77-79]"""
        return self._run("integrate", (q, dv), out)

    def difference(self, q0: ArrayLike, q1: ArrayLike, *, out: Any = None) -> NDArray[Any]:
        """The dv, the shortest, with integrate(q0, dv) = q1."""
        return self._run("difference", (q0, q1), out)

    def interpolate(self, q0: ArrayLike, q1: ArrayLike, t: ArrayLike) -> NDArray[Any]:
        """q0 at t = 0, q1 at t = 1, the shortest way; t of any batch shape."""
        way = self.difference(q0, q1)
        return self.integrate(q0, way * numbers(t, "t", way)[..., None])

    def rate_matrix(self, q: ArrayLike, base: str = "quaternion", *, out: Any = None) -> NDArray[Any]:
        """F(q), (..., nq, nv): q' = F(q) v; `base` can be "euler-zyx", ...  [Kindr §Coordinate Rates; RD 2.262]"""
        if base == "quaternion":
            return self._run("rate_matrix", (q,), out)
        return configuration.rate_matrix(self.model, self._q(q), base)

    def rate_inverse(self, q: ArrayLike, base: str = "quaternion", *, out: Any = None) -> NDArray[Any]:
        """F^+(q), (..., nv, nq): v = F^+ q', the left inverse of `rate_matrix`.  [Kindr §Coordinate Rates; RD 2.262]"""
        if base == "quaternion":
            return self._run("rate_inverse", (q,), out)
        return configuration.rate_inverse(self.model, self._q(q), base)

    def parameters(self) -> NDArray[Any]:
        """(bodies, 10): m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each moving body about its frame's origin."""
        return regression.parameters(self.model)

    def placements(self) -> NDArray[Any]:
        """(bodies, 7): position and quaternion w, x, y, z of each moving body's joint in its parent body."""
        return placements_of(self.model)

    # ---- kernels -----------------------------------------------------------------------------------------------------

    def kernel(
        self,
        name: str,
        frame: str | None = None,
        *,
        wrenches: Sequence[str] = (),
        parameters: str | Sequence[str] = (),
        **options: Any,
    ) -> Kernel:
        """The native kernel of a quantity, for tight loops.

        Args:
            name: such as "inverse_dynamics" or "jacobian".
            frame: for quantities of a frame.
            wrenches: the frames at which external wrenches act, in the order of the alphabet; each is a further
                argument (..., 6) after the others.
            parameters: numbers of the model that become further arguments, last of all, so that every sample can be
                another robot: "inertias", (..., bodies, 10) as `robot.parameters()` has them, "placements",
                (..., bodies, 7) as `robot.placements()`, "gravity", (..., 3), or several in a tuple.
            **options: such as representation="left".
        """
        request = Request.of(self.model, name, frame, wrenches, **options)
        given = (parameters,) if isinstance(parameters, str) else tuple(parameters)
        for one in given:
            choice(one, "parameters", tuple(kernels.PARAMETERS))
        if len(set(given)) < len(given):
            raise InputError(f"parameters: expected each kind once, got {', '.join(map(repr, given))}")
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
        out: Any = None,
        threads: int | None = None,
    ) -> dict[Any, Any]:
        """Several quantities together: what they share is computed once.

        Args:
            q: (..., nq).
            v: (..., nv); None when nothing asks for it.
            what: names such as "mass_matrix", or tuples of a name, a frame and options: ("jacobian", "hand"),
                ("velocity", "hand", {"representation": "left"}).
            a: (..., nv), for what asks for it.
            tau: (..., nv), for what asks for it.
            out: a tuple of arrays for the results.
            threads: over which a batch is split.

        Returns:
            The results, by the items of `what`, in their order.

        >>> import multibody as mb
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
        key = ("evaluate", tuple(names), tuple(given))
        if key not in self._tasks:
            if not items:
                raise InputError("evaluate: expected at least one quantity, got none")
            requests = [self._request(item) for item in items]
            for request in requests:
                missing = [name for name in request.inputs() if name not in given]
                if missing:
                    raise InputError(f"evaluate: {request.name!r} needs {', '.join(missing)}, which is not given")
            self._tasks[key] = kernels.task(self.model, requests, tuple(given), single=False)
        results = self._run(key, tuple(given.values()), out, threads)
        shaped = []
        for item, result in zip(items, results, strict=True):
            named = {"pose": lambda parts: pose_of(*parts), "poses": self._named_poses}.get(item[0])
            shaped.append(result if named is None else named(result))
        return dict(zip(names, shaped, strict=True))

    def derivatives(
        self, name: str, *args: ArrayLike, frame: str | None = None, out: Any = None, **options: Any
    ) -> Any:
        """The derivatives of any quantity by each of its arguments, in the tangent space, exact to rounding.

        They come from automatic differentiation, also of quantities that are derivatives themselves, and take several
        times the operations of `inverse_dynamics_derivatives`, which has a recursion of its own.

        Args:
            name: such as "velocity", "centroidal_momentum", "mass_matrix_product", "inverse_dynamics_derivatives".
            *args: the arguments of that quantity: q, v, ...
            frame: for quantities of a frame.
            out: a tuple of arrays for the results.
            **options: such as representation="left", or wrenches=["tool"] as in `kernel`.

        Returns:
            A tuple: for each argument an array (..., shape of the result, nv). Of a quantity with several results, a
            tuple of such tuples.

        >>> import multibody as mb
        >>> robot = mb.load("planar-arm")
        >>> by_q, by_v = robot.derivatives("velocity", robot.neutral(), np.ones(3), frame=robot.frames[-1])
        >>> np.abs(by_v - robot.jacobian(robot.frames[-1], robot.neutral())).max() < 1e-12
        np.True_
        """
        request = Request.of(self.model, name, frame, **options)
        key = ("derivatives", request.wrenches, request)
        if key not in self._tasks:
            self._tasks[key] = derivatives.task(self.model, request)
        return self._run(key, args, out)

    def _request(self, item: tuple[Any, ...]) -> Request:
        name, *rest = item or ((),)
        options = rest.pop() if rest and isinstance(rest[-1], Mapping) else {}
        if len(rest) > 1:
            raise InputError(f"evaluate: expected (name, frame, {{option: value}}), got {item!r}")
        return Request.of(self.model, name, *rest, **options)

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
        """Of a name, of (name, frame, *values of options), or of (name, frames with wrenches)."""
        name, *rest = key if isinstance(key, tuple) else (key,)
        entry = quantity(name, self.name)
        if entry.wrenches:
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
            for name, value in zip(() if task is None else task.inputs, args, strict=False):
                if name.startswith("wrench_"):
                    floats(value, f"the wrench at {key[1][int(name.removeprefix('wrench_'))]!r}", 6)
                    continue
                if name == "point":
                    floats(value, name, 3)
                    continue
                array = configuration.sized(self.model, value, name)
                if name.startswith("q") and not is_traced(array):
                    configuration.check_units(self.model, array)
        except InputError as better:
            return better
        return error

    def astype(self, dtype: str) -> "Robot":
        """The same robot, computing in "float64" or "float32"."""
        return Robot(self.model, dtype=dtype)

    # ---- as a value --------------------------------------------------------------------------------------------------

    def _with(self, model: Model) -> "Robot":
        return Robot(model, dtype=self.dtype.name)

    def __str__(self) -> str:
        return show.tree(self.model)

    def __repr__(self) -> str:
        return f"<Robot {self.name!r}: nq {self.nq}, nv {self.nv}, {len(self.bodies)} bodies, {self.mass:.4g} kg>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Robot) and self.model == other.model and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(self.model)

    def __reduce__(self) -> tuple[Any, ...]:
        return _revive, (self.model, self.dtype.name)


class _Calls(dict[Any, Callable[..., Any]]):
    """What kernels call, by their keys; made when first asked for."""

    def __init__(self, make: Callable[[Any], Callable[..., Any]]) -> None:
        self.make = make

    def __missing__(self, key: Any) -> Callable[..., Any]:
        call = self.make(key)
        if not is_eager():
            self[key] = call
        return call


def _revive(model: Model, dtype: str) -> Robot:
    return Robot(model, dtype=dtype)


def _precision(dtype: Any) -> np.dtype[Any]:
    for known in (np.dtype(np.float64), np.dtype(np.float32)):
        if dtype in (known, known.name):
            return known
    raise InputError(f"dtype: expected 'float64' or 'float32', got {dtype!r}")


def _hashable(item: Any) -> Any:
    if isinstance(item, tuple):
        item = tuple(tuple(sorted(part.items())) if isinstance(part, Mapping) else part for part in item)
    try:
        hash(item)
    except TypeError:
        raise InputError(f"evaluate: expected a name or a tuple (name, frame, options), got {item!r}") from None
    return item
