"""The search for configurations: from a first guess, then from ever more seeds, for those targets that are left."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.control.inverse_kinematics import seeds

Array = NDArray[Any]
Run = Callable[..., tuple[Array, ...]]

FIRST = 12
"""Rounds from the first guess."""
ROUNDS_OF_SEEDS = ((1, 10), (2, 10), (4, 10), (8, 30), (16, 30), (32, 30), (64, 30), (128, 30))
"""How many seeds are tried at once, and for how many rounds."""
PATIENT, BEST = 60, 8
"""What is still left goes on downhill from its best configurations, for so many rounds."""


class Attempts(NamedTuple):
    """What a search calls: both iterations take (q, rounds, *targets) and give q, errors and rounds."""

    descend: Run
    creep: Run
    nearest: Callable[..., Array]
    """features -> the numbers of the nearest seeds."""
    features: Callable[..., Array]
    """(q0, *targets) -> what tells how far seeds are from targets."""
    rows: Array
    """The features of the seeds."""
    seeds: Array
    """(COUNT, nq)."""
    based: Callable[[Array, Array], Array]
    """Seeds with the bases of first guesses."""
    tolerances: tuple[float, float]
    most: int
    """How many seeds are tried at most."""


class State(NamedTuple):
    """How far each target is: the best configuration so far."""

    q: Array
    positions: Array
    rotations: Array
    rounds: Array
    restarted: Array

    def cost(self) -> Array:
        """(n,): the sum of squares of all errors."""
        return _cost(self.positions, self.rotations)


def search(attempts: Attempts, starts: Array, targets: list[Array], *, near: bool) -> State:
    """The answers for n targets.

    Args:
        attempts: what to call.
        starts: (n, nq), the first guesses.
        targets: arrays (n, ...).
        near: whether the solution nearest to the first guess is preferred to the first that is found.
    """
    q, positions, rotations, rounds = attempts.descend(starts, FIRST, *targets)
    state = State(q, positions, rotations, rounds, np.zeros(len(q), bool))
    left = np.flatnonzero(~solved(attempts.tolerances, positions, rotations))
    if not len(left):
        return state
    sound = np.logical_and.reduce([np.isfinite(x[left]).all(axis=tuple(range(1, x.ndim))) for x in targets])
    bad, left = left[~sound], left[sound]
    state.q[bad] = starts[bad]
    if len(left):
        _restart(attempts, state, left, starts, targets, near=near)
    return state


def _restart(attempts: Attempts, state: State, left: Array, starts: Array, targets: list[Array], *, near: bool) -> None:
    """Try seeds for the targets that are left; the state is written where they lead somewhere better."""
    features = attempts.features(starts[left], *(x[left] for x in targets))
    ranks = attempts.nearest(features).astype(np.intp)
    done = 0
    ends = None
    for count, rounds in ROUNDS_OF_SEEDS:
        count = min(count, attempts.most - done)
        if count < 1 or not len(left):
            break
        if done + count > ranks.shape[1]:
            ranks = seeds.order(attempts.rows, features)
        begin = attempts.based(attempts.seeds[ranks[:, done : done + count]], starts[left][:, None])
        ends = _from_each(attempts.descend, begin, rounds, left, targets)
        done += count
        still = ~_keep(attempts, state, left, starts, ends, near=near)
        left, features, ranks = left[still], features[still], ranks[still]
        ends = tuple(x[still] for x in ends)
    if len(left) and ends is not None:
        order = np.argsort(_cost(ends[1], ends[2]), axis=1, kind="stable")[:, :BEST]
        begin = np.take_along_axis(ends[0], order[..., None], axis=1)
        begin = np.concatenate([state.q[left][:, None], begin], axis=1)
        _keep(attempts, state, left, starts, _from_each(attempts.creep, begin, PATIENT, left, targets), near=near)


def _from_each(run: Run, begin: Array, rounds: int, left: Array, targets: list[Array]) -> tuple[Array, ...]:
    """Attempts from several configurations (k, s, nq) for each of the targets that are left, with results (k, s, ...)."""
    k, s, nq = begin.shape
    ends = run(begin.reshape(k * s, nq), rounds, *(np.repeat(x[left], s, axis=0) for x in targets))
    return tuple(x.reshape(k, s, *x.shape[1:]) for x in ends)


def _keep(
    attempts: Attempts, state: State, left: Array, starts: Array, ends: tuple[Array, ...], *, near: bool
) -> Array:
    """Take over what is better: a solution, or else the nearest to one; (len(left),) whether it is a solution."""
    q, positions, rotations, rounds = ends
    good = solved(attempts.tolerances, positions, rotations)
    cost = _cost(positions, rotations)
    # among solutions the first, or the one nearest to the first guess; without one, the least errors
    value = np.sum((q - starts[left][:, None]) ** 2, axis=-1) if near else np.arange(q.shape[1])[None]
    value = np.where(good, value, np.inf)
    some = good.any(axis=1)
    best = np.where(some, np.argmin(value, axis=1), np.argmin(np.where(np.isnan(cost), np.inf, cost), axis=1))
    row = np.arange(len(left))
    better = some | (cost[row, best] < state.cost()[left])
    state.rounds[left] += rounds.sum(axis=1)
    at, row, best = left[better], row[better], best[better]
    for part, new in zip(state[:3], (q, positions, rotations), strict=True):
        part[at] = new[row, best]
    state.restarted[at] = True
    return some


def solved(tolerances: tuple[float, float], positions: Array, rotations: Array) -> Array:
    """(...): whether all errors (..., goals) are within the tolerances."""
    return ((positions <= tolerances[0]) & (rotations <= tolerances[1])).all(axis=-1)


def _cost(positions: Array, rotations: Array) -> Array:
    return np.sum(positions * positions + rotations * rotations, axis=-1)
