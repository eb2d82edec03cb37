"""Exact times of touch-down: between them closed contacts take the step of "contact", at them there is an impact.

A step is cut where the first open contact closes, which a bracket finds on the step's own motion; there velocities
jump by Newton's law of impact, and the rest of the time goes on. Approaches below some 3 g dt do not bounce, so that
infinitely many bounces in a finite time end in rest.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.factorization import HalfSolved
from multibody.algorithms.forward_dynamics import factors
from multibody.model import base_velocity
from multibody.model.tree import Tree
from multibody.simulate import contact
from multibody.simulate.acting import Acting
from multibody.simulate.moved import Moved
from multibody.simulate.rows import gaps, laws, touches
from multibody.simulate.sweeps import System
from multibody.tracing.loop import loop

MOST = 6
"""Impacts in a step; what follows them takes the step of "contact"."""
ROUNDS = 30
"""Of the bracket, at most; most need eight."""
CLOSED = 1e-9
"""In m: the gap up to which a contact is closed."""
TINY = 1e-12
"""Of dt: what is left of a step when it is over."""


def step(
    scene: contact.Scene,
    surface: tuple[Any, Any] | None,
    acting: Acting,
    dt: float,
    t: Any,
    q: NDArray[Any],
    v: NDArray[Any],
    warm: Any,
    bound: Any,
) -> Moved:
    """One step of dt with up to `MOST` impacts at their own times."""
    tree = acting.tree
    acting = acting.asked(t + dt / 2, q, v)
    slow = contact.slow_speed(tree, dt)

    def piece(carry: Any) -> Any:
        """The motion to the next impact, or to the end of the step."""
        q, v, left, impulse, tau, P = carry
        now = t + (dt - left)
        v_left = base_velocity.to_left(tree, q, v)
        touching = touches(tree, scene.pairs, q)
        distance = np.stack([touch.gap for touch in touching])
        speeds = np.stack([np.matmul(touch.R[2], v_left) for touch in touching])
        opened = (distance > CLOSED) | (speeds > slow)

        def flow(length: Any, lifts: bool) -> Moved:
            return contact.step(scene, surface, acting, length, now, q, v, P, None, opened, lifts)

        def nearest(length: Any) -> Any:
            """The least gap of what is open, after a time."""
            return np.min(np.where(opened, gaps(tree, scene.pairs, flow(length, False).q), 1.0))

        end = nearest(left)

        def narrow(bracket: Any) -> Any:
            """The secant, with half the weight for an end that stays (Illinois)."""
            a, f_a, b, f_b, side, gap = bracket
            s = (a * f_b - b * f_a) / (f_b - f_a)
            f = nearest(s)
            above = f > 0.0
            f_a_after = np.where(above, f, np.where(side < 0.0, 0.5 * f_a, f_a))
            f_b_after = np.where(above, np.where(side > 0.0, 0.5 * f_b, f_b), f)
            return (
                np.where(above, s, a),
                f_a_after,
                np.where(above, b, s),
                f_b_after,
                np.where(above, 1.0, -1.0),
                np.where(above, f, gap),
            )

        hits = end < 0.0
        above = np.maximum(np.min(np.where(opened, distance, 1.0)), CLOSED)
        ends = (TINY * dt + 0.0 * left, above, left, end, 0.0 * left, above)
        a, *_ = loop(ROUNDS, narrow, ends, until=lambda c: ~hits | (c[2] - c[0] <= 1e-14 * dt) | (c[5] <= 1e-15))
        length = np.where(hits, a, left)
        moved = flow(length, True)
        jump, push = _impact(scene, surface, tree, moved.q, moved.v, slow, hits)
        impulse = impulse + length * moved.forces + push
        return moved.q, moved.v + jump, left - length, impulse, tau + length * moved.tau, moved.impulses

    start = (q, v, dt + 0.0 * v[0], np.zeros((scene.contacts + scene.spheres, 3)) + 0.0 * v[0], 0.0 * v, warm)
    q, v, left, impulse, tau, P = loop(MOST, piece, start, until=lambda c: c[2] <= TINY * dt)
    rest = contact.step(scene, surface, acting, np.maximum(left, TINY * dt), t + (dt - left), q, v, P)
    done = left <= TINY * dt
    return Moved(
        np.where(done, q, rest.q),
        np.where(done, v, rest.v),
        np.where(done, tau, tau + left * rest.tau) / dt,
        acting,
        np.where(done, P, rest.impulses),
        np.where(done, impulse, impulse + left * rest.forces) / dt,
        bound=bound,
    )


def _impact(
    scene: contact.Scene,
    surface: tuple[Any, Any] | None,
    tree: Tree,
    q: NDArray[Any],
    v: NDArray[Any],
    slow: Any,
    hits: Any,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The jump of v, (nv,), and the impulses, as `contact.forces_of`, where there is an impact.  [RD 3.70]"""
    touching = touches(tree, scene.pairs, q)
    extra = np.eye(tree.nv)[list(scene.bounds.velocities)]
    half = HalfSolved(factors(tree, q), np.concatenate([touch.R for touch in touching] + [extra]), ())
    R = np.concatenate([touch.R for touch in touching] + [extra])
    before = np.matmul(R, base_velocity.to_left(tree, q, v))
    W = np.matmul(np.swapaxes(half.Z, -1, -2), half.Z * half.D_inv[:, None])
    u, friction = [before[k] for k in range(before.shape[-1])], []
    for k, ((mu, e), touch) in enumerate(zip(laws(scene.pairs, surface), touching, strict=True)):
        friction.append(mu)
        n = 3 * k + 2
        bounce = np.where(before[n] < -slow, e, 0.0) * before[n]
        u[n] = np.where(hits & (touch.gap <= CLOSED), before[n] + bounce, contact.OPEN)
    free = np.full(len(scene.bounds.velocities), np.inf)
    system = System(W, np.stack(u), before, friction, -free, free, np.zeros(len(free)))
    P = system.solve(0.0 * before, scene.sweeps, scene.tolerance).P
    jump = base_velocity.from_left(tree, q, half.onward(np.matmul(half.Z, P)))
    return jump, contact.forces_of(scene, touching, P, 1.0)
