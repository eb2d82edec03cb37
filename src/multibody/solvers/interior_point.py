"""Predictor-corrector iterations of a primal-dual interior-point method for quadratic programs.  [Mehrotra 1992]

`ScaledProgram.iterate` is one iteration, with `_step_length`, the longest step to the boundary (with
cones `cones.step_length`). `residual` is the test of termination.

    minimise x^T H x / 2 + g^T x + v^T D^-1 v / 2   subject to   lower <= C x - v <= upper

Its objective has the size 1, and its rows the length 1. D are the compliances of the rows: a row of compliance zero,
the default, is hard, and its v is zero; other rows are soft. Every bound has a slack s > 0 and a multiplier z > 0; an
equality has no slack and a multiplier of any sign.

An iteration factors H + C^T W C once, W = z / s of both sides of a row, and solves with it twice: for the predictor,
which aims at s z = 0, and for the corrector, which aims at s z = σ μ and subtracts the second-order terms of the
predictor. The whole corrector is added if the step is then as long as with the part of it that has the predictor's
step length; otherwise that part is, because whole correctors can cycle [Colombo and Gondzio 2008]. H couples primal and
dual steps, so that their lengths are equal.

Both diagonals of the Newton equations are regularised, as in the proximal method of multipliers: W stays so small that
H is not lost in rounding errors, rows may be dependent, and x does not move along flat directions. The right-hand side
is the residual of the program itself, so that the regularisation does not move the solution.

C x and the gradient are updated, not recomputed; the next step corrects their rounding errors.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from multibody.geometry._arrays import Array, is_traced, matvec, mirror_upper, transpose
from multibody.solvers.equilibration import Weights
from multibody.tracing.matrices import linalg
from multibody.tracing.record.loop import loop

PRIMAL_REGULARISATION = {np.dtype(np.float64): (1e-15, 1e-13), np.dtype(np.float32): (1e-9, 1e-6)}
"""Primal regularisation of the Newton system, relative to its largest diagonal entry, and its lower bound."""
DUAL_REGULARISATION = {np.dtype(np.float64): 1e-7, np.dtype(np.float32): 1e-4}
"""Dual regularisation, added to 1 / W, for rows of the length 1: W is at most its inverse."""
MIN_DUAL_FACTOR = {np.dtype(np.float64): 1e-3, np.dtype(np.float32): 1e-1}
"""The factor of the dual regularisation if only the primal residual is left: multipliers then have far to go."""
PRIMAL_ONLY_RATIO = 100.0
"""The ratio of primal residual to gradient from which only the primal residual counts as left."""
STEP_TO_BOUNDARY = 0.995, 0.9999
"""The fraction of the largest step that keeps s, z > 0, far from the solution and near it."""
STEP_SHORTENING = 0.1
"""The shortening of a step per fraction of s z that the predictor leaves."""
MIN_STEP_RATIO = 1.01
"""The ratio of step lengths from which the smaller part of the corrector is preferred."""
MIN_COMPLEMENTARITY = 0.1
"""The smallest target of s z, relative to the tolerance: smaller slacks would only lose digits."""
DIVERGED = 1e6
"""The size of x and multipliers, relative to bounds and gradient, from which there is hardly a solution."""
ACTIVE_RATIO = 1e3
"""The ratio z / s from which a row is certainly active, and s / z from which it certainly is not."""
MIN_ACTIVE_MULTIPLIER = {np.dtype(np.float64): 1e-7, np.dtype(np.float32): 1e-3}
"""The smallest multiplier of a row that is certainly active; smaller ones may be rounding errors of the objective."""
COMPLEMENTARITY_FLOOR = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-6}
"""The mean of s z, relative to the largest z, at which slacks of active rows approach rounding errors."""


class Iterate(NamedTuple):
    """The carry of the iterations."""

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
    """The end of the rows with a lower side."""

    def split(self, y: Array) -> Array:
        """(..., sides): the values that are bounded, from y = C x."""
        return np.concatenate([y, -y[..., self.first : self.last]], axis=-1)

    def merge(self, z: Array, sign: int = -1) -> Array:
        """(..., m): upper sides minus lower ones, or their sum."""
        both = z[..., self.first : self.last] + sign * z[..., self.rows :]
        return np.concatenate([z[..., : self.first], both, z[..., self.last : self.rows]], axis=-1)


class SideTypes(NamedTuple):
    """The types of sides if the values of the bounds decide them: ones and zeros, (..., sides)."""

    slack: Array
    """1 for sides that have a slack."""
    equality: Array
    """1 for the upper sides of equalities. Their lower sides have neither, as sides without a bound."""


class Tolerance(NamedTuple):
    """When to stop."""

    residual: float
    """Residuals, relative to the sizes of their terms."""
    complementarity: float
    """The mean of s z, relative likewise. If s and z of a row both vanish, the error of each is the root of it."""
    gap: float
    """Primal residual of unit rows, relative to max(1, |x|); long rows violate their bounds by more."""


class NewtonSystem(NamedTuple):
    """The Newton equations at an iterate, reduced to x."""

    matrix: Array
    """(..., n, n)"""
    regularisation: Array
    """(...)"""
    gap: Array
    push: Array
    """(..., sides), the multipliers' part of the right-hand side."""
    per_s: Array
    per_z: Array
    weights: tuple[Array, ...]
    """1 / (s + d z), z / (s + d z), the dual regularisation d, and ones for sides with a slack."""


