"""Time stepping with hard unilateral contact and Coulomb friction.  [Kindr §Equations of Motion with Impulses; RD §3.7]

Moreau's midpoint rule: half a step to q_m, where mass matrix, contacts and forces are taken; velocities jump by
M (v⁺ - v) = dt (τ - h) + J^T P; half a step with v⁺. Impulses obey Signorini and Coulomb; what is left of a depth is
taken away in positions alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.constraints import ConstraintSet
from multibody.algorithms.factorization import HalfSolved
from multibody.algorithms.forward_dynamics import factors
from multibody.algorithms.least_norm import gram
from multibody.algorithms.rnea import rnea
from multibody.geometry._arrays import is_zero
from multibody.model import base_velocity
from multibody.model.actuation import passive
from multibody.model.tree import Tree
from multibody.simulate.acting import Acting
from multibody.simulate.balance import balanced
from multibody.simulate.bounces import is_plastic, lateness, rebounds
from multibody.simulate.contacts import SpherePair
from multibody.simulate.controllers import PD
from multibody.simulate.depth import lifted
from multibody.simulate.held import GIVES, TIGHT, Held, closed
from multibody.simulate.motion import advance
from multibody.simulate.moved import Moved
from multibody.simulate.rows import Bounds, Grounded, Pair, Touch, laws, touches
from multibody.simulate.sweeps import System
from multibody.tracing.loop import loop

SLOW = 3.0
"""In g dt: approaches below it do not bounce."""
LIFT = 1e-3
"""In m: by how much a robot is lifted out of the ground, whatever its energy."""
OPEN = 1e6
"""In m/s: what keeps a row that is open from having an impulse."""


@dataclass(frozen=True, eq=False)
class Scene:
    """What a robot can touch, and how exactly impulses are found."""

    pairs: tuple[Pair, ...]
    """Of contacts and grounds, contact by contact, then of spheres."""
    contacts: int
    bounds: Bounds
    sweeps: int
    tolerance: float
    """In m/s."""
    depth: float
    """In m: what is not lifted out of the ground."""
    constraints: ConstraintSet | None = None
    exact: bool = False
    """Whether impulses are the fixed point of the sweeps, with its derivative, and energy is not balanced."""

    @property
    def open(self) -> float:
        """In m or rad: what is left of the errors of constraints; less than nothing is to be, for derivatives."""
        return -1.0 if self.exact else TIGHT * self.depth

    @property
    def grounded(self) -> tuple[Grounded, ...]:
        """The pairs of contacts and grounds."""
        return tuple(pair for pair in self.pairs if not isinstance(pair, SpherePair))

    @property
    def spheres(self) -> int:
        """How many pairs of spheres there are."""
        return len(self.pairs) - len(self.grounded)

    @property
    def rows(self) -> int:
        """How many impulses a step has."""
        return 3 * len(self.pairs) + len(self.bounds.velocities)


class Yielding(NamedTuple):
    """Contacts that give way: u + (W + diag(more)) P, not u + W P, obeys Signorini's condition and Coulomb's law."""

    u: NDArray[Any]
    """(3 pairs,)."""
    more: NDArray[Any]
    """(3 pairs,): in 1/kg."""
    friction: list[Any]
    """μ of each pair."""


class Known(NamedTuple):
    """What is known of the contacts in a step, whatever their gaps."""

    opened: Any
    """(pairs,): those that stay open; others are closed."""
    slow: Any
    """In m/s: the approach below which nothing bounces."""
    dt: float
    """In s: the whole step, of which this is a piece."""
    closed: float
    """In m or rad: how near to its limit a joint is at it."""


Law = Callable[[NDArray[Any], NDArray[Any]], Yielding]
"""Of W and of the velocities without impulses."""


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

    `known` says which contacts are open; `law` is that of contacts which give way, in place of Signorini's.
    `surface` has friction and restitution where they differ from sample to sample, each a number or None.
    """
    tree = acting.tree
    q_m = middle = advance(tree, q, dt / 2 * v)
    if scene.constraints is not None:  # their rows are those of a configuration that they allow
        q_m = closed(tree, scene.constraints, middle, scene.open)
    acting = acting.asked(t + dt / 2, q_m, v)
    tau, slope = _controlled(acting, dt, t + dt / 2, q_m, v)
    forces = tau
    if acting.passive:
        smooth = tree.with_values(friction=np.zeros(tree.nv))  # dry friction has rows of its own
        forces = forces + passive(smooth, q_m, v)
    added = _implicit(acting, dt, slope)
    M = factors(tree, q_m, added)

    def push(v_h: NDArray[Any]) -> NDArray[Any]:
        """The impulse of all forces but those of contacts, with Coriolis forces at the velocity v_h."""
        h = rnea(tree, q_m, v_h, np.zeros_like(v), acting.wrenches)
        return base_velocity.force_to_left(tree, q_m, dt * (forces - h))

    held = None if scene.constraints is None else Held(tree, scene.constraints, M, q_m, v, dt)
    if not scene.rows:

        def change_of(v_h: NDArray[Any]) -> tuple[NDArray[Any], Any]:
            """The change of velocity, and the impulses of constraints."""
            if held is None:
                return base_velocity.from_left(tree, q_m, M.solve_vector(push(v_h), ())), None
            y = held.half.halfway(push(v_h))
            after = held.push(y, v_h)
            return base_velocity.from_left(tree, q_m, held.half.onward(after)), held.impulses(y, after)

        change, impulses = change_of(v + change_of(v)[0] / 2)
        v_after = v + change
        mean, q_after = _mean(tau, slope, change), advance(tree, middle, dt / 2 * v_after)
        if held is not None:
            q_after, impulses = held.closing.closed(q_after, scene.open), impulses / dt
        if bound is not None and not scene.exact:
            v_after, bound = balanced(
                tree, dt, q_after, v_after, change, bound, _work(acting, dt, mean, q_m, v, v_after)
            )
        return Moved(q_after, v_after, mean, acting, bound=bound, constraint_forces=impulses)
    touching = touches(tree, scene.pairs, q_m)
    R = np.concatenate([touch.R for touch in touching] + [_unit_rows(scene.bounds, tree, v)])
    half = HalfSolved(M, R, ())
    # Coriolis forces are those in the middle of the jump where nothing touches; after an impact none can be foretold
    touched = np.sum(np.abs(warm)) != 0.0

    def pushed(v_h: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """Half solved, without and, where there are some, with the impulses of constraints."""
        y = half.halfway(push(v_h))
        return (y,) if held is None else (y, held.push(y, v_h))

    def in_the_middle(ys: tuple[NDArray[Any], ...]) -> tuple[NDArray[Any], ...]:
        return pushed(v + base_velocity.from_left(tree, q_m, half.onward(ys[-1])) / 2)

    ys = loop(1, in_the_middle, pushed(v), until=lambda _: touched)
    y = ys[-1]
    scaled = half.Z * half.D_inv[:, None]
    Z = half.Z if held is None else held.remaining(half.Z)
    W = gram(Z, half.D_inv)
    if held is not None:
        W = W + np.eye(scene.rows) * (GIVES[W.dtype] * np.sum(half.Z * scaled, axis=0))
    v_left = base_velocity.to_left(tree, q_m, v)
    before = np.matmul(R, v_left)
    free = before + np.matmul(np.swapaxes(scaled, -1, -2), y)
    if law is None:
        system = _system(scene, surface, tree, dt, touching, q_m, W, before, free, known)
    else:
        system = _yielding(scene, tree, dt, q_m, W, before, free, law(W, free))
    solved = system.converged(warm) if scene.exact else system.solve(warm, scene.sweeps, scene.tolerance)
    y_after = y + np.matmul(Z, solved.P)
    change = base_velocity.from_left(tree, q_m, half.onward(y_after))
    v_after = v + change
    way = dt / 2 * v_after
    restitutions = [e for _, e in laws(scene.pairs, surface)]
    if law is None and known is None and not all(map(is_plastic, restitutions)):
        times = lateness(dt, slow_speed(tree, dt), touching, before, free, restitutions)
        way = way - base_velocity.from_left(tree, q_m, half.onward(np.matmul(Z, times * solved.P)))
    q_after = advance(tree, middle, way)
    on_robot = forces_of(scene, touching, solved.P, dt)
    mean = _mean(tau, slope, change)
    rigid, sunk, work, room = scene.pairs if law is None else (), q_after, 0.0, None
    if bound is not None and not scene.exact:
        work = _work(acting, dt, mean, q_m, v, v_after)
        if law is not None:  # springs give back what they took
            n = 3 * len(scene.pairs)
            work = work + np.sum((solved.P * (before + np.matmul(W, solved.P) / 2 + (free - before) / 2))[:n])
        room = bound[0] + work + LIFT * tree.mass * _gravity(tree)
    if rigid or scene.bounds.velocities:
        first = 3 * (len(scene.pairs) - len(rigid))
        q_after = lifted(
            tree, rigid, scene.bounds, half, Z[:, first:], W[first:, first:], q_m, q_after, scene.depth, held, room
        )
    elif held is not None:
        q_after = held.closing.closed(q_after, scene.open)
    if bound is not None and room is not None:
        v_after, bound = balanced(tree, dt, q_after, v_after, change, bound, work)
    left = system.u + np.matmul(system.W, solved.P)
    moved = Moved(q_after, v_after, mean, acting, solved.P, on_robot, solved.residual, solved.sweeps, bound, left, sunk)
    if held is None:
        return moved
    return moved._replace(constraint_forces=held.impulses(ys[0] + np.matmul(half.Z, solved.P), y_after) / dt)


def slow_speed(tree: Tree, dt: float) -> Any:
    """In m/s: the approach below which nothing bounces."""
    return SLOW * dt * _gravity(tree)


def _gravity(tree: Tree) -> Any:
    """In m/s²: its size."""
    g = tree.gravity
    return np.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])


