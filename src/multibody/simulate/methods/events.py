"""Exact times of touch-down and lift-off: between them closed contacts take the step of "contact".

A step is cut where the first open contact closes, which a bracket finds on the step's own motion; there velocities
jump by Newton's law of impact [RD 3.70], in a piece of no length. It is cut, too, where the force of a closed contact
falls to zero: that is in the middle of the piece whose impulse vanishes. Approaches below some 3 g dt do not bounce, so
that infinitely many bounces in a finite time end in rest. Joints stop at their limits as in "contact", and constraints
hold in every piece.

One loop does all of it, so that the code has the step of "contact" once: each round tries a length from where the last
piece ended, and keeps the piece, or narrows a bracket.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.model import base_velocity
from multibody.model.tree import Tree
from multibody.simulate.contact.contact_rows import contact_rows, gaps
from multibody.simulate.contact.problem import KnownContacts, slow_speed
from multibody.simulate.contact.root_bracket import Bracket
from multibody.simulate.contact.scene import Scene
from multibody.simulate.methods import contact
from multibody.simulate.step_forces import StepForces
from multibody.simulate.step_result import StepResult
from multibody.tracing.record.loop import loop

MOST = 12
"""Pieces of a step, of which each impact is one; the last goes to the end of the step, whatever it meets."""
ROUNDS = 300
"""After so many the next piece is the last; most steps need one or two, an impact some ten more."""
CLOSED = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 2e-6}
"""In m: the gap up to which a contact is closed."""
NARROW = {np.dtype(np.float64): 1e-13, np.dtype(np.float32): 1e-6}
"""Of dt: the width at which a bracket is narrow enough."""
STRIKE = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-4}
"""In m/s: the approach of a closed contact from which there is an impact."""
TINY = 1e-12
"""Of dt: the length of an impact."""
FIRST, LIFT_OFF, WHOLE, TOUCH_DOWN = 0.0, 1.0, 2.0, 3.0
"""What a round is for: a first look, a bracket of a lift-off, a piece up to its limit, a bracket of a touch-down."""


class Progress(NamedTuple):
    """What goes from round to round: first what the pieces of the step have come to, then the search for the next."""

    q: NDArray[Any]
    v: NDArray[Any]
    P: NDArray[Any]
    """(rows,): the impulses of the last piece."""
    left: Any
    """In s: what is left of the step."""
    forces: NDArray[Any]
    """As `contact.forces_of`: the impulses of contacts, since the start of the step, in N s."""
    tau: NDArray[Any]
    """(nv,): the controller's."""
    holding: NDArray[Any]
    """(rows of constraints,): their impulses since the start of the step."""
    down: NDArray[Any]
    """(pairs,): in s, the last touch-down; -inf for none."""
    up: NDArray[Any]
    """(pairs,): the last lift-off."""
    pieces: Any
    rounds: Any
    aim: Any
    bracket: Bracket
    limit: Any
    """In s: how long the next piece may be."""
    lifting: NDArray[Any]
    """(pairs,): 1 for a contact that lifts off at the limit."""


