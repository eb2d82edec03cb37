"""An interior-point method for small convex quadratic programs, a sample a lane.  [Mehrotra 1992]

    minimise x^T H x / 2 + g^T x + v^T D^-1 v / 2   subject to   lower <= C x - v <= upper

D are the compliances of the rows: where one is zero, as all are unless told, a row is hard, and its v is zero. Every
bound has a slack s > 0 and a multiplier z > 0; a row whose bounds are equal has no slack and a multiplier of any sign.

A round factors H + C^T W C once, W = z / s of both sides of a row, and solves with it twice: for the step towards
s z = 0, and for its correction, which aims at s z = σ μ and takes off the products of the first step's changes. The
correction is added whole as long as the step can go as far as with a share of it, which is the length of the first
step; else that share is, since whole corrections can turn in circles [Colombo and Gondzio 2008]. Steps have one length,
since H couples what is primal with what is dual.

The Newton equations have a little on both diagonals, as the proximal method of multipliers has it: W stays so small
that H is not lost beside it, rows may depend on each other, and directions that nothing decides stay where they are.
The residuals are those of the program itself, so that the solution is not moved by it. Rows are divided by their
lengths and the objective by its size, so that units make no difference.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms._parts import mirrored
from multibody.geometry._arrays import is_traced, matvec, transpose
from multibody.tracing import linalg
from multibody.tracing.loop import loop

Array = NDArray[Any]
Iterate = tuple[Array, Array, Array]
"""What a round improves: x, the slacks s of all sides, and their multipliers z."""
ROUNDS = 50
"""At most; some 6 to 12 are taken."""
WITHIN = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 2e-5}
"""When to stop: residuals, relative to the sizes of what they are made of."""
MEAN = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-6}
"""When to stop: the mean of s z, likewise; where s and z of a row both vanish, each is off by the root of it."""
LITTLE = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-5}
"""What is beside H in the Newton equations, whose largest entry is at most 1."""
YIELD = {np.dtype(np.float64): 1e-7, np.dtype(np.float32): 1e-4}
"""What is beside 1 / W, for rows of the length 1: W is at most the inverse, and rounding errors of it are less than
what is beside H."""
SHORT = 0.995
"""The share of the way to the nearest bound that a step takes."""
BETTER = 1.01
"""By what factor a step must be longer for a smaller share of the correction to be preferred."""
AIM = 0.1
"""The least s z that is aimed at, as a share of what is small enough: smaller slacks would only lose digits."""
APART = 0.01
"""The least slack and multiplier at the start, relative to the sizes of the bounds and of g."""
FLAT = 1e-3
"""The least size of a gradient, as a share of what H makes of an x of 1."""
TINY_ROW = 1e-8
"""The share of the longest row up to which rows are rounding errors of zeros."""
NONE = 1e20
"""A bound that is larger is no bound."""
LOST = 1e6
"""How many times the sizes of gradient and bounds multipliers and x are when there is hardly a solution."""
PRESSED = 1e3
"""How many times its slack a multiplier is that is certainly not zero."""


class Solution(NamedTuple):
    """The minimiser of a quadratic program, and how well it is met."""

    x: Array
    """(..., n)"""
    multipliers: Array
    """(..., m): positive at upper bounds, negative at lower ones; H x + g + C^T multipliers = 0."""
    rounds: Array
    """(...)"""
    residual: Array
    """(...): the largest of the residuals that tell when to stop."""
    pressed: Any
    """(..., m), truth values: rows whose multipliers are certainly not zero, and all with equal bounds."""


def solve(
    H: Array,
    g: Array,
    C: Array,
    lower: Array,
    upper: Array,
    skip: Any = None,
    *,
    equalities: int = 0,
    compliance: Array | None = None,
    lengths: Array | None = None,
    give_up: Any = None,
) -> Solution:
    """The x that solves the program; where no x is within the bounds, a compromise, with a large residual.

    Args:
        H: (..., n, n), symmetric and positive semi-definite; its upper triangle is read.
        g: (..., n).
        C: (..., m, n), m > 0; zeros and ones that are constants cost nothing in a kernel.
        lower: (..., m), -inf where there is no bound.
        upper: (..., m).
        skip: (...), truth values: samples whose solution is not wanted, which take no rounds.
        equalities: how many rows, the first ones, are C x = upper whatever `lower` says, and cost half of others.
        compliance: (..., m), by how much a row is beyond its bound for a unit of its multiplier.
        lengths: (..., m), by what rows are divided; their own lengths, unless told.
        give_up: (...), truth values: samples that stop as soon as x or multipliers are so large that there is hardly a
            solution.
    """
    steepness, lengths = _steepness(H, g), _lengths(C, lower, upper) if lengths is None else lengths
    if compliance is not None:
        compliance = compliance * steepness[..., None] / (lengths * lengths)
    program = _program(
        H / steepness[..., None, None],
        g / steepness[..., None],
        C / lengths[..., None],
        lower / lengths,
        upper / lengths,
        equalities,
        compliance,
    )
    within = WITHIN[np.dtype(g.dtype)]

    def stop(at: Iterate) -> Any:
        done = ~(program.residual(at) > within)  # NaN is done
        if give_up is not None:
            done = done | (give_up & program.is_lost(at))
        return done if skip is None else done | skip

    end, rounds = loop(ROUNDS, program.improved, program.start(), until=stop, rounds=True)
    multipliers = program.merged(end[2]) * (steepness[..., None] / lengths)
    return Solution(end[0], multipliers, rounds, program.residual(end), program.pressed(end))


class _Program(NamedTuple):
    """A program in units of its own: an objective of the size 1, and rows of the length 1.

    Sides are the lower ones of all rows but the equalities, -C x <= -lower, then the upper ones of all.
    """

    H: Array
    g: Array
    C: Array
    equalities: int
    bounds: Array
    """(..., sides), zero where there is none."""
    there: Array
    """(..., sides), 1 for those with a bound and 0 for others."""
    tied: Array
    """(..., sides), 1 for the upper sides of rows with equal bounds, whose lower sides have none."""
    slack: Array
    """(..., sides), 1 for sides that have a slack: those with a bound that are not tied."""
    compliance: Array | None
    """(..., sides)"""
    least: Array
    """(...): the least size of a gradient."""

    def sides(self, y: Array) -> Array:
        """(..., sides): what the bounds are for, of y = C x."""
        return np.concatenate([-y[..., self.equalities :], y], axis=-1)

    def merged(self, z: Array, sign: int = -1) -> Array:
        """(..., m): upper sides less lower ones, or their sum."""
        first, two = self.C.shape[-2] - self.equalities, self.C.shape[-2]
        return np.concatenate([z[..., first:two], z[..., two:] + sign * z[..., :first]], axis=-1)

    def pull(self, z: Array) -> Array:
        """(..., n): what multipliers of all sides add to the gradient."""
        forces = self.merged(z)
        return sum(
            (forces[..., k, None] * self.C[..., k, :] for k in range(1, forces.shape[-1])),
            start=forces[..., 0, None] * self.C[..., 0, :],
        )

    def mean(self, products: Array) -> Array:
        """(...): of products over all sides that have a slack."""
        return np.sum(products, axis=-1) / np.maximum(np.sum(self.slack, axis=-1), 1.0)

    def residuals(self, at: Iterate) -> tuple[Array, Array, Array, Array]:
        """Of the gradient and of the bounds, the mean of s z, and the size of what the gradient is made of."""
        x, s, z = at
        Hx, gap = matvec(self.H, x), self.bounds - self.sides(matvec(self.C, x)) - s
        size = np.maximum(_largest(np.abs(np.concatenate([Hx, self.g], axis=-1))), self.least)
        if self.compliance is not None:
            beyond = self.compliance * z
            gap, size = gap + beyond, np.maximum(size, np.sqrt(np.sum(beyond * z, axis=-1)))
        return Hx + self.g + self.pull(z), gap * self.there, self.mean(s * z), size

    def residual(self, at: Iterate) -> Array:
        """(...): the largest, relative to sizes; where a slack is large, rounding errors are."""
        dtype, (x, s, _) = np.dtype(self.g.dtype), at
        gradient, gap, mean, size = self.residuals(at)
        over = _largest(np.abs(gap) - WITHIN[dtype] * s) / np.maximum(1.0, _largest(np.abs(x)))
        dual = np.maximum(_largest(np.abs(gradient)), mean * (WITHIN[dtype] / MEAN[dtype]))
        return np.maximum(dual / size, over)  # NaN is in the mean in any case

    def is_lost(self, at: Iterate) -> Any:
        """(...), truth values: whether multipliers or x grow beyond all measure."""
        x, _, z = at
        size_g, size_b = 1.0 + _largest(np.abs(matvec(self.H, x))), 1.0 + np.max(np.abs(self.bounds), axis=-1)
        return (np.sum(z * z, axis=-1) > (LOST * size_g) ** 2) | (np.sum(x * x, axis=-1) > (LOST * size_b) ** 2)

    def pressed(self, at: Iterate) -> Any:
        """(..., m), truth values."""
        _, s, z = at
        strictly = np.where(z > PRESSED * s, self.slack, self.tied)
        return self.merged(strictly, 1) > 0

    def normal_matrix(self, w: Array) -> Array:
        """H + C^T diag(w) C and a little on the diagonal, built so that the compiler knows it to be symmetric."""
        weighted = transpose(self.C) * self.merged(w, 1)[..., None, :]
        A = mirrored(self.H + np.matmul(weighted, self.C))
        return A + LITTLE[np.dtype(self.g.dtype)] * np.eye(self.H.shape[-1], dtype=self.H.dtype)

    def start(self) -> Iterate:
        """Mehrotra's: the least of the program with slacks in the objective, then all s and z moved to be positive."""
        size_b = 1.0 + np.max(np.abs(self.bounds), axis=-1)
        size_g = np.maximum(np.max(np.abs(self.g), axis=-1), self.least)
        right = self.pull(self.bounds * self.there) - self.g
        x = linalg.solve(self.normal_matrix(self.there), right[..., None], definite=True)[..., 0]
        s = (self.bounds - self.sides(matvec(self.C, x))) * self.slack
        low, high = np.min(s, axis=-1), np.max(s, axis=-1)
        s, z = s - np.minimum(1.5 * low, 0.0)[..., None], np.maximum(1.5 * high, 0.0)[..., None] - s
        s, z = s * self.slack, z * self.slack
        product = np.sum(s * z, axis=-1) / 2
        tiny = np.finfo(np.dtype(self.g.dtype)).tiny
        more_s = np.maximum(product / np.maximum(np.sum(z, axis=-1), tiny), APART * size_b)
        more_z = np.maximum(product / np.maximum(np.sum(s, axis=-1), tiny), APART * size_g)
        s = np.where(self.slack > 0, s + more_s[..., None], 1.0 - self.tied)
        return x, s, self.slack * (z + more_z[..., None])

    def improved(self, at: Iterate) -> Iterate:
        """What follows after a round."""
        x, s, z = at
        dtype = np.dtype(self.g.dtype)
        gradient, gap, mean, size = self.residuals(at)
        give = YIELD[dtype] * np.ones_like(z)
        if self.compliance is not None:
            give = give + self.compliance

        def weights(s: Array, z: Array, gap: Array, slack: Array, tied: Array, give: Array) -> tuple[Array, ...]:
            """1 / (s + give z), its product with z, that with s and the gap; 1 / s and 1 / z, by one division."""
            some, one = slack > 0, np.ones_like(z)
            force = np.where(some, z, tied)
            low, high, both = np.where(some, s, one), np.where(some, z, one), s + give * force
            reciprocal = 1.0 / (low * high * both)
            relaxed = reciprocal * (low * high)
            w = force * relaxed
            share = reciprocal * both * slack
            return relaxed, w, w * (s + gap), share * high, share * low

        relaxed, w, push, per_s, per_z = _by_side(weights, s, z, gap, self.slack, self.tied, give)
        A = self.normal_matrix(w)

        def changes(
            way: Array, change: Array, relaxed: Array, w: Array, give: Array, slack: Array
        ) -> tuple[Array, Array]:
            """Of s and z, for which s z changes by as much, to first order."""
            dz = change * relaxed - w * way
            return (way + give * dz) * slack, dz

        def first(s: Array, z: Array, way: Array, per_s: Array, per_z: Array, *rest: Array) -> tuple[Array, ...]:
            ds, dz = changes(way, -s * z, *rest)
            return ds, dz, ds * dz, _larger(-ds * per_s, -dz * per_z)

        dx = linalg.solve(A, (self.pull(push) - gradient)[..., None], definite=True)[..., 0]
        way = gap - self.sides(matvec(self.C, dx))
        rest = relaxed, w, give, self.slack
        ds, dz, crossed, ratio = _by_side(first, s, z, way, per_s, per_z, *rest)
        far = _reach(ratio)
        left = (1.0 - far) * mean + far * far * self.mean(crossed)
        share = left / np.maximum(mean, np.finfo(dtype).tiny)
        aim = np.maximum(share * share * left, AIM * MEAN[dtype] * size)[..., None]

        def turn(crossed: Array, relaxed: Array, slack: Array) -> tuple[Array, Array]:
            change = (aim - crossed) * slack
            return change, change * relaxed

        change, push = _by_side(turn, crossed, relaxed, self.slack)
        dx_2 = linalg.solve(A, -self.pull(push)[..., None], definite=True)[..., 0]
        way = -self.sides(matvec(self.C, dx_2))

        def second(
            way: Array, change: Array, ds: Array, dz: Array, per_s: Array, per_z: Array, *rest: Array
        ) -> tuple[Array, ...]:
            ds_2, dz_2 = changes(way, change, *rest)
            by_s, by_z, by_s_2, by_z_2 = ds * per_s, dz * per_z, ds_2 * per_s, dz_2 * per_z
            part = far[..., None]
            shared = _larger(-by_s - part * by_s_2, -by_z - part * by_z_2)
            return ds_2, dz_2, _larger(-by_s - by_s_2, -by_z - by_z_2), shared

        ds_2, dz_2, *ratios = _by_side(second, way, change, ds, dz, per_s, per_z, *rest)
        whole, shared = (_reach(ratio) for ratio in ratios)
        longer = shared > BETTER * whole
        a = (SHORT * np.where(longer, shared, whole))[..., None]
        b = a * np.where(longer, far, np.ones_like(far))[..., None]
        return x + a * dx + b * dx_2, s + a * ds + b * ds_2, z + a * dz + b * dz_2