def _controlled(acting: Acting, dt: float, t: Any, q: NDArray[Any], v: NDArray[Any]) -> tuple[Any, Any]:
    """The controller's forces, and by how much they fall with the change of velocity; None for not at all.

    A force at its limit does not change.
    """
    tau = acting.control(t, q, v)
    if not isinstance(acting.controller, PD):
        return tau, None
    slope = acting.controller.slope(acting.tree, dt, acting.gains)
    if acting.effort is not None:
        slope = np.where(np.abs(tau) >= acting.effort, 0.0, slope)
    return tau, slope


def _implicit(acting: Acting, dt: float, slope: Any) -> NDArray[Any] | None:
    """(nv,): what implicit forces add to the mass matrix: PD and springs by the trapezoidal rule, damping by Euler."""
    added = None if slope is None else dt * slope
    if not acting.passive:
        return added
    own = dt * _passive_slope(acting.tree, dt)
    return own if added is None else added + own


def _passive_slope(tree: Tree, dt: float) -> NDArray[Any]:
    """(nv,): by how much the forces of springs and dampers, over a step, fall with the change of velocity."""
    return (0.0 if is_zero(tree.damping) else tree.damping) + dt / 4 * spring_stiffness(tree)


def spring_stiffness(tree: Tree) -> NDArray[Any]:
    """(nv,): of the springs of joints, in N m/rad or N/m."""
    stiff = np.zeros(tree.nv)
    for joint in tree.joints:
        ratio = 1.0 if joint.mimic is None else joint.mimic.ratio
        if not tree.is_base(joint):
            stiff[joint.v] += ratio**2 * joint.passive.stiffness
    return stiff


