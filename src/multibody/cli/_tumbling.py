"""A free rigid body, integrated on SO(3): the motion that the demo shows."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import groups

GROUP = groups.SO3()


class Motion(NamedTuple):
    """Samples over time of a batch of free bodies with one inertia."""

    time: NDArray[Any]
    """(steps,) in s."""
    A_R_B: NDArray[Any]
    """(steps, bodies, 3, 3)."""
    B_w: NDArray[Any]
    """(steps, bodies, 3): angular velocity in the body, in rad/s."""
    M: NDArray[Any]
    """(3, 3): rotational inertia in kg m²."""

    @property
    def energy(self) -> NDArray[Any]:
        """(steps, bodies): kinetic energy in J."""
        return np.einsum("tbi,ij,tbj->tb", self.B_w, self.M, self.B_w) / 2

    @property
    def momentum(self) -> NDArray[Any]:
        """(steps, bodies, 3): angular momentum in the inertial frame, in kg m²/s."""
        return np.einsum("tbij,jk,tbk->tbi", self.A_R_B, self.M, self.B_w)


def step(M: NDArray[Any], R: NDArray[Any], w: NDArray[Any], dt: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """One step of the classical Runge-Kutta method in the local coordinates R exp(φ).  [From 28, 59, 69-70]

    The state never leaves the group, and no parameterisation of it can become singular.
    """

    def rate(phi: NDArray[Any], w: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        phi_dot = np.einsum("...ij,...j->...i", GROUP.S_inverse(phi), w)
        return phi_dot, GROUP.forward_dynamics(M, w, np.zeros_like(w))

    zero = np.zeros_like(w)
    p1, a1 = rate(zero, w)
    p2, a2 = rate(dt / 2 * p1, w + dt / 2 * a1)
    p3, a3 = rate(dt / 2 * p2, w + dt / 2 * a2)
    p4, a4 = rate(dt * p3, w + dt * a3)
    phi = dt / 6 * (p1 + 2 * p2 + 2 * p3 + p4)
    return R @ GROUP.exp(phi), w + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


def tumble(M: NDArray[Any], w0: NDArray[Any], dt: float, steps: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """The states (R, w) of free bodies after each step, from the orientation 1 and the angular velocities w0."""
    R, w = GROUP.identity(w0.shape[:-1]), w0
    yield R, w
    for _ in range(steps):
        R, w = step(M, R, w, dt)
        yield R, w


def collect(M: NDArray[Any], dt: float, states: list[tuple[NDArray[Any], NDArray[Any]]]) -> Motion:
    """The states as arrays over time."""
    rotations, velocities = zip(*states, strict=True)
    return Motion(dt * np.arange(len(states)), np.stack(rotations), np.stack(velocities), M)
