"""Rounds of an interior-point method for small convex quadratic programs, a sample a lane.  [Mehrotra 1992]

    minimise x^T H x / 2 + g^T x + v^T D^-1 v / 2   subject to   lower <= C x - v <= upper

in units of their own: an objective of the size 1, and rows of the length 1. D are the compliances of the rows: where
one is zero, as all are unless told, a row is hard, and its v is zero. Every bound has a slack s > 0 and a multiplier
z > 0; a row whose bounds are equal has no slack and a multiplier of any sign.

A round factors H + C^T W C once, W = z / s of both sides of a row, and solves with it twice: for the step towards
s z = 0, and for its correction, which aims at s z = σ μ and takes off the products of the first step's changes. The
correction is added whole as long as the step can go as far as with a share of it, which is the length of the first
step; else that share is, since whole corrections can turn in circles [Colombo and Gondzio 2008]. Steps have one length,
since H couples what is primal with what is dual.

The Newton equations have a little on both diagonals, as the proximal method of multipliers has it: W stays so small
that H is not lost beside it, rows may depend on each other, and directions that nothing decides stay where they are.
What they are solved for are the residuals of the program itself, so that the solution is not moved by it.

C x and the gradient are carried from round to round. A step of the length a leaves 1 - a of the gradient, but for the
little on the diagonal and rounding errors, of which the next step takes off what it finds.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.geometry._arrays import is_traced, matvec, mirror_upper, transpose
from multibody.tracing.matrices import linalg
from multibody.tracing.record.loop import loop

Array = NDArray[Any]
LITTLE = {np.dtype(np.float64): (1e-15, 1e-13), np.dtype(np.float32): (1e-9, 1e-6)}
"""What is beside H in the Newton equations, whose largest entry is at most 1: a share of the largest entry of all,
more than its rounding errors, and at least so much. More would let flat directions stay where they are for long."""
YIELD = {np.dtype(np.float64): 1e-7, np.dtype(np.float32): 1e-4}
"""What is beside 1 / W, for rows of the length 1: W is at most the inverse."""
FIRM = {np.dtype(np.float64): 1e-3, np.dtype(np.float32): 1e-1}
"""The share of it that is left where nothing but slacks is missing: then multipliers have a long way to go."""
MISSING = 100.0
"""How many times smaller than what slacks are off the gradient is when that is all that is missing."""
SHORT = 0.995, 0.9999
"""The share of the way to the nearest bound that a step takes, far from the solution and near to it."""
NEAR = 0.1
"""By what share of what a first step leaves of s z a step may be short."""
BETTER = 1.01
"""By what factor a step must be longer for a smaller share of the correction to be preferred."""
AIM = 0.1
"""The least s z that is aimed at, as a share of what is small enough: smaller slacks would only lose digits."""
LOST = 1e6
"""How many times the sizes of gradient and bounds multipliers and x are when there is hardly a solution."""
PRESSED = 1e3
"""How many times its slack a multiplier is that is certainly not zero, and the other way round."""
SHARP = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-6}
"""The mean of s z, beside the largest z, at which slacks of rows that are pressed come near to rounding errors."""


class Iterate(NamedTuple):
    """What a round improves."""

    x: Array
    """(..., n)"""
    y: Array
    """(..., m): C x."""
    s: Array
    """(..., sides): slacks."""
    z: Array
    """(..., sides): multipliers."""
    gradient: Array
    """(..., n): H x + g + C^T z."""


class Sides(NamedTuple):
    """The sides of m rows: the upper ones of all, C x <= upper, then the lower ones of some, -C x <= -lower."""

    rows: int
    first: int
    """The first row with a lower side."""
    last: int
    """The last one, and one more."""

    def of(self, y: Array) -> Array:
        """(..., sides): what the bounds are for, of y = C x."""
        return np.concatenate([y, -y[..., self.first : self.last]], axis=-1)

    def merged(self, z: Array, sign: int = -1) -> Array:
        """(..., m): upper sides less lower ones, or their sum."""
        both = z[..., self.first : self.last] + sign * z[..., self.rows :]
        return np.concatenate([z[..., : self.first], both, z[..., self.last : self.rows]], axis=-1)


class Kinds(NamedTuple):
    """What sides are where that is known only when a kernel runs: ones and zeros, (..., sides)."""

    slack: Array
    """1 for sides that have a slack."""
    tied: Array
    """1 for the upper sides of rows with equal bounds, whose lower sides are not there: neither one nor the other."""


class Tolerance(NamedTuple):
    """When to stop."""

    within: float
    """Residuals, relative to the sizes of what they are made of."""
    mean: float
    """The mean of s z, likewise; where s and z of a row both vanish, each is off by the root of it."""
    gap: float
    """What a row of the length 1 is off from its slack, beside an x of 1; long rows violate their bounds by more."""


class Program(NamedTuple):
    """A program in units of its own."""

    H: Array
    g: Array
    C: Array
    sides: Sides
    bounds: Array
    """(..., sides), zero where there is none."""
    least: Array
    """(...): the least size of a gradient."""
    tolerance: Tolerance
    kinds: Kinds | None = None
    """None where every side has a slack."""
    compliance: Array | None = None
    """(..., sides)"""
    sharp: bool = False
    """Whether to go on until it is clear of every row whether it is pressed, as far as there are digits for it."""

    def solved(self, start: Iterate, rounds: int, give_up: Any, skip: Any) -> tuple[Iterate, Array]:
        """Where at most so many rounds lead to, and how many are taken.

        Args:
            start: from where; slacks and multipliers are positive where there are any.
            rounds: at most.
            give_up: (...), truth values: samples that stop as soon as x or multipliers are so large that there is
                hardly a solution; None for none.
            skip: (...), truth values: samples that take no rounds; None for none.
        """

        def stop(at: Iterate) -> Any:
            done = ~(self.residual(at, self.tolerance.gap) > self.tolerance.within)  # NaN is done
            if self.sharp:
                done = done & (self.is_clear(at) | ~(self.mean(at.s * at.z) > self.enough(at)))
            if give_up is not None:
                done = done | (give_up & self.is_lost(at))
            return done if skip is None else done | skip

        end, taken = loop(
            rounds,
            lambda at: tuple(self.improved(Iterate(*at))),
            tuple(start),
            until=lambda at: stop(Iterate(*at)),
            rounds=True,
        )
        return Iterate(*end), taken

    def iterate(self, x: Array, s: Array, z: Array) -> Iterate:
        """What is to be carried of x, slacks and multipliers."""
        return Iterate(x, matvec(self.C, x), s, z, matvec(self.H, x) + self.g + self.pull(z))

    def pull(self, z: Array) -> Array:
        """(..., n): what multipliers of all sides add to the gradient."""
        forces = self.sides.merged(z)
        return sum(
            (forces[..., k, None] * self.C[..., k, :] for k in range(1, forces.shape[-1])),
            start=forces[..., 0, None] * self.C[..., 0, :],
        )

    def mean(self, products: Array) -> Array:
        """(...): of products over all sides that have a slack."""
        total = np.sum(products, axis=-1)
        if self.kinds is None:
            return total * (1.0 / products.shape[-1])
        return total * (1.0 / np.maximum(np.sum(self.kinds.slack, axis=-1), 1.0))

    def gap(self, at: Iterate) -> Array:
        """(..., sides): by how much a slack is not the distance to its bound."""
        gap = self.bounds - self.sides.of(at.y) - at.s
        return gap if self.compliance is None else gap + self.compliance * at.z

    def size(self, at: Iterate) -> Array:
        """(...): of what the gradient is made of."""
        size = np.maximum(largest(np.abs(np.concatenate([matvec(self.H, at.x), self.g], axis=-1))), self.least)
        if self.compliance is None:
            return size
        return np.maximum(size, np.sqrt(np.sum(self.compliance * at.z * at.z, axis=-1)))

    def residual(self, at: Iterate, gap: float | None = None) -> Array:
        """(...): the largest, relative to sizes; where a slack is large, rounding errors are.

        `gap` is the tolerance of what slacks are off, where it is another than that of the gradient.
        """
        within, mean, _ = self.tolerance
        gap = within if gap is None else gap
        over = np.abs(self.gap(at)) - gap * at.s
        if self.kinds is not None:
            over = over * (self.kinds.slack + self.kinds.tied)
        dual = np.maximum(largest(np.abs(at.gradient)), self.mean(at.s * at.z) * (within / mean))
        # NaN is in the mean in any case
        beyond = largest(over) * (within / gap)
        return np.maximum(dual / self.size(at), beyond / np.maximum(1.0, largest(np.abs(at.x))))

    def enough(self, at: Iterate) -> Array:
        """(...): the mean of s z that is small enough."""
        enough = self.tolerance.mean * self.size(at)
        return np.minimum(enough, SHARP[np.dtype(self.g.dtype)] * largest(at.z)) if self.sharp else enough

    def is_clear(self, at: Iterate) -> Any:
        """(...), truth values: whether all rows are either pressed, or certainly not."""
        between = _larger(PRESSED * at.s - at.z, 0.0 * at.z) * _larger(PRESSED * at.z - at.s, 0.0 * at.z)
        if self.kinds is not None:
            between = between * self.kinds.slack
        return ~(largest(between) > 0)

    def is_lost(self, at: Iterate) -> Any:
        """(...), truth values: whether multipliers or x grow beyond all measure."""
        size_g, size_b = 1.0 + largest(np.abs(matvec(self.H, at.x))), 1.0 + np.max(np.abs(self.bounds), axis=-1)
        return (np.sum(at.z * at.z, axis=-1) > (LOST * size_g) ** 2) | (
            np.sum(at.x * at.x, axis=-1) > (LOST * size_b) ** 2
        )

    def pressed(self, at: Iterate) -> Any:
        """(..., m), truth values: rows whose multipliers are certainly not zero, and all with equal bounds."""
        one = np.ones_like(at.z)
        slack, tied = (one, np.zeros_like(one)) if self.kinds is None else self.kinds
        return self.sides.merged(np.where(at.z > PRESSED * at.s, slack, tied), 1) > 0

    def weighted(self, w: Array) -> Array:
        """H + C^T diag(w) C, built so that the compiler knows it to be symmetric."""
        weighted = transpose(self.C) * self.sides.merged(w, 1)[..., None, :]
        return mirror_upper(self.H + np.matmul(weighted, self.C))

    def improved(self, at: Iterate) -> Iterate:
        """What follows after a round."""
        x, y, s, z, gradient = at
        dtype = np.dtype(self.g.dtype)
        gap, mean = self.gap(at), self.mean(s * z)
        off = np.abs(gap) if self.kinds is None else np.abs(gap) * (self.kinds.slack + self.kinds.tied)
        steep = MISSING * largest(np.abs(gradient))
        firm = np.maximum(steep / np.maximum(np.maximum(largest(off), steep), np.finfo(dtype).tiny), FIRM[dtype])
        give = (YIELD[dtype] * firm)[..., None] * np.ones_like(z)
        if self.compliance is not None:
            give = give + self.compliance
        kinds = () if self.kinds is None else self.kinds

        def weights(s: Array, z: Array, gap: Array, give: Array, *kinds: Array) -> tuple[Array, ...]:
            """1 / (s + give z), its product with z, and what is to be pulled; 1 / s and 1 / z, by one division."""
            force, low, high, slack = z, s, z, 1.0
            if kinds:
                slack, tied = kinds
                some, one = slack > 0, np.ones_like(z)
                force, low, high = np.where(some, z, tied), np.where(some, s, one), np.where(some, z, one)
            both = s + give * force
            reciprocal = 1.0 / (low * high * both)
            relaxed = reciprocal * (low * high)
            w, share = force * relaxed, reciprocal * both * slack
            return relaxed, w, w * (gap - give * z), share * high, share * low

        relaxed, w, push, per_s, per_z = _by_side(weights, s, z, gap, give, *kinds)
        A = self.weighted(w)
        little = beside(A)
        A = shifted(A, little)

        def changes(
            way: Array, change: Array, relaxed: Array, w: Array, give: Array, *kinds: Array
        ) -> tuple[Array, Array]:
            """Of s and z, for which s z changes by as much, to first order."""
            dz = change * relaxed - w * way
            ds = way + give * dz
            return (ds * kinds[0] if kinds else ds), dz

        def first(s: Array, z: Array, way: Array, per_s: Array, per_z: Array, *rest: Array) -> tuple[Array, ...]:
            ds, dz = changes(way, -s * z, *rest)
            return ds, dz, ds * dz, _larger(-ds * per_s, -dz * per_z)

        right = self.pull(push) - (matvec(self.H, x) + self.g)
        dx = linalg.solve(A, right[..., None], definite=True)[..., 0]
        dy = matvec(self.C, dx)
        rest = relaxed, w, give, *kinds
        ds, dz, crossed, ratio = _by_side(first, s, z, gap - self.sides.of(dy), per_s, per_z, *rest)
        far = _reach(ratio)
        left = (1.0 - far) * mean + far * far * self.mean(crossed)
        share = left / np.maximum(mean, np.finfo(dtype).tiny)
        aim = np.maximum(share * share * left, AIM * self.enough(at))[..., None]

        def turn(crossed: Array, relaxed: Array, *kinds: Array) -> tuple[Array, Array]:
            change = (aim - crossed) * kinds[0] if kinds else aim - crossed
            return change, change * relaxed

        change, push = _by_side(turn, crossed, relaxed, *kinds)
        dx_2 = linalg.solve(A, -self.pull(push)[..., None], definite=True)[..., 0]
        dy_2 = matvec(self.C, dx_2)

        def second(
            way: Array, change: Array, ds: Array, dz: Array, per_s: Array, per_z: Array, *rest: Array
        ) -> tuple[Array, ...]:
            ds_2, dz_2 = changes(way, change, *rest)
            by_s, by_z, by_s_2, by_z_2 = ds * per_s, dz * per_z, ds_2 * per_s, dz_2 * per_z
            part = far[..., None]
            shared = _larger(-by_s - part * by_s_2, -by_z - part * by_z_2)
            return ds_2, dz_2, _larger(-by_s - by_s_2, -by_z - by_z_2), shared

        ds_2, dz_2, *ratios = _by_side(second, -self.sides.of(dy_2), change, ds, dz, per_s, per_z, *rest)
        whole, shared = (_reach(ratio) for ratio in ratios)
        longer = shared > BETTER * whole
        short = np.minimum(np.maximum(1.0 - NEAR * share, SHORT[0]), SHORT[1])
        a = (short * np.where(longer, shared, whole))[..., None]
        b = a * np.where(longer, far, np.ones_like(far))[..., None]
        step = a * dx + b * dx_2
        return Iterate(
            x + step,
            y + a * dy + b * dy_2,
            s + a * ds + b * ds_2,
            z + a * dz + b * dz_2,
            gradient - a * gradient - little[..., None] * step,
        )


def beside(A: Array) -> Array:
    """(...): what is to be beside H in the Newton equations, of their matrix."""
    share, least = LITTLE[np.dtype(A.dtype)]
    diagonal = np.stack([A[..., k, k] for k in range(A.shape[-1])], axis=-1)
    return np.maximum(share * largest(diagonal), least)


def shifted(A: Array, little: Array) -> Array:
    """A, and a little on its diagonal."""
    return A + little[..., None, None] * np.eye(A.shape[-1], dtype=A.dtype)


def largest(values: Array) -> Array:
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
    return 1.0 / np.maximum(1.0, largest(ratios))


def _by_side(function: Callable[..., tuple[Array, ...]], *arrays: Array) -> tuple[Array, ...]:
    """function(*arrays), of arrays (..., sides); in a kernel side after side, so that few numbers are stored."""
    if not any(is_traced(array) for array in arrays):
        return function(*arrays)
    parts = [function(*(array[..., k : k + 1] for array in arrays)) for k in range(arrays[0].shape[-1])]
    return tuple(np.concatenate(column, axis=-1) for column in zip(*parts, strict=True))