def _mean(tau: Any, slope: Any, change: NDArray[Any]) -> NDArray[Any]:
    return tau if slope is None else tau - slope * change


def _work(acting: Acting, dt: float, mean: Any, q: NDArray[Any], v: NDArray[Any], after: NDArray[Any]) -> Any:
    """In J: of the controller, pushes, springs and dampers in a step."""
    tree = acting.tree
    if acting.passive:
        smooth = tree.with_values(friction=np.zeros(tree.nv))
        mean = mean + passive(smooth, q, v) - _passive_slope(tree, dt) * (after - v)
    if acting.wrenches:
        still = np.zeros_like(v)
        mean = mean - rnea(tree, q, still, still, acting.wrenches, gravity=False)
    return dt / 2 * np.sum(mean * (v + after))


def _unit_rows(bounds: Bounds, tree: Tree, v: NDArray[Any]) -> NDArray[Any]:
    return np.eye(tree.nv, dtype=v.dtype)[list(bounds.velocities)]


def _system(
    scene: Scene,
    surface: tuple[Any, Any] | None,
    tree: Tree,
    dt: float,
    touching: list[Touch],
    q_m: NDArray[Any],
    W: NDArray[Any],
    before: NDArray[Any],
    free: NDArray[Any],
    known: Known | None,
) -> System:
    """The velocities that impulses have to correct: of contacts with the gap that may close in the second half step."""
    slow = slow_speed(tree, dt) if known is None else known.slow
    u, friction = [free[k] for k in range(free.shape[-1])], []
    for k, ((mu, e), touch) in enumerate(zip(laws(scene.pairs, surface), touching, strict=True)):
        friction.append(mu)
        n = 3 * k + 2
        ahead = free[n] + 2.0 / (dt if known is None else known.dt) * np.maximum(touch.gap, 0.0)
        if known is not None and not is_plastic(e):
            ahead = np.where((ahead < 0.0) & (before[n] < -slow), free[n] + e * before[n], ahead)
        elif not is_plastic(e):
            hits, rebound = rebounds(dt, slow, touch.gap, before[n], free[n], e)
            ahead = np.where(hits, free[n] - rebound, ahead)
        u[n] = ahead if known is None else np.where(known.opened[k], OPEN, ahead)
    closed = 0.0 if known is None else known.closed
    return System(W, np.stack(u), free, friction, *_stops(scene, tree, dt, q_m, before, free, closed))


