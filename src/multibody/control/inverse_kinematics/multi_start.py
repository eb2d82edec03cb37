"""Restarts: the search from a first guess, then from ever more seeds, for the targets that are left."""

from collections.abc import Callable
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from multibody.control.inverse_kinematics import seeds
from multibody.control.inverse_kinematics.damped_least_squares import MAX_ITERATIONS
from multibody.geometry._arrays import Array

Run = Callable[..., tuple[Array, ...]]

FIRST_ITERATIONS = 12
"""Iterations from the first guess."""
JUMP_RATIO = 5.0
"""A displacement is a jump if it is longer than the step of the damped pseudo-inverse by this factor."""
SEED_BLOCKS = ((1, 10), (2, 10), (4, 10), (8, 30), (16, 30), (32, 30), (64, 30), (128, 30))
"""The numbers of seeds that are tried together, and of their iterations."""
MAX_JOINED_TARGETS = 8
"""At most this number of targets try the nearest seeds in one block: their vectors would be half empty."""
LAST_ITERATIONS, LAST_STARTS = MAX_ITERATIONS, 24
"""Iterations of Levenberg and Marquardt for the remaining targets, and the best configurations that they start from."""


class Attempts(NamedTuple):
    """The kernels of a search; arrays of targets have the axis of the samples first."""

    damped: Run
    """(q, iterations, *targets, careful=False) -> q, errors of position (..., goals) and of rotation, iterations."""
    marquardt: Run
    """As `damped`, with steps downhill only."""
    reference: Callable[..., Array]
    """(q, *targets) -> (..., 2), two norms of the step of the damped pseudo-inverse."""
    nearest: Callable[..., Array]
    """(q0, *targets) -> the numbers of the nearest seeds (..., NEAREST)."""
    order: Callable[..., Array]
    """(q0, *targets) -> the numbers of all seeds, nearest first."""
    seeds: Array
    """(COUNT, nq)."""
    with_bases: Callable[[Array, Array], Array]
    """Seeds with the bases of first guesses."""
    tolerances: tuple[float, float]
    max_seeds: int


class State(NamedTuple):
    """The best configuration of each target so far; its arrays are the search's own, and written by it."""

    q: Array
    positions: Array
    rotations: Array
    rounds: Array
    restarted: Array


def search(attempts: Attempts, starts: Array, targets: list[Array], *, near: bool) -> State:
    """The answers for n targets.

    Args:
        attempts: what to call.
        starts: (n, nq), the first guesses.
        targets: arrays (n, ...).
        near: whether the first guesses were given by the user: steps from them are careful, jumps are reported, and of
            the solutions of one block the nearest is taken, not the first.
    """
    q, positions, rotations, rounds = attempts.damped(starts, FIRST_ITERATIONS, *targets, careful=near)
    state = State(q, positions, rotations, rounds, np.zeros(len(q), bool))
    left = np.flatnonzero(~within_tolerances(attempts.tolerances, positions, rotations))
    if near and len(left):  # once more, not careful
        goals = [x[left] for x in targets]
        ends = tuple(x[:, None] for x in attempts.damped(starts[left], FIRST_ITERATIONS, *goals))
        left = left[~_keep(attempts, state, left, starts[left], ends, [1], near=near, continued=True)]
    state = resume(attempts, state, left, starts, targets, near=near)
    if near:
        state.restarted[:] |= _jumps(state.q, starts, attempts.reference(starts, *targets))
    return state


def follow(attempts: Attempts, starts: Array, targets: list[Array]) -> State:
    """The local solutions for n targets: first guesses, improved without seeds and without jumps."""
    q, positions, rotations, rounds = attempts.damped(starts, 0, *targets)
    state = State(q, positions, rotations, rounds, np.zeros(len(starts), bool))
    reference = attempts.reference(starts, *targets)
    careful = partial(attempts.damped, careful=True)
    for run, iterations in ((careful, FIRST_ITERATIONS), (attempts.marquardt, LAST_ITERATIONS)):
        left = np.flatnonzero(~within_tolerances(attempts.tolerances, state.positions, state.rotations))
        if len(left):
            q, positions, rotations, count = run(state.q[left], iterations, *(x[left] for x in targets))
            state.rounds[left] += count
            better = cost(positions, rotations) < cost(state.positions[left], state.rotations[left])
            better &= ~_jumps(q, starts[left], reference[left])
            for part, new in zip(state[:3], (q, positions, rotations), strict=True):
                part[left[better]] = new[better]
    return state


def _jumps(q: Array, starts: Array, reference: Array) -> Any:
    """(n,): whether displacements from first guesses are jumps."""
    distance = np.abs(q - starts)
    norms = np.stack([np.sqrt(np.square(distance).sum(axis=-1)), distance.max(axis=-1, initial=0.0)], axis=-1)
    return (norms > JUMP_RATIO * reference).any(axis=-1)


