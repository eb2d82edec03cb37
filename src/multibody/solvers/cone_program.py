"""Quadratic programs with circular cones among their bounds, from a feasible start, by an interior-point method.

    minimise u^T H u / 2 + g^T u   subject to   G u <= upper, -G u <= -lower for the first rows,
                                                and K u + k in cones, x_0 >= |(x_1, x_2)|, three rows each

The iterations are Mehrotra's on symmetric cones [Andersen, Dahl, Vandenberghe 2003]: each scales the slacks s and the
multipliers z of a cone by the W of Nesterov and Todd with W z = W^-1 s. Along the directions of W, a cone is three rows
(`cones.py`). A loop of its own, without cones' share of the work, is `interior_point`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from multibody.geometry._arrays import Array, matvec, mirror_upper, transpose
from multibody.solvers import cones, interior_point, interior_point_starts
from multibody.solvers.cones import Scaling, flatten, norm, triples
from multibody.solvers.equilibration import inverse_size
from multibody.solvers.interior_point import ACTIVE_RATIO, MIN_ACTIVE_MULTIPLIER, Sides
from multibody.solvers.interior_point_starts import FEASIBLE_TOLERANCES, MIN_START
from multibody.solvers.program import Bounds
from multibody.tracing.matrices import linalg
from multibody.tracing.record.loop import loop

STEP_TO_EDGE = 0.98
"""The fraction of the largest step that is taken: nearer to the edge of a cone, later steps stay short."""


class ConeIterate(NamedTuple):
    """The carry of the iterations."""

    u: Array
    """(..., n)"""
    s: Array
    z: Array
    """(..., sides): slacks and multipliers, three of each cone before those of rows."""
    gradient: Array
    """(..., n)"""
    residual: Array
    """(...): the largest residual."""


class ConeProgram(NamedTuple):
    """A program with an objective of the size 1, and with slacks s = bounds - C u of cones and of rows."""

    H: Array
    g: Array
    C: Array
    """(..., 3 p + m, n): -K of the cones, before G."""
    sides: Sides
    bounds: Array
    """(..., sides): k of the cones, before the bounds of rows."""
    edge: int
    """3 p."""
    per_bound: Array
    """(...): the inverse size of the bounds."""

    @property
    def degree(self) -> int:
        """The number of products s z that vanish at the solution."""
        return self.bounds.shape[-1] - self.edge * 2 // 3

    def start(self) -> ConeIterate:
        """u = 0, with slacks away from the bounds and multipliers of equal products."""
        least = MIN_START / self.per_bound[..., None]
        s, s_c = np.maximum(self.bounds[..., self.edge :], least), triples(self.bounds[..., : self.edge])
        more = np.maximum(least - (s_c[..., 0] - norm(s_c[..., 1], s_c[..., 2])), 0.0)
        s_c = np.concatenate([(s_c[..., 0] + more)[..., None], s_c[..., 1:]], axis=-1)
        z_c = np.concatenate([s_c[..., :1], -s_c[..., 1:]], axis=-1) / cones.determinant(s_c)[..., None]
        s, z = np.concatenate([flatten(s_c), s], axis=-1), np.concatenate([flatten(z_c), 1.0 / s], axis=-1)
        return self.evaluate(np.zeros_like(self.g), s, z)

    def evaluate(self, u: Array, s: Array, z: Array) -> ConeIterate:
        """The iterate with these unknowns, slacks and multipliers."""
        tolerance = FEASIBLE_TOLERANCES[np.dtype(self.g.dtype)]
        gradient = matvec(self.H, u) + self.g + matvec(transpose(self.C), self.sides.merge(z))
        gap = np.max(np.abs(self.gap(u, s)), axis=-1) * self.per_bound
        mean = np.sum(s * z, axis=-1) * (tolerance.residual / tolerance.complementarity / self.degree)
        return ConeIterate(u, s, z, gradient, np.maximum(np.maximum(np.max(np.abs(gradient), axis=-1), mean), gap))

    def gap(self, u: Array, s: Array) -> Array:
        """(..., sides): the primal residual."""
        return self.bounds - self.sides.split(matvec(self.C, u)) - s

    def iterate(self, at: ConeIterate) -> ConeIterate:
        """The next iterate: a predictor, its correction, and a step.

        The Newton equations are those of rows, along the directions of the scaling W: W^-1 s and W z are one point.
        """
        u, s, z, edge = at.u, at.s, at.z, self.edge
        dual = interior_point.DUAL_REGULARISATION[np.dtype(self.g.dtype)]
        scaling = Scaling.nesterov_todd(triples(s[..., :edge]), triples(z[..., :edge]))
        stretch, soft = scaling.stretch, 1.0 / (scaling.stretch * scaling.stretch + dual)
        point = scaling.components(triples(z[..., :edge])) * stretch
        per_s, per_z = 1.0 / s[..., edge:], 1.0 / z[..., edge:]
        relaxed = 1.0 / (s[..., edge:] + dual * z[..., edge:])
        w = np.concatenate([flatten(soft), z[..., edge:] * relaxed], axis=-1)
        C = np.concatenate([scaling.rows(self.C[..., :edge, :]), self.C[..., edge:, :]], axis=-2)
        A = mirror_upper(self.H + np.matmul(transpose(C) * self.sides.merge(w, 1)[..., None, :], C))
        A = interior_point.add_to_diagonal(A, interior_point.primal_regularisation(A))

        def direction(gap: Array | float, push: Array, change: Array, gradient: Array | float) -> tuple[Array, ...]:
            """The changes of u, s and z; `push` is W times the target of W^-1 ds + W dz of cones, negative."""
            aim = np.concatenate([flatten(-soft * push), change * relaxed], axis=-1)
            right = matvec(transpose(C), self.sides.merge(w * gap - aim)) - gradient
            du = linalg.solve(A, right[..., None], definite=True)[..., 0]
            way = gap - self.sides.split(matvec(C, du))
            dz = aim - w * way
            return du, way + dual * dz, dz

        def step_length(ds: Array, dz: Array) -> tuple[Array, Array, Array]:
            """The longest step, and W^-1 ds and W dz of cones."""
            ds_c, dz_c = triples(ds[..., :edge]) / stretch, triples(dz[..., :edge]) * stretch
            return cones.step_length(ds[..., edge:] * per_s, dz[..., edge:] * per_z, point, ds_c, dz_c), ds_c, dz_c

        product = s[..., edge:] * z[..., edge:]
        gap, at_s = _mapped(scaling.components, self.gap(u, s), edge), scaling.components(triples(s[..., :edge]))
        first = direction(gap, at_s, -product, at.gradient)
        far, ds_c, dz_c = step_length(*first[1:])
        far, ds, dz = far[..., None], first[1][..., edge:], first[2][..., edge:]
        mean = np.sum(product, axis=-1) + np.sum(flatten(point * point), axis=-1)
        left = np.sum((s[..., edge:] + far * ds) * (z[..., edge:] + far * dz), axis=-1) + np.sum(
            flatten((point + far[..., None] * ds_c) * (point + far[..., None] * dz_c)), axis=-1
        )
        fraction = left / mean
        least = interior_point.MIN_COMPLEMENTARITY * FEASIBLE_TOLERANCES[np.dtype(self.g.dtype)].complementarity
        aim = np.maximum(fraction * fraction * left / self.degree, least)[..., None]
        push = stretch * cones.jordan_quotient(point, ds_c, dz_c, aim)
        second = direction(0.0, push, aim - ds * dz, 0.0)
        du, ds, dz = (a + b for a, b in zip(first, second, strict=True))
        a = (STEP_TO_EDGE * step_length(ds, dz)[0])[..., None]
        ds, dz = (_mapped(scaling.vector, a * change, edge) for change in (ds, dz))
        return self.evaluate(u + a * du, s + ds, z + dz)


def _mapped(function: Callable[[Array], Array], x: Array, edge: int) -> Array:
    """x, with a function applied to the triples of cones."""
    cones_x = function(triples(x[..., :edge]))
    return np.concatenate([cones_x.reshape(x[..., :edge].shape), x[..., edge:]], axis=-1)


def solve_feasible(
    H: Array, g: Array, bounds: Bounds, skip: Any, flat: Array | None = None
) -> tuple[Array, Array, Array, Array, Array]:
    """As `interior_point_starts.solve_feasible`, and (..., p), ones for cones active at an edge, or at their tip.

    Args:
        H: (..., n, n), symmetric and positive semi-definite.
        g: (..., n).
        bounds: of u, which u = 0 meets, with rows of the length 1 or less, if any, and with cones.
        skip: (...), truth values: samples whose solution is not needed, which take no iterations.
        flat: (...): the size below which the entries of an objective are rounding errors.
    """
    G, lower, upper, own = bounds
    assert own is not None
    edge, rows, two_sided, per = own.k.shape[-1], upper.shape[-1], lower.shape[-1], inverse_size(H, g, flat)
    values = np.concatenate([own.k, upper, -lower], axis=-1)
    C, per_bound = np.concatenate([-own.K, G], axis=-2), 1.0 / (1.0 + np.max(np.abs(values), axis=-1))
    sides = Sides(edge + rows, edge, edge + two_sided)
    program = ConeProgram(H * per[..., None, None], g * per[..., None], C, sides, values, edge, per_bound)
    tolerance = FEASIBLE_TOLERANCES[np.dtype(g.dtype)]
    end = loop(
        interior_point_starts.MAX_FEASIBLE_ITERATIONS,
        lambda at: program.iterate(ConeIterate(*at)),
        program.start(),
        until=lambda at: ~(at[-1] > tolerance.residual) | skip,
    )
    u, (s_c, s), (z_c, z), residual = end[0], *(np.split(x, [edge], axis=-1) for x in end[1:3]), end[4]
    sides = Sides(rows, 0, two_sided)
    active = np.minimum(sides.merge(np.where(_is_active(z, s), np.ones_like(z), np.zeros_like(z)), 1), 1.0)
    return u, active, residual, *_active_cones(triples(s_c), triples(z_c), skip)


def _active_cones(s: Array, z: Array, skip: Any) -> tuple[Array, Array]:
    """Ones for cones whose multipliers are certainly not zero: those active at an edge, and at their tip."""
    low, high = (s[..., 0] + sign * norm(s[..., 1], s[..., 2]) for sign in (-1, 1))
    strong, weak = (z[..., 0] + sign * norm(z[..., 1], z[..., 2]) for sign in (1, -1))
    one, zero = np.ones_like(low), np.zeros_like(low)
    edge, tip = (np.where(_is_active(*pair), one, zero) for pair in ((strong, low), (weak, high)))
    return np.where(skip[..., None], zero, edge), np.where(skip[..., None], zero, tip)


def _is_active(z: Array, s: Array) -> Any:
    """Truth values: whether multipliers are certainly not zero, for slacks s."""
    return z > np.maximum(ACTIVE_RATIO * s, MIN_ACTIVE_MULTIPLIER[np.dtype(z.dtype)])
