"""What impulses have to bring about: Signorini's condition with gaps and impacts, soft grounds, joint limits."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.model.tree import Tree
from multibody.simulate.contact.contact_rows import Touch, laws
from multibody.simulate.contact.gauss_seidel import System
from multibody.simulate.contact.restitution import SLOW, is_plastic, lateness, rebounds, stops
from multibody.simulate.contact.scene import Scene

OPEN = 1e6
"""In m/s: what keeps a row that is open from having an impulse."""


class Yielding(NamedTuple):
    """Grounds that give way: u + (W + diag(more)) P, not u + W P, obeys Signorini's condition and Coulomb's law."""

    u: NDArray[Any]
    """(3 pairs,), of contacts and grounds."""
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


def slow_speed(tree: Tree, dt: float) -> Any:
    """In m/s: the approach below which nothing bounces."""
    return SLOW * dt * gravity(tree)


def gravity(tree: Tree) -> Any:
    """In m/s²: its size."""
    g = tree.gravity
    return np.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])


def system_of(
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
    *,
    gradual: bool,
) -> System:
    """The velocities that impulses have to correct: of contacts with the gap that may close in the second half step.

    `gradual` says that contacts without restitution close by degrees (`bounces.py`).
    """
    slow = slow_speed(tree, dt) if known is None else known.slow
    u, friction = [free[k] for k in range(free.shape[-1])], []
    for k, ((mu, e), touch) in enumerate(zip(laws(scene.pairs, surface), touching, strict=True)):
        friction.append(mu)
        n = 3 * k + 2
        ahead = free[n] + 2.0 / (dt if known is None else known.dt) * np.maximum(touch.gap, 0.0)
        if known is not None:
            if not is_plastic(e):
                ahead = np.where((ahead < 0.0) & (before[n] < -slow), free[n] + e * before[n], ahead)
        else:
            hits, rebound = rebounds(dt, slow, touch.gap, before[n], free[n], e, gradual=gradual)
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
        (low, _, up), (high, _, down) = stops(bounds, dt, at, before[first:], free[first:])
        floor, ceiling = np.where(low, up, floor), np.where(high, -down, ceiling)
    return floor, ceiling, dt * tree.friction[..., list(bounds.velocities)]


def yielding(hard: System, grounds: Yielding) -> System:
    """The system with grounds that give way, and with spheres and joints that do not."""
    n, rows = grounds.u.shape[-1], hard.u.shape[-1]
    more = np.concatenate([grounds.more, np.zeros(rows - n)])
    return hard._replace(
        W=hard.W + np.eye(rows) * more,
        u=np.concatenate([grounds.u, hard.u[n:]]),
        free=np.concatenate([grounds.u, hard.free[n:]]),
        friction=grounds.friction + hard.friction[len(grounds.friction) :],
    )


def times_of_impacts(
    scene: Scene,
    surface: tuple[Any, Any] | None,
    dt: float,
    slow: Any,
    touching: list[Touch],
    q_m: NDArray[Any],
    before: NDArray[Any],
    free: NDArray[Any],
    rigid: slice,
    *,
    gradual: bool,
) -> NDArray[Any]:
    """(rows,): in s, how late after the middle of the step impacts are, of the pairs that are rigid and of joints."""
    restitutions = [e for _, e in laws(scene.pairs, surface)][rigid]
    n, bounds = 3 * len(scene.pairs), scene.bounds
    own = slice(n - 3 * len(restitutions), n)
    parts = [np.zeros(own.start)]
    if restitutions:
        parts.append(lateness(dt, slow, touching[rigid], before[own], free[own], restitutions, gradual=gradual))
    if bounds.restitution:
        (low, early, _), (high, late, _) = stops(bounds, dt, q_m[list(bounds.coordinates)], before[n:], free[n:])
        parts.append(np.where(low, early, np.where(high, late, 0.0)))
    else:
        parts.append(np.zeros(len(bounds.velocities)))
    return np.concatenate(parts)
