"""Kinematics: methods of Robot about poses, velocities and Jacobians of frames."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.algorithms import analytical_jacobian, jacobian, manipulability
from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.geometry._arrays import at, batch_shape, first, floats, is_traced, matvec, truth
from multibody.geometry.pose import pose_of
from multibody.model import configuration
from multibody.model.model import Model
from multibody.robot._face import Face
from multibody.robot.kernels import handed, task
from multibody.robot.quantity import places
from multibody.robot.requests import Request

NEARLY_SINGULAR = 1e6
"""Entries of an analytical Jacobian from which it is looked at more closely; those that are no numbers are, too."""


class Kinematics(Face):
    """Arguments: q (..., nq), v and a (..., nv), `frame` a name of `robot.frames`.

    `out` are arrays for the results, `threads` those over which a batch is split.
    """

    # In `pose` and `jacobian` no * stands before `out`: Python looks up the default of each argument behind one, and a
    # call is short enough to feel it.

    def pose(self, frame: str, q: ArrayLike, out: Any = None, threads: int | None = None) -> Pose:
        """W_H_F: the pose of a frame in the world.  [RD 2.138]

        `out` is a tuple of two arrays, (..., 3, 3) for the rotation matrix and (..., 3) for the position. The pose then
        has its numbers there, and changes with them.
        """
        if out is not None or threads is not None:
            return pose_on(self._run(("pose", frame), (q,), out, threads))
        try:
            matrix, position = self._poses[frame](q)
            return pose_of(matrix, position)
        except (InputError, TypeError) as error:
            raise self._explained(error, ("pose", frame), (q,)) from None

    def poses(self, q: ArrayLike, *, out: Any = None, threads: int | None = None) -> dict[str, Pose]:
        """The poses of all frames, by name.

        `out` is a tuple of two arrays, (..., frames, 3, 3) for the rotation matrices and (..., frames, 3) for the
        positions. The poses then have their numbers there, and change with them.
        """
        return named_poses(self.model, self._run("poses", (q,), out, threads))

    def velocity(
        self,
        frame: str,
        q: ArrayLike,
        v: ArrayLike,
        representation: str = "mixed",
        *,
        out: Any = None,
        threads: int | None = None,
    ) -> NDArray[Any]:
        """(..., 6): the twist of a frame, "left", "right" or "mixed".  [MDN 20, 25, 35]"""
        return self._run(("velocity", frame, representation), (q, v), out, threads)

    def acceleration(
        self,
        frame: str,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        representation: str = "mixed",
        *,
        intrinsic: bool = False,
        out: Any = None,
        threads: int | None = None,
    ) -> NDArray[Any]:
        """(..., 6): the time derivative of `velocity` [MDN 44]; intrinsic=True for the acceleration itself [MDN 47]."""
        if intrinsic is not False:
            intrinsic = truth(intrinsic, "intrinsic")
        return self._run(("acceleration", frame, representation, intrinsic), (q, v, a), out, threads)

    def jacobian(
        self, frame: str, q: ArrayLike, representation: str = "mixed", out: Any = None, threads: int | None = None
    ) -> NDArray[Any]:
        """(..., 6, nv): `velocity` is J v.  [MDN 74-76; RD 2.165-2.166, 2.268]"""
        if threads is not None:
            return self._run(("jacobian", frame, representation), (q,), out, threads)
        try:
            if representation == "mixed":
                return self._jacobians[frame](q) if out is None else self._jacobians[frame](q, out=out)
            return self._calls["jacobian", frame, representation](q, out=out)
        except (InputError, TypeError, ValueError) as error:  # an array is no name
            raise self._explained(error, ("jacobian", frame, representation), (q,)) from None

    def jacobian_dot(
        self,
        frame: str,
        q: ArrayLike,
        v: ArrayLike,
        representation: str = "mixed",
        *,
        out: Any = None,
        threads: int | None = None,
    ) -> NDArray[Any]:
        """(..., 6, nv): the time derivative of `jacobian`.  [RD 3.10; Kindr 18]"""
        return self._run(("jacobian_dot", frame, representation), (q, v), out, threads)

    def hessian(
        self, frame: str, q: ArrayLike, representation: str = "mixed", *, out: Any = None, threads: int | None = None
    ) -> NDArray[Any]:
        """(..., nv, 6, nv): [k] is the derivative of the Jacobian along the k-th velocity.  [Kindr 15-18]"""
        return self._run(("hessian", frame, representation), (q,), out, threads)

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
    ) -> NDArray[Any]:
        """(..., m, nv): the rates of the parameters of a pose are J_A v.  [RD 2.145-2.148, 2.189-2.192]

        Where these are not defined, as in gimbal lock, there is a SingularityError, unless `damping` (...), positive,
        asks for a damped inverse. `coordinates` are those of the parameters to take, as in `end_effector`.
        """
        key = ("analytical_jacobian", frame, *_chart(rotation, position, coordinates))
        if damping is not None:
            return self._run(self._damped(key), (q, _positive(damping, "damping")[..., None]), out, threads)
        J = self._run(key, (q,), out, threads)
        if not is_traced(J) and not (np.abs(J) < NEARLY_SINGULAR).all():  # the plain source tells where, and raises
            with np.errstate(all="ignore"):
                analytical_jacobian.analytical_jacobian(self.model.tree, frame, self._q(q), rotation, position)
        return J

    def end_effector(
        self,
        frame: str,
        q: ArrayLike,
        rotation: str = "euler-zyx",
        position: str = "cartesian",
        *,
        coordinates: Sequence[int] | None = None,
        out: Any = None,
        threads: int | None = None,
    ) -> NDArray[Any]:
        """χ, (..., m): the pose of a frame as parameters of position and rotation.  [RD 2.133-2.134]

        `coordinates` are the places, from 0 on, of those parameters that the robot can move independently: χ_o, the
        operational-space coordinates [RD 2.135-2.136]. By default all are given.
        """
        key = ("end_effector", frame, *_chart(rotation, position, coordinates))
        return self._run(key, (q,), out, threads)

    def relative_jacobian(
        self,
        frame: str,
        reference: str,
        q: ArrayLike,
        *,
        kind: str = "twist",
        representation: str = "left",
        out: Any = None,
        threads: int | None = None,
    ) -> NDArray[Any]:
        """(..., 6, nv): of a frame relative to another, as a "twist" [MDN 32-33] or a "difference" [RD 2.153-2.154]."""
        return self._run(("relative_jacobian", frame, reference, kind, representation), (q,), out, threads)

    def jacobian_in(
        self,
        frame: str,
        q: ArrayLike,
        *,
        written_in: str | Pose | None = None,
        base: str | Pose | None = None,
        out: Any = None,
        threads: int | None = None,
    ) -> NDArray[Any]:
        """D_J_WF/C, (..., 6, nv): in any frame D, for a base velocity that is written in any C.  [MDN 74-76, 81]

        Args:
            frame: F.
            q: (..., nq).
            written_in: D, the name of a frame or a pose W_H_D; by default F itself.
            base: how the base's velocity is written: "left", "right", "mixed", "kindr", or C, the name of another frame
                or a pose W_H_C, for C_v_WB; by default as `robot.model.velocity` says.
            out: an array for the result.
            threads: over which a batch is split.

        Names make a kernel; with poses it is plain NumPy, in one thread.
        """
        if isinstance(written_in, str | None) and isinstance(base, str | None):
            return self._run(("jacobian_in", frame, written_in, base), (q,), out, threads)
        found = jacobian.jacobian_in(self.model.tree, frame, self._q(q), written_in=written_in, base=base)
        return handed(found, out, self.dtype)

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
    ) -> NDArray[Any]:
        """C_v_WC, (..., 6): the twist of a contact frame C that moves on its link, C_X_F F_v_WF + C_v_FC.  [MDN 81-82]

        Args:
            frame: F, on the link.
            q: (..., nq).
            v: (..., nv).
            placement: F_H_C, where the contact frame is on the link.
            twist: C_v_FC, (..., 6), of C relative to F, left-trivialised.
            out: an array for the result.
            threads: over which a batch is split.
        """
        if not isinstance(placement, Pose):
            raise InputError(f"placement: expected a Pose, got {type(placement).__name__}")
        own = floats(twist, "twist", 6)
        F_v = self.velocity(frame, q, v, "left", threads=threads)
        batch_shape("state, placement, twist", (F_v, 1), (placement.position, 1), (own, 1))
        return handed(matvec(placement.inverse().adjoint, F_v) + own, out, self.dtype)

    def point_jacobian(
        self, frame: str, q: ArrayLike, point: ArrayLike, *, out: Any = None, threads: int | None = None
    ) -> NDArray[Any]:
        """(..., 3, nv): the velocity, in the world, of a point (..., 3) fixed in a frame is J v.  [RD 2.163]"""
        return self._run(("point_jacobian", frame), (q, point), out, threads)

    def point_velocity(
        self, frame: str, q: ArrayLike, v: ArrayLike, point: ArrayLike, *, out: Any = None, threads: int | None = None
    ) -> NDArray[Any]:
        """(..., 3): the velocity, in the world, of a point (..., 3) fixed in a frame.  [RD 2.121]"""
        return self._run(("point_velocity", frame), (q, v, point), out, threads)

    def point_acceleration(
        self,
        frame: str,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        point: ArrayLike,
        *,
        out: Any = None,
        threads: int | None = None,
    ) -> NDArray[Any]:
        """(..., 3): the acceleration, in the world, of a point (..., 3) fixed in a frame.  [RD 2.122]"""
        return self._run(("point_acceleration", frame), (q, v, a, point), out, threads)

    def singular_values(self, frame: str, q: ArrayLike, coordinates: Sequence[int] = range(6)) -> NDArray[Any]:
        """(..., min(k, nv)): of those k rows of the mixed Jacobian that a task uses, largest first.  [RD §2.9.1]"""
        return manipulability.singular_values_of(self.jacobian(frame, q), coordinates)

    def manipulability(self, frame: str, q: ArrayLike, coordinates: Sequence[int] = range(6)) -> NDArray[Any]:
        """(...): the product of the min(k, nv) singular values of k rows of the Jacobian: zero at a singularity.

        That is sqrt(det(J J^T)) where the robot has at least as many velocities as the task has coordinates, and
        sqrt(det(J^T J)) where it has fewer.
        """
        return np.prod(self.singular_values(frame, q, coordinates), axis=-1)

    def rank(
        self, frame: str, q: ArrayLike, coordinates: Sequence[int] = range(6), tolerance: float | None = None
    ) -> NDArray[Any]:
        """(...): in how many of a task's coordinates a frame can move at q; singular where it is less than elsewhere.

        It counts singular values above tolerance times the largest; by default 1e-9, for float32 1e-5.  [RD §2.9.1]
        """
        return manipulability.rank_of(self.jacobian(frame, q), coordinates, tolerance)

    def _q(self, q: ArrayLike) -> NDArray[Any]:
        array = configuration.sized(self.model.tree, q, "q")
        if not is_traced(array):
            configuration.check_units(self.model.tree, array)
        return array

    def _damped(self, key: tuple[Any, ...]) -> Any:
        """The key of an analytical Jacobian with damping, whose task is there from now on."""
        damped = (*key, "damped")
        try:
            known = damped in self._tasks
        except TypeError:  # a name that is none, such as a list
            known = False
        if not known:
            name, frame, *values = key
            options = dict(zip(("rotation", "position", "coordinates"), values, strict=False))
            request = Request.of(self.model, name, frame, optional="damping", **options)
            self._tasks[damped] = task(self.model, [request], request.inputs(), single=True)
        return damped


def pose_on(parts: tuple[NDArray[Any], ...]) -> Pose:
    """A pose on arrays that stay the caller's own, to write to."""
    return pose_of(*(x if is_traced(x) else x.view() for x in parts))


def named_poses(model: Model, parts: tuple[NDArray[Any], ...]) -> dict[str, Pose]:
    """The poses of all frames, from the arrays of the kernel."""
    R, p = parts
    return {name: pose_of(R[..., k, :, :], p[..., k, :]) for k, name in enumerate(model.frames)}


def _chart(rotation: str, position: str, coordinates: Sequence[int] | None) -> tuple[Any, ...]:
    """What a key says of the parameters of a pose."""
    if coordinates is None:
        return rotation, position
    return rotation, position, places(coordinates, "coordinates")


def _positive(given: ArrayLike, what: str) -> NDArray[Any]:
    x = floats(given, what)
    bad = np.zeros((), bool) if is_traced(x) else ~(x > 0)
    if bad.any():
        raise InputError(f"{what}{at(first(bad))}: expected a positive number, got {x[bad][0]}")
    return x