def resume(attempts: Attempts, state: State, left: Array, starts: Array, targets: list[Array], *, near: bool) -> State:
    """The answers, after first attempts that left some targets, by their numbers: from seeds, nearest first.

    The state is written where seeds lead somewhere better.
    """
    bad = np.isnan(cost(state.positions[left], state.rotations[left]))  # of targets that are no numbers
    if np.logical_or.reduce(bad):
        state.q[left[bad]] = starts[left[bad]]
        state.rounds[left[bad]] = 0
        left = left[~bad]
    done, ends = 0, None
    for tries in _blocks(few=len(left) <= MAX_JOINED_TARGETS, most=attempts.max_seeds):
        if not len(left):
            return state
        guesses, goals = starts[left], [x[left] for x in targets]
        count = sum(n for n, _ in tries)
        rank = attempts.nearest if done + count <= seeds.NEAREST else attempts.order
        begin = attempts.with_bases(attempts.seeds[rank(guesses, *goals)[:, done : done + count]], guesses[:, None])
        ends = _from_each(attempts.damped, begin, tries[0][1], goals)
        still = ~_keep(attempts, state, left, guesses, ends, [n for n, _ in tries], near=near)
        left, ends, done = left[still], tuple(x[still] for x in ends), done + count
    if len(left):
        guesses, goals, begin = starts[left], [x[left] for x in targets], state.q[left][:, None]
        if ends is not None:
            best = np.argsort(cost(ends[1], ends[2]), axis=1, kind="stable")[:, :LAST_STARTS]
            begin = np.concatenate([begin, np.take_along_axis(ends[0], best[..., None], axis=1)], axis=1)
        ends = _from_each(attempts.marquardt, begin, LAST_ITERATIONS, goals)
        _keep(attempts, state, left, guesses, ends, [begin.shape[1]], near=near, continued=True)
    return state


def from_nearest(attempts: Attempts, start: Array, targets: list[Array]) -> State | None:
    """The answer for one target that the tries of the nearest seeds lead to, as in `resume` with less around it.

    Args:
        attempts: what to call.
        start: (1, nq), the first guess.
        targets: arrays (1, ...).

    Returns:
        Arrays without the axis of samples; None when no such try has a solution.
    """
    blocks = _blocks(few=True, most=attempts.max_seeds)
    if not blocks or len(blocks[0]) < 2:
        return None
    tries = [n for n, _ in blocks[0]]
    count = sum(tries)
    begin = attempts.with_bases(attempts.seeds[attempts.nearest(start, *targets)[0, :count]], start)
    q, positions, rotations, rounds = attempts.damped(begin, blocks[0][0][1], *(x.repeat(count, 0) for x in targets))
    good = within_tolerances(attempts.tolerances, positions, rotations).tolist()
    if True not in good:
        return None
    best = good.index(True)
    end = next(end for end in accumulate(tries) if best < end)
    return State(q[best].copy(), positions[best], rotations[best], rounds[:end].sum(), np.array(True))


@lru_cache(maxsize=64)
def _blocks(*, few: bool, most: int) -> list[list[tuple[int, int]]]:
    """The tries, in the blocks that are computed at once, up to a number of seeds."""
    before = accumulate((n for n, _ in SEED_BLOCKS), initial=0)
    tries = [
        (min(n, most - done), rounds) for (n, rounds), done in zip(SEED_BLOCKS, before, strict=False) if done < most
    ]
    ends = accumulate(n for n, _ in tries)
    # a block has one number of rounds, and no more seeds than the kernel ranks
    together = sum(end <= seeds.NEAREST for end in ends) if few else 0
    return ([tries[:together]] if together else []) + [[each] for each in tries[together:]]


def _from_each(run: Run, begin: Array, rounds: int, targets: list[Array]) -> tuple[Array, ...]:
    """Attempts from several configurations (k, s, nq) for each of k targets, with results (k, s, ...)."""
    k, s, nq = begin.shape
    ends = run(begin.reshape(k * s, nq), rounds, *(x.repeat(s, axis=0) for x in targets))
    return tuple(x.reshape(k, s, *x.shape[1:]) for x in ends)


def _keep(
    attempts: Attempts,
    state: State,
    left: Array,
    guesses: Array,
    ends: tuple[Array, ...],
    tries: list[int],
    *,
    near: bool,
    continued: bool = False,
) -> Array:
    """Take over better configurations: a solution of the first try that has one, otherwise the smallest errors.

    With `continued` the first of the ends starts from the state, the others from seeds.

    Returns:
        (k,): whether there is a solution.
    """
    q, positions, rotations, rounds = ends
    good = within_tolerances(attempts.tolerances, positions, rotations)
    row, some, best = np.arange(len(left)), np.logical_or.reduce(good, axis=1), good.argmax(axis=1)
    number = np.repeat(np.arange(len(tries)), tries)  # the try of each seed
    if near:
        far = np.square(q - guesses[:, None]).sum(axis=-1)
        best = np.where(good & (number == number[best][:, None]), far, np.inf).argmin(axis=1)
    if len(tries) > 1:
        rounds = np.where((number <= number[best][:, None]) | ~some[:, None], rounds, 0.0)
    state.rounds[left] += rounds.sum(axis=1)
    better = some
    if not some.all():
        costs = cost(positions, rotations)
        best = np.where(some, best, np.where(np.isnan(costs), np.inf, costs).argmin(axis=1))
        better = some | (costs[row, best] < cost(state.positions[left], state.rotations[left]))
    at, row, best = left[better], row[better], best[better]
    for part, new in zip(state[:3], (q, positions, rotations), strict=True):
        part[at] = new[row, best]
    state.restarted[at] |= best > 0 if continued else True
    return some


def within_tolerances(tolerances: tuple[float, float], positions: Array, rotations: Array) -> Array:
    """(...): whether all errors (..., goals) are within the tolerances."""
    return np.logical_and.reduce((positions <= tolerances[0]) & (rotations <= tolerances[1]), axis=-1)


def cost(positions: Array, rotations: Array) -> Array:
    """(...): the sum of the squares of all errors (..., goals)."""
    return (positions * positions + rotations * rotations).sum(axis=-1)
