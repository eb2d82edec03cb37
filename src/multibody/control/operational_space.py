"""Operational space: torques that move a frame of a robot, and push with it, as its own dynamics are.  [RD §3.9]"""

from collections.abc import Iterable
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from multibody.algorithms.constraints import Constraint
from multibody.control._checks import branches_with, check_needed, check_number, supporting_contacts
from multibody.control._robot_controller import STATE, RobotController, robot_function
from multibody.control.joint_space import joint_gains
from multibody.control.operational_space_laws import Laws
from multibody.control.pose_error import ERRORS, ROTATION_VECTOR, ROWS
from multibody.errors import InputError
from multibody.geometry import Pose, Rotation
from multibody.geometry._arrays import Array, at, check_values, choice, first, floats, is_traced, transpose
from multibody.geometry.rates import orientation_name
from multibody.model.actuation import floating_joints
from multibody.model.tree import Tree
from multibody.robot import Robot
from multibody.robot.function import RobotFunction
from multibody.robot.inputs import Kind
from multibody.robot.kernels import check_masses

COMPENSATIONS = ("joint", "task")
HEAVIEST = 1e3
"""How many times its mass a robot may feel like before that counts as a singularity, by default."""


@final
class OperationalSpace(RobotController):
    """Torques that accelerate a frame as wanted, and push with a wrench where it cannot move.
    [RD 3.81-3.99]

    The frame feels as a body with the inertia Λ = (J M^-1 J^T)^-1, Coriolis forces μ and weight
    p: Λ w' + μ + p = F, for τ = J^T F [RD 3.85-3.89]. With selections S_M, S_F of where it is
    to move and to push,

        τ = J^T (Λ (S_M w'* - J' v) + S_F F) + b + g + N^T τ0.  [RD 3.96-3.99]

    b and g are compensated joint by joint. RD's first form [RD 3.90, 3.97],
    compensation="task", has J^T (μ + p) in their place. Both accelerate the frame alike, and
    for six joints they are equal; but an arm with more joints moves under the second within its
    null space: its elbow falls. N^T = 1 - J^T J̄^T, with J̄ = M^-1 J^T Λ, leaves of τ0 what
    does not accelerate the frame.

    Near singularities the frame feels ever heavier in some direction, and Λ has no bound. Where
    its trace is above `heaviest`, Λ = (J M^-1 J^T + λ² 1)^-1 instead, with λ² = 1/heaviest -
    1/trace, that is 1/heaviest where J has lost a row: torques stay finite, and what is
    commanded along that direction does not come out whole. Elsewhere λ = 0.

    Args:
        robot: with a fixed base; or floating, on contacts. Free bodies beside that of the frame
            need none.
        frame: one of its frames.
        rows: "pose" for all six rows, linear first; "position" or "rotation" for three of them.
        contacts: constraints, as `mb.constraints.PointContact`, that hold and carry a floating
            base. Of all torques that do the same, those of least norm are taken [RD 3.100].
        compensation: "joint" or "task".
        error: of rotations: "rotation-vector", the rotation vector of R* R^T, [RD §2.9.3]; or,
            for small ones, the name of parameters: E_R (χ* - χ) [RD 3.92], "euler-zyx" and
            others, as those of `iterate`.
        heaviest: in kg, or kg m² of rotations; by default 1,000 times the mass of the robot,
            without free bodies.

    Raises:
        InputError: when an argument does not fit, or a floating base has no contacts.

    >>> import multibody as mb
    >>> arm = mb.load("panda")
    >>> space = OperationalSpace(arm, "tool")
    >>> q, v, up = arm.home(), np.zeros(7), np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    >>> tau = space(q, v, acceleration=up)
    >>> a = arm.forward_dynamics(q, v, tau)
    >>> arm.acceleration("tool", q, v, a).round(9) + 0.0
    array([0., 0., 1., 0., 0., 0.])
    """

    __slots__ = ("_functions", "_laws")

    def __init__(
        self,
        robot: Robot,
        frame: str,
        *,
        rows: str = "pose",
        contacts: Iterable[Constraint] = (),
        compensation: str = "joint",
        error: str = ROTATION_VECTOR,
        heaviest: float | None = None,
    ) -> None:
        super().__init__(robot)
        robot.tree.frame(frame)
        chosen, parts = ROWS[choice(rows, "rows", tuple(ROWS))], supporting_contacts(robot, contacts, frame)
        if choice(compensation, "compensation", COMPENSATIONS) == "task" and parts:
            raise InputError('compensation: expected "joint" with contacts, which gravity in the task does not know')
        error = choice(orientation_name(error), "error", ERRORS)
        check_masses(robot.model)
        limit = HEAVIEST * (robot.mass - _free_mass(robot.tree, frame)) if heaviest is None else heaviest
        limit = check_number(limit, "heaviest", "a positive inertia in kg")
        self._laws = Laws(frame, chosen, parts, compensation, error, limit)
        self._functions: dict[str, RobotFunction] = {}

    @property
    def frame(self) -> str:
        """The frame that moves and pushes."""
        return self._laws.frame

    @property
    def count(self) -> int:
        """m, the number of its rows: six, or three."""
        return self._laws.count

    def __call__(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        acceleration: ArrayLike | None = None,
        pose: Pose | None = None,
        twist: ArrayLike | None = None,
        kp: ArrayLike | None = None,
        kd: ArrayLike | None = None,
        wrench: ArrayLike | None = None,
        motion: ArrayLike | None = None,
        axes: Rotation | None = None,
        tau0: ArrayLike | None = None,
        out: Any = None,
        threads: int | None = None,
    ) -> Array:
        """τ, (..., nv), zero on a floating base, for w'* + kp Δ + kd (w* - w), and a wrench.
        [RD 3.90-3.99]

        Args:
            q: (..., nq).
            v: (..., nv).
            acceleration: w'*, (..., m), mixed: of the frame's origin, and angular, along the
                world's axes; zero by default.
            pose: where the frame is to be, with kp.
            twist: w*, (..., m), mixed, at which the target moves, with kd; zero by default.
            kp: in 1/s², not negative: a number, or (..., m) along `axes`; `gains` tells some.
            kd: in 1/s, likewise.
            wrench: (..., m), force and moment that the frame applies to what it touches, where
                it does not move. Alone, all of it is applied.
            motion: (..., m) of ones where the frame moves, along and around `axes`, and zeros
                where it pushes [RD 3.98]; by default it moves in all.
            axes: world_R_task, of what `motion` and gains are along; the world's axes by
                default. RD's C [RD 3.99] is its transpose.
            tau0: (..., nv), torques of which what does not accelerate the frame is added.
            out: an array for the result.
            threads: over which a batch is split.

        Raises:
            InputError: when an argument does not fit, or lacks another one.
        """
        gained = {"kp": kp, "kd": kd}
        moving = {"acceleration": acceleration, "pose": pose, "twist": twist, "wrench": wrench, "axes": axes}
        check_needed(moving | gained, pose="kp", kp="pose", twist="kd")
        if wrench is not None and motion is None:
            if not (acceleration is None and kp is None and kd is None):
                raise InputError(
                    f"wrench: expected motion=..., {self.count} ones and zeros: where it moves, and pushes"
                )
            motion = np.zeros(self.count, self._robot.dtype)
        values = {name: joint_gains(x, name, self.count, self._robot.dtype) for name, x in gained.items()}
        if motion is not None:
            ones = floats(motion, "motion", self.count)
            values["motion"] = check_values(ones, "motion", lambda x: (x == 0) | (x == 1), "ones and zeros", core=1)
        return self._function("torques")(q, v, tau0=tau0, out=out, threads=threads, **moving, **values)

    def impedance(
        self,
        q: ArrayLike,
        v: ArrayLike,
        pose: Pose,
        *,
        stiffness: ArrayLike,
        damping: ArrayLike,
        twist: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        inertia: ArrayLike | None = None,
        external: ArrayLike | None = None,
        tau0: ArrayLike | None = None,
        out: Any = None,
        threads: int | None = None,
    ) -> Array:
        """τ, (..., nv), with which the frame yields as a body on a spring and a
        damper, and gravity is taken off.

        Without `inertia` the frame keeps its own: τ = J^T (F_K + D (w* - w)) + g. F_K is the
        pull of a spring with the energy Δ^T K Δ / 2, for every symmetric K, so that the robot
        takes no energy out of it but by the work of what moves the target: it is passive. With
        an inertia I,

            I (w' - w'*) + D (w - w*) - F_K = F,

        for the wrench F that acts on the frame, which has to be measured: without it, the robot
        moves so where nothing touches it.

        Args:
            q: (..., nq).
            v: (..., nv).
            pose: where the spring is at rest.
            stiffness: K, along the world's axes: a number, m numbers, or (..., m, m); of
                translations in N/m, of rotation vectors in N m/rad.
            damping: D, likewise, in N s/m and N m s/rad.
            twist: w*, (..., m), mixed, zero by default.
            acceleration: w'*, (..., m), mixed, zero by default; with `inertia` alone.
            inertia: I, as K, in kg and kg m².
            external: F, (..., m), on the robot, along the world's axes; with `inertia` alone.
            tau0: as in a call.
            out: an array for the result.
            threads: over which a batch is split.
        """
        squares = {"stiffness": stiffness, "damping": damping, "inertia": inertia}
        moving = {"twist": twist, "acceleration": acceleration, "external": external, "tau0": tau0}
        check_needed(squares | moving, acceleration="inertia", external="inertia")
        values = {
            name: None if x is None else _square(x, name, self.count, self._robot.dtype) for name, x in squares.items()
        }
        return self._function("impedance")(q, v, pose=pose, out=out, threads=threads, **values, **moving)

    def inertia(self, q: ArrayLike, *, out: Any = None, threads: int | None = None) -> Array:
        """Λ, (..., m, m).  [RD 3.87]"""
        return self._function("inertia")(q, out=out, threads=threads)

    def bias(self, q: ArrayLike, v: ArrayLike, *, out: Any = None, threads: int | None = None) -> Array:
        """μ = Λ J M^-1 b - Λ J' v, (..., m): Coriolis and centrifugal forces at the frame.
        [RD 3.88]
        """
        return self._function("bias")(q, v, out=out, threads=threads)

    def gravity(self, q: ArrayLike, *, out: Any = None, threads: int | None = None) -> Array:
        """p = Λ J M^-1 g, (..., m): what holds the frame against gravity.  [RD 3.89]"""
        return self._function("gravity")(q, out=out, threads=threads)

    def inverse(self, q: ArrayLike, *, out: Any = None, threads: int | None = None) -> Array:
        """J̄ = M^-1 J^T Λ, (..., nv, m), dynamically consistent: J J̄ = 1, and J̄^T τ
        is the F of torques τ.
        """
        return self._function("inverse")(q, out=out, threads=threads)

    def null_space_projector(self, q: ArrayLike, *, out: Any = None, threads: int | None = None) -> Array:
        """N^T = 1 - J^T J̄^T, (..., nv, nv): torques N^T τ0 do not accelerate the frame."""
        return self._function("null_space_projector")(q, out=out, threads=threads)

    def __repr__(self) -> str:
        return f"<OperationalSpace of {self.frame!r} of {self._robot.name!r}>"

    def _function(self, name: str) -> RobotFunction:
        """A law as a kernel."""
        if name not in self._functions:
            inputs, optional = self._inputs(name)
            tree, law = self._robot.tree, getattr(self._laws, name)

            def compute(*values: Any, **wishes: Any) -> Array:
                return law(tree, *values, **wishes)

            content = "control.OperationalSpace", name, self._laws
            self._functions[name] = robot_function(self._robot, compute, inputs, optional, *content)
        return self._functions[name]

    def _inputs(self, name: str) -> tuple[dict[str, Kind], dict[str, Kind]]:
        m = self.count
        q: dict[str, Kind] = {"q": "configuration"}
        wishes: dict[str, Kind] = dict.fromkeys(("acceleration", "twist", "kp", "kd", "wrench", "motion"), m)
        wishes |= {"pose": "pose", "axes": "rotation", "tau0": "force"}
        spring: dict[str, Kind] = {**STATE, "pose": "pose", "stiffness": (m, m), "damping": (m, m)}
        moving: dict[str, Kind] = {"twist": m, "acceleration": m, "inertia": (m, m), "external": m, "tau0": "force"}
        return {"torques": (STATE, wishes), "impedance": (spring, moving), "bias": (STATE, {})}.get(name, (q, {}))


