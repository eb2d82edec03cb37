"""Dynamics: methods of Robot about forces, inertia, momentum and energy."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError
from multibody.geometry import Wrench
from multibody.geometry._arrays import truth
from multibody.model import configuration
from multibody.robot._face import Face

Wrenches = Mapping[str, ArrayLike | Wrench]


class Dynamics(Face):
    """Arguments: q (..., nq), v, a and tau (..., nv).

    `wrenches` are {frame: (..., 6)}: a force and a torque at the frame's origin, along the axes of the world, on the
    robot, also as an `mb.Wrench`. `passive=True` adds damping, dry friction and springs of the joints. `out` are
    arrays for the results, `threads` those over which a batch is split.
    """

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        passive: bool = False,
        out: Any = None,
        threads: int | None = None,
    ) -> NDArray[Any]:
        """(..., nv): the τ that solves M a + h = τ + Σ J^T f (RNEA).  [QT 72-85; RD 3.55]"""
        if wrenches is None and threads is None and passive is False:
            try:
                return self._calls["inverse_dynamics"](q, v, a, out=out)
            except InputError as error:
                raise self._explained(error, "inverse_dynamics", (q, v, a)) from None
        # first, since `out` may be q or v
        in_joints = self.passive(q, v, threads=threads) if truth(passive, "passive") else None
        tau = self._with_wrenches("inverse_dynamics", (q, v, a), wrenches, out, threads)
        return tau if in_joints is None else np.subtract(tau, in_joints, out=out)

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        passive: bool = False,
        out: Any = None,
        threads: int | None = None,
    ) -> NDArray[Any]:
        """(..., nv): the a that solves M a + h = τ + Σ J^T f.  [RD 3.55]"""
        if wrenches is None and threads is None and passive is False:
            try:
                return self._calls["forward_dynamics"](q, v, tau, out=out)
            except InputError as error:
                raise self._explained(error, "forward_dynamics", (q, v, tau)) from None
        if truth(passive, "passive"):
            tau = configuration.sized(self.model.tree, tau, "tau") + self.passive(q, v, threads=threads)
        return self._with_wrenches("forward_dynamics", (q, v, tau), wrenches, out, threads)

    def mass_matrix(self, q: ArrayLike, *, out: Any = None, threads: int | None = None) -> NDArray[Any]:
        """M(q), (..., nv, nv) (CRBA); the drives' armature is on its diagonal.  [RD 3.43]"""
        if threads is None:
            try:
                return self._calls["mass_matrix"](q, out=out)
            except InputError as error:
                raise self._explained(error, "mass_matrix", (q,)) from None
        return self._run("mass_matrix", (q,), out, threads)

    def mass_matrix_product(
        self, q: ArrayLike, x: ArrayLike, *, out: Any = None, threads: int | None = None
    ) -> NDArray[Any]:
        """M(q) x, (..., nv), for x (..., nv), without the matrix."""
        return self._run("mass_matrix_product", (q, x), out, threads)

    def bias(self, q: ArrayLike, v: ArrayLike, *, out: Any = None, threads: int | None = None) -> NDArray[Any]:
        """h(q, v), (..., nv): Coriolis, centrifugal and gravity forces.  [RD 3.44-3.45]"""
        return self._run("bias", (q, v), out, threads)

    def gravity(self, q: ArrayLike, *, out: Any = None, threads: int | None = None) -> NDArray[Any]:
        """g(q), (..., nv): the forces that hold the robot against gravity.  [RD 3.45]"""
        return self._run("gravity", (q,), out, threads)

    def coriolis(self, q: ArrayLike, v: ArrayLike, *, out: Any = None, threads: int | None = None) -> NDArray[Any]:
        """C(q, v), (..., nv, nv), with C v + g = h and M' - 2 C skew-symmetric.  [MDN 80]"""
        return self._run("coriolis", (q, v), out, threads)

    def passive(self, q: ArrayLike, v: ArrayLike, *, out: Any = None, threads: int | None = None) -> NDArray[Any]:
        """(..., nv): the forces of damping, dry friction and springs in the joints, on the robot."""
        return self._run("passive", (q, v), out, threads)

    def equations_of_motion(
        self,
        q: ArrayLike,
        v: ArrayLike,
        base: str | None = None,
        *,
        out: Any = None,
        threads: int | None = None,
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """M and h, (..., nv, nv) and (..., nv), together, for a base velocity in any representation.  [MDN 75-76, 80]

        `base` is "left", "right", "mixed" or "kindr", and v is in that one, too; by default the robot's own.
        """
        return self._run(("equations_of_motion", base), (q, v), out, threads)

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Any = None, threads: int | None = None
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """dτ/dq, dτ/dv, dτ/da, each (..., nv, nv); by q along the robot's velocities, in the tangent space."""
        return self._run("inverse_dynamics_derivatives", (q, v, a), out, threads)

    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, out: Any = None, threads: int | None = None
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """da/dq, da/dv, da/dτ, each (..., nv, nv); da/dτ is M^-1."""
        return self._run("forward_dynamics_derivatives", (q, v, tau), out, threads)

    def joint_wrenches(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        out: Any = None,
        threads: int | None = None,
    ) -> NDArray[Any]:
        """(..., bodies, 6): the wrench through each joint, parent on child, in the child's frame.  [QT 72-73]"""
        return self._with_wrenches("joint_wrenches", (q, v, a), wrenches, out, threads)

    def center_of_mass(self, q: ArrayLike, *, out: Any = None, threads: int | None = None) -> NDArray[Any]:
        """(..., 3): of the moving bodies, in the world."""
        return self._run("center_of_mass", (q,), out, threads)

    def com_jacobian(self, q: ArrayLike, *, out: Any = None, threads: int | None = None) -> NDArray[Any]:
        """(..., 3, nv): the velocity of the centre of mass in the world is J v."""
        return self._run("com_jacobian", (q,), out, threads)

    def com_velocity(self, q: ArrayLike, v: ArrayLike, *, out: Any = None, threads: int | None = None) -> NDArray[Any]:
        """(..., 3): the velocity of the centre of mass in the world."""
        return self._run("com_velocity", (q, v), out, threads)

    def momentum(self, q: ArrayLike, v: ArrayLike, *, out: Any = None, threads: int | None = None) -> NDArray[Any]:
        """(..., 6): linear momentum, and angular momentum about the world's origin."""
        return self._run("momentum", (q, v), out, threads)

    def centroidal_momentum(
        self, q: ArrayLike, v: ArrayLike, *, out: Any = None, threads: int | None = None
    ) -> NDArray[Any]:
        """(..., 6): linear momentum, and angular momentum about the centre of mass, along the world's axes."""
        return self._run("centroidal_momentum", (q, v), out, threads)

    def centroidal_momentum_rate(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Any = None, threads: int | None = None
    ) -> NDArray[Any]:
        """(..., 6): the time derivative of `centroidal_momentum`."""
        return self._run("centroidal_momentum_rate", (q, v, a), out, threads)

    def centroidal_momentum_matrix(self, q: ArrayLike, *, out: Any = None, threads: int | None = None) -> NDArray[Any]:
        """A_G, (..., 6, nv): `centroidal_momentum` is A_G v."""
        return self._run("centroidal_momentum_matrix", (q,), out, threads)

    def centroidal_momentum_matrix_dot(
        self, q: ArrayLike, v: ArrayLike, *, out: Any = None, threads: int | None = None
    ) -> NDArray[Any]:
        """(..., 6, nv): the time derivative of `centroidal_momentum_matrix`."""
        return self._run("centroidal_momentum_matrix_dot", (q, v), out, threads)

    def centroidal_inertia(self, q: ArrayLike, *, out: Any = None, threads: int | None = None) -> NDArray[Any]:
        """(..., 6, 6): the inertia of the robot as one rigid body about its centre of mass, along the world's axes."""
        return self._run("centroidal_inertia", (q,), out, threads)

    def kinetic_energy(
        self, q: ArrayLike, v: ArrayLike, *, out: Any = None, threads: int | None = None
    ) -> NDArray[Any]:
        """(...): in J.  [RD 3.28, 3.31]"""
        return self._run("kinetic_energy", (q, v), out, threads)

    def potential_energy(self, q: ArrayLike, *, out: Any = None, threads: int | None = None) -> NDArray[Any]:
        """(...): in J, zero with the centre of mass at the world's origin.  [RD 3.33]"""
        return self._run("potential_energy", (q,), out, threads)

    def power(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Any = None, threads: int | None = None
    ) -> NDArray[Any]:
        """(...): v·τ in W, the rate of the total energy.  [RD 3.54]"""
        return self._run("power", (q, v, a), out, threads)

    def regressor(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Any = None, threads: int | None = None
    ) -> NDArray[Any]:
        """Y, (..., nv, 10 bodies): inverse dynamics is Y times `parameters()`, row after row, and armature times a."""
        return self._run("regressor", (q, v, a), out, threads)

    def _with_wrenches(
        self, name: str, args: tuple[Any, ...], wrenches: Wrenches | None, out: Any, threads: int | None
    ) -> Any:
        frames, given = wrench_arrays(wrenches)
        key = (name, frames) if frames else name
        return self._run(key, (*args, *given), out, threads)


def wrench_arrays(wrenches: Wrenches | None) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """The frames of external wrenches, in the order of the alphabet, and their arrays."""
    if wrenches is None:
        return (), ()
    if not isinstance(wrenches, Mapping):
        raise InputError(f"wrenches: expected {{frame: (..., 6)}}, got {type(wrenches).__name__}")
    frames = tuple(sorted(wrenches, key=str))
    return frames, tuple(w.vector if isinstance(w, Wrench) else w for w in map(wrenches.__getitem__, frames))