class Step(NamedTuple):
    """Changes of x, C x, slacks and multipliers."""

    dx: Array
    dy: Array
    ds: Array
    dz: Array


class ScaledProgram(NamedTuple):
    """A program in the units of the method."""

    H: Array
    g: Array
    C: Array
    sides: Sides
    bounds: Array
    """(..., sides), zero for sides without a bound."""
    min_size: Array
    """(...): the smallest size of a gradient."""
    tolerance: Tolerance
    types: SideTypes
    weights: Weights
    compliance: Array | None = None
    """(..., sides)"""
    identify_active: bool = False
    """Whether to continue until every row is clearly active or inactive, as far as digits allow."""

    def solve(self, start: Iterate, max_iterations: int, give_up: Any, skip: Any) -> tuple[Iterate, Array]:
        """The last iterate and the number of iterations.

        Args:
            start: with positive slacks and multipliers.
            max_iterations: their largest number.
            give_up: (...), truth values: samples that stop as soon as they diverge; None for none.
            skip: (...), truth values: samples that take no iterations; None for none.
        """

        def stop(at: Iterate) -> Any:
            done = ~(self.residual(at, self.tolerance.gap) > self.tolerance.residual)  # NaN is done
            if self.identify_active:
                done = done & (self.has_clear_active_set(at) | ~(self.mean(at.s * at.z) > self.target(at)))
            if give_up is not None:
                done = done | (give_up & self.has_diverged(at))
            return done if skip is None else done | skip

        def iterate(at: Any) -> Iterate:
            return self.iterate(Iterate(*at))

        end, iterations = loop(max_iterations, iterate, start, until=lambda at: stop(Iterate(*at)), rounds=True)
        return Iterate(*end), iterations

    def evaluate(self, x: Array, s: Array, z: Array) -> Iterate:
        """The iterate with these x, slacks and multipliers."""
        return Iterate(x, matvec(self.C, x), s, z, matvec(self.H, x) + self.g + self.row_gradient(z))

    def row_gradient(self, z: Array) -> Array:
        """C^T z, (..., n), from the multipliers of all sides."""
        forces = self.sides.merge(z)
        first, *others = (forces[..., k, None] * self.C[..., k, :] for k in range(forces.shape[-1]))
        return sum(others, start=first)

    def mean(self, products: Array) -> Array:
        """(...): the weighted mean of products over all sides that have a slack."""
        total = np.sum(products * self.weights.product, axis=-1)
        return total * (1.0 / np.maximum(np.sum(self.types.slack, axis=-1), 1.0))

    def gap(self, at: Iterate) -> Array:
        """(..., sides): the primal residual, the distance to the bound minus the slack."""
        gap = self.bounds - self.sides.split(at.y) - at.s
        return gap if self.compliance is None else gap + self.compliance * at.z

    def size(self, at: Iterate) -> Array:
        """(...): the size of the terms of the gradient."""
        size = np.maximum(largest(np.abs(np.concatenate([matvec(self.H, at.x), self.g], axis=-1))), self.min_size)
        if self.compliance is None:
            return size
        return np.maximum(size, np.sqrt(np.sum(self.compliance * at.z * at.z, axis=-1)))

    def residual(self, at: Iterate, gap: float | None = None) -> Array:
        """(...): the largest residual, relative to the sizes of its terms.

        `gap` is the tolerance of the primal residual, by default that of the gradient. A large slack is allowed its
        rounding errors.
        """
        tolerance, complementarity, _ = self.tolerance
        gap = tolerance if gap is None else gap
        weights = self.weights
        primal = (np.abs(self.gap(at)) - gap * at.s) * ((self.types.slack + self.types.equality) * weights.gap)
        mean, gradient = self.mean(at.s * at.z), largest(np.abs(at.gradient * weights.gradient))
        dual = np.maximum(gradient, mean * (tolerance / complementarity))
        # NaN is in the mean in any case
        worst = largest(primal) * (tolerance / gap)
        return np.maximum(dual / self.size(at), worst / np.maximum(1.0, largest(np.abs(at.x * weights.unit))))

    def target(self, at: Iterate) -> Array:
        """(...): the mean of s z at which iterations may stop."""
        target = self.tolerance.complementarity * self.size(at)
        if not self.identify_active:
            return target
        dtype = np.dtype(self.g.dtype)
        return np.minimum(target, COMPLEMENTARITY_FLOOR[dtype] * _larger(largest(at.z), MIN_ACTIVE_MULTIPLIER[dtype]))

    def has_clear_active_set(self, at: Iterate) -> Any:
        """(...), truth values: whether every row is either certainly active or certainly not."""
        between = _larger(ACTIVE_RATIO * at.s - at.z, 0.0 * at.z) * _larger(ACTIVE_RATIO * at.z - at.s, 0.0 * at.z)
        return ~(largest(between * self.types.slack) > 0)

    def has_diverged(self, at: Iterate) -> Any:
        """(...), truth values: whether multipliers or x are beyond any solution."""
        size_g, size_b = 1.0 + largest(np.abs(matvec(self.H, at.x))), 1.0 + np.max(np.abs(self.bounds), axis=-1)
        beyond = np.sum(at.x * at.x, axis=-1) > (DIVERGED * size_b) ** 2
        return (np.sum(at.z * at.z, axis=-1) > (DIVERGED * size_g) ** 2) | beyond

    def active(self, at: Iterate) -> Array:
        """(..., m), ones for the active set, with all equalities, otherwise zeros."""
        slack, equality = self.types
        least = MIN_ACTIVE_MULTIPLIER[np.dtype(self.g.dtype)] if self.identify_active else 0.0
        certain = at.z > _larger(ACTIVE_RATIO * at.s, least + 0.0 * at.s)
        some = self.sides.merge(np.where(certain, slack, equality), 1) > 0
        return np.where(some, np.ones_like(at.y), np.zeros_like(at.y))

    def normal_matrix(self, w: Array) -> Array:
        """H + C^T diag(w) C, built so that the compiler knows it to be symmetric."""
        weighted = transpose(self.C) * self.sides.merge(w, 1)[..., None, :]
        return mirror_upper(self.H + np.matmul(weighted, self.C))

    # ---- one iteration -----------------------------------------------------------------------------------------------

    def iterate(self, at: Iterate) -> Iterate:
        """The next iterate."""
        mean = self.mean(at.s * at.z)
        newton = self._newton_system(at)
        first, products, length = self._predictor(at, newton)
        left = (1.0 - length) * mean + length * length * self.mean(products)
        fraction = left / np.maximum(mean, np.finfo(np.dtype(self.g.dtype)).tiny)
        aim = np.maximum(fraction * fraction * left, MIN_COMPLEMENTARITY * self.target(at))[..., None]
        aim = aim * self.weights.per_product
        second, whole, part = self._corrector(newton, first, products, length, aim)
        longer = part > MIN_STEP_RATIO * whole
        shorter = np.minimum(np.maximum(1.0 - STEP_SHORTENING * fraction, STEP_TO_BOUNDARY[0]), STEP_TO_BOUNDARY[1])
        a = (shorter * np.where(longer, part, whole))[..., None]
        b = a * np.where(longer, length, np.ones_like(length))[..., None]
        step = a * first.dx + b * second.dx
        y, s, z = (x + a * d + b * e for x, d, e in zip(at[1:4], first[1:], second[1:], strict=True))
        gradient = at.gradient - a * at.gradient - newton.regularisation[..., None] * step
        return Iterate(at.x + step, y, s, z, gradient)

    def _newton_system(self, at: Iterate) -> NewtonSystem:
        dtype, gap = np.dtype(self.g.dtype), self.gap(at)
        size = np.abs(gap) * (self.types.slack + self.types.equality)
        steep = PRIMAL_ONLY_RATIO * largest(np.abs(at.gradient))
        factor = steep / np.maximum(np.maximum(largest(size), steep), np.finfo(dtype).tiny)
        dual = (DUAL_REGULARISATION[dtype] * np.maximum(factor, MIN_DUAL_FACTOR[dtype]))[..., None]
        dual = dual * np.ones_like(at.z)
        if self.compliance is not None:
            dual = dual + self.compliance

        def weights(s: Array, z: Array, gap: Array, dual: Array, slack: Array, equality: Array) -> tuple[Array, ...]:
            """1 / (s + d z), its product with z, the push, 1 / s and 1 / z, with one division."""
            some, one = slack > 0, np.ones_like(z)
            force, low, high = np.where(some, z, equality), np.where(some, s, one), np.where(some, z, one)
            both = s + dual * force
            reciprocal = 1.0 / (low * high * both)
            relaxed = reciprocal * (low * high)
            w, inverse = force * relaxed, reciprocal * both * slack
            return relaxed, w, w * (gap - dual * z), inverse * high, inverse * low

        relaxed, w, push, per_s, per_z = _by_side(weights, at.s, at.z, gap, dual, *self.types)
        matrix, rest = self.normal_matrix(w), (relaxed, w, dual, self.types.slack)
        primal = primal_regularisation(matrix)
        return NewtonSystem(add_to_diagonal(matrix, primal), primal, gap, push, per_s, per_z, rest)

    def _predictor(self, at: Iterate, newton: NewtonSystem) -> tuple[Step, Array, Array]:
        """The step towards s z = 0, its products ds dz, and its largest length."""

        def changes(s: Array, z: Array, way: Array, per_s: Array, per_z: Array, *rest: Array) -> tuple[Array, ...]:
            ds, dz = _changes(way, -s * z, *rest)
            return ds, dz, ds * dz, _larger(-ds * per_s, -dz * per_z)

        right = self.row_gradient(newton.push) - (matvec(self.H, at.x) + self.g)
        dx = linalg.solve(newton.matrix, right[..., None], definite=True)[..., 0]
        dy = matvec(self.C, dx)
        way = newton.gap - self.sides.split(dy)
        ds, dz, products, ratio = _by_side(changes, at.s, at.z, way, newton.per_s, newton.per_z, *newton.weights)
        return Step(dx, dy, ds, dz), products, _step_length(ratio)

    def _corrector(
        self, newton: NewtonSystem, first: Step, products: Array, length: Array, aim: Array
    ) -> tuple[Step, Array, Array]:
        """The correction of the first step towards s z = aim, and the largest lengths with all and a part of it."""

        def centring(aim: Array, products: Array, relaxed: Array, slack: Array) -> tuple[Array, Array]:
            change = (aim - products) * slack
            return change, change * relaxed

        relaxed, _, _, slack = newton.weights
        change, push = _by_side(centring, np.broadcast_to(aim, products.shape), products, relaxed, slack)
        dx = linalg.solve(newton.matrix, -self.row_gradient(push)[..., None], definite=True)[..., 0]
        dy = matvec(self.C, dx)

        def changes(
            way: Array, change: Array, ds: Array, dz: Array, per_s: Array, per_z: Array, *rest: Array
        ) -> tuple[Array, ...]:
            ds_2, dz_2 = _changes(way, change, *rest)
            by_s, by_z, by_s_2, by_z_2 = ds * per_s, dz * per_z, ds_2 * per_s, dz_2 * per_z
            part = length[..., None]
            shared = _larger(-by_s - part * by_s_2, -by_z - part * by_z_2)
            return ds_2, dz_2, _larger(-by_s - by_s_2, -by_z - by_z_2), shared

        own = -self.sides.split(dy), change, first.ds, first.dz, newton.per_s, newton.per_z
        ds, dz, whole, part = _by_side(changes, *own, *newton.weights)
        return Step(dx, dy, ds, dz), _step_length(whole), _step_length(part)


