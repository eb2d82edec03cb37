"""Quadratic programs by an interior-point method, with two starts: for any program, and from a feasible x = 0.

`solve` takes programs of any units:

    minimise x^T H x / 2 + g^T x + v^T D^-1 v / 2   subject to   lower <= C x - v <= upper

It divides rows by their lengths and the objective by its size, gives unknowns units in which their columns are of one
size, and starts where Mehrotra does. `solve_feasible` takes programs of rows of the length 1 or less that x = 0 meets,
and omits what only other programs need. The iterations are those of `interior_point`.  [Mehrotra 1992]
"""

from typing import Any, NamedTuple

import numpy as np

from multibody.geometry._arrays import Array, matvec, positive_or_one
from multibody.solvers import interior_point
from multibody.solvers.equilibration import (
    INFINITE_BOUND,
    Weights,
    column_units,
    equilibrate,
    inverse_size,
    row_lengths,
)
from multibody.solvers.interior_point import Iterate, ScaledProgram, Sides, SideTypes, Tolerance
from multibody.solvers.program import Bounds
from multibody.tracing.matrices import linalg

MAX_ITERATIONS, MAX_FEASIBLE_ITERATIONS = 50, 40
"""Usually 6 to 12 are taken from Mehrotra's start, and 6 to 10 from a feasible one."""
SINGLE = {np.dtype(np.float32): Tolerance(2e-5, 1e-6, 2e-5)}
TOLERANCES = {np.dtype(np.float64): Tolerance(1e-10, 1e-12, 2e-12), **SINGLE}
FEASIBLE_TOLERANCES = {np.dtype(np.float64): Tolerance(1e-9, 1e-11, 1e-9), **SINGLE}
ACTIVE_SET_FACTOR = 1e-2
"""The factor on these tolerances if later levels use the active set: their H, a square, amplifies errors."""
START_REGULARISATION = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-5}
"""Regularisation of H at the starting point."""
MIN_START = 0.01
"""The smallest slack and multiplier at the start, relative to the sizes of the bounds and of g."""
START_BOUND_FACTOR = 100.0
"""The largest bound at the start, relative to what rows need at least; bounds further away are ignored there."""
MIN_GRADIENT_SIZE = 1e-3
"""The smallest size of a gradient, relative to H times an x of 1."""


class Solution(NamedTuple):
    """The minimiser of a quadratic program, and its residual."""

    x: Array
    """(..., n)"""
    multipliers: Array
    """(..., m): positive at upper bounds, negative at lower ones; H x + g + C^T multipliers = 0."""
    iterations: Array
    """(...)"""
    residual: Array
    """(...): the largest of the residuals that decide when to stop."""
    active: Array
    """(..., m), ones for rows whose multipliers are certainly not zero, and all with equal bounds, otherwise zeros."""


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
    min_size: Array | None = None,
    terms: Array | None = None,
) -> Solution:
    """The x that solves the program; if no x is within the bounds, a compromise with a large residual.

    Args:
        H: (..., n, n), symmetric and positive semi-definite; its upper triangle is read.
        g: (..., n).
        C: (..., m, n), m > 0; zeros and ones that are constants cost nothing in a kernel.
        lower: (..., m), -inf where there is no bound.
        upper: (..., m).
        skip: (...), truth values: samples whose solution is not needed, which take no iterations.
        equalities: the number of rows, the first ones, that are C x = upper for any `lower`; they cost half of others.
        compliance: (..., m), the violation of a row per unit of its multiplier.
        lengths: (..., m), the units of rows, by default their own lengths.
        give_up: (...), truth values: samples that stop as soon as they diverge.
        min_size: (...), the smallest size of a gradient; zero for that of H.
        terms: (..., n), sizes of the terms of each entry of the gradient, to which its residual is then relative; by
            default, residuals are relative to the largest.
    """
    units, weights = None, Weights.equal(g.shape[-1], 2 * upper.shape[-1] - equalities, g.dtype)
    if lengths is None:
        units = column_units(H, C / row_lengths(C, lower, upper)[..., None])
        lengths = row_lengths(C * units[..., None, :], lower, upper)
    if terms is not None:
        units = np.ones_like(g) if units is None else units
        units, lengths, weights = equilibrate(H, g, C, terms, units, lengths, equalities)
    if units is not None:
        H, g, C = H * units[..., None, :] * units[..., :, None], g * units, C * units[..., None, :]
    per_size, per_length = inverse_size(H, g), 1.0 / lengths
    if compliance is not None:
        compliance = compliance * (per_length * per_length / per_size[..., None])
        compliance = np.concatenate([compliance, compliance[..., equalities:]], axis=-1)
    H, g, C = H * per_size[..., None, None], g * per_size[..., None], C * per_length[..., None]
    bounds, types = _sided_bounds(lower * per_length, upper * per_length, equalities)
    size = MIN_GRADIENT_SIZE * positive_or_one(np.max(np.diagonal(H, axis1=-2, axis2=-1), axis=-1))
    size = size if min_size is None else np.where(min_size > 0, min_size, size)
    sides, tolerance = Sides(upper.shape[-1], equalities, upper.shape[-1]), TOLERANCES[np.dtype(g.dtype)]
    program = ScaledProgram(H, g, C, sides, bounds, size, tolerance, types, weights, compliance)
    end, iterations = program.solve(_mehrotra_start(program), MAX_ITERATIONS, give_up, skip)
    end = program.evaluate(end.x, end.s, end.z)  # residuals without the rounding errors of updates
    multipliers = program.sides.merge(end.z) * (per_length / per_size[..., None])
    x = end.x if units is None else end.x * units
    return Solution(x, multipliers, iterations, program.residual(end), program.active(end))