def _stops(
    scene: Scene,
    tree: Tree,
    dt: float,
    q_m: NDArray[Any],
    before: NDArray[Any],
    free: NDArray[Any],
    closed: float = 0.0,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The least and the largest velocities of joints with bounds, and the largest impulses of their dry friction."""
    bounds = scene.bounds
    at = q_m[list(bounds.coordinates)] if bounds.coordinates else np.zeros((0,))
    floor = -2.0 / dt * np.maximum(at - bounds.lower - closed, 0.0)
    ceiling = 2.0 / dt * np.maximum(bounds.upper - at - closed, 0.0)
    if bounds.restitution:
        first = 3 * len(scene.pairs)
        floor, ceiling = _rebounds(bounds.restitution, before[first:], free[first:], floor, ceiling)
    return floor, ceiling, dt * tree.friction[..., list(bounds.velocities)]


def _yielding(
    scene: Scene,
    tree: Tree,
    dt: float,
    q_m: NDArray[Any],
    W: NDArray[Any],
    before: NDArray[Any],
    free: NDArray[Any],
    contacts: Yielding,
) -> System:
    """The system of contacts that give way, and of joints that do not."""
    n, rows = contacts.u.shape[-1], W.shape[-1]
    u = np.concatenate([contacts.u, free[n:]])
    more = np.concatenate([contacts.more, np.zeros(rows - n)])
    return System(W + np.eye(rows) * more, u, u, contacts.friction, *_stops(scene, tree, dt, q_m, before, free))


def _rebounds(
    e: float, before: NDArray[Any], free: NDArray[Any], floor: NDArray[Any], ceiling: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The least and largest velocities of joints, those that bounce at a stop among them.

    As 3 g dt for contacts: an approach that is slower than three times what forces change in a step does not bounce.
    """
    fast = np.abs(before) > SLOW * np.abs(free - before)
    back = -e * before
    return np.where(fast & (free < floor), back, floor), np.where(fast & (free > ceiling), back, ceiling)


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
