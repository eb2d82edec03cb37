"""The rows of contacts, limits and tasks in torques, forces and accelerations."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.constraints import Constraint, PointContact, RollingContact, SurfaceContact
from multibody.control.limits import FrictionCones, JointLimits, Limit, VelocityLimits
from multibody.control.limits.joints import coordinates
from multibody.control.tasks import LoadTask, Task
from multibody.control.whole_body.contact_dynamics import Affine, Dynamics, Unknowns, unit_of
from multibody.geometry._arrays import matvec, unit, vector
from multibody.model.tree import Tree
from multibody.solvers.cones import Cones
from multibody.solvers.least_squares import scale
from multibody.solvers.program import Bounds

Array = NDArray[Any]
ACCELERATION, VELOCITY, STIFFNESS, DAMPING = "_acceleration", "_velocity", "_kp", "_kd"
DEFAULT_STIFFNESS = 100.0
"""The kp of a task that has a target and states none, in 1/s²: a frequency of 10 rad/s."""


class TaskRows(NamedTuple):
    """The rows of a task: A x = b."""

    A: Array
    b: Array
    scale: Array
    """(..., rows): the scale of violations."""
    natural: Array
    """(...): the size of A where contacts do not make it zero."""


class AccelerationRange(NamedTuple):
    """Rows of the acceleration that are to stay between bounds."""

    J: Array
    """(..., m, nv)"""
    lower: Array
    """(..., m)"""
    upper: Array


def points_of(contact: Constraint) -> int:
    """The number of points of a contact that only push, three rows each; welds and others hold in both directions."""
    return contact.rows // 3 if isinstance(contact, PointContact | SurfaceContact | RollingContact) else 0


class ForceRows(NamedTuple):
    """The friction constraints on the contact forces."""

    faces: Affine
    """(..., m), at most zero: the faces of pyramids, and least normal forces."""
    circles: Affine | None
    """(..., 3 p): (mu f_n, f_1, f_2) of all points, where cones are circular; (1, 0, 0) where one is not active."""


def cones_of(
    cones: FrictionCones, contacts: Sequence[Constraint], newtons: float, normals: Any, mask: Any
) -> ForceRows:
    """The faces of all cones, or the cones themselves, and minimal normal forces, for a unit of forces in N."""
    total, start = sum(contact.rows for contact in contacts), 0
    lines: list[Any] = []
    circles: list[Any] = []
    upper: list[Any] = []
    free: list[Any] = []
    for k, contact in enumerate(contacts):
        n = cones.normal_of(contact.name) if normals is None else unit(normals[..., k, :])
        faces = -n[..., None, :] if cones.circular else np.concatenate([cones.faces(n), -n[..., None, :]], axis=-2)
        for place in range(start, start + 3 * points_of(contact), 3):
            lines.append(_spread(faces, place, total))
            if cones.circular:
                circles.append(_spread(cones.axes(n), place, total))
                free += [0.0 if mask is None else 1.0 - mask[..., place], 0.0, 0.0]
            least = cones.minimum / newtons * (1.0 if mask is None else mask[..., place])
            upper += [0.0] * (faces.shape[-2] - 1) + [-least]
        start += contact.rows
    if not lines:
        return ForceRows(Affine(np.zeros((0, total)), np.zeros(0)), None)
    circular = Affine(np.concatenate(circles, axis=-2), vector(*free)) if circles else None
    return ForceRows(Affine(np.concatenate(lines, axis=-2), -vector(*upper)), circular)


def _spread(R: Array, place: int, total: int) -> Array:
    """Rows of three forces as rows of all."""
    before = np.zeros((*R.shape[:-1], place), R.dtype)
    return np.concatenate([before, R, np.zeros((*R.shape[:-1], total - place - 3), R.dtype)], axis=-1)


def central_forces(
    cones: FrictionCones | None, contacts: Sequence[Constraint], tree: Tree, normals: Any, mask: Any
) -> Any:
    """(..., rows): the weight, shared by the points in contact, along their normals; no less than they are to push.

    It is in the unit of forces.
    """
    parts: list[Any] = []
    count: Any = 0.0
    for k, contact in enumerate(contacts):
        fixed = (0.0, 0.0, 1.0) if cones is None else cones.normal_of(contact.name)
        n = np.array(fixed) if normals is None else unit(normals[..., k, :])
        points = points_of(contact)
        parts += [n[..., j] for _ in range(points) for j in range(3)] + [0.0] * (contact.rows - 3 * points)
        first = sum(other.rows for other in contacts[:k])
        count = count + points * (1.0 if mask is None else mask[..., first])
    newtons = unit_of(tree)
    share = tree.mass / newtons * float(np.linalg.norm(tree.gravity)) / np.maximum(count, 1.0)
    share = share if cones is None else np.maximum(share, cones.minimum / newtons)
    forces = vector(*parts)
    return forces * (share if mask is None else share[..., None] * mask)


def bounds_of(unknowns: Unknowns, torques: Array, pushes: ForceRows) -> Bounds:
    """Torques within their limits, (n,), infinite where there is none, and forces within their cones."""
    limited = np.flatnonzero(np.isfinite(torques)).tolist()
    C, offset = unknowns.tau.matrix[..., limited, :], unknowns.tau.offset[..., limited]
    lower, upper = -torques[limited] - offset, torques[limited] - offset
    if pushes.faces.offset.shape[-1]:
        f = pushes.faces.compose(unknowns.f)
        C, upper = np.concatenate([C, f.matrix], axis=-2), np.concatenate([upper, -f.offset], axis=-1)
    cones = None if pushes.circles is None else Cones(*pushes.circles.compose(unknowns.f))
    return Bounds(C, lower, upper, cones)


def rows_of_task(
    task: Task | LoadTask, dynamics: Dynamics, unknowns: Unknowns, q: Array, values: Mapping[str, Any]
) -> TaskRows:
    """The rows of a task in the unknowns.  [RD 3.111-3.113]"""
    if isinstance(task, LoadTask):
        return _load(task, dynamics, unknowns, values)
    tree, target = dynamics.tree, values.get(task.name)
    J = task.jacobian_toward(tree, q, target)
    a = acceleration(task, dynamics, J, q, values)
    rows = unknowns.a.transform(J)
    drift = task.bias_toward(tree, q, dynamics.v, target)
    natural = scale(J) * dynamics.max_acceleration
    return TaskRows(rows.matrix, a - drift - rows.offset, 1.0 + np.abs(a), natural)


def acceleration(task: Task, dynamics: Dynamics, J: Array, q: Array, values: Mapping[str, Any]) -> Array:
    """w' = acceleration + kp error + kd (velocity - J v), (..., rows); of a momentum, its rate."""
    forward: Any = values.get(task.name + ACCELERATION)
    target: Any = values.get(task.name)
    if task.of_velocity:
        return target if forward is None else forward
    if target is None and task.needs_target:
        return forward
    kp = values.get(task.name + STIFFNESS, np.full(q.shape[:-1], DEFAULT_STIFFNESS))
    kd = values.get(task.name + DAMPING, 2.0 * np.sqrt(kp))
    rate = -matvec(J, dynamics.v)
    if values.get(task.name + VELOCITY) is not None:
        rate = rate + values[task.name + VELOCITY]
    back = kp[..., None] * task.error(dynamics.tree, q, target) + kd[..., None] * rate
    return back if forward is None else back + forward