def _free_mass(tree: Tree, frame: str) -> Any:
    """The mass of floating bodies beside the branch with a frame, and of what hangs on them."""
    floating, own = {joint.name for joint in floating_joints(tree)}, branches_with(tree, frame)
    free = [i for i in tree.children(0) if i not in own and tree.bodies[i - 1].joint.name in floating]
    return sum(tree.bodies[i - 1].inertia.mass for first in free for i in tree.subtree(first))


def _square(x: Any, what: str, count: int, dtype: np.dtype[Any]) -> Array:
    """A number, as many as there are rows, or a matrix, as (..., m, m); of an inertia none is zero."""
    array = floats(np.asarray(x, dtype) if isinstance(x, int | float) else x, what)
    if array.ndim > 1:
        return _definite(floats(array, what, count, count), what)
    if array.ndim and array.shape != (count,):
        raise InputError(f"{what}: expected a number, {count} of them or (..., {count}, {count}), got {array.shape}")
    expected = "positive numbers" if what == "inertia" else "finite numbers that are not negative"
    check_values(array, what, lambda x: (x > 0 if what == "inertia" else x >= 0) & (x < np.inf), expected, core=1)
    return np.broadcast_to(array, (count,))[:, None] * np.eye(count, dtype=dtype)


def _definite(K: Array, what: str) -> Array:
    """A matrix that is symmetric and whose energy is not negative; dampers may couple as they like."""
    if is_traced(K):
        return K
    check_values(K, what, np.isfinite, "finite numbers", core=2)
    size = np.abs(K).max(axis=(-1, -2))
    skew = np.abs(K - transpose(K)).max(axis=(-1, -2)) > 1e-6 * size
    if what != "damping" and skew.any():
        raise InputError(f"{what}{at(first(skew))}: expected a symmetric matrix, got one that is not")
    least = np.linalg.eigvalsh((K + transpose(K)) / 2)[..., 0]
    if what == "inertia":
        check_values(least, what, lambda x: x > 0, "a positive definite matrix by its eigenvalues")
    check_values(least, what, lambda x: x >= -1e-6 * size, "a positive semi-definite matrix by its eigenvalues")
    return K
