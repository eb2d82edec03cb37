"""Exact times of touch-down and lift-off: between them closed contacts take the step of "contact".

A step is cut where the first open contact closes, a time that a bracket on the motion of the step finds; there
velocities jump by Newton's law of impact [RD 3.70], in a piece of no length. It is also cut where the force of a closed
contact falls to zero, which is the middle of the piece whose impulse vanishes. Approaches below 3 g dt do not bounce,
so that infinitely many bounces in a finite time end in rest. Joints stop at their limits as in "contact", and
constraints hold in every piece.

One loop does all of it, so that the code has the step of "contact" once: each iteration tries a length from where the
last piece ended, and keeps the piece, or narrows a bracket.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.model import base_velocity
from multibody.model.tree import Tree
from multibody.simulate.contact.contact_rows import contact_rows
from multibody.simulate.contact.gaps import gaps
from multibody.simulate.contact.problem import KnownContacts
from multibody.simulate.contact.restitution import bounce_threshold
from multibody.simulate.contact.scene import Scene
from multibody.simulate.method import StepResult, StepStart
from multibody.simulate.methods.contact import CONTACT, contact_step
from multibody.simulate.nested_state import select
from multibody.tracing.record.loop import loop

MIN_PIECES, PIECES_PER_CONTACT = 12, 4
"""The pieces of a step; the last goes to its end, whatever it meets. An impact is one, the way to it another."""
ITERATIONS_PER_PIECE = 25
"""After as many for each piece the next is the last. Most steps need one or two, an impact some ten more."""
CLOSED_GAP = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 2e-6}
"""The gap up to which a contact is closed, in m."""
BRACKET_WIDTH = {np.dtype(np.float64): 1e-13, np.dtype(np.float32): 1e-6}
"""The width at which a bracket is narrow enough, relative to dt."""
STRIKE_SPEED = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-4}
"""The approach of a closed contact from which there is an impact, in m/s."""
IMPACT_LENGTH = 1e-12
"""The length of the piece of an impact, relative to dt."""
FIRST, LIFT_OFF, WHOLE, TOUCH_DOWN = 0.0, 1.0, 2.0, 3.0
"""The aims of an iteration: a first look, the time of a lift-off, a piece up to its limit, the time of a touch-down."""


class Bracket(NamedTuple):
    """A bracket around the time of an event, narrowed by regula falsi: two times, and a value at each.

    The value is at least 0 at the first, negative at the second.
    """

    low: Any
    at_low: Any
    high: Any
    at_high: Any
    side: Any
    """The end that moved last: 1 for the first, -1 for the second."""

    @property
    def width(self) -> Any:
        """The length of the bracket."""
        return self.high - self.low

    def root(self, margin: float) -> Any:
        """The root of the line through both values, clipped to a margin from both ends."""
        s = (self.low * self.at_high - self.high * self.at_low) / (self.at_high - self.at_low)
        return np.minimum(np.maximum(s, self.low + margin), self.high - margin)

    def narrow(self, s: Any, value: Any) -> "Bracket":
        """Replace the end on the side of the value at s; halve the value of an end that stays (Illinois)."""
        above = value >= 0.0
        return Bracket(
            np.where(above, s, self.low),
            np.where(above, value, np.where(self.side < 0.0, 0.5 * self.at_low, self.at_low)),
            np.where(above, self.high, s),
            np.where(above, np.where(self.side > 0.0, 0.5 * self.at_high, self.at_high), value),
            np.where(above, 1.0, -1.0),
        )


class Progress(NamedTuple):
    """The state of the search: first the sum of the pieces so far, then the bracket of the next."""

    q: NDArray[Any]
    v: NDArray[Any]
    P: NDArray[Any]
    """(rows,): the impulses of the last piece."""
    left: Any
    """The rest of the step, in s."""
    sums: dict[str, Any]
    """Since the start of the step: "tau", times s, and the impulses of those records of `contact_step` that it has."""
    down: NDArray[Any]
    """(pairs,): in s, the last touch-down; -inf for none."""
    up: NDArray[Any]
    """(pairs,): the last lift-off."""
    pieces: Any
    iterations: Any
    aim: Any
    bracket: Bracket
    limit: Any
    """The largest length of the next piece, in s."""
    lifting: NDArray[Any]
    """(pairs,): 1 for a contact that lifts off at the limit."""


def initial_state(tree: Tree, scene: Scene, q: NDArray[Any]) -> dict[str, Any]:
    """The state of "contact", and the times of the last touch-downs and lift-offs, (pairs,) in s; -inf for none."""
    never = np.full(len(scene.pairs), -np.inf)
    return CONTACT.initial_state(tree, scene, q) | ({"down": never, "up": never} if scene.pairs else {})


def step(start: StepStart) -> StepResult:
    """Cut the step where contacts close and open."""
    if not start.scene.pairs:
        result = contact_step(start)[0]
        return result._replace(record={k: x for k, x in result.record.items() if k not in ("residual", "sweeps")})
    forces, dt, t, q, v, *_ = start
    start = start._replace(forces=forces.sample(t + dt / 2, q, v))
    search, scene = EventSearch(start, bounce_threshold(forces.tree, dt)), start.scene
    end = lambda carry: _progress(carry).left <= IMPACT_LENGTH * dt  # noqa: E731
    last = _progress(loop((ITERATIONS_PER_PIECE + 1) * search.pieces, search.iterate, search.first(), until=end))
    means = {name: x / dt for name, x in last.sums.items()}
    if scene.contacts:
        means |= {"touchdown": _last_times(scene, last.down), "liftoff": _last_times(scene, last.up)}
    state = {"bound": start.state["bound"], "impulses": last.P, "down": last.down, "up": last.up}
    return StepResult(last.q, last.v, means.pop("tau"), start.forces, state, means)


@dataclass(frozen=True, eq=False)
class EventSearch:
    """The iterations of a step."""

    start: StepStart
    slow: Any
    """The approach below which nothing bounces, in m/s."""

    @property
    def pieces(self) -> int:
        """The most pieces of a step."""
        return max(MIN_PIECES, PIECES_PER_CONTACT * len(self.start.scene.pairs))

    def first(self) -> Progress:
        """At the start of the step."""
        start, scene = self.start, self.start.scene
        dt, zero = start.dt, 0.0 * start.v[0]
        sums = {"tau": 0.0 * start.v, "forces": np.zeros((scene.contacts, 3)) + zero}
        sums |= {"pair_forces": np.zeros((scene.spheres, 3)) + zero} if scene.spheres else {}
        constraints = scene.constraints
        sums |= {} if constraints is None else {"constraint_forces": np.zeros(constraints.rows) + zero}
        return Progress(
            start.q,
            start.v,
            P=start.state["impulses"],
            left=dt + zero,
            sums=sums,
            down=start.state["down"],
            up=start.state["up"],
            pieces=zero,
            iterations=zero,
            aim=FIRST + zero,
            bracket=Bracket(zero, 1.0 + zero, dt + zero, zero - 1.0, zero),
            limit=dt + zero,
            lifting=np.zeros(len(scene.pairs)) + zero,
        )

    def iterate(self, carry: Any) -> Progress:
        """Try a piece: keep it, or narrow the bracket of its length."""
        c, dt, tree, scene, slow = _progress(carry), self.start.dt, self.start.forces.tree, self.start.scene, self.slow
        closed, narrow, strike = (table[c.v.dtype] for table in (CLOSED_GAP, BRACKET_WIDTH, STRIKE_SPEED))
        now = self.start.t + (dt - c.left)
        distance, speeds = _approach(tree, scene, c.q, c.v)
        normals = [3 * k + 2 for k in range(len(scene.pairs))]
        stays = c.down > c.up
        opened = ~stays & ((distance > closed) | (speeds > slow))
        loaded = ~opened & (c.P[normals] > 0.0)
        ends = (c.pieces >= self.pieces) | (c.iterations >= ITERATIONS_PER_PIECE * self.pieces)
        first = (c.aim == FIRST) & ~ends
        strikes = first & np.any(~opened & ~stays & (speeds < -strike))
        looks = first & ~strikes & np.any(loaded)
        searches = ~first & ~ends & (c.aim != WHOLE)
        limit = np.where(first | ends, c.left, c.limit)
        s = np.where(searches, c.bracket.root(narrow * dt / 2), limit)
        s = np.where(strikes, IMPACT_LENGTH * dt, np.where(looks, 2.0 * c.left, s))
        piece = self.start._replace(dt=s, t=now, q=c.q, v=c.v, state={"impulses": c.P})
        result, u, drifted = contact_step(piece, KnownContacts(opened, slow, dt, closed))
        push = result.state["impulses"][normals]
        # the smallest gap of open contacts, and the smallest force of closed ones, over the mass
        gap = np.min(np.where(opened, gaps(tree, scene.pairs, drifted), 1.0))
        loads = np.where(loaded, (push / tree.mass - u[normals]) / s, 1.0)
        load = np.min(loads)
        lift = looks | (searches & (c.aim == LIFT_OFF))
        value = np.where(lift, load, gap)
        begins = (looks | ~searches) & (value < 0.0)
        at_start = np.where(lift, -load, np.maximum(np.min(np.where(opened, distance, 1.0)), closed))
        fresh = Bracket(IMPACT_LENGTH * dt + 0.0 * s, at_start, s, value, 0.0 * s)
        bracket = Bracket(*select(begins, fresh, c.bracket.narrow(s, value)))
        found = (searches & (bracket.width <= narrow * dt)) | (looks & ~begins)
        unloaded = np.where(load < 0.0, np.where(loads < 0.0, 1.0, 0.0), np.where(looks, 0.0, c.lifting))
        search = c._replace(
            aim=np.where(found, WHOLE, np.where(lift, LIFT_OFF, TOUCH_DOWN)),
            bracket=bracket,
            limit=np.where(looks, c.left, np.where(lift, 0.5, 1.0) * bracket.low),
            lifting=np.where(lift, unloaded, 0.0),
        )
        _, after = _approach(tree, scene, c.q, result.v)
        inside = stays | (~opened & (push > 0.0))
        leaves = np.where(strikes, after > slow, (c.lifting > 0.5) | ~(push > 0.0))
        kept = self._after_piece(c, s, result)._replace(
            down=np.where(inside & ~stays, now, c.down),
            up=np.where(inside & leaves, now + np.where(c.lifting > 0.5, s, 0.0), c.up),
        )
        keeps = strikes | ends | (~searches & ~looks & (gap >= 0.0))
        return _progress(select(keeps, kept, search))._replace(iterations=c.iterations + 1.0)

    def _after_piece(self, c: Progress, s: Any, result: StepResult) -> Progress:
        """The progress with a piece of the length s."""
        scene, record = self.start.scene, {"tau": result.tau, **result.record}
        stays = np.concatenate([np.repeat(1.0 - c.lifting, 3), np.ones(scene.rows - 3 * len(scene.pairs))])
        return c._replace(
            q=result.q,
            v=result.v,
            P=result.state["impulses"] * stays,
            left=c.left - s,
            sums={name: x + s * record[name] for name, x in c.sums.items()},
            pieces=c.pieces + 1.0,
            aim=FIRST + 0.0 * s,
            lifting=0.0 * c.lifting,
        )


def _last_times(scene: Scene, times: NDArray[Any]) -> NDArray[Any]:
    """(contacts,): the last of the times of all grounds at a contact; NaN for never."""
    last = np.max(np.reshape(times[: len(scene.grounded)], (scene.contacts, -1)), axis=-1)
    return np.where(last < 0.0, np.nan, last)


def _approach(tree: Tree, scene: Scene, q: NDArray[Any], v: NDArray[Any]) -> tuple[Any, Any]:
    """(pairs,): the gaps and the velocities along the normals."""
    touching = contact_rows(tree, scene.pairs, q)
    v_left = base_velocity.to_left(tree, q, v)
    return np.stack([touch.gap for touch in touching]), np.stack([np.matmul(touch.R[2], v_left) for touch in touching])


def _progress(carry: Any) -> Progress:
    """A loop gives back plain tuples."""
    progress = Progress(*carry)
    return progress._replace(bracket=Bracket(*progress.bracket))


EVENTS = replace(CONTACT, name="events", step=step, initial_state=initial_state, has_derivatives=False)