def _program(
    H: Array, g: Array, C: Array, lower: Array, upper: Array, equalities: int, compliance: Array | None
) -> _Program:
    """The program with its sides."""
    first = lower[..., equalities:]
    bounds = np.concatenate([-first, upper], axis=-1)
    zeros, ones = np.zeros_like(upper), np.ones_like(upper)
    equal = np.where(first == upper[..., equalities:], ones[..., equalities:], zeros[..., equalities:])
    tied = np.concatenate([zeros[..., equalities:], ones[..., :equalities], equal], axis=-1)
    there = np.where(np.abs(bounds) >= NONE, np.zeros_like(bounds), np.ones_like(bounds))  # NaN is there
    lower_there, upper_there = there[..., : first.shape[-1]], there[..., first.shape[-1] :]
    there = np.concatenate([lower_there * (1.0 - equal), upper_there], axis=-1)
    bounds = np.where(there > 0, bounds, np.zeros_like(bounds))
    if compliance is not None:
        compliance = np.concatenate([compliance[..., equalities:], compliance], axis=-1)
    largest = np.max(_diagonal(H), axis=-1)
    least = FLAT * np.where(largest > 0, largest, np.ones_like(largest))
    return _Program(H, g, C, equalities, bounds, there, tied, there * (1.0 - tied), compliance, least)


