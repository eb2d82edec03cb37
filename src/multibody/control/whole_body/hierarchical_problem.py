"""The problem of the whole body: what is asked, in which order it yields, and its solution.  [RD 3.109-3.115]"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np

from multibody.algorithms import rows as constraint_rows
from multibody.algorithms.constraints import Constraint, SurfaceContact
from multibody.control.affine import Affine
from multibody.control.limits import FrictionCones, Limit, TorqueLimits
from multibody.control.limits._limit import Range, merge
from multibody.control.limits.friction_cones import ForceRows
from multibody.control.tasks import ForceTask, LoadTask, Task
from multibody.control.tasks._levels import stack_weighted
from multibody.control.whole_body import task_rows
from multibody.control.whole_body.contact_dynamics import Dynamics, Unknowns, contact_dynamics, unit_of
from multibody.control.whole_body.contact_forces import is_sole
from multibody.control.whole_body.least_norm_program import LeastNormProgram
from multibody.control.whole_body.level_ranks import contact_patterns, sizes_of
from multibody.control.whole_body.task_rows import TaskRows
from multibody.geometry._arrays import Array, eye_like, matvec, transpose
from multibody.model import base_velocity, configuration
from multibody.model.actuation import with_zero_base
from multibody.model.tree import Tree
from multibody.solvers.least_squares import scale
from multibody.solvers.program import Bounds
from multibody.solvers.strict_levels import reduced_bases
from multibody.solvers.strict_levels.reduced_bases import LevelSize, ReducedState
from multibody.tracing.matrices import linalg

AnyTask = Task | LoadTask
MISS_TOLERANCE = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-2}
"""The tolerance of violations, relative to the scale of a row."""
SAMPLES = 4
"""The number of random states at which ranks are counted."""


class Solution(NamedTuple):
    """The outputs of a kernel."""

    tau: Array
    """(..., nv), zero on a floating base."""
    a: Array
    """(..., nv)"""
    f: Array
    """(..., rows), on the robot."""
    slacks: Array
    """(..., all rows of the report)"""
    missed: Array
    """(..., names of the report): ones and zeros."""
    residuals: Array
    """(..., programs): by how much each misses the conditions of optimality."""


@dataclass(frozen=True)
class Problem:
    """Tasks at levels, on contacts, within limits: frozen, and known before any state is."""

    tree: Tree
    contacts: tuple[Constraint, ...]
    levels: tuple[tuple[AnyTask, ...], ...]
    torques: TorqueLimits | None
    cones: FrictionCones | None
    limits: tuple[Limit, ...]
    """Of velocities and joints."""
    eliminate: bool
    """Whether contacts are independent of each other, but for points of one sole, so that torques are unknowns, and
    forces within soles, but no others."""
    _plans: dict[bool, list[LevelSize]] = field(default_factory=dict, init=False, compare=False, repr=False)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The number of rows of each name of the report."""
        named = [*(task for level in self.levels for task in level), *self.contacts]
        counts = {part.name: part.rows for part in named}
        return counts | {limit.name: len(limit.bounded_rows(self.tree)) for limit in self.limits}

    @cached_property
    def programs(self) -> tuple[str, ...]:
        """The names of the quadratic programs that are solved one after the other, where bounds are reached."""
        names = ["contacts"] if self.contacts else []
        names += ["limits"] if self.limits else []
        names += [f"level {k}" for k in range(1, len(self.levels) + 1)]
        return (*names, "least torque", "least force") if self._has_open_forces else (*names, "least torque")

    # ---- the solution ------------------------------------------------------------------------------------------------

    def solution(self, values: Mapping[str, Any]) -> Solution:
        """Torques, acceleration, forces and what is missed, from q, v and the inputs by name."""
        moving, mask = self._dynamics(values)
        unknowns, state, bounds, left = self._start(moving, self._cones(values, mask), values, mask)
        ranges = self._ranges(moving, values)
        if ranges:
            merged = self._merge_ranges(ranges, unknowns)
            state = reduced_bases.minimise_violation(merged, state, bounds)
            bounds = merged.normalized().widened(state.x).above(bounds)
        levels = self._rows_of_levels(moving, unknowns, values)
        for level, parts, size in zip(self.levels, levels, left, strict=False):
            state = reduced_bases.solve_level(*self._stack(level, parts), state, bounds, size)
        state = self._end(state, bounds, unknowns.tau, left[len(self.levels) :])
        x = state.x
        tau, f, a = (part.at(x) for part in unknowns)
        f = f if mask is None else f * mask
        w = moving.forces.parts(f)[..., : moving.contact_a.offset.shape[-1]]
        contact_a = moving.forces.acceleration(moving.contact_a.at(np.concatenate([tau, w], axis=-1)))
        tasks = [(matvec(part.A, x) - part.b, part.scale) for level in levels for part in level]
        limits = ((matvec(J, a), lower, upper) for J, lower, upper in ranges.values())
        return self._assemble(values, tau, a, f, tasks, contact_a, limits, np.stack(state.residuals, axis=-1))

    def _dynamics(self, values: Mapping[str, Any]) -> tuple[Dynamics, Any]:
        """The equations of motion, and the mask of active rows or None."""
        active = values.get("active") if self.contacts else None
        mask = None if active is None else constraint_rows.mask(self.contacts, active)
        return contact_dynamics(self.tree, self.contacts, values["q"], values["v"], mask), mask

    def _rows_of_levels(self, moving: Dynamics, unknowns: Unknowns, values: Mapping[str, Any]) -> list[list[TaskRows]]:
        return [
            [task_rows.rows_of_task(task, moving, unknowns, values["q"], values) for task in level]
            for level in self.levels
        ]

    def _stack(self, level: Sequence[AnyTask], parts: Sequence[TaskRows]) -> tuple[Array, Array, Array]:
        """The weighted rows of all tasks of a level, and their natural size.

        Weights beside tasks of motion are those of errors in N and N m; all other levels keep the unit of forces.
        """
        mixed = len({isinstance(task, LoadTask) for task in level}) > 1
        units = [unit_of(self.tree) if mixed and isinstance(task, LoadTask) else 1.0 for task in level]
        A, b = stack_weighted(level, [(unit * part.A, unit * part.b) for unit, part in zip(units, parts, strict=True)])
        roots = [1.0] if len(parts) == 1 else [float(np.sqrt(task.weight)) for task in level]
        sizes = [root * unit * part.natural for root, unit, part in zip(roots, units, parts, strict=True)]
        return A, b, reduce(np.maximum, sizes)

    def _ranges(self, moving: Dynamics, values: Mapping[str, Any]) -> dict[str, Range]:
        """The bounds of accelerations by each limit."""
        q, v, tree = values["q"], moving.v, moving.tree
        return {limit.name: limit.acceleration_range(tree, q, v, values["dt"]) for limit in self.limits}

    def _cones(self, values: Mapping[str, Any], mask: Any) -> ForceRows | None:
        return self.cones and self.cones.force_rows(self.contacts, unit_of(self.tree), values.get("normals"), mask)

    def _bounds(self, unknowns: Unknowns, cones: ForceRows | None) -> Bounds:
        """The rows of torque limits and friction cones, in their own units."""
        bounds = Bounds.none(unknowns.a.matrix[..., 0, :]) if cones is None else cones.bounds(unknowns.f)
        if self.torques is None:
            return bounds
        return self.torques.bounds(self.tree, unknowns.tau, unit_of(self.tree)).above(bounds)

    def _start(
        self, moving: Dynamics, cones: ForceRows | None, values: Mapping[str, Any], mask: Any
    ) -> tuple[Unknowns, ReducedState, Bounds, list[LevelSize]]:
        """The unknowns, a state within the bounds at which contacts stand still as far as they can, and the bounds.

        The last part is the sizes of the levels that follow.
        """
        everything, n, sizes = moving.all_unknowns(), moving.torques, self.plan(values.get("active") is not None)
        if not self.contacts:
            free = ReducedState.free(np.zeros_like(moving.half.Z[..., 0, :]))
            return everything, free, self._bounds(everything, cones).normalized(), sizes
        pushes, cone, unit = moving.forces, self.cones or FrictionCones(1.0), unit_of(self.tree)
        weight = self.tree.mass / unit * float(np.linalg.norm(self.tree.gravity))
        center = cone.central_forces(self.contacts, weight, unit, values.get("normals"), mask)
        center = pushes.parts(center + np.zeros_like(moving.v[..., :1]))
        K, k = moving.all_contact_a
        start = ReducedState.free(np.concatenate([np.zeros_like(K[..., 0, :n]), center], axis=-1))
        if not self.eliminate:
            bounds = self._bounds(everything, cones).normalized()
            return everything, reduced_bases.solve_level(K, -k, scale(K), start, bounds, sizes[0]), bounds, sizes[1:]
        w = moving.forces_of_torques()
        idle = 1e-9 if pushes.mask is None else 1e-9 + (1.0 - pushes.mask)[..., None, :]
        r = w.offset.shape[-1]
        tau = matvec(transpose(w.matrix), _solve_regularized(w.matrix, idle, center[..., :r] - w.offset))
        x, unknowns = np.concatenate([tau, center[..., r:]], axis=-1), moving.torque_unknowns(w)
        bounds = self._bounds(unknowns, cones).normalized()
        within = pushes.within if self._within_is_idle else 0
        if not bounds.upper.shape[-1]:
            return unknowns, ReducedState.free(x, within)._replace(residuals=(np.zeros_like(x[..., 0]),)), bounds, sizes
        ok = reduced_bases.hold(bounds, x)[..., None]
        end = reduced_bases.minimise_residual(K, -k, start, self._bounds(everything, cones).normalized(), ok[..., 0])
        z = end.x
        x = np.where(ok, x, np.concatenate([z[..., :n], z[..., n + r :]], axis=-1))
        offset = np.where(ok, w.offset, z[..., n : n + r] - matvec(w.matrix, z[..., :n]))
        unknowns = moving.torque_unknowns(Affine(w.matrix, offset))
        state = ReducedState.free(x, within)._replace(active=end.active, residuals=end.residuals)
        return unknowns, state, self._bounds(unknowns, cones).normalized(), sizes

    @property
    def _within_is_idle(self) -> bool:
        """Whether no task asks for forces of soles, so that forces within them are left to the last."""
        soles = {contact.name for contact in self.contacts if isinstance(contact, SurfaceContact)}
        tasks = (task for level in self.levels for task in level if isinstance(task, ForceTask))
        return not any(task.contact in soles for task in tasks)

    def _merge_ranges(self, ranges: Mapping[str, Range], unknowns: Unknowns) -> Bounds:
        """All acceleration limits; limits of the same joint are one row."""
        rows, _ = merge([(limit, ranges[limit.name]) for limit in self.limits], self.tree)
        a = unknowns.a.transform(rows.J)
        return Bounds(a.matrix, rows.lower - a.offset, rows.upper - a.offset)

    def _end(self, state: ReducedState, bounds: Bounds, tau: Affine, left: Sequence[LevelSize]) -> ReducedState:
        """The state of least |tau|, and if forces are unknowns, too, then of least |f|.  [RD 3.113]"""
        if self._has_open_forces:
            one = np.ones_like(state.x[..., 0])
            state = reduced_bases.solve_level(tau.matrix, tau.offset, one, state, bounds, left[0])
        return reduced_bases.minimise_norm(state, bounds)

    @property
    def _has_open_forces(self) -> bool:
        """Whether torques leave forces open, so that the least |f| follows the least |tau|."""
        return bool(self.contacts) and (not self.eliminate or any(is_sole(contact) for contact in self.contacts))

    def _assemble(
        self,
        values: Mapping[str, Any],
        tau: Array,
        a: Array,
        f: Array,
        tasks: Sequence[tuple[Array, Array]],
        contact_a: Array,
        limits: Iterable[tuple[Array, Array, Array]],
        residuals: Array,
    ) -> Solution:
        """The answer, of torques of the actuated joints, and of a with a base in "left".

        Torques, forces and slacks of them are in the unit of forces here, in N and N m in the answer.

        Args:
            values: q, v and the inputs by name.
            tau: the torques of the actuated joints.
            a: (..., nv), with a base in "left".
            f: (..., rows).
            tasks: the slacks of all tasks, and their scales.
            contact_a: (..., rows), the acceleration of the contacts.
            limits: the rows of all limits, and their bounds.
            residuals: (..., programs).
        """
        unit = unit_of(self.tree)
        missed = [_relative(slack, scale) for slack, scale in tasks]
        loads = [isinstance(task, LoadTask) for level in self.levels for task in level]
        slacks = [unit * slack if load else slack for (slack, _), load in zip(tasks, loads, strict=True)]
        slacks += [contact_a[..., place] for place in constraint_rows.slices(self.contacts).values()]
        missed += [np.max(np.abs(slack), axis=-1) for slack in slacks[len(tasks) :]]
        for y, lower, upper in limits:
            slacks.append(np.maximum(y - upper, 0.0) + np.minimum(y - lower, 0.0))
            missed.append(_relative(slacks[-1], 1.0 + np.minimum(np.abs(lower), np.abs(upper))))
        within = MISS_TOLERANCE[np.dtype(tau.dtype)]
        flags = np.stack([np.where(miss <= within, 0.0, 1.0) for miss in missed], axis=-1)  # NaN is missed
        tau, f, slack = with_zero_base(self.tree, unit * tau), unit * f, np.concatenate(slacks, axis=-1)
        whole = (np.sum(np.abs(a), axis=-1) + np.sum(np.abs(slack), axis=-1))[..., None]
        left = base_velocity.to_left(self.tree, values["q"], values["v"])
        a = base_velocity.acceleration_from_left(self.tree, values["q"], left, a)
        # no command for numbers that are none
        tau, a, f = (np.where(whole < np.inf, part, np.full_like(part, np.nan)) for part in (tau, a, f))
        return Solution(tau, a, f, slack, flags, residuals)

    # ---- the case in which all levels can be met --------------------------------------------------------------------

    @property
    def has_single_optimum(self) -> bool:
        """Whether one quadratic program of least |tau| has a unique solution.

        This holds for independent contacts whose cones are pyramids.
        """
        circles = self.cones is not None and self.cones.circular
        return not self.contacts or not (self._has_open_forces or circles)

    def least_norm_program(self, values: Mapping[str, Any]) -> LeastNormProgram:
        """The program in which nothing yields, of a problem with a single optimum."""
        moving, mask = self._dynamics(values)
        unknowns = moving.torque_unknowns(moving.forces_of_torques()) if self.contacts else moving.all_unknowns()
        levels, sizes = self._rows_of_levels(moving, unknowns, values), self.plan(values.get("active") is not None)
        state = ReducedState.free(np.zeros_like(unknowns.a.matrix[..., 0, :]))
        for level, parts, size in zip(self.levels, levels, sizes, strict=False):
            state = reduced_bases.solve_level(*self._stack(level, parts), state, Bounds.none(state.x), size)
        x = Affine(state.Z, state.x)  # which has nothing along Z, as every level adds what is across it
        left = Unknowns(*(part.compose(x) for part in unknowns))
        bounds = self._bounds(left, self._cones(values, mask))
        ranges = self._ranges(moving, values)
        if ranges:
            bounds = self._merge_ranges(ranges, left).above(bounds)
        f = left.f if mask is None else Affine(left.f.matrix * mask[..., None], left.f.offset * mask)
        maps = [unknowns.a, *(Affine(part.A, -part.b) for level in levels for part in level)]
        maps += [unknowns.a.transform(part.J) for part in ranges.values()]
        known = [part.scale for level in levels for part in level]
        known += [side for part in ranges.values() for side in (part.lower, part.upper)]
        J = moving.forces.J
        known += [moving.forces.drift, np.reshape(J, (*J.shape[:-2], J.shape[-2] * J.shape[-1]))]
        return LeastNormProgram.of(x, f, bounds, maps, known)

    def solution_at(self, q: Array, v: Array, w: Array, multipliers: Array, program: LeastNormProgram) -> Solution:
        """The solution at the unknowns w of a program; its last residual is that of the conditions of optimality."""
        tasks = [task.rows for level in self.levels for task in level]
        ends = [len(limit.bounded_rows(self.tree)) for limit in self.limits]
        nv, feet, count = self.tree.nv, constraint_rows.count(self.contacts), len(tasks)
        tau, f, values = program.at(w)
        a, *own = np.split(values, np.cumsum([nv, *tasks, *ends])[:-1], axis=-1)
        *known, drift, J = np.split(program.known, np.cumsum([*tasks, *np.repeat(ends, 2), feet]), axis=-1)
        contact_a = matvec(np.reshape(J, (*J.shape[:-1], feet, nv)), a) + drift
        limits = zip(own[count:], known[count::2], known[count + 1 :: 2], strict=True)
        residual = np.max(program.optimality_residuals(w, multipliers), axis=-1)
        residuals = np.stack([*[np.zeros_like(residual)] * (len(self.programs) - 1), residual], axis=-1)
        scales = zip(own[:count], known[:count], strict=True)
        return self._assemble({"q": q, "v": v}, tau, a, f, list(scales), contact_a, limits, residuals)

    # ---- what is known before ----------------------------------------------------------------------------------------

    def plan(self, masked: bool) -> list[LevelSize]:
        """The ranks and dimensions of all levels in general position, with any contacts active if there is a mask."""
        if masked not in self._plans:
            self._plans[masked] = self._general_sizes(masked)
        return self._plans[masked]

    def _general_sizes(self, masked: bool) -> list[LevelSize]:
        rng = np.random.default_rng(0)
        patterns = contact_patterns(len(self.contacts), rng) if masked else np.ones((1, len(self.contacts)))
        active = np.repeat(patterns, SAMPLES, axis=0)
        q = np.stack([configuration.random(self.tree, rng) for _ in active])
        v = rng.standard_normal((len(active), self.tree.nv))
        values = {"q": q, "v": v}
        for task in (task for level in self.levels for task in level if isinstance(task, Task)):
            values[task.name] = task.example_target(self.tree)
            values[task.name + task_rows.ACCELERATION] = np.zeros((len(active), task.rows))
        moving, _ = self._dynamics(values | {"active": active} if masked else values)
        unknowns = moving.torque_unknowns(moving.forces_of_torques()) if self.eliminate else moving.all_unknowns()
        contact_a = moving.all_contact_a.matrix
        matrices = [] if self.eliminate or not self.contacts else [(contact_a, scale(contact_a))]
        for level, parts in zip(self.levels, self._rows_of_levels(moving, unknowns, values), strict=True):
            A, _, natural = self._stack(level, parts)
            matrices.append((A, natural))
        if self._has_open_forces:
            matrices.append((unknowns.tau.matrix, np.ones(len(active))))
        return sizes_of(matrices)


def _relative(slack: Array, scale: Array) -> Array:
    """(...): the largest slack, relative to the scales of the rows."""
    return np.max(np.abs(slack) / scale, axis=-1)


def _solve_regularized(F: Array, idle: Any, right: Array) -> Array:
    """(F F^T + idle 1)^-1 right: a starting point, also for a singular F."""
    S = np.matmul(F, transpose(F))
    return linalg.solve(S + idle * eye_like(S, S.shape[-1]), right[..., None], definite=True)[..., 0]
