"""An interior-point method for small convex quadratic programs of any units.  [Mehrotra 1992]

    minimise x^T H x / 2 + g^T x + v^T D^-1 v / 2   subject to   lower <= C x - v <= upper

The rounds are those of `predictor_corrector`. Rows are divided by their lengths and the objective by its size, so that
units make no difference, unknowns have units in which their columns are of one size, and the start is Mehrotra's.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.geometry._arrays import matvec
from multibody.solvers.predictor_corrector import Iterate, Kinds, Program, Sides, Tolerance, shifted
from multibody.tracing.matrices import linalg

Array = NDArray[Any]
ROUNDS = 50
"""At most; some 6 to 12 are taken."""
TOLERANCES = {np.dtype(np.float64): Tolerance(1e-10, 1e-12, 2e-12), np.dtype(np.float32): Tolerance(2e-5, 1e-6, 2e-5)}
LITTLE = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-5}
"""What is beside H at the start, where nothing else may decide."""
APART = 0.01
"""The least slack and multiplier at the start, relative to the sizes of the bounds and of g."""
FAR = 100.0
"""How many times what rows need at least bounds are at the start, where they are further away."""
FLAT = 1e-3
"""The least size of a gradient, as a share of what H makes of an x of 1."""
TINY_ROW = {np.dtype(np.float64): 1e-14, np.dtype(np.float32): 1e-8}
"""The share of the longest row up to which rows are rounding errors of zeros."""
SMALLEST = 1e-6
"""The share of the largest entries up to which those of a column may be smaller, to be as large in its own unit."""
NONE = 1e20
"""A bound that is larger is no bound."""


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
    least: Array | None = None,
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
        least: (...), the least size of a gradient; zero for that of H.
    """
    units = None
    if lengths is None:
        units = _units(H, C / _lengths(C, lower, upper)[..., None])
        H, g, C = H * units[..., None, :] * units[..., :, None], g * units, C * units[..., None, :]
        lengths = _lengths(C, lower, upper)
    per_size, per_length = 1.0 / _steepness(H, g), 1.0 / lengths
    if compliance is not None:
        compliance = compliance * (per_length * per_length / per_size[..., None])
    program = _program(
        H * per_size[..., None, None],
        g * per_size[..., None],
        C * per_length[..., None],
        lower * per_length,
        upper * per_length,
        equalities,
        compliance,
        least,
    )
    end, rounds = program.solved(_start(program), ROUNDS, give_up, skip)
    end = program.iterate(end.x, end.s, end.z)  # residuals without the rounding errors of what is carried
    multipliers = program.sides.merged(end.z) * (per_length / per_size[..., None])
    x = end.x if units is None else end.x * units
    return Solution(x, multipliers, rounds, program.residual(end), program.pressed(end))


def _start(program: Program) -> Iterate:
    """Mehrotra's: the least of the program with slacks in the objective, then all s and z moved to be positive."""
    assert program.kinds is not None
    (slack, tied), g = program.kinds, program.g
    far = _far(program)[..., None]
    bounds = np.minimum(np.maximum(program.bounds, -far), far)
    size_b = 1.0 + np.max(np.abs(bounds), axis=-1)
    size_g = np.maximum(np.max(np.abs(g), axis=-1), program.least)
    right, little = program.pull(bounds) - g, np.full_like(size_b, LITTLE[np.dtype(g.dtype)])
    x = linalg.solve(shifted(program.weighted(slack + tied), little), right[..., None], definite=True)[..., 0]
    s = (bounds - program.sides.of(matvec(program.C, x))) * slack
    low, high = np.min(s, axis=-1), np.max(s, axis=-1)
    s, z = s - np.minimum(1.5 * low, 0.0)[..., None], np.maximum(1.5 * high, 0.0)[..., None] - s
    s, z = s * slack, z * slack
    product = np.sum(s * z, axis=-1) / 2
    tiny = np.finfo(np.dtype(g.dtype)).tiny
    more_s = np.maximum(product / np.maximum(np.sum(z, axis=-1), tiny), APART * size_b)
    more_z = np.maximum(product / np.maximum(np.sum(s, axis=-1), tiny), APART * size_g)
    s = np.where(slack > 0, s + more_s[..., None], 1.0 - tied)
    z = slack * (z + more_z[..., None])
    beyond = program.bounds > far  # which have slacks of their own, and the same products
    wide = np.where(beyond, s + (program.bounds - bounds), np.ones_like(s))
    return program.iterate(x, np.where(beyond, wide, s), np.where(beyond, z * s / wide, z))