def _diagonal(H: Array) -> Array:
    return np.stack([H[..., k, k] for k in range(H.shape[-1])], axis=-1)


def _steepness(H: Array, g: Array) -> Array:
    """(...): the size of an objective, 1 for zero."""
    size = np.max(np.maximum(np.abs(g), np.abs(_diagonal(H))), axis=-1)
    return np.where(size > 0, size, np.ones_like(size))


def _lengths(C: Array, lower: Array, upper: Array) -> Array:
    """(..., m): those of the rows, and the sizes of their bounds for rows that are next to nothing."""
    lengths = np.sqrt(np.sum(C * C, axis=-1))
    low, high = (np.where(np.abs(side) < NONE, np.abs(side), np.zeros_like(side)) for side in (lower, upper))
    size = np.maximum(low, high)
    size = np.where(size > 0, size, np.ones_like(size))
    return np.where(lengths > TINY_ROW * np.max(lengths, axis=-1, keepdims=True), lengths, size)


def _largest(values: Array) -> Array:
    """(...): over the last axis, two by two."""
    parts = [values[..., k] for k in range(values.shape[-1])]
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [_larger(a, b) for a, b in pairs] + (parts[-1:] if len(parts) % 2 else [])
    return parts[0]


def _larger(a: Array, b: Array) -> Array:
    """The larger of two: one instruction, as NaN need not win."""
    return np.where(a > b, a, b)


def _reach(ratios: Array) -> Array:
    """The longest step, at most 1, after which no slack and no multiplier is negative; ratios are those of its end."""
    return 1.0 / np.maximum(1.0, _largest(ratios))


def _by_side(function: Callable[..., tuple[Array, ...]], *arrays: Array) -> tuple[Array, ...]:
    """function(*arrays), of arrays (..., sides); in a kernel side after side, so that few numbers are stored."""
    if not any(is_traced(array) for array in arrays):
        return function(*arrays)
    parts = [function(*(array[..., k : k + 1] for array in arrays)) for k in range(arrays[0].shape[-1])]
    return tuple(np.concatenate(column, axis=-1) for column in zip(*parts, strict=True))
