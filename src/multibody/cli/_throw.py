"""A robot that is thrown and let go: the motion that the demo shows."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.robot import Robot

State = tuple[NDArray[Any], NDArray[Any]]


def step(robot: Robot, q: NDArray[Any], v: NDArray[Any], dt: float) -> State:
    """One step of the Runge-Kutta method of order four for motion on a group, without forces of motors.

    Coordinates only ever move by `integrate`, so quaternions stay units. The last two moves, with weights of their own,
    keep the order where rotations do not commute (commutator-free method of Celledoni, Marthinsen and Owren).
    """
    zero = np.zeros_like(v)
    a1 = robot.forward_dynamics(q, v, zero)
    q2, v2 = robot.integrate(q, dt / 2 * v), v + dt / 2 * a1
    a2 = robot.forward_dynamics(q2, v2, zero)
    q3, v3 = robot.integrate(q, dt / 2 * v2), v + dt / 2 * a2
    a3 = robot.forward_dynamics(q3, v3, zero)
    q4, v4 = robot.integrate(q2, dt * (v3 - v / 2)), v + dt * a3
    a4 = robot.forward_dynamics(q4, v4, zero)
    half = robot.integrate(q, dt / 12 * (3 * v + 2 * v2 + 2 * v3 - v4))
    end = robot.integrate(half, dt / 12 * (-v + 2 * v2 + 2 * v3 + 3 * v4))
    return end, v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


def throw(robot: Robot, q: NDArray[Any], v: NDArray[Any], dt: float, steps: int) -> Iterator[State]:
    """The states from the first on."""
    yield q, v
    for _ in range(steps):
        q, v = step(robot, q, v, dt)
        yield q, v


class Flight(NamedTuple):
    """Samples over time of a robot in the air."""

    time: NDArray[Any]
    """(steps,) in s."""
    q: NDArray[Any]
    kinetic: NDArray[Any]
    """(steps,) in J."""
    potential: NDArray[Any]
    """(steps,) in J."""
    momentum: NDArray[Any]
    """(steps, 3): angular, about the centre of mass, in kg m²/s."""

    @property
    def energy_drift(self) -> NDArray[Any]:
        """(steps,): of the total energy, relative to the kinetic energy at the start."""
        total = self.kinetic + self.potential
        return np.abs(total - total[0]) / self.kinetic[0]

    @property
    def momentum_drift(self) -> NDArray[Any]:
        """(steps,): of the angular momentum, relative to its size."""
        return np.linalg.norm(self.momentum - self.momentum[0], axis=-1) / np.linalg.norm(self.momentum[0])


def collect(robot: Robot, dt: float, states: list[State]) -> Flight:
    """Energies and momenta of all states, in batches."""
    q, v = (np.stack(parts) for parts in zip(*states, strict=True))
    momentum = robot.centroidal_momentum(q, v)[:, 3:]
    return Flight(dt * np.arange(len(states)), q, robot.kinetic_energy(q, v), robot.potential_energy(q), momentum)