def solve_feasible(
    H: Array, g: Array, bounds: Bounds, skip: Any, flat: Array | None = None, *, identify_active: bool
) -> tuple[Array, Array, Array]:
    """The u within the bounds that minimises u^T H u / 2 + g^T u, ones for active rows, and the largest residual.

    Rows are active if their multipliers are certainly not zero; the others have zeros.

    Args:
        H: (..., n, n), symmetric and positive semi-definite.
        g: (..., n).
        bounds: of u, which u = 0 meets, with rows of the length 1 or less, and without cones.
        skip: (...), truth values: samples whose solution is not needed, which take no iterations.
        flat: (...): the size below which the entries of an objective are rounding errors.
        identify_active: whether the active set must be certain.
    """
    per_size = inverse_size(H, g, flat)
    G, lower, upper, _ = bounds
    values = np.concatenate([upper, -lower], axis=-1)
    sides, one = Sides(upper.shape[-1], 0, lower.shape[-1]), np.ones_like(per_size)
    tolerance = FEASIBLE_TOLERANCES[np.dtype(g.dtype)]
    if identify_active and g.dtype == np.float64:  # single precision has no digits for less
        tolerance = Tolerance(*(ACTIVE_SET_FACTOR * part for part in tolerance))
    H, g = H * per_size[..., None, None], g * per_size[..., None]
    types = SideTypes(np.ones(values.shape, g.dtype), np.zeros(values.shape, g.dtype))
    weights = Weights.equal(g.shape[-1], values.shape[-1], g.dtype)
    program = ScaledProgram(H, g, G, sides, values, one, tolerance, types, weights, identify_active=identify_active)
    least = MIN_START * (1.0 + np.max(np.abs(values), axis=-1))[..., None]
    s = np.maximum(values, least)
    z = least / s
    start = Iterate(np.zeros_like(g), np.zeros_like(upper), s, z, program.g + program.row_gradient(z))
    end = program.solve(start, MAX_FEASIBLE_ITERATIONS, None, skip)[0]
    return end.x, program.active(end), program.residual(end, tolerance.gap)


def _mehrotra_start(program: ScaledProgram) -> Iterate:
    """The minimiser with slacks in the objective; then all s and z are shifted to be positive."""
    (slack, equality), g, (_, _, weight, _, per_weight, per_product) = program.types, program.g, program.weights
    needed = np.where(slack > 0, np.maximum(-program.bounds, 0.0), np.abs(program.bounds) * equality)
    far = START_BOUND_FACTOR * (1.0 + np.max(needed * weight, axis=-1))[..., None] * per_weight
    bounds = np.minimum(np.maximum(program.bounds, -far), far)
    size_b = 1.0 + np.max(np.abs(bounds) * weight, axis=-1)
    size_g = np.maximum(np.max(np.abs(g), axis=-1), program.min_size)
    right = program.row_gradient(bounds) - g
    shift = np.full_like(size_b, START_REGULARISATION[np.dtype(g.dtype)])
    matrix = interior_point.add_to_diagonal(program.normal_matrix(slack + equality), shift)
    x = linalg.solve(matrix, right[..., None], definite=True)[..., 0]
    s = (bounds - program.sides.split(matvec(program.C, x))) * (slack * weight)
    low, high = np.min(s, axis=-1), np.max(s, axis=-1)
    s, z = s - np.minimum(1.5 * low, 0.0)[..., None], np.maximum(1.5 * high, 0.0)[..., None] - s
    s, z = s * slack, z * slack
    product = np.sum(s * z, axis=-1) / 2
    tiny = np.finfo(np.dtype(g.dtype)).tiny
    more_s = np.maximum(product / np.maximum(np.sum(z, axis=-1), tiny), MIN_START * size_b)
    more_z = np.maximum(product / np.maximum(np.sum(s, axis=-1), tiny), MIN_START * size_g)
    s = np.where(slack > 0, (s + more_s[..., None]) * per_weight, 1.0 - equality)
    z = slack * (z + more_z[..., None]) * (weight * per_product)
    beyond = program.bounds > far  # these have slacks of their own, and the same products
    wide = np.where(beyond, s + (program.bounds - bounds), np.ones_like(s))
    return program.evaluate(x, np.where(beyond, wide, s), np.where(beyond, z * s / wide, z))


def _sided_bounds(lower: Array, upper: Array, equalities: int) -> tuple[Array, SideTypes]:
    """The bounds of all sides, and their types; equalities are upper sides whose bounds are equal."""
    count, first = upper.shape[-1], lower[..., equalities:]
    bounds = np.concatenate([upper, -first], axis=-1)
    finite = np.where(np.abs(bounds) >= INFINITE_BOUND, np.zeros_like(bounds), np.ones_like(bounds))  # NaN is finite
    zeros, ones = np.zeros_like(first), np.ones_like(upper)
    equal = np.where(first == upper[..., equalities:], ones[..., equalities:], zeros)
    equality = np.concatenate([ones[..., :equalities], equal, zeros], axis=-1) * finite
    finite = np.concatenate([finite[..., :count], finite[..., count:] * (1.0 - equal)], axis=-1)
    return np.where(finite > 0, bounds, np.zeros_like(bounds)), SideTypes(finite * (1.0 - equality), equality)
