"""The contact problem of a step: Signorini's condition with gaps and impacts, compliant ground, joint limits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.least_norm import gram
from multibody.algorithms.mass_matrix_factorization import HalfSolve
from multibody.model import base_velocity
from multibody.simulate.contact.bilateral_constraints import REGULARISATION
from multibody.simulate.contact.contact_rows import ContactRows, contact_rows
from multibody.simulate.contact.gaps import Pair, closing_velocity
from multibody.simulate.contact.gauss_seidel import ContactSystem
from multibody.simulate.contact.midpoint import Midpoint
from multibody.simulate.contact.restitution import bounce_threshold, impact, limit_impacts, newton_impact

OPEN_SPEED = 1e6
"""The separation velocity assigned to open contacts, so that they carry no impulse, in m/s."""


class KnownContacts(NamedTuple):
    """The open and closed contacts of a piece of a step, whatever their gaps."""

    opened: Any
    """(pairs,): contacts that stay open; others are closed."""
    slow: Any
    """The approach below which nothing bounces, in m/s."""
    dt: float
    """The whole step, of which this is a piece, in s."""
    closed: float
    """The distance up to which a joint is at its limit, in m or rad."""


ContactLaw = Callable[[ContactSystem], ContactSystem]
"""The law of compliant ground, from the system of hard contact; with the velocities u and the regularisation D of its
rows, u + (W + D) P obeys Signorini's condition and Coulomb's law."""


@dataclass(frozen=True, eq=False)
class ContactProblem:
    """The rows of all contacts and joints with bounds at the midpoint: u = u0 + W P."""

    midpoint: Midpoint
    parameters: Mapping[str, Any]
    """By name, those of the run; friction and restitution replace those of the ground."""
    known: KnownContacts | None
    law: ContactLaw | None
    """Of compliant ground, in place of Signorini's condition."""
    contacts: list[ContactRows]
    R: NDArray[Any]
    """(rows, nv), bases in "left"."""
    half: HalfSolve
    """Of M and the rows."""
    Z: NDArray[Any]
    """(nv, rows): the rows, half solved, as constraints leave them."""
    W: NDArray[Any]
    """(rows, rows): J M^-1 J^T, as constraints leave it."""
    before: NDArray[Any]
    """(rows,): the velocities before the step."""

    @staticmethod
    def assemble(
        midpoint: Midpoint, parameters: Mapping[str, Any], known: KnownContacts | None, law: ContactLaw | None
    ) -> "ContactProblem":
        """The problem at a midpoint."""
        scene, tree, q, v, constraints = midpoint.scene, midpoint.tree, midpoint.q, midpoint.v, midpoint.constraints
        contacts = contact_rows(tree, scene.pairs, q)
        joint_rows = np.eye(tree.nv, dtype=v.dtype)[scene.bounds.velocities]
        R = np.concatenate([contact.R for contact in contacts] + [joint_rows])
        half = HalfSolve(midpoint.M, R, ())
        scaled = half.Z * half.D_inv[:, None]
        Z = half.Z if constraints is None else constraints.remaining(half.Z)
        W = gram(Z, half.D_inv)
        if constraints is not None:
            W = W + np.eye(scene.rows) * (REGULARISATION[W.dtype] * np.sum(half.Z * scaled, axis=0))
        before = np.matmul(R, base_velocity.to_left(tree, q, v))
        return ContactProblem(midpoint, parameters, known, law, contacts, R, half, Z, W, before)

    @property
    def rigid(self) -> tuple[Pair, ...]:
        """The pairs that obey Signorini's condition; they come after those on compliant ground."""
        scene = self.midpoint.scene
        return scene.pairs if self.law is None else scene.pairs[len(scene.grounded) :]

    @property
    def compliant(self) -> int:
        """The number of rows on compliant ground."""
        return 3 * (len(self.midpoint.scene.pairs) - len(self.rigid))

    def half_solve(self, v: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """L^-T of the impulse of forces at a velocity: without and, where there are some, with those of constraints."""
        y, constraints = self.half.solve_LT(self.midpoint.impulse(v)), self.midpoint.constraints
        return (y,) if constraints is None else (y, constraints.push(y, v))

    def velocity_change(self, y: NDArray[Any]) -> NDArray[Any]:
        """(nv,): M^-1 of an impulse that is half solved."""
        return base_velocity.from_left(self.midpoint.tree, self.midpoint.q, self.half.solve_DL(y))

    def free(self, y: NDArray[Any]) -> NDArray[Any]:
        """(rows,): the velocities without impulses of contacts, after an impulse of forces that is half solved."""
        scaled = self.half.Z * self.half.D_inv[:, None]
        return self.before + np.matmul(np.swapaxes(scaled, -1, -2), y)

    def system(self, free: NDArray[Any]) -> tuple[ContactSystem, NDArray[Any]]:
        """The velocities that impulses have to correct: of contacts with the gap that may close in the second half.

        And (rows,), the times of impacts after the middle of the step, in s; 0 for compliant and known contacts.
        """
        midpoint, dt, known, before = self.midpoint, self.midpoint.dt, self.known, self.before
        slow = bounce_threshold(midpoint.tree, dt) if known is None else known.slow
        u, friction, delays, gradual = list(free), [], [], midpoint.added is not None
        for k, ((mu, e), contact) in enumerate(zip(midpoint.scene.laws(self.parameters), self.contacts, strict=True)):
            friction.append(mu)
            n = 3 * k + 2
            ahead = closing_velocity(free[n], contact.gap, dt if known is None else known.dt)
            if known is None:
                hits, late, rebound = impact(dt, slow, contact.gap, before[n], free[n], e, gradual=gradual)
            else:
                hits, rebound = newton_impact(slow, ahead, before[n], e)
                late = 0.0  # known contacts close between steps
            ahead = np.where(hits, free[n] - rebound, ahead)
            u[n] = ahead if known is None else np.where(known.opened[k], OPEN_SPEED, ahead)
            delays += [0.0 if n < self.compliant else np.where(hits, late, 0.0)] * 3
        floor, ceiling, dry, late = self._joint_bounds(free)
        rigid = ContactSystem(self.W, np.stack(u), free, friction, floor, ceiling, dry)
        return rigid if self.law is None else self.law(rigid), np.stack([*delays, *late])

    def _joint_bounds(self, free: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], Any]:
        """The least and largest velocities of joints with bounds, the largest dry friction, the delays of impacts."""
        scene, dt, bounds = self.midpoint.scene, self.midpoint.dt, self.midpoint.scene.bounds
        closed = 0.0 if self.known is None else self.known.closed
        at = self.midpoint.q[bounds.coordinates]
        floor = -2.0 / dt * np.maximum(at - bounds.lower - closed, 0.0)
        ceiling = 2.0 / dt * np.maximum(bounds.upper - at - closed, 0.0)
        delays: Any = np.zeros(len(bounds.velocities))
        if bounds.restitution:
            first = 3 * len(scene.pairs)
            (low, early, up), (high, late, down) = limit_impacts(bounds, dt, at, self.before[first:], free[first:])
            floor, ceiling = np.where(low, up, floor), np.where(high, -down, ceiling)
            delays = np.where(low, early, np.where(high, late, 0.0))
        return floor, ceiling, dt * self.midpoint.tree.friction[..., bounds.velocities], delays

    def contact_work(self, P: NDArray[Any], change: NDArray[Any], delayed: Any) -> tuple[Any, Any]:
        """(rows,): the work of compliant ground, and of all other impulses at their own times, in J.

        `delayed` is what the mean velocities of rows gain by delays.
        """
        left = base_velocity.to_left(self.midpoint.tree, self.midpoint.q, change)
        mean = self.before + np.matmul(self.R, left) / 2 + delayed
        soft = np.arange(len(P)) < self.compliant
        return np.where(soft, P * mean, 0.0), np.where(soft, 0.0, P * mean)

    def contact_forces(self, P: NDArray[Any]) -> NDArray[Any]:
        """(contacts + pairs of spheres, 3), along the world's axes: on the contacts, and on the first of each pair.

        Those of all grounds at one contact add up.
        """
        scene = self.midpoint.scene
        forces = [np.matmul(P[3 * i : 3 * i + 3], contact.axes) for i, contact in enumerate(self.contacts)]
        grounded = len(scene.grounded)
        grounds = grounded // max(1, scene.contacts)
        sums = [sum(forces[k + 1 : k + grounds], start=forces[k]) for k in range(0, grounded, max(1, grounds))]
        return np.stack([*sums, *forces[grounded:]]) / self.midpoint.dt if forces else np.zeros((0, 3))
