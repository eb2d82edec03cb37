"""The rows of tasks in torques, contact forces and accelerations, and the gains of tasks."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from multibody.control.tasks import LoadTask, Task
from multibody.control.whole_body.contact_dynamics import Dynamics, Unknowns
from multibody.geometry._arrays import Array, matvec
from multibody.solvers.least_squares import scale

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


def acceleration(task: Task, dynamics: Dynamics, J: Array, q: Array, values: Mapping[str, Any]) -> Any:
    """w' = acceleration + kp error + kd (velocity - J v), (..., rows); of a momentum, its rate."""
    forward: Any = values.get(task.name + ACCELERATION)
    target: Any = values.get(task.name)
    if target is None and (task.of_velocity or task.needs_target):
        return forward
    if task.of_velocity:
        return target if forward is None else target + forward
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
