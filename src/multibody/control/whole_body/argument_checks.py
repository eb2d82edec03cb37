"""The parts of a whole-body controller, checked: contacts, levels of tasks, limits."""

from typing import Any

import numpy as np

from multibody.algorithms.constraints import Constraint
from multibody.control._checks import check_contacts, check_names, check_parts
from multibody.control.limits import FrictionCones, Limit, TorqueLimits
from multibody.control.tasks import LoadTask, Task
from multibody.control.tasks._levels import check_levels
from multibody.control.whole_body.contact_forces import split_forces
from multibody.control.whole_body.hierarchical_problem import AnyTask, Problem
from multibody.control.whole_body.task_rows import ACCELERATION, DAMPING, STIFFNESS, VELOCITY
from multibody.errors import InputError
from multibody.model import configuration
from multibody.model.actuation import actuated_indices, floating_joints
from multibody.model.tree import Tree
from multibody.robot import Robot

RESERVED = ("q", "v", "active", "dt", "normals", "out", "threads", "solver", "start")
"""Names of inputs that are not those of tasks."""


def problem_of(robot: Robot, contacts: Any, levels: Any, limits: Any, eliminate: bool | None) -> Problem:
    """The problem of tasks on contacts, within limits; tasks, contacts and limits have different names.

    A robot on a floating base, and one without motors, has at least one contact.
    """
    tree = robot.tree
    contacts = check_contacts(robot, contacts, needed=_floats(tree) or not actuated_indices(tree))
    contacts = robot.constraints(contacts).constraints if contacts else ()  # anchors that contradict each other

    def on(task: AnyTask) -> AnyTask:
        return task.on(tree, contacts) if isinstance(task, LoadTask) else task.on(tree)

    levels = check_levels(levels, (Task, LoadTask), on, (ACCELERATION, STIFFNESS, DAMPING, VELOCITY), RESERVED)
    parts = check_parts(limits, Limit | TorqueLimits | FrictionCones, "limits", "limits such as TorqueLimits()")
    torques, cones = _one(parts, TorqueLimits), _one(parts, FrictionCones)
    if cones is not None:
        cones.check(contacts)
    motions = tuple(part.on(tree) for part in parts if isinstance(part, Limit))
    check_names((*(task for level in levels for task in level), *contacts, *motions), "tasks, contacts and limits")
    if eliminate not in (None, True, False):
        raise InputError(f"eliminate: expected None, True or False, got {eliminate!r}")
    if eliminate and not contacts:
        raise InputError("eliminate: expected contacts, whose forces are eliminated, got none")
    independent = bool(contacts and actuated_indices(tree)) and _independent(tree, contacts)
    if eliminate and not independent:
        raise InputError("eliminate: expected motors and independent contacts; points of one sole may be redundant")
    bounded = tuple(limit for limit in motions if limit.bounded(tree).any())
    eliminate = independent if eliminate is None else eliminate
    return Problem(tree, contacts, levels, torques, cones, bounded, eliminate)


def _floats(tree: Tree) -> bool:
    """Whether joints move on a floating base; a free body beside a robot needs no contact."""
    floating = {joint.name for joint in floating_joints(tree)}
    return any(body.joint.name in floating and tree.children(i) for i, _, body in tree.outward())


def _one(parts: tuple[Any, ...], kind: type) -> Any:
    found = [part for part in parts if isinstance(part, kind)]
    if len(found) > 1:
        raise InputError(f"limits: expected one {kind.__name__} at most, got {len(found)}")
    return found[0] if found else None


def _independent(tree: Tree, contacts: tuple[Constraint, ...]) -> bool:
    """Whether the contacts are independent in general position, except for points of one sole."""
    q = configuration.random(tree, np.random.default_rng(0))
    J = split_forces(tree, contacts, q, np.zeros(tree.nv), None).J
    return int(np.linalg.matrix_rank(J, tol=1e-9 * max(1.0, float(np.linalg.norm(J, 2))))) == J.shape[0]
