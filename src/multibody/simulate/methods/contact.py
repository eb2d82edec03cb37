"""Time stepping with hard unilateral contact and Coulomb friction.  [Kindr §Equations of Motion with Impulses; RD §3.7]

Moreau's midpoint rule: half a step to q_m, where mass matrix, contacts and forces are taken; velocities jump by
M (v⁺ - v) = dt (τ - h) + J^T P; half a step with v⁺. Impulses obey Signorini and Coulomb; what is left of a depth is
taken away in positions alone.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.energy import kinetic_energy
from multibody.algorithms.forward_dynamics import factors
from multibody.algorithms.least_norm import gram
from multibody.algorithms.mass_matrix_factorization import Factors, HalfSolve
from multibody.algorithms.rnea import rnea
from multibody.model import base_velocity
from multibody.model.actuation import passive
from multibody.model.tree import Tree
from multibody.simulate.advance import advance
from multibody.simulate.contact.bilateral import GIVES, Held, closed
from multibody.simulate.contact.contact_rows import Bounds, Touch, touches
from multibody.simulate.contact.energy_limiter import balanced
from multibody.simulate.contact.gauss_seidel import System
from multibody.simulate.contact.penetration import lifted
from multibody.simulate.contact.problem import Known, Law, gravity, slow_speed, system_of, times_of_impacts, yielding
from multibody.simulate.contact.scene import Scene
from multibody.simulate.implicit_forces import controlled, implicit, mean_force, work
from multibody.simulate.step_forces import Acting
from multibody.simulate.step_result import Moved
from multibody.tracing.record.loop import loop

LIFT = 1e-3
"""In m: by how much a robot is lifted out of the ground, whatever its energy."""
FORETOLD = 5e-2
"""In m/s or rad/s, of all velocities together: what Coriolis forces may have wrong before there is another attempt."""
TINY = 1e-30


class Attempt(NamedTuple):
    """A step as far as it is known: forces that depend on velocities are those before it, then those of both its ends.

    With p = A(q) v the momentum of a robot in the air, A(q_m) (v⁺ - v) + dt/2 (A'(v) v + A'(v⁺) v⁺) = 0 keeps it,
    through impacts, too; Coriolis forces at one velocity, before or between, do not. Where an impact is not in the
    middle of the step, each velocity has its own share of it.
    """

    v: NDArray[Any]
    """(nv,): after the step, as far as it can be foretold."""
    change: NDArray[Any]
    """(nv,): of the velocity."""
    ys: tuple[NDArray[Any], ...]
    """(nv,): the impulse of forces, half solved, without and, where there are some, with those of constraints."""
    P: NDArray[Any]
    """(rows,)."""
    residual: Any
    sweeps: Any
    times: NDArray[Any]
    """(rows,): in s, how late after the middle of the step impacts are."""
    share: Any
    """Of the step: how much of it is after its impacts."""
    off: Any
    """In m/s or rad/s: about what Coriolis forces had wrong, as velocities were not those foretold."""


def step(
    scene: Scene,
    surface: tuple[Any, Any] | None,
    acting: Acting,
    dt: Any,
    t: Any,
    q: NDArray[Any],
    v: NDArray[Any],
    warm: Any,
    bound: Any = None,
    known: Known | None = None,
    law: Law | None = None,
) -> Moved:
    """One step; `warm` are the impulses of the last, `bound` that of the energy; None leaves energy alone.

    `known` says which contacts are open; `law` is that of grounds which give way, in place of Signorini's.
    `surface` has friction and restitution where they differ from sample to sample, each a number or None.
    """
    tree = acting.tree
    q_m = middle = advance(tree, q, dt / 2 * v)
    if scene.constraints is not None:  # their rows are those of a configuration that they allow
        q_m = closed(tree, scene.constraints, middle, scene.open)
    acting = acting.asked(t + dt / 2, q_m, v)
    tau, slope = controlled(acting, dt, t + dt / 2, q_m, v)
    forces = tau
    if acting.passive:
        smooth = tree.with_values(friction=np.zeros(tree.nv))  # dry friction has rows of its own
        forces = forces + passive(smooth, q_m, v)
    added = implicit(acting, dt, slope)
    M = factors(tree, q_m, added)
    gradual = added is not None

    def push(v_h: NDArray[Any]) -> NDArray[Any]:
        """The impulse of all forces but those of contacts, with Coriolis forces at the velocity v_h."""
        h = rnea(tree, q_m, v_h, np.zeros_like(v), acting.wrenches)
        return base_velocity.force_to_left(tree, q_m, dt * (forces - h))

    held = None if scene.constraints is None else Held(tree, scene.constraints, M, q_m, v, dt)
    if not scene.rows:
        change, impulses = _untouched(push, M, held, tree, q_m, v)
        v_after = v + change
        mean, q_after = mean_force(tau, slope, change), advance(tree, middle, dt / 2 * v_after)
        if held is not None:
            q_after, impulses = held.closing.closed(q_after, scene.open), impulses / dt
        if bound is not None and not scene.exact:
            done = work(acting, dt, mean, q_m, v, v_after)
            v_after, bound = balanced(tree, dt, q_after, v_after, change, bound, done)
        return Moved(q_after, v_after, mean, acting, bound=bound, constraint_forces=impulses)
    touching = touches(tree, scene.pairs, q_m)
    R = np.concatenate([touch.R for touch in touching] + [_unit_rows(scene.bounds, tree, v)])
    half = HalfSolve(M, R, ())
    scaled = half.Z * half.D_inv[:, None]
    Z = half.Z if held is None else held.remaining(half.Z)
    W = gram(Z, half.D_inv)
    if held is not None:
        W = W + np.eye(scene.rows) * (GIVES[W.dtype] * np.sum(half.Z * scaled, axis=0))
    before = np.matmul(R, base_velocity.to_left(tree, q_m, v))
    rigid = scene.pairs if law is None else scene.pairs[len(scene.grounded) :]
    soft = 3 * (len(scene.pairs) - len(rigid))
    sudden = slice(soft // 3 if known is None else len(scene.pairs), None)  # known ones close between steps

    def system_at(ys: tuple[NDArray[Any], ...]) -> tuple[NDArray[Any], System]:
        """The velocities of the rows without impulses, and what impulses have to correct."""
        free = before + np.matmul(np.swapaxes(scaled, -1, -2), ys[-1])
        system = system_of(scene, surface, tree, dt, touching, q_m, W, before, free, known, gradual=gradual)
        return free, system if law is None else yielding(system, law(W, free))

    def pushed(v_h: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """The impulse of forces at a velocity, half solved, without and, where there are some, with constraints."""
        y = half.solve_LT(push(v_h))
        return (y,) if held is None else (y, held.push(y, v_h))

    def change_of(y: NDArray[Any]) -> NDArray[Any]:
        return base_velocity.from_left(tree, q_m, half.solve_DL(y))

    start, most = pushed(v), np.maximum(2.0 * kinetic_energy(tree, q_m, v), TINY)  # roots have a slope at rest, too

    def foretold(change: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
        """v with its change, or less of it: links that whirl at rates near 1/dt have none that could be foretold.

        A plastic impact changes v by no more than its own length, in the metric of M.
        """
        length = np.sum(half.D_inv * y * y)
        return v + change * np.sqrt(np.where(length > most, most / np.maximum(length, TINY), 1.0))

    def attempt(carry: Any) -> Any:
        last = Attempt(*carry)
        ends = zip(start, pushed(last.v), strict=True)
        ys = tuple((1.0 - last.share) * old + last.share * new for old, new in ends)
        free, system = system_at(ys)
        solved = system.converged(last.P) if scene.exact else system.solve(last.P, scene.sweeps, scene.tolerance)
        slow = slow_speed(tree, dt)
        times = times_of_impacts(scene, surface, dt, slow, touching, q_m, before, free, sudden, gradual=gradual)
        y = ys[-1] + np.matmul(Z, solved.P)
        change = change_of(y)
        near = foretold(change, y)
        off = _off(dt, last.v, near)
        part = np.clip(off / FORETOLD - 1.0, 0.0, 1.0)  # so that another attempt begins without a jump
        share = _after_impacts(scene, dt, times, solved.P)
        return Attempt(
            last.v + part * (near - last.v), change, ys, *solved, times, last.share + part * (share - last.share), off
        )

    zero = 0.0 * v[0]
    y = start[-1] + np.matmul(Z, warm)
    first = Attempt(foretold(change_of(y), y), 0.0 * v, start, warm, zero, zero, 0.0 * warm, 0.5 + zero, zero + np.inf)
    attempts = loop(2, attempt, first, until=lambda carry: Attempt(*carry).off <= FORETOLD)
    _, change, ys, P, residual, sweeps, times, _, _ = attempts
    v_after = v + change
    late = base_velocity.from_left(tree, q_m, half.solve_DL(np.matmul(Z, times * P)))
    q_after = advance(tree, middle, dt / 2 * v_after - late)
    on_robot = forces_of(scene, touching, P, dt)
    mean = mean_force(tau, slope, change)
    free, system = system_at(ys)
    if held is not None and known is not None:
        q_after = held.closing.closed(q_after, scene.open)
    sunk, done, room = q_after, 0.0, None
    if bound is not None and not scene.exact:
        done = work(acting, dt, mean, q_m, v, v_after)
        if law is not None:  # springs give back what they took
            done = done + np.sum((P * (before + np.matmul(W, P) / 2 + (free - before) / 2))[:soft])
        room = bound[0] + done + LIFT * tree.mass * gravity(tree)
    if rigid or scene.bounds.velocities:
        q_after = lifted(
            tree, rigid, scene.bounds, half, Z[:, soft:], W[soft:, soft:], q_m, q_after, scene.depth, held, room
        )
    elif held is not None:
        q_after = held.closing.closed(q_after, scene.open)
    if bound is not None and room is not None:
        v_after, bound = balanced(tree, dt, q_after, v_after, change, bound, done)
    left = system.u + np.matmul(system.W, P)
    moved = Moved(q_after, v_after, mean, acting, P, on_robot, residual, sweeps, bound, left, sunk)
    if held is None:
        return moved
    after = ys[-1] + np.matmul(Z, P)
    return moved._replace(constraint_forces=held.impulses(ys[0] + np.matmul(half.Z, P), after) / dt)


def _untouched(
    push: Callable[[NDArray[Any]], NDArray[Any]],
    M: Factors,
    held: Held | None,
    tree: Tree,
    q_m: NDArray[Any],
    v: NDArray[Any],
) -> tuple[NDArray[Any], Any]:
    """The change of velocity where nothing can touch, and the impulses of constraints."""

    def change_of(v_h: NDArray[Any]) -> tuple[NDArray[Any], Any]:
        if held is None:
            return base_velocity.from_left(tree, q_m, M.solve_vector(push(v_h), ())), None
        y = held.half.solve_LT(push(v_h))
        after = held.push(y, v_h)
        return base_velocity.from_left(tree, q_m, held.half.solve_DL(after)), held.impulses(y, after)

    return change_of(v + change_of(v)[0] / 2)


def _off(dt: Any, foretold: NDArray[Any], v: NDArray[Any]) -> Any:
    """In m/s or rad/s: about what Coriolis forces at the velocity v do otherwise than those at the one foretold."""
    return dt * np.sum(np.abs(v - foretold)) * np.sum(np.abs(v) + np.abs(foretold))


def _after_impacts(scene: Scene, dt: Any, times: NDArray[Any], P: NDArray[Any]) -> Any:
    """The share of the step after its impacts, which are late by these times: a half where none is."""
    normals = [3 * k + 2 for k in range(len(scene.pairs))]
    if not normals:
        return 0.5
    push = P[normals]
    return 0.5 - np.sum(times[normals] * push) / (dt * np.maximum(np.sum(push), TINY))


def _unit_rows(bounds: Bounds, tree: Tree, v: NDArray[Any]) -> NDArray[Any]:
    return np.eye(tree.nv, dtype=v.dtype)[list(bounds.velocities)]


def forces_of(scene: Scene, touching: list[Touch], P: NDArray[Any], dt: Any) -> NDArray[Any]:
    """(contacts + pairs of spheres, 3), along the world's axes: on the contacts, and on the first of each pair.

    Those of all grounds at one contact add up.
    """
    own = [np.matmul(P[3 * i : 3 * i + 3], touch.axes) for i, touch in enumerate(touching)]
    grounded = len(own) - scene.spheres
    grounds = grounded // scene.contacts if scene.contacts else 0
    forces: list[Any] = []
    for k in range(scene.contacts):
        parts = own[k * grounds : (k + 1) * grounds]
        forces.append(sum(parts[1:], start=parts[0]) / dt)
    forces += [force / dt for force in own[grounded:]]
    return np.stack(forces) if forces else np.zeros((0, 3))
