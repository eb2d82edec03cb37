"""Quadratic programs with circular cones among their bounds, from a feasible start, by an interior-point method.

    minimise u^T H u / 2 + g^T u   subject to   G u <= upper, -G u <= -lower for the first rows,
                                                and K u + k in cones, x_0 >= |(x_1, x_2)|, three rows each

The iterations are Mehrotra's on symmetric cones [Andersen, Dahl, Vandenberghe 2003]: each scales the slacks s and the
multipliers z of a cone by the W of Nesterov and Todd with W z = W^-1 s. Along the directions of W, a cone is three rows
(`cones.py`). A loop of its own, without cones' share of the work, is `predictor_corrector`.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.geometry._arrays import matvec, mirror_upper, transpose
from multibody.solvers import cones, interior_point, predictor_corrector
from multibody.solvers.cones import Cones, Scaling, flatten, norm, triples
from multibody.solvers.interior_point import FEASIBLE_TOLERANCES, MIN_START, Minimum
from multibody.solvers.predictor_corrector import ACTIVE_RATIO, MIN_ACTIVE_MULTIPLIER, Sides
from multibody.solvers.program import Bounds
from multibody.tracing.matrices import linalg
from multibody.tracing.record.loop import loop

Array = NDArray[Any]
STEP_TO_EDGE = 0.98
"""The fraction of the largest step that is taken: nearer to the edge of a cone, later steps stay short."""


class ConeIterate(NamedTuple):
    """The carry of the iterations."""

    u: Array
    """(..., n)"""
    s: Array
    z: Array
    """(..., sides): slacks and multipliers of rows."""
    s_c: Array
    z_c: Array
    """(..., 3 p): slacks and multipliers of cones."""
    gradient: Array
    """(..., n)"""
    residual: Array
    """(...): the largest residual."""


class Newton(NamedTuple):
    """The Newton equations at an iterate, reduced to u."""

    matrix: Array
    per_s: Array
    per_z: Array
    relaxed: Array
    w: Array
    gap: Array
    scaling: Scaling
    rows: Array
    """(..., 3 p, n): the rows of cones along the directions of the scaling."""
    soft: Array
    """(..., p, 3): their weights."""
    gap_c: Array
    scaled: Array
    """(..., p, 3): the slacks and multipliers of cones, both of which the scaling maps to one point."""


Direction = tuple[Array, Array, Array, Array, Array]
"""A change of u, of slacks and multipliers of rows, then of cones (along the directions of the scaling)."""


class ConeProgram(NamedTuple):
    """A program with an objective of the size 1."""

    H: Array
    g: Array
    G: Array
    sides: Sides
    bounds: Array
    """(..., sides)"""
    cones: Cones
    per_bound: Array
    """(...): the inverse size of the bounds."""

    @staticmethod
    def scaled(H: Array, g: Array, bounds: Bounds, flat: Array | None) -> "ConeProgram":
        """The program with an objective of the size 1."""
        G, lower, upper, own = bounds
        assert own is not None
        sides = Sides(upper.shape[-1], 0, lower.shape[-1])
        per = interior_point.inverse_size(H, g, flat)
        H, g, values = H * per[..., None, None], g * per[..., None], np.concatenate([upper, -lower], -1)
        size = 1.0 + np.max(np.abs(np.concatenate([values, own.k], axis=-1)), axis=-1)
        return ConeProgram(H, g, G, sides, values, own, 1.0 / size)

    @property
    def degree(self) -> int:
        """The number of products s z that vanish at the solution."""
        return self.bounds.shape[-1] + self.cones.k.shape[-1] // 3

    @property
    def dual(self) -> float:
        """The dual regularisation."""
        return predictor_corrector.DUAL_REGULARISATION[np.dtype(self.g.dtype)]

    def start(self) -> ConeIterate:
        """u = 0, with slacks away from the bounds and multipliers of equal products."""
        least = MIN_START / self.per_bound[..., None]
        s = np.maximum(self.bounds, least)
        s_c = triples(self.cones.k)
        more = np.maximum(least - (s_c[..., 0] - norm(s_c[..., 1], s_c[..., 2])), 0.0)
        s_c = np.concatenate([(s_c[..., 0] + more)[..., None], s_c[..., 1:]], axis=-1)
        z_c = np.concatenate([s_c[..., :1], -s_c[..., 1:]], axis=-1) / cones.determinant(s_c)[..., None]
        return self.evaluate(np.zeros_like(self.g), s, 1.0 / s, flatten(s_c), flatten(z_c))

    def evaluate(self, u: Array, s: Array, z: Array, s_c: Array, z_c: Array) -> ConeIterate:
        """The iterate with these unknowns, slacks and multipliers."""
        (K, k), tolerance = self.cones, FEASIBLE_TOLERANCES[np.dtype(self.g.dtype)]
        gradient = matvec(self.H, u) + self.g - matvec(transpose(K), z_c)
        gaps = [np.abs(k + matvec(K, u) - s_c)]
        if self.bounds.shape[-1]:
            gradient = gradient + matvec(transpose(self.G), self.sides.merge(z, -1))
            gaps.append(np.abs(self.bounds - self.sides.split(matvec(self.G, u)) - s))
        gap = np.max(np.concatenate(gaps, axis=-1), axis=-1) * self.per_bound
        weight = tolerance.residual / tolerance.complementarity / self.degree
        mean = (np.sum(s * z, axis=-1) + np.sum(s_c * z_c, axis=-1)) * weight
        residual = np.maximum(np.maximum(np.max(np.abs(gradient), axis=-1), mean), gap)
        return ConeIterate(u, s, z, s_c, z_c, gradient, residual)

    def iterate(self, at: ConeIterate) -> ConeIterate:
        """The next iterate: a predictor, its correction, and a step."""
        product = at.s * at.z
        newton = self._newton(at)
        per_s, per_z, scaled, stretch = newton.per_s, newton.per_z, newton.scaled, newton.scaling.stretch
        at_s = newton.scaling.components(triples(at.s_c))
        right = self._row_gradient(newton, newton.relaxed * product + newton.w * newton.gap, newton.gap_c + at_s)
        first = self._direction(newton, right - at.gradient, newton.gap, -product, newton.gap_c, at_s)
        _, ds, dz, ds_c, dz_c = first
        by_s, by_z, by_s_c, by_z_c = ds * per_s, dz * per_z, ds_c / stretch, dz_c * stretch
        far = cones.step_length(by_s, by_z, scaled, by_s_c, by_z_c)[..., None]
        mean = np.sum(product, axis=-1) + np.sum(flatten(scaled * scaled), axis=-1)
        left = np.sum((at.s + far * ds) * (at.z + far * dz), axis=-1) + np.sum(
            flatten((scaled + far[..., None] * by_s_c) * (scaled + far[..., None] * by_z_c)), axis=-1
        )
        fraction = left / mean
        least = predictor_corrector.MIN_COMPLEMENTARITY * FEASIBLE_TOLERANCES[np.dtype(self.g.dtype)].complementarity
        aim = np.maximum(fraction * fraction * left / self.degree, least)
        change = aim[..., None] - ds * dz
        push = stretch * cones.jordan_quotient(scaled, cones.jordan_product(by_s_c, by_z_c), aim[..., None])
        right = self._row_gradient(newton, -change * newton.relaxed, push)
        second = self._direction(newton, right, 0.0, change, 0.0, push)
        du, ds, dz, ds_c, dz_c = (a + b for a, b in zip(first, second, strict=True))
        far = cones.step_length(ds * per_s, dz * per_z, scaled, ds_c / stretch, dz_c * stretch)
        a = (STEP_TO_EDGE * far)[..., None]
        step_s, step_z = (newton.scaling.vector(a[..., None] * x) for x in (ds_c, dz_c))
        return self.evaluate(at.u + a * du, at.s + a * ds, at.z + a * dz, at.s_c + step_s, at.z_c + step_z)

    def _newton(self, at: ConeIterate) -> Newton:
        u, s, z, s_c, z_c, _, _ = at
        (K, k), dual = self.cones, self.dual
        per_s, per_z, relaxed = 1.0 / s, 1.0 / z, 1.0 / (s + dual * z)
        w = z * relaxed
        gap = self.bounds - self.sides.split(matvec(self.G, u)) - s
        scaling = Scaling.nesterov_todd(triples(s_c), triples(z_c))
        stretch = scaling.stretch
        soft = 1.0 / (stretch * stretch + dual)
        rows = scaling.rows(K)
        gap_c = scaling.components(triples(k + matvec(K, u) - s_c))
        scaled = scaling.components(triples(z_c)) * stretch
        every = np.concatenate([self.G, rows], axis=-2)
        weights = np.concatenate([self.sides.merge(w, 1), flatten(soft)], axis=-1)
        A = mirror_upper(self.H + np.matmul(transpose(every) * weights[..., None, :], every))
        A = predictor_corrector.add_to_diagonal(A, predictor_corrector.primal_regularisation(A))
        return Newton(A, per_s, per_z, relaxed, w, gap, scaling, rows, soft, gap_c, scaled)

    def _direction(
        self, newton: Newton, right: Array, gap: Array | float, change: Array, gap_c: Array | float, push: Array
    ) -> Direction:
        """The solution of the Newton equations; `push` is W times the target of W^-1 ds + W dz, negative."""
        du = linalg.solve(newton.matrix, right[..., None], definite=True)[..., 0]
        way = gap - self.sides.split(matvec(self.G, du))
        dz = change * newton.relaxed - newton.w * way
        way_c = gap_c + triples(matvec(newton.rows, du))
        dz_c = -newton.soft * (way_c + push)
        return du, way + self.dual * dz, dz, way_c + self.dual * dz_c, dz_c

    def _row_gradient(self, newton: Newton, y: Array, y_c: Array) -> Array:
        """(..., n): the contribution of rows and cones to the right-hand side."""
        pull = -matvec(transpose(newton.rows), flatten(newton.soft * y_c))
        return pull + matvec(transpose(self.G), self.sides.merge(y, -1)) if self.bounds.shape[-1] else pull


def solve_feasible(
    H: Array, g: Array, bounds: Bounds, skip: Any, flat: Array | None = None
) -> tuple[Minimum, Array, Array]:
    """The minimum, and ones for cones that are active at an edge, and at their tip, (..., p), otherwise zeros.

    Args:
        H: (..., n, n), symmetric and positive semi-definite.
        g: (..., n).
        bounds: of u, which u = 0 meets, with rows of the length 1 or less, if any, and with cones.
        skip: (...), truth values: samples whose solution is not needed, which take no iterations.
        flat: (...): the size below which the entries of an objective are rounding errors.
    """
    program = ConeProgram.scaled(H, g, bounds, flat)
    tolerance = FEASIBLE_TOLERANCES[np.dtype(g.dtype)]
    end = loop(
        interior_point.MAX_FEASIBLE_ITERATIONS,
        lambda at: tuple(program.iterate(ConeIterate(*at))),
        tuple(program.start()),
        until=lambda at: ~(at[-1] > tolerance.residual) | skip,
    )
    u, s, z, s_c, z_c, _, residual = end
    zero, one = np.zeros_like(z), np.ones_like(z)
    active = np.minimum(program.sides.merge(np.where(_is_active(z, s), one, zero), 1), 1.0)
    return Minimum(u, active, residual), *_active_cones(triples(s_c), triples(z_c), skip)


def _active_cones(s: Array, z: Array, skip: Any) -> tuple[Array, Array]:
    """Ones for cones whose multipliers are certainly not zero: those active at an edge, and at their tip."""
    low, high = (s[..., 0] + sign * norm(s[..., 1], s[..., 2]) for sign in (-1, 1))
    strong, weak = (z[..., 0] + sign * norm(z[..., 1], z[..., 2]) for sign in (1, -1))
    one, zero = np.ones_like(low), np.zeros_like(low)
    edge = np.where(_is_active(strong, low), one, zero)
    tip = np.where(_is_active(weak, high), one, zero)
    return np.where(skip[..., None], zero, edge), np.where(skip[..., None], zero, tip)


def _is_active(z: Array, s: Array) -> Any:
    """Truth values: whether multipliers are certainly not zero, for slacks s."""
    return z > np.maximum(ACTIVE_RATIO * s, MIN_ACTIVE_MULTIPLIER[np.dtype(z.dtype)])
