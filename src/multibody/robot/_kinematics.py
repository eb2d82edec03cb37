"""Kinematics: methods of Robot about poses, velocities and Jacobians of frames."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.algorithms import analytical_jacobian, jacobian
from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.geometry._arrays import is_traced
from multibody.geometry.pose import pose_of
from multibody.model import configuration
from multibody.model.model import Model
from multibody.robot._face import Face

NEARLY_SINGULAR = 1e6
"""Entries of an analytical Jacobian from which it is looked at more closely; those that are no numbers are, too."""


class Kinematics(Face):
    """Arguments: q (..., nq), v and a (..., nv), `frame` a name of `robot.frames`."""

    def pose(self, frame: str, q: ArrayLike) -> Pose:
        """W_H_F: the pose of a frame in the world.  [RD 2.138]"""
        try:
            return pose_of(*self._poses[frame](q))
        except (InputError, TypeError) as error:
            raise self._explained(error, ("pose", frame), (q,)) from None

    def poses(self, q: ArrayLike) -> dict[str, Pose]:
        """The poses of all frames, by name."""
        return named_poses(self.model, self._run("poses", (q,)))

    def velocity(
        self, frame: str, q: ArrayLike, v: ArrayLike, representation: str = "mixed", *, out: Any = None
    ) -> NDArray[Any]:
        """(..., 6): the twist of a frame, "left", "right" or "mixed".  [MDN 20, 25, 35]"""
        return self._run(("velocity", frame, representation), (q, v), out)

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
    ) -> NDArray[Any]:
        """(..., 6): the time derivative of `velocity` [MDN 44]; intrinsic=True for the acceleration itself [MDN 47]."""
        return self._run(("acceleration", frame, representation, intrinsic), (q, v, a), out)

    def jacobian(self, frame: str, q: ArrayLike, representation: str = "mixed", *, out: Any = None) -> NDArray[Any]:
        """(..., 6, nv): `velocity` is J v.  [MDN 74-76; RD 2.165-2.166, 2.268]"""
        try:
            if representation == "mixed":
                return self._jacobians[frame](q, out=out)
            return self._calls["jacobian", frame, representation](q, out=out)
        except (InputError, TypeError) as error:
            raise self._explained(error, ("jacobian", frame, representation), (q,)) from None

    def jacobian_dot(
        self, frame: str, q: ArrayLike, v: ArrayLike, representation: str = "mixed", *, out: Any = None
    ) -> NDArray[Any]:
        """(..., 6, nv): the time derivative of `jacobian`.  [RD 3.10; Kindr 18]"""
        return self._run(("jacobian_dot", frame, representation), (q, v), out)

    def hessian(self, frame: str, q: ArrayLike, representation: str = "mixed", *, out: Any = None) -> NDArray[Any]:
        """(..., nv, 6, nv): [k] is the derivative of the Jacobian along the k-th velocity.  [Kindr 15-18]"""
        return self._run(("hessian", frame, representation), (q,), out)

    def analytical_jacobian(
        self,
        frame: str,
        q: ArrayLike,
        rotation: str = "euler-zyx",
        position: str = "cartesian",
        *,
        out: Any = None,
    ) -> NDArray[Any]:
        """(..., m, nv): the rates of the parameters of a pose are J_A v.  [RD 2.145-2.148, 2.189-2.192]

        Where these are not defined, as in gimbal lock, there is a SingularityError.
        """
        J = self._run(("analytical_jacobian", frame, rotation, position), (q,), out)
        if not is_traced(J) and not (np.abs(J) < NEARLY_SINGULAR).all():  # the plain source tells where, and raises
            with np.errstate(all="ignore"):
                analytical_jacobian.analytical_jacobian(self.model, frame, self._q(q), rotation, position)
        return J

    def end_effector(
        self, frame: str, q: ArrayLike, rotation: str = "euler-zyx", position: str = "cartesian", *, out: Any = None
    ) -> NDArray[Any]:
        """χ, (..., m): the pose of a frame as parameters of position and rotation.  [RD 2.133-2.134]"""
        return self._run(("end_effector", frame, rotation, position), (q,), out)

    def relative_jacobian(
        self,
        frame: str,
        reference: str,
        q: ArrayLike,
        *,
        kind: str = "twist",
        representation: str = "left",
        out: Any = None,
    ) -> NDArray[Any]:
        """(..., 6, nv): of a frame relative to another, as a "twist" [MDN 32-33] or a "difference" [RD 2.153-2.154]."""
        return self._run(("relative_jacobian", frame, reference, kind, representation), (q,), out)

    def jacobian_in(self, frame: str, q: ArrayLike, *, written_in: str | Pose, base: str | None = None) -> NDArray[Any]:
        """D_J_WF/C, (..., 6, nv): in any frame D, for a base velocity in any representation.  [MDN 74-76, 81]

        In plain NumPy, without a kernel of its own.
        """
        return self._own(jacobian.jacobian_in(self.model, frame, self._q(q), written_in=written_in, base=base))

    def point_jacobian(self, frame: str, q: ArrayLike, point: ArrayLike, *, out: Any = None) -> NDArray[Any]:
        """(..., 3, nv): the velocity, in the world, of a point (..., 3) fixed in a frame is J v.  [RD 2.163]"""
        return self._run(("point_jacobian", frame), (q, point), out)

    def point_velocity(
        self, frame: str, q: ArrayLike, v: ArrayLike, point: ArrayLike, *, out: Any = None
    ) -> NDArray[Any]:
        """(..., 3): the velocity, in the world, of a point (..., 3) fixed in a frame.  [RD 2.121]"""
        return self._run(("point_velocity", frame), (q, v, point), out)

    def point_acceleration(
        self, frame: str, q: ArrayLike, v: ArrayLike, a: ArrayLike, point: ArrayLike, *, out: Any = None
    ) -> NDArray[Any]:
        """(..., 3): the acceleration, in the world, of a point (..., 3) fixed in a frame.  [RD 2.122]"""
        return self._run(("point_acceleration", frame), (q, v, a, point), out)

    def singular_values(self, frame: str, q: ArrayLike, coordinates: Sequence[int] = range(6)) -> NDArray[Any]:
        """(..., k): of those rows of the mixed Jacobian that a task uses, largest first.  [RD 2.135]"""
        return analytical_jacobian.singular_values_of(self.jacobian(frame, q), coordinates)

    def manipulability(self, frame: str, q: ArrayLike, coordinates: Sequence[int] = range(6)) -> NDArray[Any]:
        """(...): the product of the singular values, zero at a singularity."""
        return np.prod(self.singular_values(frame, q, coordinates), axis=-1)

    def _q(self, q: ArrayLike) -> NDArray[Any]:
        array = configuration.sized(self.model, q, "q")
        if not is_traced(array):
            configuration.check_units(self.model, array)
        return array

    def _own(self, x: NDArray[Any]) -> NDArray[Any]:
        """A result in the precision of the robot."""
        return x if is_traced(x) else np.asarray(x, self.dtype)[()]


def named_poses(model: Model, parts: tuple[NDArray[Any], ...]) -> dict[str, Pose]:
    """The poses of all frames, from the arrays of the kernel."""
    R, p = parts
    return {name: pose_of(R[..., k, :, :], p[..., k, :]) for k, name in enumerate(model.frames)}
