"""Inverse dynamics for several tasks, of equal rank or by strict priority.  [RD §3.9.1]"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from numpy.typing import ArrayLike

from multibody.algorithms import rnea, rows
from multibody.algorithms.constraints import Constraint
from multibody.control._checks import check_frozen, expect_robot, supporting_contacts
from multibody.control._robot_controller import STATE, robot_function
from multibody.control.floating_base_inverse_dynamics import distribute_torques
from multibody.control.tasks import Task
from multibody.control.tasks._levels import check_lists, stack_weighted
from multibody.geometry._arrays import Array, floats
from multibody.model.tree import Tree
from multibody.robot import Robot
from multibody.robot.function import RobotFunction
from multibody.solvers.hierarchical_least_squares import lexicographic

Tasks = tuple[tuple[Task, ...], ...]


def multi_task_control(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    levels: Iterable[Iterable[tuple[Task, ArrayLike]]],
    *,
    contacts: Iterable[Constraint] = (),
    out: Any = None,
    threads: int | None = None,
) -> Array:
    """τ = M v' + b + g, (..., nv), for the v' that gives tasks their accelerations, list by list.
    [RD 3.82-3.83]

    Tasks of one list share what cannot be met, in least squares by their weights [RD 3.82]; no
    list gives way to those after it [RD 3.83]. Of all such v', that of least norm is taken: end
    with a `PostureTask` that damps what is left. Limits are not known here: `WholeBody` has
    them.

    Args:
        robot: with a fixed base; or floating, on contacts.
        q: (..., nq).
        v: (..., nv).
        levels: lists of pairs, the most important first: a task, and the w'*, (..., rows), that
            it is to have: its own, or by gains kp * task.error(tree, q, target) - kd * J v.
        contacts: constraints that hold, before all tasks; of the torques that then do the same,
            those of least norm are taken [RD 3.100].
        out: an array for the result.
        threads: over which a batch is split.

    Raises:
        InputError: when a list is empty, a floating base has no contacts, or a shape does not
            fit.

    >>> import multibody as mb
    >>> from multibody import control
    >>> arm = mb.load("planar-arm")
    >>> q, v = np.array([0.4, 0.5, 0.6]), np.zeros(3)
    >>> hand = control.PositionTask("hand", "tool", axes="xz")
    >>> rest = control.PostureTask("rest")
    >>> tau = multi_task_control(arm, q, v, [[(hand, [1.0, 0.0])], [(rest, [0.0, 0.0, 0.0])]])
    >>> arm.acceleration("tool", q, v, arm.forward_dynamics(q, v, tau))[:3].round(9) + 0.0
    array([1., 0., 0.])
    """
    parts = supporting_contacts(expect_robot(robot), contacts)
    lists = check_lists(levels, "pairs (task, acceleration)", _is_pair)
    pairs = [[(task.on(robot.tree), wanted) for task, wanted in level] for level in lists]
    tasks = tuple(tuple(task for task, _ in level) for level in pairs)
    wishes = [floats(wanted, f"the acceleration of task {task.name!r}", task.rows) for task, wanted in chain(*pairs)]
    check_frozen((task for level in tasks for task in level), "task")
    return _function(robot, tasks, parts)(q, v, *wishes, out=out, threads=threads)


def accelerations(
    tree: Tree, levels: Sequence[Sequence[tuple[Task, Array]]], contacts: Sequence[Constraint], q: Array, v: Array
) -> Array:
    """v', (..., nv), level by level.  [RD 3.81-3.83]"""
    stacked = []
    if contacts:
        stacked.append((rows.jacobian(tree, contacts, q), -rows.bias(tree, contacts, q, v)))
    for level in levels:
        parts = [(task.jacobian(tree, q), wanted - task.bias(tree, q, v)) for task, wanted in level]
        stacked.append(stack_weighted([task for task, _ in level], parts))
    return lexicographic(stacked)[0]


def _is_pair(x: Any) -> bool:
    return isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], Task)


@lru_cache(maxsize=64)
def _function(robot: Robot, tasks: Tasks, contacts: tuple[Constraint, ...]) -> RobotFunction:
    """The law as a kernel."""
    tree = robot.tree
    rows_of = {f"level {k}, {n}": task.rows for k, level in enumerate(tasks, 1) for n, task in enumerate(level, 1)}

    def torques(q: Array, v: Array, *wishes: Array) -> Array:
        own = iter(wishes)
        levels = [[(task, next(own)) for task in level] for level in tasks]
        y = rnea.rnea(tree, q, v, accelerations(tree, levels, contacts, q, v))
        return distribute_torques(tree, contacts, q, y) if contacts else y

    return robot_function(robot, torques, STATE | rows_of, {}, "control.multi_task_control", tasks, contacts)
