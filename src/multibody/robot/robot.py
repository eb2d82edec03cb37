"""Robot: the public class over models, algorithms and kernels. This file is the list of its methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Unpack, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody._foreign_names import ForeignNames
from multibody._rooms import room_above
from multibody._signatures import described_arguments, options_of, readable_methods
from multibody.algorithms import analytical_jacobian, jacobian, manipulability
from multibody.algorithms.baumgarte import check_gains
from multibody.algorithms.constrained_dynamics import Constrained
from multibody.algorithms.constrained_dynamics_derivatives import ConstrainedDerivatives
from multibody.algorithms.constraints import Constraint, ConstraintSet, stated
from multibody.algorithms.impact import Impact, check_restitution
from multibody.compiler.config import config
from multibody.compiler.kernel import Kernel
from multibody.compiler.runtime.call_mode import deliver
from multibody.errors import InputError
from multibody.geometry import Pose, SpatialInertia
from multibody.geometry._arrays import at, batch_shape, first, floats, is_traced, matvec, numbers, truth
from multibody.geometry.pose import pose_of
from multibody.geometry.value import owned
from multibody.model import actuation, configuration, surgery, tree_text
from multibody.model import parameters as model_parameters
from multibody.model.builder import Builder
from multibody.model.check_configuration import check, coordinates, velocities
from multibody.model.diagnostics import Diagnostic
from multibody.model.fixed_base_warning import fixed_mass
from multibody.model.joint import Joint
from multibody.model.model import Model
from multibody.model.parameters import keywords_of
from multibody.model.robot_limits import RobotLimits, limits_of
from multibody.model.tree import Body, Tree
from multibody.robot.dispatch import (
    CALL_ERRORS,
    Dispatcher,
    FrameCalls,
    Options,
    Parameters,
    SolverOptions,
    Wrenches,
    constraint_inputs,
    frames_first,
    wrench_arrays,
)
from multibody.robot.function import RobotFunction
from multibody.robot.inputs import Kind, arrays_of
from multibody.robot.request import Request, constraints_on, item_name, wrench_name
from multibody.tracing.record.trace import float_kind

Array = NDArray[Any]
Constraints = ConstraintSet | Iterable[Constraint]

NEARLY_SINGULAR = 1e6
"""Above this magnitude, or NaN, the analytical Jacobian is evaluated again in NumPy, which raises SingularityError."""


@final
@described_arguments
@readable_methods
class Robot(metaclass=ForeignNames):
    """A robot: its model, and the functions that compute its kinematics and dynamics.

    Functions of q, v, a and tau accept single states and batches of any leading shape, which
    broadcast; lists too. They are compiled at their first use. Results have the precision of
    the robot: float64, unless set by `astype`. Within `mb.eager()` the NumPy source runs
    instead. Within a traced function, as in `mb.compile`, calls with traced arguments become
    part of the trace. Robots are immutable: methods that change the model return new robots.
    They compare, hash, copy and pickle by their models, and can be shared between threads.

    Arguments of many methods; ... stands for the batch shape:

    * frame: a name out of `robot.frames`.
    * q: (..., nq), coordinates: rad, m, quaternions w, x, y, z.
    * v: (..., nv), velocities in rad/s and m/s.
    * a: (..., nv), accelerations in rad/s² and m/s².
    * tau: (..., nv), joint forces in N m and N.
    * representation: "mixed", at the frame's origin along the world's axes (Pinocchio's
      LOCAL_WORLD_ALIGNED, also Drake's and MuJoCo's); "left", in the frame's own axes
      (body, LOCAL); "right", about the world's origin in its axes (spatial, WORLD).
    * point: (..., 3), in m, fixed in the frame.
    * rotation: the rotation parameters: "euler-zyx", any other sequence, "quaternion",
      "angle-axis", "rotation-vector", "matrix".
    * position: "cartesian", "cylindrical" or "spherical".
    * wrenches: {frame: (..., 6)}, force in N and torque in N m on the robot, at the frame's
      origin along the world's axes; also as an `mb.Wrench`.
    * passive: True adds damping, dry friction and springs of the joints.
    * constraints: a ConstraintSet from `robot.constraints`, or a list of constraints.
      Constraint forces act on the robot: M a + h = τ + J^T f. RD's F_c [RD 3.57] is -f.
    * active: 1 for active constraints and 0 for inactive ones, (..., constraints) or
      (..., rows).
    * out: an array for the result; a tuple of arrays for several results.
    * threads: the number of threads that a batch is split over.
    * parameters: values to use instead of the model's, each with its own batch shape, such as
      {"masses": (..., bodies)} or {"inertias": (..., bodies, 10)}: see `Tree.with_values`.

    The examples of the methods use `np`, `mb` and this robot:

    >>> robot = mb.load("double-pendulum")
    >>> robot.nq, robot.nv
    (2, 2)
    >>> robot.mass_matrix(robot.neutral()).shape
    (2, 2)
    """

    __slots__ = ("__weakref__", "_calls", "_dtype", "_jacobians", "_model", "_poses")

    def __init__(self, model: Model | Builder, *, dtype: str | None = None) -> None:
        if isinstance(model, Builder):
            model = model.model()
        if not isinstance(model, Model):
            raise InputError(f"Robot: expected a Model or a Builder, got {type(model).__name__}; mb.load reads files")
        self._model = model
        self._dtype = float_kind(config.dtype if dtype is None else dtype)
        self._calls = Dispatcher(model, self._dtype)
        self._poses = FrameCalls(self._calls, "pose")
        self._jacobians = FrameCalls(self._calls, "jacobian")

    @property
    def model(self) -> Model:
        """The data of the robot file, immutable."""
        return self._model

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of results: float64 or float32."""
        return self._dtype

    @property
    def tree(self) -> Tree:
        """The kinematic tree of the algorithms; `tree.with_values` replaces its
        parameters, even in traces.
        """
        return self._model.tree

    # ---- description ------------------------------------------------------------------------------------------------

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
        """The moving bodies; links that are fixed to each other form one body."""
        return self.model.bodies

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The moving joints, each with its `name`, its slices `q` and `v`, and its `limits`."""
        return self.model.joints

    @property
    def frames(self) -> tuple[str, ...]:
        """The names of all frames: every link, then extra frames."""
        return self.model.frames

    @property
    def mass(self) -> float:
        """The mass of the moving bodies, in kg."""
        return self.tree.mass

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Notes and warnings of the loader: what it ignored, assumed or merged."""
        return self.model.diagnostics

    @property
    def limits(self) -> RobotLimits:
        """The joint limits: `lower` and `upper` (nq,), `velocity` and `effort` (nv,);
        infinite where there is none.

        >>> mb.load("panda").limits.upper.round(2)
        array([ 2.9 ,  1.76,  2.9 , -0.07,  2.9 ,  3.75,  2.9 ])
        """
        return limits_of(self.tree)

    def joint(self, name: str) -> Joint:
        """Return a joint by name, also a fixed one: its `kind`, slices `q` and `v`,
        `limits`, `passive`, `placement`.

        >>> mb.load("panda").joint("joint4").limits.upper
        (-0.0698,)
        """
        return self.model.joint(name)

    @property
    def selection(self) -> Array:
        """S, (actuators, nv): M a + h = S^T u + ..., with the motor torques u, before the gears.
        [RD 3.55-3.56]

        An entry is the gear ratio of a motor on its joint: 1, as in the lecture notes, for
        motors without a gear.
        """
        return actuation.selection(self.model)

    # ---- configurations ----------------------------------------------------------------------------------------------

    def neutral(self) -> Array:
        """(nq,): all joints at zero, quaternions at the identity.

        Returns:
            A new array; `home` is the configuration that the file names.

        >>> robot.neutral()
        array([0., 0.])
        """
        return configuration.neutral(self.tree).astype(self.dtype)

    def home(self) -> Array:
        """(nq,): the initial configuration of the model; the neutral one if the file has none."""
        return self.neutral() if self.model.home is None else np.array(self.model.home, self.dtype)

    def configuration(self, values: Mapping[str, ArrayLike], default: ArrayLike | None = None) -> Array:
        """(..., nq): the configuration with joint values by name; the inverse of `by_name`.

        Args:
            values: {joint: (...)}, in rad or m; {joint: (..., n)} for a joint with n > 1 coordinates, quaternions as
                w, x, y, z. Batches broadcast. Mimic joints are accepted if they agree with the joints they follow.
            default: (..., nq), the values of the other joints; by default `home()`.

        >>> mb.load("panda").configuration({"joint2": 0.5}, np.zeros(7))
        array([0. , 0.5, 0. , 0. , 0. , 0. , 0. ])
        """
        q = configuration.from_names(self.tree, values, self.home() if default is None else default)
        return q if is_traced(q) else q.astype(self.dtype)

    def by_name(self, q: ArrayLike) -> dict[str, Array]:
        """Return the coordinates of q by joint name: (...), or (..., n) for a joint
        with n > 1 coordinates.

        Mimic joints have none.

        >>> mb.load("planar-arm").by_name([0.1, 0.2, 0.3])["joint3"]
        array(0.3)
        """
        return configuration.by_name(self.tree, q)

    def joint_velocities(self, values: Mapping[str, ArrayLike], default: ArrayLike | None = None) -> Array:
        """(..., nv): the velocity with joint velocities by name; the inverse of
        `velocities_by_name`.

        Args:
            values: {joint: (...)}, in rad/s or m/s; {joint: (..., n)} for a joint with n > 1
                velocities. Batches broadcast. Mimic joints are accepted if they agree with the
                joints they follow.
            default: (..., nv), the velocities of the other joints; by default zero.

        >>> mb.load("panda").joint_velocities({"joint2": 0.5})
        array([0. , 0.5, 0. , 0. , 0. , 0. , 0. ])
        """
        rest = np.zeros(self.nv) if default is None else default
        v = configuration.velocities_from_names(self.tree, values, rest)
        return v if is_traced(v) else v.astype(self.dtype)

    def velocities_by_name(self, v: ArrayLike) -> dict[str, Array]:
        """Return the velocities of v by joint name: (...), or (..., n) for a joint
        with n > 1 velocities.

        Mimic joints have none.

        >>> mb.load("planar-arm").velocities_by_name([0.1, 0.2, 0.3])["joint3"]
        array(0.3)
        """
        return configuration.velocities_by_name(self.tree, v)

    def random(self, rng: np.random.Generator | None = None, batch: int | tuple[int, ...] = ()) -> Array:
        """(..., nq): configurations drawn uniformly within the joint limits.

        Args:
            rng: the random generator, such as `np.random.default_rng(seed)`; by default a new
                one, so that runs differ. A bare number raises: it could be a seed or a batch.
            batch: the number of samples, 5, or the batch shape, (5, 2).

        Returns:
            Joints without limits are within a turn or a metre to either side; quaternions are
            uniform over all rotations.

        >>> robot.random(np.random.default_rng(0), 5).shape
        (5, 2)
        """
        source = np.random.default_rng() if rng is None else rng
        return configuration.random(self.tree, source, batch).astype(self.dtype)

    def check(self, q: ArrayLike, *, limits: bool = True) -> Array:
        """Return q as an array if it is a configuration of the robot, within the
        limits unless `limits` is False.
        """
        return check(self.tree, q, limits=truth(limits, "limits"))

    def normalize(self, q: ArrayLike, *, out: Any = None, threads: int | None = None) -> Array:
        """q with its quaternions scaled to unit length."""
        units = self._calls.call("normalize", (q,), None, threads)
        if not is_traced(units) and np.isnan(units).any():  # the NumPy source raises, with the sample
            with np.errstate(all="ignore"):
                configuration.normalize(self.tree, coordinates(self.tree, q))
        return deliver(units, out, self.dtype)  # last, since `out` may be q

    def integrate(
        self,
        q: ArrayLike,
        dv: ArrayLike,
        dt: ArrayLike | None = None,
        *,
        out: Any = None,
        threads: int | None = None,
    ) -> Array:
        """q ⊕ dv: the configuration after moving with the velocity dv for one unit of time.
        [MDN 77-79]

        Args:
            dv: (..., nv), a velocity times a time; with `dt`, a velocity.
            dt: (...), a time in s that multiplies dv; by default 1.

        Returns:
            (..., nq): each joint moves on its group, so quaternions keep unit length.

        >>> robot.integrate([0.1, 0.2], [1.0, -1.0], 0.1)
        array([0.2, 0.1])
        """
        if dt is not None:
            velocity = velocities(self.tree, dv, "dv")
            time = numbers(dt, "dt", velocity)
            batch_shape("dv, dt", (velocity, 1), (time, 0))
            dv = velocity * time[..., None]
        return self._calls.call("integrate", (q, dv), out, threads)

    def difference(self, q0: ArrayLike, q1: ArrayLike, *, out: Any = None, threads: int | None = None) -> Array:
        """q1 ⊖ q0: the shortest dv with integrate(q0, dv) = q1.  [MDN 77-79]

        Args:
            q0: (..., nq), the start.
            q1: (..., nq), the end.

        Returns:
            (..., nv): angles of continuous joints take the shorter direction.

        >>> robot.difference([0.1, 0.2], [0.3, 0.1]).round(12)
        array([ 0.2, -0.1])
        """
        return self._calls.call("difference", (q0, q1), out, threads)

    def interpolate(
        self, q0: ArrayLike, q1: ArrayLike, t: ArrayLike, *, out: Any = None, threads: int | None = None
    ) -> Array:
        """Interpolate along the shortest path from q0 at t = 0 to q1 at t = 1; t has
        any batch shape.
        """
        dv = self.difference(q0, q1, threads=threads)
        fraction = numbers(t, "t", dv)
        batch_shape("q0 and q1, t", (dv, 1), (fraction, 0))
        return self.integrate(q0, dv * fraction[..., None], out=out, threads=threads)

    def rate_matrix(
        self, q: ArrayLike, base: str = "quaternion", *, out: Any = None, threads: int | None = None
    ) -> Array:
        """F(q), (..., nq, nv): q' = F(q) v.  [Kindr §Coordinate Rates; RD 2.262]

        Args:
            base: "quaternion", or rotation parameters such as "euler-zyx", which run as NumPy in one thread.
        """
        if isinstance(base, str) and base == "quaternion":
            return self._calls.call("rate_matrix", (q,), out, threads)
        return deliver(configuration.rate_matrix(self.tree, self._q(q), base), out, self.dtype)

    def rate_inverse(
        self, q: ArrayLike, base: str = "quaternion", *, out: Any = None, threads: int | None = None
    ) -> Array:
        """F^+(q), (..., nv, nq): v = F^+ q', the left inverse of `rate_matrix`.
        [Kindr §Coordinate Rates; RD 2.262]
        """
        if isinstance(base, str) and base == "quaternion":
            return self._calls.call("rate_inverse", (q,), out, threads)
        return deliver(configuration.rate_inverse(self.tree, self._q(q), base), out, self.dtype)

    def parameters(self) -> Array:
        """(bodies, 10): m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each moving body
        about its frame's origin.
        """
        return self.tree.parameters()

    def placements(self) -> Array:
        """(bodies, 7): position and quaternion w, x, y, z of each moving body's joint
        in its parent body.
        """
        return self.tree.placements()

    def positions(self) -> Array:
        """(bodies, 3): the position of each moving body's joint in its parent body,
        as in `placements`.

        A foot or a tool at the end of a link is a frame: see `frame_placements`.
        """
        return self.tree.positions()

    def frame_placements(self) -> Array:
        """(frames, 7): position and quaternion w, x, y, z of each of `frames` in its body."""
        return self.tree.frame_placements()

    @keywords_of(model_parameters.Parameters)
    def check_parameters(self, parameters: model_parameters.Parameters) -> None:
        """Raise an InputError for parameters that no robot can have; kernels do not
        check inertias, for speed.

        The arguments are those of `Tree.with_values`, in batches of any shape. Numbers must be
        finite, masses positive, moments of inertia within the triangle inequality (all zeros
        for a massless body), quaternions units, and damping, friction and armature not
        negative. Offsets must be 0 for joints with several coordinates.

        Raises:
            InputError: that names the first sample, and the body, joint or frame.

        >>> robot = mb.load("planar-arm")
        >>> inertias = np.tile(robot.parameters(), (100, 1, 1))
        >>> inertias[4, 2, 0] = -5.0
        >>> robot.check_parameters(inertias)
        Traceback (most recent call last):
        ...
        multibody.errors.InputError: inertias (sample 4): the body 'link3' cannot have ...
        """
        parameters.check(self.tree)

    # ---- kinematics of frames ----------------------------------------------------------------------------------------

    # The five methods that tight loops call (`pose`, `jacobian`, `mass_matrix`, inverse and forward dynamics) have no *
    # before `out`: Python looks up the default of each keyword-only argument, which a call of 0.5 us would notice.

    def pose(
        self,
        frame: str,
        q: ArrayLike,
        out: Any = None,
        threads: int | None = None,
        parameters: Parameters | None = None,
    ) -> Pose:
        """W_H_F: the pose of a frame in the world, the forward kinematics.  [RD 2.138]

        Args:
            out: a tuple of two arrays, (..., 3, 3) for the rotation matrix and (..., 3) for the
                position. They get a copy: the returned pose keeps its own arrays.

        Returns:
            An `mb.Pose`: `.rotation`, `.position` in m, `.matrix` (..., 4, 4); pose @ point
            transforms to the world.

        >>> robot.pose("tip", [0.0, np.pi / 2]).position.round(12) + 0.0
        array([ 1.,  0., -1.])
        """
        if out is None and threads is None and parameters is None:
            try:
                matrix, position = self._poses[frame](q)
                return pose_of(matrix, position)
            except CALL_ERRORS as error:
                raise self._calls.explain(error, ("pose", frame), (q,)) from None
        return _pose_of(self._calls.run_with(("pose", frame), (q,), out, threads, parameters))

    def poses(self, q: ArrayLike, **options: Unpack[Options]) -> dict[str, Pose]:
        """The poses of all frames, by name.

        Args:
            out: a tuple of two arrays, (..., frames, 3, 3) for the rotation matrices and (..., frames, 3) for the
                positions. They get a copy.
        """
        return _poses_of(self.frames, self._calls.run("poses", (q,), options))

    def velocity(
        self, frame: str, q: ArrayLike, v: ArrayLike, representation: str = "mixed", **options: Unpack[Options]
    ) -> Array:
        """(..., 6): the twist of a frame, linear part first.  [MDN 20, 25, 35]

        Returns:
            (..., 6): m/s, then rad/s.

        >>> robot.velocity("tip", [0.0, 0.0], [1.0, 0.0]) + 0.0
        array([ 2.,  0.,  0.,  0., -1.,  0.])
        """
        return self._calls.run(("velocity", frame, representation), (q, v), options)

    def acceleration(
        self,
        frame: str,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        representation: str = "mixed",
        *,
        intrinsic: bool = False,
        **options: Unpack[Options],
    ) -> Array:
        """(..., 6): the time derivative of `velocity` [MDN 44], or the acceleration itself
        [MDN 47].

        Args:
            intrinsic: True for Featherstone's spatial acceleration. They differ only for
                "mixed", whose derivative is the acceleration that an observer in the world
                sees.

        Returns:
            (..., 6): m/s², then rad/s², without gravity.

        >>> robot.acceleration("tip", [0.0, 0.0], [1.0, 0.0], [0.0, 0.0]) + 0.0
        array([0., 0., 2., 0., 0., 0.])
        """
        if intrinsic is not False:
            intrinsic = truth(intrinsic, "intrinsic")  # 1 == True has the same key
        return self._calls.run(("acceleration", frame, representation, intrinsic), (q, v, a), options)

    def jacobian(
        self,
        frame: str,
        q: ArrayLike,
        representation: str = "mixed",
        out: Any = None,
        threads: int | None = None,
        parameters: Parameters | None = None,
    ) -> Array:
        """J, (..., 6, nv): `velocity` is J v, linear rows first.
        [MDN 74-76; RD 2.165-2.166, 2.268]

        Returns:
            (..., 6, nv): its columns are those of v, the floating base first.

        >>> robot.jacobian("tip", [0.0, 0.0])[:3] + 0.0  # along x, y, z of the world
        array([[2., 1.],
               [0., 0.],
               [0., 0.]])
        """
        if threads is not None or parameters is not None:
            return self._calls.run_with(("jacobian", frame, representation), (q,), out, threads, parameters)
        try:
            call = (
                self._jacobians[frame] if representation == "mixed" else self._calls["jacobian", frame, representation]
            )
            return call(q) if out is None else call(q, out=out)
        except CALL_ERRORS as error:
            raise self._calls.explain(error, ("jacobian", frame, representation), (q,)) from None

    def jacobian_dot(
        self, frame: str, q: ArrayLike, v: ArrayLike, representation: str = "mixed", **options: Unpack[Options]
    ) -> Array:
        """(..., 6, nv): the time derivative of `jacobian`.  [RD 3.10; Kindr 18]

        Returns:
            J', with J' v + J a = `acceleration`.

        >>> robot.jacobian_dot("tip", [0.0, 0.0], [1.0, 0.0]).shape
        (6, 2)
        """
        return self._calls.run(("jacobian_dot", frame, representation), (q, v), options)

    def hessian(self, frame: str, q: ArrayLike, representation: str = "mixed", **options: Unpack[Options]) -> Array:
        """(..., nv, 6, nv): [k] is the derivative of the Jacobian along the k-th velocity.
        [Kindr 15-18]

        Returns:
            H, with Σ H[k] v[k] = `jacobian_dot`.

        >>> robot.hessian("tip", [0.0, 0.0]).shape
        (2, 6, 2)
        """
        return self._calls.run(("hessian", frame, representation), (q,), options)

    def analytical_jacobian(
        self,
        frame: str,
        q: ArrayLike,
        rotation: str = "euler-zyx",
        position: str = "cartesian",
        *,
        coordinates: Sequence[int] | None = None,
        damping: ArrayLike | None = None,
        out: Any = None,
        threads: int | None = None,
        parameters: Parameters | None = None,
    ) -> Array:
        """J_A, (..., m, nv): the pose parameters χ have the rates J_A v.
        [RD 2.145-2.148, 2.189-2.192]

        Args:
            coordinates: the indices of the parameters to return, as in `end_effector`; by
                default all.
            damping: (...), positive: selects a damped inverse, which exists also at singular
                parameters.

        Returns:
            (..., m, nv): position first. `jacobian` is the geometric Jacobian, of twists.

        >>> robot.analytical_jacobian("tip", [0.1, 0.2], "euler-zyx").shape
        (6, 2)
        """
        chart = rotation, position, _hashable(coordinates)
        key = ("analytical_jacobian", frame, *chart)
        if damping is not None:
            optional = {"damping": _positive(damping, "damping")[..., None]}
            return self._calls.run_with(key, (q,), out, threads, parameters, optional=optional)
        J = self._calls.run_with(key, (q,), out, threads, parameters)
        if not is_traced(J) and not (np.abs(J) < NEARLY_SINGULAR).all():  # the NumPy source raises, with the sample
            with np.errstate(all="ignore"):
                analytical_jacobian.analytical_jacobian(self.tree, frame, self._q(q), rotation, position)
        return J

    def end_effector(
        self,
        frame: str,
        q: ArrayLike,
        rotation: str = "euler-zyx",
        position: str = "cartesian",
        *,
        coordinates: Sequence[int] | None = None,
        **options: Unpack[Options],
    ) -> Array:
        """χ, (..., m): the pose of a frame as parameters of position and rotation.
        [RD 2.133-2.134]

        Args:
            coordinates: the indices of the parameters to return; by default all. Those that the
                robot can move independently are χ_o, the operational-space coordinates
                [RD 2.135-2.136].
        """
        chart = rotation, position, _hashable(coordinates)
        return self._calls.run(("end_effector", frame, *chart), (q,), options)

    def relative_jacobian(
        self,
        frame: str,
        reference: str,
        q: ArrayLike,
        *,
        kind: str = "twist",
        representation: str = "left",
        **options: Unpack[Options],
    ) -> Array:
        """(..., 6, nv): the Jacobian of a frame relative to another.  [MDN 32-33; RD 2.153-2.154]

        Args:
            reference: the name of the other frame.
            kind: "twist" [MDN 32-33] or "difference" [RD 2.153-2.154].
        """
        frames_first("relative_jacobian", (frame, reference), (q,))
        return self._calls.run(("relative_jacobian", frame, reference, kind, representation), (q,), options)

    def jacobian_in(
        self,
        frame: str,
        q: ArrayLike,
        *,
        written_in: str | Pose | None = None,
        base: str | Pose | None = None,
        out: Any = None,
        threads: int | None = None,
        parameters: Parameters | None = None,
    ) -> Array:
        """D_J_WF/C, (..., 6, nv): the Jacobian in any frame D, for a base velocity in any frame C.
        [MDN 74-76, 81]

        Args:
            frame: F.
            written_in: D, the name of a frame or a pose W_H_D; by default F itself.
            base: the representation of the base velocity: "left", "right", "mixed", "kindr", or
                C, the name of a frame or a pose W_H_C, for C_v_WB; by default
                `robot.model.velocity`.

        Names make a kernel; poses run as NumPy in one thread.
        """
        if isinstance(written_in, str | None) and isinstance(base, str | None):
            return self._calls.run_with(("jacobian_in", frame, written_in, base), (q,), out, threads, parameters)
        tree = self.tree if parameters is None else self.tree.with_values(**parameters)  # type: ignore[arg-type]
        J = jacobian.jacobian_in(tree, frame, self._q(q), written_in=written_in, base=base)
        return deliver(J, out, self.dtype)

    def moving_contact_velocity(
        self,
        frame: str,
        q: ArrayLike,
        v: ArrayLike,
        placement: Pose,
        twist: ArrayLike,
        *,
        out: Any = None,
        threads: int | None = None,
        parameters: Parameters | None = None,
    ) -> Array:
        """C_v_WC, (..., 6): the twist of a contact frame C that moves on its link,
        C_X_F F_v_WF + C_v_FC.  [MDN 81-82]

        Args:
            frame: F, on the link.
            placement: F_H_C, the pose of the contact frame on the link.
            twist: C_v_FC, (..., 6), of C relative to F, left-trivialised.
        """
        frames_first("moving_contact_velocity", (frame,), (q, v, placement, twist))
        if not isinstance(placement, Pose):
            raise InputError(f"placement: expected a Pose, got {type(placement).__name__}")
        F_v_C = floats(twist, "twist", 6)
        F_v = self.velocity(frame, q, v, "left", threads=threads, parameters=parameters)
        batch_shape("state, placement, twist", (F_v, 1), (placement.position, 1), (F_v_C, 1))
        return deliver(matvec(placement.inverse().adjoint, F_v) + F_v_C, out, self.dtype)

    def point_jacobian(self, frame: str, q: ArrayLike, point: ArrayLike, **options: Unpack[Options]) -> Array:
        """J, (..., 3, nv): `point_velocity` is J v.  [RD 2.163]"""
        return self._calls.run(("point_jacobian", frame), (q, point), options)

    def point_velocity(
        self, frame: str, q: ArrayLike, v: ArrayLike, point: ArrayLike, **options: Unpack[Options]
    ) -> Array:
        """(..., 3): the velocity in the world of a point fixed in a frame.  [RD 2.121]"""
        return self._calls.run(("point_velocity", frame), (q, v, point), options)

    def point_acceleration(
        self, frame: str, q: ArrayLike, v: ArrayLike, a: ArrayLike, point: ArrayLike, **options: Unpack[Options]
    ) -> Array:
        """(..., 3): the acceleration in the world of a point fixed in a frame.  [RD 2.122]"""
        return self._calls.run(("point_acceleration", frame), (q, v, a, point), options)

    def singular_values(self, frame: str, q: ArrayLike, coordinates: Sequence[int] = range(6)) -> Array:
        """(..., min(k, nv)): the singular values of k rows of the mixed Jacobian, largest first.
        [RD §2.9.1]
        """
        frames_first("singular_values", (frame,), (q,))
        return manipulability.singular_values_of(self.jacobian(frame, q), coordinates)

    def manipulability(self, frame: str, q: ArrayLike, coordinates: Sequence[int] = range(6)) -> Array:
        """(...): the product of the min(k, nv) singular values of k rows of the
        Jacobian: zero at a singularity.

        That is sqrt(det(J J^T)) if the robot has at least k velocities, and sqrt(det(J^T J))
        otherwise.
        """
        frames_first("manipulability", (frame,), (q,))
        return np.prod(self.singular_values(frame, q, coordinates), axis=-1)

    def rank(
        self, frame: str, q: ArrayLike, coordinates: Sequence[int] = range(6), tolerance: float | None = None
    ) -> Array:
        """(...): the rank of k rows of the Jacobian; q is singular if it is lower than elsewhere.
        [RD §2.9.1]

        It counts singular values above `tolerance` times the largest; by default 1e-9, for
        float32 1e-5.
        """
        frames_first("rank", (frame,), (q,))
        return manipulability.rank_of(self.jacobian(frame, q), coordinates, tolerance)

    def inverse_kinematics(
        self,
        frame: str | Sequence[str],
        target: Pose | Sequence[Any] | Array,
        q0: ArrayLike | None = None,
        *,
        seed: int = 0,
        threads: int | None = None,
        **options: Unpack[SolverOptions],
    ) -> Any:
        """Inverse kinematics: find configurations with given poses of one or several frames.
        [RD §2.9.3]

        Args:
            frame: a name out of `robot.frames`, or a list of names.
            target: a Pose W_H_frame of any batch shape (...), or positions (..., 3) with
                axes="xyz"; a list of them with a list of frames.
            q0: (..., nq), the initial guess; by default the middle of the limits.
            seed: of the random restarts, which follow if the initial guess does not converge.
            **options: those below. The solver, an `mb.control.InverseKinematics`, is made once
                for equal options.
            position_tolerance: in m, by default 1e-4.
            rotation_tolerance: in rad, by default 1e-3.
            limits: whether joints stay within their limits, by default True.
            axes: the parts of the pose to reach, by default "xyzrpy", all; "xyz" for positions,
                "rpy" for rotations, "xyz z-axis" for a position and the direction of one axis.
            reference: the frame in which targets are written, by default the world.
            posture: (nq,), a configuration to stay near to, as far as the target allows.
            base: "free", the default, or "fixed": whether a floating base may move.
            seeds: the number of restarts, by default 255; "analytic" for the nearest branch of
                `mb.control.analytic_solutions`.
            follow: True continues the solution from `q0`, without restarts and jumps.

        Returns:
            The `Answer` of the solver: q (..., nq), success (...), position_error,
            rotation_error, rounds, restarted.

        >>> robot = mb.load("panda")
        >>> answer = robot.inverse_kinematics("tool", robot.pose("tool", robot.home()))
        >>> bool(answer.success)
        True
        """
        solver = room_above("inverse_kinematics").kept_solver(self, frame, options)
        return solver(target, q0, seed=seed, threads=threads)

    # ---- dynamics ----------------------------------------------------------------------------------------------------

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None = None,
        passive: bool = False,
        out: Any = None,
        threads: int | None = None,
        parameters: Parameters | None = None,
    ) -> Array:
        """τ, (..., nv): the solution of M a + h = τ + Σ J^T f (RNEA).  [QT 72-85; RD 3.55]

        Args:
            passive: True adds damping, dry friction and springs of the joints, which τ must overcome.

        Returns:
            (..., nv): N m and N, dual to v. With a = 0 and v = 0 it is `gravity`.

        >>> robot.inverse_dynamics([0.0, 0.0], [0.0, 0.0], [1.0, 0.0]).round(12)
        array([2.66686667, 0.83343333])
        """
        if wrenches is None and threads is None and passive is False and parameters is None:
            try:
                return self._calls["inverse_dynamics"](q, v, a, out=out)
            except CALL_ERRORS as error:
                raise self._calls.explain(error, "inverse_dynamics", (q, v, a)) from None
        # before the call, because `out` may be q or v
        joint_forces = self._passive_forces(q, v, threads, parameters) if truth(passive, "passive") else None
        tau = self._calls.run_with("inverse_dynamics", (q, v, a), out, threads, parameters, wrenches=wrenches)
        return tau if joint_forces is None else np.subtract(tau, joint_forces, out=out)

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        passive: bool = False,
        out: Any = None,
        threads: int | None = None,
        parameters: Parameters | None = None,
    ) -> Array:
        """a, (..., nv): the solution of M a + h = τ + Σ J^T f.  [RD 3.55]

        Robots with a mean body depth above 5 use the articulated-body algorithm (ABA). Others,
        such as arms and quadrupeds, and robots with mimic joints factor the mass matrix: L^T D
        L.

        Args:
            passive: True adds the forces of damping, dry friction and springs of the joints.

        Returns:
            (..., nv): rad/s² and m/s².

        >>> q, v = [0.0, 0.0], [0.0, 0.0]
        >>> robot.forward_dynamics(q, v, robot.gravity(q)).round(12) + 0.0
        array([0., 0.])
        """
        if wrenches is None and threads is None and passive is False and parameters is None:
            try:
                return self._calls["forward_dynamics"](q, v, tau, out=out)
            except CALL_ERRORS as error:
                raise self._calls.explain(error, "forward_dynamics", (q, v, tau)) from None
        if truth(passive, "passive"):
            tau = velocities(self.tree, tau, "tau") + self._passive_forces(q, v, threads, parameters)
        return self._calls.run_with("forward_dynamics", (q, v, tau), out, threads, parameters, wrenches=wrenches)

    def mass_matrix(
        self, q: ArrayLike, out: Any = None, threads: int | None = None, parameters: Parameters | None = None
    ) -> Array:
        """M(q), (..., nv, nv): the mass matrix, by the composite-rigid-body algorithm.  [RD 3.43]

        Returns:
            (..., nv, nv): symmetric, positive definite; the armature is on the diagonal.

        >>> robot.mass_matrix([0.0, 0.0]).round(12)
        array([[2.66686667, 0.83343333],
               [0.83343333, 0.33343333]])
        """
        if threads is not None or parameters is not None:
            return self._calls.run_with("mass_matrix", (q,), out, threads, parameters)
        try:
            return self._calls["mass_matrix"](q, out=out)
        except CALL_ERRORS as error:
            raise self._calls.explain(error, "mass_matrix", (q,)) from None

    def mass_matrix_product(self, q: ArrayLike, x: ArrayLike, **options: Unpack[Options]) -> Array:
        """M(q) x, (..., nv), for x (..., nv), without computing the matrix."""
        return self._calls.run("mass_matrix_product", (q, x), options)

    def bias(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """h(q, v), (..., nv): Coriolis, centrifugal and gravity forces.  [RD 3.44-3.45]

        Returns:
            (..., nv): N m and N, on the left of M a + h = τ. Damping and friction are
            `passive`.

        >>> robot.bias([0.0, 0.5], [0.0, 0.0]).round(3) + 0.0
        array([2.352, 2.352])
        """
        return self._calls.run("bias", (q, v), options)

    def gravity(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """g(q), (..., nv): the joint forces that compensate gravity.  [RD 3.45]

        Returns:
            (..., nv): N m and N, `bias` at zero velocity.

        >>> robot.gravity([np.pi / 2, 0.0]).round(3)
        array([19.62 ,  4.905])
        """
        return self._calls.run("gravity", (q,), options)

    def coriolis(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """C(q, v), (..., nv, nv), with C v + g = h and M' - 2 C skew-symmetric.  [MDN 80]

        Returns:
            (..., nv, nv). Many matrices have the product C v; only this M' - 2 C is
            skew-symmetric.

        >>> robot.coriolis([0.0, 0.5], [1.0, 0.0]).shape
        (2, 2)
        """
        return self._calls.run("coriolis", (q, v), options)

    def passive(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """(..., nv): the forces of damping, dry friction and springs of the joints on the robot.

        Returns:
            (..., nv): N m and N. `bias` does not include them; dynamics do with passive=True.

        >>> robot.passive([0.0, 0.5], [1.0, 0.0]) + 0.0  # it has none
        array([0., 0.])
        """
        return self._calls.run("passive", (q, v), options)

    def equations_of_motion(
        self, q: ArrayLike, v: ArrayLike, base: str | None = None, **options: Unpack[Options]
    ) -> tuple[Array, Array]:
        """M and h, (..., nv, nv) and (..., nv), for a base velocity in any representation.
        [MDN 75-76, 80]

        Args:
            base: the representation of the base velocity, also in v: "left", "right", "mixed"
                or "kindr"; by default the robot's.
        """
        return self._calls.run(("equations_of_motion", None, base), (q, v), options)

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **options: Unpack[Options]
    ) -> tuple[Array, Array, Array]:
        """dτ/dq, dτ/dv, dτ/da of `inverse_dynamics`, each (..., nv, nv).

        Returns:
            Three arrays. By q they are along velocities, d/ds at integrate(q, s e_k); dτ/da is
            M.

        >>> q, v, a = [0.0, 0.5], [1.0, 0.0], [0.0, 0.0]
        >>> by_q, by_v, by_a = robot.inverse_dynamics_derivatives(q, v, a)
        >>> np.abs(by_a - robot.mass_matrix([0.0, 0.5])).max() < 1e-12
        np.True_
        """
        return self._calls.run("inverse_dynamics_derivatives", (q, v, a), options)

    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, **options: Unpack[Options]
    ) -> tuple[Array, Array, Array]:
        """da/dq, da/dv, da/dτ of `forward_dynamics`, each (..., nv, nv).

        Returns:
            Three arrays. By q they are along velocities, d/ds at integrate(q, s e_k); da/dτ is
            M^-1.

        >>> q, v, tau = [0.0, 0.5], [1.0, 0.0], [0.0, 0.0]
        >>> [x.shape for x in robot.forward_dynamics_derivatives(q, v, tau)]
        [(2, 2), (2, 2), (2, 2)]
        """
        return self._calls.run("forward_dynamics_derivatives", (q, v, tau), options)

    def joint_wrenches(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None, **options: Unpack[Options]
    ) -> Array:
        """(..., bodies, 6): the wrench of each parent body on its child, in the child's frame.
        [QT 72-73]
        """
        return self._calls.run_optional("joint_wrenches", (q, v, a), options, wrenches=wrenches)

    def center_of_mass(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """(..., 3): the centre of mass of the moving bodies, in the world.

        Returns:
            (..., 3), in m.

        >>> robot.center_of_mass([0.0, 0.0]) + 0.0
        array([ 0.,  0., -1.])
        """
        return self._calls.run("center_of_mass", (q,), options)

    def com_jacobian(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """J, (..., 3, nv): `com_velocity` is J v.

        Returns:
            (..., 3, nv), along the world's axes.

        >>> robot.com_jacobian([0.0, 0.0]) + 0.0
        array([[1.  , 0.25],
               [0.  , 0.  ],
               [0.  , 0.  ]])
        """
        return self._calls.run("com_jacobian", (q,), options)

    def com_velocity(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """(..., 3): the velocity of the centre of mass in the world."""
        return self._calls.run("com_velocity", (q, v), options)

    def momentum(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """(..., 6): linear momentum, and angular momentum about the world's origin."""
        return self._calls.run("momentum", (q, v), options)

    def centroidal_momentum(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """(..., 6): linear momentum, and angular momentum about the centre of mass.

        Returns:
            (..., 6), along the world's axes: kg m/s, then kg m²/s. It is
            `centroidal_momentum_matrix` times v.

        >>> robot.centroidal_momentum([0.0, 0.0], [1.0, 0.0]).round(12) + 0.0
        array([ 2.        ,  0.        ,  0.        ,  0.        , -0.66686667,
                0.        ])
        """
        return self._calls.run("centroidal_momentum", (q, v), options)

    def centroidal_momentum_rate(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **options: Unpack[Options]) -> Array:
        """(..., 6): the time derivative of `centroidal_momentum`."""
        return self._calls.run("centroidal_momentum_rate", (q, v, a), options)

    def centroidal_momentum_matrix(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """A_G, (..., 6, nv): `centroidal_momentum` is A_G v."""
        return self._calls.run("centroidal_momentum_matrix", (q,), options)

    def centroidal_momentum_matrix_dot(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """(..., 6, nv): the time derivative of `centroidal_momentum_matrix`."""
        return self._calls.run("centroidal_momentum_matrix_dot", (q, v), options)

    def centroidal_inertia(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """(..., 6, 6): the inertia of the robot as one rigid body about its centre of
        mass, along the world's axes.
        """
        return self._calls.run("centroidal_inertia", (q,), options)

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """T, (...): v·M v / 2, in J.  [RD 3.28, 3.31]

        Returns:
            (...), one value per sample.

        >>> robot.kinetic_energy([0.0, 0.0], [1.0, 0.0]).round(12)
        np.float64(1.333433333333)
        """
        return self._calls.run("kinetic_energy", (q, v), options)

    def potential_energy(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """U, (...): in J, zero with the centre of mass at the world's origin.  [RD 3.33]

        Returns:
            (...), one value per sample, without springs.

        >>> robot.potential_energy([0.0, 0.0]).round(12)
        np.float64(-19.62)
        """
        return self._calls.run("potential_energy", (q,), options)

    def power(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **options: Unpack[Options]) -> Array:
        """(...): v·τ in W, the rate of the total energy.  [RD 3.54]"""
        return self._calls.run("power", (q, v, a), options)

    def regressor(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **options: Unpack[Options]) -> Array:
        """Y, (..., nv, 10 bodies): inverse dynamics is Y times the flattened
        `parameters()`, plus armature times a.
        """
        return self._calls.run("regressor", (q, v, a), options)

    # ---- constraints and contacts ------------------------------------------------------------------------------------

    def constraints(self, constraints: Constraints) -> ConstraintSet:
        """Check constraints against the robot, and join them to a set.  [RD 3.57-3.63]

        Args:
            constraints: a list, such as [mb.constraints.PointContact(name, frame)]. Their
                forces act on the robot, along the world's axes unless their docstrings say
                otherwise.

        Returns:
            A ConstraintSet: its `rows`, their names, ranks(q), error(q), jacobian(q),
            bias(q, v).

        >>> robot = mb.load("quadruped")
        >>> feet = [mb.constraints.PointContact(foot, foot) for foot in ("foot-lf", "foot-rh")]
        >>> support = robot.constraints(feet)
        >>> support.rows, support.ranks(robot.home()).base
        (6, 5)
        """
        return constraints_on(self.model, constraints, "constraints([constraint, ...])")

    @property
    def closures(self) -> tuple[Constraint, ...]:
        """The constraints that the file states: kinematic loops and coupled joints.

        Dynamics hold them where they are given, alone or with others:
        `robot.constrained_dynamics([*robot.closures, *feet], q, v, tau)`. They come from
        MJCF's <equality>, from SDF joints that close loops, gearboxes, Gazebo's joints in URDF
        files, and Drake's ball constraints.

        >>> len(robot.closures)
        0
        """
        return stated(self.model)

    def constrained_dynamics(
        self,
        constraints: Constraints,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        method: str = "least-norm",
        active: ArrayLike | None = None,
        baumgarte: ArrayLike | None = None,
        passive: bool = False,
        **options: Unpack[Options],
    ) -> Constrained:
        """(acceleration, force): the constrained dynamics, with the constraint forces
        on the robot.  [RD 3.57-3.62]

        Args:
            method: "least-norm" for any rows; "exact" takes fewer operations if no row is
                redundant.
            baumgarte: (..., 2), stiffness in 1/s² and damping in 1/s, which correct constraint
                drift.

        >>> robot = mb.load("quadruped")
        >>> names = [name for name in robot.frames if name.startswith("foot")]
        >>> feet = [mb.constraints.PointContact(name, name) for name in names]
        >>> feet = robot.constraints(feet)
        >>> a, f = robot.constrained_dynamics(feet, robot.home(), np.zeros(18), np.zeros(18))
        >>> a.shape, f.shape
        ((18,), (12,))
        """
        if passive is not False and truth(passive, "passive"):
            threads, parameters = options.get("threads"), options.get("parameters")
            tau = velocities(self.tree, tau, "tau") + self._passive_forces(q, v, threads, parameters)
        key = ("constrained_dynamics", None, method)
        return Constrained(*self._run_constrained(key, (q, v, tau), options, constraints, wrenches, active, baumgarte))

    def constrained_dynamics_derivatives(
        self,
        constraints: Constraints,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        method: str = "least-norm",
        active: ArrayLike | None = None,
        baumgarte: ArrayLike | None = None,
        **options: Unpack[Options],
    ) -> ConstrainedDerivatives:
        """Derivatives of the acceleration by q, v and τ, (..., nv, nv), then of the
        forces, (..., rows, nv).

        They are in the tangent space, with external wrenches constant.

        Args:
            method: as in `constrained_dynamics`.
            baumgarte: as in `constrained_dynamics`.
        """
        key = ("constrained_dynamics_derivatives", None, method)
        return ConstrainedDerivatives(
            *self._run_constrained(key, (q, v, tau), options, constraints, wrenches, active, baumgarte)
        )

    def impact(
        self,
        constraints: Constraints,
        q: ArrayLike,
        v: ArrayLike,
        restitution: ArrayLike | None = None,
        *,
        active: ArrayLike | None = None,
        **options: Unpack[Options],
    ) -> Impact:
        """(velocity, impulse, energy_loss) of a collision with J v⁺ = -restitution J v⁻.
        [RD 3.66-3.72]

        The impulse is on the robot: RD's has the opposite sign, as F_c.

        Args:
            v: (..., nv), before the impact.
            restitution: (...), from 0 to 1; by default 0, plastic.
        """
        support = constraints_on(self.model, constraints, "impact(constraints, q, v)")
        bounce = None if restitution is None else check_restitution(restitution)[..., None]
        optional = constraint_inputs(support, active, restitution=bounce)
        return Impact(*self._calls.run_optional("impact", (q, v), options, constraints=support, optional=optional))

    def null_space_projector(self, constraints: Constraints, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """N_c, (..., nv, nv): the projector of velocities onto the null space of the constraints.
        [RD 3.63]
        """
        support = constraints_on(self.model, constraints, "null_space_projector(constraints, q)")
        return self._calls.run_optional("null_space_projector", (q,), options, constraints=support)

    def support_consistent_velocity(
        self, constraints: Constraints, q: ArrayLike, task: ArrayLike, wanted: ArrayLike, **options: Unpack[Options]
    ) -> Array:
        """(..., nv): the least-squares v of a task J_t v = w_t that does not move the support.
        [RD 2.273-2.276]

        Args:
            constraints: the support.
            task: J_t, (..., m, nv).
            wanted: w_t, (..., m).
        """
        support = constraints_on(self.model, constraints, "support_consistent_velocity(constraints, q, J, w)")
        J_t = floats(task, "task")
        if J_t.ndim < 2 or not J_t.shape[-2] or J_t.shape[-1] != self.nv:
            raise InputError(f"task: expected a Jacobian (..., m, {self.nv}), got shape {J_t.shape}")
        key = ("support_consistent_velocity", None, J_t.shape[-2])
        return self._calls.run_optional(key, (q, J_t, wanted), options, constraints=support)

    # ---- surgery: each returns another robot -------------------------------------------------------------------------

    def lock(self, values: Mapping[str, ArrayLike]) -> Robot:
        """Return the robot with joints fixed at values (rad, m, or (nq,)
        coordinates): {"elbow": 0.5}.
        """
        return self._with(surgery.lock(self.model, values))

    def attach(
        self,
        other: Robot,
        *,
        frame: str,
        other_frame: str | None = None,
        pose: Pose | ArrayLike | None = None,
        prefix: str = "",
    ) -> Robot:
        """Return the robot with another, such as a gripper, fixed to a frame; see
        `multibody.model.surgery.attach`.
        """
        if not isinstance(other, Robot):
            raise InputError(f"attach: expected a Robot, got {type(other).__name__}")
        joined = surgery.attach(self.model, other.model, frame=frame, other_frame=other_frame, pose=pose, prefix=prefix)
        return self._with(joined)

    def beside(self, other: Robot, *, prefix: str = "") -> Robot:
        """Return one model of this robot and another in the same world, such as a
        ball; floating bases stay floating.

        >>> ball = mb.Builder("ball").body("ball", shape=mb.model.shapes.Sphere(0.1), mass=0.4)
        >>> both = mb.load("planar-arm").beside(mb.Robot(ball.model(floating=True)))
        >>> both.nq, both.frames[-2:]
        (10, ('ball', 'tool'))
        """
        if not isinstance(other, Robot):
            raise InputError(f"beside: expected a Robot, got {type(other).__name__}")
        return self._with(surgery.beside(self.model, other.model, prefix=prefix))

    def payload(self, frame: str, inertia: SpatialInertia | float, pose: Pose | ArrayLike | None = None) -> Robot:
        """Return the robot with a load attached to a frame.

        Args:
            inertia: an `mb.SpatialInertia` in the load's frame, or the mass of a point at its origin, in kg.
            pose: the load's frame in this frame, a Pose or a position (3,) in m; by default the identity.

        >>> robot = mb.load("planar-arm")
        >>> round(robot.payload("tool", 2.5).mass - robot.mass, 12)
        2.5
        """
        return self._with(surgery.payload(self.model, frame, inertia, pose))

    def with_frame(self, name: str, parent: str, pose: Pose | ArrayLike | None = None) -> Robot:
        """Return the robot with one more frame, such as a tool's, fixed to a link or frame.

        Args:
            name: of the new frame.
            parent: the link or frame that it is fixed to.
            pose: the pose of the new frame in its parent, a Pose or a position (3,) in m; by
                default the identity.

        >>> robot = mb.load("panda").with_frame("tcp", "tool", [0.0, 0.0, 0.1])
        >>> q = robot.home()
        >>> robot.pose("tool", q).pull(robot.pose("tcp", q)).position.round(12) + 0.0
        array([0. , 0. , 0.1])
        """
        return self._with(surgery.with_frame(self.model, name, parent, pose))

    def remove(self, link: str) -> Robot:
        """Return the robot without a link and its descendants."""
        return self._with(surgery.remove(self.model, link))

    @options_of(surgery.rename)
    def rename(self, names: Mapping[str, str] | None = None, **options: Any) -> Robot:
        """Return the robot with other names.

        Args:
            names: {old: new} of links, frames and joints.

        >>> mb.load("double-pendulum").rename({"tip": "hand"}, name="arm").frames[-1]
        'hand'
        """
        return self._with(surgery.rename(self.model, names, **options))

    def scale(self, factor: float, mass: float | None = None) -> Robot:
        """Return the robot with lengths times a factor, and masses times its cube or times `mass`."""
        return self._with(surgery.scale(self.model, factor, mass))

    @options_of(surgery.change)
    def change(self, **changes: Any) -> Robot:
        """Return the robot with other inertias, placements, limits, passive elements or fields.

        Args:
            **fields: `gravity`, `velocity`, `home` or `actuators` of the model.

        >>> mb.load("double-pendulum").change(gravity=(0.0, 0.0, -1.62)).model.gravity
        (0.0, 0.0, -1.62)
        """
        return self._with(surgery.change(self.model, **changes))

    def with_gravity(self, gravity: ArrayLike) -> Robot:
        """Return the robot with another gravitational acceleration, (3,) in m/s²
        along the world's axes.

        >>> mb.load("panda").with_gravity((0, 0, -1.62)).model.gravity
        (0.0, 0.0, -1.62)
        """
        return self._with(surgery.change(self.model, gravity=gravity))

    @keywords_of(model_parameters.Parameters)
    def with_parameters(self, parameters: model_parameters.Parameters) -> Robot:
        """Return the robot with parameters of one sample; the others stay.

        The arguments are those of `Tree.with_values`, without a batch, in the shapes of
        `parameters()`, `placements()`, `positions()`, `frame_placements()`, `tree.damping`,
        `tree.friction` and `tree.armature`. Placements are in parent bodies; `change` takes
        those in parent links.

        >>> robot = mb.load("planar-arm")
        >>> robot.with_parameters(2 * robot.parameters()).mass == 2 * robot.mass
        True
        """
        return self._with(surgery.with_parameters(self.model, **parameters.given))

    # ---- kernels -----------------------------------------------------------------------------------------------------

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
        """Return the native kernel of a quantity, for tight loops and for varying parameters.

        Args:
            name: the quantity, as the method: "inverse_dynamics", "jacobian".
            frame: a name out of `robot.frames`, for quantities of a frame.
            constraints: a ConstraintSet or a list of constraints, for quantities such as
                "constrained_dynamics", "impact", "constraint_jacobian".
            wrenches: frames with external wrenches; each is a further argument (..., 6) after
                the others, in this order, named `wrench_trunk` for the frame "trunk".
            optional: optional inputs, further arguments after the wrenches: "active",
                (..., rows), "baumgarte", (..., 2), "restitution", (..., 1).
            parameters: one or several parameters of the model that become the last arguments,
                so that every sample can be another robot: "inertias", (..., bodies, 10) as
                `robot.parameters()`, "placements", (..., bodies, 7) as `robot.placements()`, or
                "positions", (..., bodies, 3) as `robot.positions()`, "frame_placements",
                (..., frames, 7) as `robot.frame_placements()`, "gravity", (..., 3), "masses",
                (..., bodies), "damping", "friction" and "armature", (..., nv), "offsets" of
                joints, (..., bodies). `robot.check_parameters` checks their values.
            **options: those of the method: `representation`; `intrinsic` for accelerations;
                `reference` and `kind` for "relative_jacobian"; `written_in` and `base` for
                "jacobian_in"; `rotation`, `position` and `coordinates` for
                "analytical_jacobian" and "end_effector"; `method` for "constrained_dynamics".

        Returns:
            An `mb.Kernel`, called as the method without the frame; `kernel.to_c("law.c")`
            writes C.

        >>> jacobian = robot.kernel("jacobian", "tip", representation="left")
        >>> jacobian([[0.0, 0.0], [0.1, 0.2]]).shape
        (2, 6, 2)
        """
        request = Request.of(
            self.model,
            name,
            frame,
            wrenches=wrenches,
            constraints=constraints,
            optional=optional,
            parameters=parameters,
            **options,
        )
        return self._calls.kernel(request).kernel

    def function(
        self,
        function: Callable[..., Any],
        /,
        *,
        optional: Mapping[str, Kind] | None = None,
        key: str | None = None,
        **inputs: Kind,
    ) -> RobotFunction:
        """Compile a function of this robot with checked inputs: a controller, a cost, a step.

        Args:
            function: plain NumPy of the inputs, in their order; optional ones are keywords with the
                default None. It may call methods of robots, and algorithms on `robot.tree`.
            optional: the kinds of optional inputs; a call without them runs code without them.
            key: a text that identifies the function, all that it uses and their versions. With it the
                next process loads the kernel without tracing the function.
            **inputs: the kind of each input: "configuration", "velocity", "acceleration", "force",
                "wrench", "twist", "point", "number", "pose", "rotation" (values of geometry), or the
                shape of one sample.

        Returns:
            A `RobotFunction`, called as the function, on single samples or batches.

        >>> robot = mb.load("planar-arm")
        >>> def reach(q, target):
        ...     return target.position - robot.pose("tool", q).position
        >>> error = robot.function(reach, q="configuration", target="pose")
        >>> error(np.zeros(3), robot.pose("tool", np.zeros(3)))
        array([0., 0., 0.])
        """
        return RobotFunction(self.model, self.dtype, function, inputs, optional or {}, key)

    def evaluate(
        self,
        q: ArrayLike,
        v: ArrayLike | None,
        what: Sequence[str | tuple[Any, ...]],
        *,
        wrenches: Wrenches | None = None,
        out: Any = None,
        threads: int | None = None,
        **inputs: ArrayLike | None,
    ) -> dict[Any, Any]:
        """Compute several quantities together, with common terms computed once.

        Args:
            v: (..., nv), velocities; None if no quantity takes them.
            what: quantities: names such as "mass_matrix", or tuples (name, frame, options):
                ("jacobian", "hand"), ("velocity", "hand", {"representation": "left"}),
                ("constrained_dynamics", feet) for a ConstraintSet.
            wrenches: {frame: (..., 6)}, external wrenches, for all quantities that take them.
            out: a tuple with one array per quantity; with a tuple of arrays for a quantity of
                several arrays, such as a pose.
            **inputs: further inputs of the quantities, by name: a and tau (..., nv), point
                (..., 3).

        Returns:
            A dict of the results by the items of `what`, in their order.

        >>> robot = mb.load("planar-arm")
        >>> what = ["mass_matrix", ("jacobian", "tool")]
        >>> both = robot.evaluate(robot.neutral(), np.zeros(3), what)
        >>> [x.shape for x in both.values()]
        [(3, 3), (6, 3)]
        """
        if isinstance(what, str) or not isinstance(what, Sequence):
            raise InputError(f"evaluate: expected a list of quantities, got {what!r}")
        items = [item if isinstance(item, tuple) else (item,) for item in what]
        names = [item_name(item) for item in what]
        values = {
            name: value for name, value in {"q": q, "v": v, **dict(sorted(inputs.items()))}.items() if value is not None
        }
        frames, forces = wrench_arrays(wrenches)
        values |= dict(zip(map(wrench_name, frames), forces, strict=True))
        key = (tuple(names), tuple(values))
        request = self._calls.requests.get(key)
        if request is None:
            request = Request.together(self.model, items, frames, tuple(values))
            self._calls.store(self._calls.requests, key, request)
        if out is not None and (not isinstance(out, tuple | list) or len(out) != len(items)):
            raise InputError(f"out: expected {len(items)} arrays in a tuple, one for each quantity, got {out!r}")
        results = self._calls.call(request, tuple(values.values()), out, threads)
        shaped = []
        for item, result in zip(items, results, strict=True):
            made = {"pose": _pose_of, "poses": lambda parts: _poses_of(self.frames, parts)}.get(item[0])
            shaped.append(result if made is None else made(result))
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
        """Differentiate a quantity by each of its arguments, in the tangent space,
        exact to rounding.

        The method is automatic differentiation. It takes several times the operations of
        analytical recursions such as `inverse_dynamics_derivatives`, which it can differentiate
        again.

        Args:
            name: the quantity: "velocity", "centroidal_momentum",
                "inverse_dynamics_derivatives".
            *args: the arguments of that quantity: q, v, ..., and then the parameters.
            frame: for quantities of a frame.
            constraints: as in `kernel`.
            parameters: parameters of the model that are arguments too, as in `kernel`.
            out: a tuple of arrays.
            **options: such as representation="left", or wrenches=["tool"], as in `kernel`.

        Returns:
            A tuple with an array (..., shape of the result, nv) for each argument; a tuple of
            such tuples for a quantity with several results. Parameters have their shape in
            place of nv. Placements have (bodies, 6): translations along the parent's axes,
            rotations about the axes of the placed frame.

        >>> robot = mb.load("planar-arm")
        >>> q = robot.neutral()
        >>> by_q, by_v = robot.derivatives("velocity", q, np.ones(3), frame="tool")
        >>> np.abs(by_v - robot.jacobian("tool", q)).max() < 1e-12
        np.True_
        """
        request = Request.of(
            self.model, name, frame, constraints=constraints, parameters=parameters, derivatives=True, **options
        )
        return self._calls.call(request, args, out, threads)

    # ---- as a value --------------------------------------------------------------------------------------------------

    def astype(self, dtype: str) -> Robot:
        """Return the robot with the precision "float64" or "float32"."""
        return Robot(self.model, dtype=dtype)

    def __str__(self) -> str:
        return tree_text.tree(self.model)

    def __repr__(self) -> str:
        fixed = fixed_mass(self.model)
        parts = [f"nq {self.nq}", f"nv {self.nv}", f"{len(self.bodies)} bodies", f"{self.mass:.4g} kg"]
        if fixed:
            parts.append(f"{fixed:.4g} kg more fixed to the world")
        count = sum(diagnostic.level == "warning" for diagnostic in self.diagnostics)
        if count:
            parts.append(f"{count} warning{'s' * (count > 1)}, see .diagnostics")
        return f"<Robot {self.name!r}: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        return tree_text.table(self.model)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Robot) and self.model == other.model and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(self.model)

    def __reduce__(self) -> tuple[Any, ...]:
        return _revive, (self.model, self.dtype.name)

    def __dir__(self) -> list[str]:
        return dir(Robot)  # without foreign names

    # ---- calls -------------------------------------------------------------------------------------------------------

    def _with(self, model: Model) -> Robot:
        """A robot of another model, with the same precision."""
        return Robot(model, dtype=self.dtype.name)

    def _passive_forces(self, q: ArrayLike, v: ArrayLike, threads: int | None, parameters: Parameters | None) -> Array:
        """`passive`, with those parameters that it depends on."""
        if isinstance(parameters, Mapping):
            parameters = {name: x for name, x in parameters.items() if name in actuation.PARAMETERS} or None
        return self.passive(q, v, threads=threads, parameters=parameters)

    def _run_constrained(
        self,
        key: tuple[Any, ...],
        args: tuple[Any, ...],
        options: Options,
        constraints: Constraints,
        wrenches: Wrenches | None,
        active: ArrayLike | None,
        baumgarte: ArrayLike | None,
    ) -> Any:
        support = constraints_on(self.model, constraints, f"{key[0]}(constraints, q, v, tau)")
        gains = None if baumgarte is None else check_gains(baumgarte)
        inputs = {"constraints": support, "optional": constraint_inputs(support, active, baumgarte=gains)}
        return self._calls.run_optional(key, args, options, wrenches=wrenches, **inputs)

    def _q(self, q: ArrayLike) -> Array:
        return arrays_of(self.tree, {"q": "configuration"})[0].check(self.tree, q)


def _pose_of(parts: tuple[Array, ...]) -> Pose:
    """A pose from the arrays of a kernel; it owns copies of them if they are the caller's."""
    return owned(pose_of(*(x if is_traced(x) else x.view() for x in parts)))


def _poses_of(names: Iterable[str], parts: tuple[Array, ...]) -> dict[str, Pose]:
    R, p = parts
    return {name: _pose_of((R[..., k, :, :], p[..., k, :])) for k, name in enumerate(names)}


def _hashable(coordinates: Sequence[int] | None) -> Any:
    return tuple(coordinates) if isinstance(coordinates, list | range | np.ndarray) else coordinates


def _positive(x: ArrayLike, what: str) -> Array:
    values = floats(x, what)
    bad = np.zeros((), bool) if is_traced(values) else ~(values > 0)
    if bad.any():
        raise InputError(f"{what}{at(first(bad))}: expected a positive number, got {values[bad][0]}")
    return values


def _revive(model: Model, dtype: str) -> Robot:
    return Robot(model, dtype=dtype)