def _far(program: Program) -> Array:
    """(...): how far bounds may be for them to matter at the start: many times the C x that is needed at least."""
    assert program.kinds is not None
    slack, tied = program.kinds
    needed = np.where(slack > 0, np.maximum(-program.bounds, 0.0), np.abs(program.bounds) * tied)
    return FAR * (1.0 + np.max(needed, axis=-1))


def _program(
    H: Array,
    g: Array,
    C: Array,
    lower: Array,
    upper: Array,
    equalities: int,
    compliance: Array | None,
    least: Array | None,
) -> Program:
    """The program with its sides: those of the equalities are upper ones, whose bounds are equal."""
    rows, first = upper.shape[-1], lower[..., equalities:]
    bounds = np.concatenate([upper, -first], axis=-1)
    there = np.where(np.abs(bounds) >= NONE, np.zeros_like(bounds), np.ones_like(bounds))  # NaN is there
    zeros, ones = np.zeros_like(first), np.ones_like(upper)
    equal = np.where(first == upper[..., equalities:], ones[..., equalities:], zeros)
    tied = np.concatenate([ones[..., :equalities], equal, zeros], axis=-1) * there
    there = np.concatenate([there[..., :rows], there[..., rows:] * (1.0 - equal)], axis=-1)
    bounds = np.where(there > 0, bounds, np.zeros_like(bounds))
    if compliance is not None:
        compliance = np.concatenate([compliance, compliance[..., equalities:]], axis=-1)
    largest = np.max(_diagonal(H), axis=-1)
    size = FLAT * np.where(largest > 0, largest, np.ones_like(largest))
    least = size if least is None else np.where(least > 0, least, size)
    sides, kinds = Sides(rows, equalities, rows), Kinds(there * (1.0 - tied), tied)
    return Program(H, g, C, sides, bounds, least, TOLERANCES[np.dtype(g.dtype)], kinds, compliance)


def _diagonal(H: Array) -> Array:
    return np.stack([H[..., k, k] for k in range(H.shape[-1])], axis=-1)


def _steepness(H: Array, g: Array) -> Array:
    """(...): the size of an objective, 1 for zero."""
    size = np.max(np.maximum(np.abs(g), np.abs(_diagonal(H))), axis=-1)
    return np.where(size > 0, size, np.ones_like(size))


def _units(H: Array, C: Array) -> Array:
    """(..., n): units of x, in which no column of H and of rows of the length 1 is much smaller than others."""
    diagonal = _diagonal(H)
    largest = np.max(diagonal, axis=-1, keepdims=True)
    size = np.sqrt(np.maximum(diagonal, 0.0) / np.where(largest > 0, largest, np.ones_like(largest)))
    return 1.0 / np.maximum(np.maximum(size, np.max(np.abs(C), axis=-2)), SMALLEST)


def _lengths(C: Array, lower: Array, upper: Array) -> Array:
    """(..., m): those of the rows, and the sizes of their bounds for rows that are next to nothing."""
    lengths = np.sqrt(np.sum(C * C, axis=-1))
    low, high = (np.where(np.abs(side) < NONE, np.abs(side), np.zeros_like(side)) for side in (lower, upper))
    size = np.where(low * high > 0, np.minimum(low, high), np.maximum(low, high))
    size = np.where(size > 0, size, np.ones_like(size))
    tiny = TINY_ROW[np.dtype(C.dtype)] * np.max(lengths, axis=-1, keepdims=True)
    return np.where(lengths > tiny, lengths, size)