def step(
    scene: Scene,
    surface: tuple[Any, Any] | None,
    acting: StepForces,
    dt: float,
    t: Any,
    q: NDArray[Any],
    v: NDArray[Any],
    warm: Any,
    bound: Any,
    down: Any,
    up: Any,
) -> StepResult:
    """One step of dt; `down` and `up`, (pairs,), are the times of the last touch-downs and lift-offs."""
    if not scene.pairs:
        return contact.step(scene, surface, acting, dt, t, q, v, warm, bound)
    tree = acting.tree
    acting = acting.asked(t + dt / 2, q, v)
    slow = slow_speed(tree, dt)
    normals = [3 * k + 2 for k in range(len(scene.pairs))]
    mass = sum(body.inertia.mass for body in tree.bodies)
    closed, narrow, strike = (table[v.dtype] for table in (CLOSED, NARROW, STRIKE))

    def round_(carry: Any) -> Any:
        c = _progress(carry)
        now = t + (dt - c.left)
        distance, speeds = _approach(tree, scene, c.q, c.v)
        stays = c.down > c.up
        opened = ~stays & ((distance > closed) | (speeds > slow))
        loaded = ~opened & (c.P[normals] > 0.0)
        ends = (c.pieces >= MOST) | (c.rounds >= ROUNDS)
        first = (c.aim == FIRST) & ~ends
        strikes = first & np.any(~opened & ~stays & (speeds < -strike))
        looks = first & ~strikes & np.any(loaded)
        searches = ~first & ~ends & (c.aim != WHOLE)
        limit = np.where(first | ends, c.left, c.limit)
        s = np.where(searches, c.bracket.within(narrow * dt / 2), limit)
        s = np.where(strikes, TINY * dt, np.where(looks, 2.0 * c.left, s))
        moved = contact.step(
            scene, surface, acting, s, now, c.q, c.v, c.P, None, KnownContacts(opened, slow, dt, closed)
        )
        push = moved.impulses[normals]
        # the least gap of what is open, and the least force of what is closed, over the mass
        gap = np.min(np.where(opened, gaps(tree, scene.pairs, moved.sunk), 1.0))
        forces = np.where(loaded, (push / mass - moved.left[normals]) / s, 1.0)
        force = np.min(forces)
        lift = looks | (searches & (c.aim == LIFT_OFF))
        value = np.where(lift, force, gap)
        begins = (looks | ~searches) & (value < 0.0)
        at_start = np.where(lift, -force, np.maximum(np.min(np.where(opened, distance, 1.0)), closed))
        bracket = _select(
            begins, Bracket(TINY * dt + 0.0 * s, at_start, s, value, 0.0 * s), c.bracket.narrowed(s, value)
        )
        found = (searches & (bracket.width <= narrow * dt)) | (looks & ~begins)
        search = c._replace(
            aim=np.where(found, WHOLE, np.where(lift, LIFT_OFF, TOUCH_DOWN)),
            bracket=bracket,
            limit=np.where(looks, c.left, np.where(lift, 0.5, 1.0) * bracket.low),
            lifting=np.where(lift, np.where(force < 0.0, _flag(forces < 0.0), np.where(looks, 0.0, c.lifting)), 0.0),
        )
        _, after = _approach(tree, scene, c.q, moved.v)
        inside = stays | (~opened & (push > 0.0))
        leaves = np.where(strikes, after > slow, (c.lifting > 0.5) | ~(push > 0.0))
        kept = c._replace(
            q=moved.q,
            v=moved.v,
            P=moved.impulses * np.concatenate([np.repeat(1.0 - c.lifting, 3), np.ones(scene.rows - 3 * len(normals))]),
            left=c.left - s,
            forces=c.forces + s * moved.forces,
            tau=c.tau + s * moved.tau,
            holding=c.holding if scene.constraints is None else c.holding + s * moved.constraint_forces,
            down=np.where(inside & ~stays, now, c.down),
            up=np.where(inside & leaves, now + np.where(c.lifting > 0.5, s, 0.0), c.up),
            pieces=c.pieces + 1.0,
            aim=FIRST + 0.0 * s,
            lifting=0.0 * c.lifting,
        )
        keeps = strikes | ends | (~searches & ~looks & (gap >= 0.0))
        return _select(keeps, kept, search)._replace(rounds=c.rounds + 1.0)

    zero = 0.0 * v[0]
    start = Progress(
        *(
            q,
            v,
            warm,
            dt + zero,
            np.zeros((scene.contacts + scene.spheres, 3)) + zero,
            0.0 * v,
            np.zeros(0 if scene.constraints is None else scene.constraints.rows) + zero,
            down,
            up,
            zero,
            zero,
            FIRST + zero,
        ),
        bracket=Bracket(zero, 1.0 + zero, dt + zero, zero - 1.0, zero),
        limit=dt + zero,
        lifting=np.zeros(len(scene.pairs)) + zero,
    )
    c = _progress(loop(ROUNDS + MOST, round_, start, until=lambda c: _progress(c).left <= TINY * dt))
    moved = StepResult(c.q, c.v, c.tau / dt, acting, c.P, c.forces / dt, bound=bound)
    return moved._replace(down=c.down, up=c.up, constraint_forces=c.holding / dt)


def _approach(tree: Tree, scene: Scene, q: NDArray[Any], v: NDArray[Any]) -> tuple[Any, Any]:
    """(pairs,): the gaps and the velocities along the normals."""
    touching = contact_rows(tree, scene.pairs, q)
    v_left = base_velocity.to_left(tree, q, v)
    return np.stack([touch.gap for touch in touching]), np.stack([np.matmul(touch.R[2], v_left) for touch in touching])


def _progress(carry: Any) -> Progress:
    """A loop gives back plain tuples."""
    progress = Progress(*carry)
    return progress._replace(bracket=Bracket(*progress.bracket))


def _select(truth: Any, a: Any, b: Any) -> Any:
    """The values of one named tuple or of another."""
    return type(a)(
        *(_select(truth, x, y) if isinstance(x, Bracket) else np.where(truth, x, y) for x, y in zip(a, b, strict=True))
    )


def _flag(truth: Any) -> Any:
    return np.where(truth, 1.0, 0.0)