def primal_regularisation(A: Array) -> Array:
    """(...): the regularisation of H in Newton equations with the matrix A."""
    relative, least = PRIMAL_REGULARISATION[np.dtype(A.dtype)]
    return np.maximum(relative * largest(np.diagonal(A, axis1=-2, axis2=-1)), least)


def add_to_diagonal(A: Array, shift: Array) -> Array:
    """A + shift I."""
    return A + shift[..., None, None] * np.eye(A.shape[-1], dtype=A.dtype)


def largest(values: Array) -> Array:
    """(...): the maximum over the last axis, by pairs."""
    parts = [values[..., k] for k in range(values.shape[-1])]
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [_larger(a, b) for a, b in pairs] + (parts[-1:] if len(parts) % 2 else [])
    return parts[0]


def _larger(a: Array, b: Array | float) -> Array:
    """The larger of two: one instruction, because NaN need not propagate."""
    return np.where(a > b, a, b)


def _changes(way: Array, change: Array, relaxed: Array, w: Array, dual: Array, slack: Array) -> tuple[Array, Array]:
    """ds and dz for which s z changes by `change` to first order, if the distance to the bound changes by `way`."""
    dz = change * relaxed - w * way
    return (way + dual * dz) * slack, dz


def _step_length(ratios: Array) -> Array:
    """The longest step, at most 1, that keeps s, z >= 0; ratios are -ds / s and -dz / z."""
    return 1.0 / np.maximum(1.0, largest(ratios))


def _by_side(function: Callable[..., tuple[Array, ...]], *arrays: Array) -> tuple[Array, ...]:
    """function(*arrays) of arrays (..., sides); side after side in a kernel, so that few numbers are stored."""
    if not any(is_traced(array) for array in arrays):
        return function(*arrays)
    parts = [function(*(array[..., k : k + 1] for array in arrays)) for k in range(arrays[0].shape[-1])]
    return tuple(np.concatenate(column, axis=-1) for column in zip(*parts, strict=True))