def _load(task: LoadTask, dynamics: Dynamics, unknowns: Unknowns, values: Mapping[str, Any]) -> TaskRows:
    nv = dynamics.tree.nv
    both = [(unknowns.tau, dynamics.actuated.index(k)) if k < nv else (unknowns.f, k - nv) for k in task.places or ()]
    A = np.stack([part.matrix[..., k, :] for part, k in both], axis=-2)
    offset = np.stack([part.offset[..., k] for part, k in both], axis=-1)
    target = values.get(task.name)
    target = np.zeros_like(offset) if target is None else target / dynamics.unit
    return TaskRows(A, target - offset, 1.0 + np.abs(target), np.maximum(1.0, scale(A)))


def acceleration_range(limit: Limit, dynamics: Dynamics, q: Array, dt: Array) -> AccelerationRange:
    """The bounds of accelerations, held for the time dt, by a limit of velocities or joints.

    Velocities keep to their limits at its end. Joints keep to velocities from which they can still stop before the end
    of their range with the deceleration that `JointLimits` states: v'^2 / (2 d) + v' dt / 2 <= upper - q - v dt / 2,
    where v' = v + a dt. One that is past the end comes back with the velocity from which it would stop there.
    """
    tree, v = dynamics.tree, dynamics.v
    kept = [int(k) for k in np.flatnonzero(limit.bounded(tree))]
    if isinstance(limit, VelocityLimits | JointLimits):
        J, now = np.eye(tree.nv, dtype=q.dtype)[kept], v[..., kept]
    else:
        J = limit.jacobian(tree, q)
        now = matvec(J, v)
    if isinstance(limit, JointLimits):
        places = [k for k in (coordinates(tree)[k] for k in kept) if k is not None]
        x, half = q[..., places] + 0.5 * dt[..., None] * now, 0.5 * dt[..., None]
        upper = _brake(tree.upper[places] - x, limit.deceleration, half)
        lower = -_brake(x - tree.lower[places], limit.deceleration, half)
    elif isinstance(limit, VelocityLimits):
        upper = tree.velocity_limits[kept] + np.zeros_like(now)
        lower = -upper
    else:
        lower, upper = limit.lower(tree, q, dt), limit.upper(tree, q, dt)
    lower, upper = (lower - now) / dt[..., None], (upper - now) / dt[..., None]
    return AccelerationRange(np.broadcast_to(J, (*now.shape, tree.nv)), np.minimum(lower, upper), upper)


def _brake(room: Array, deceleration: float, half: Array) -> Array:
    """The velocity from which the room is just enough to stop; where it is negative, one that comes back by as much.

    `half` is half of the time of a step.
    """
    slow, far = half * deceleration, np.minimum(np.abs(room), 1e9)
    speed = np.sqrt(slow * slow + 2.0 * deceleration * far) - slow
    return np.where(room < 0, -np.maximum(speed, np.minimum(far / half, 2.0 * slow)), speed)
