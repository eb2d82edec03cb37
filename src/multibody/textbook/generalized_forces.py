"""Generalized forces of Cartesian ones: at points, on bodies, and of actuators between two bodies.  [RD §3.5.3]"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.algorithms import jacobian
from multibody.errors import InputError
from multibody.geometry._arrays import batch_shape, floats, matvec, transpose
from multibody.model import check_configuration
from multibody.model.tree import Tree


@dataclass(frozen=True, eq=False)
class Action:
    """A force and a torque on the robot, along the world's axes, in N and N m.

    They act on the body of `frame`, the force at `point` of it; and, when the action is that of an actuator between two
    bodies, with the opposite sign on the body of `reaction`, at the origin of that frame. The arrays are (..., 3).

    >>> Action("foot-lf", force=[0.0, 0.0, 50.0]).force
    array([ 0., 0., 50.])
    """

    frame: str
    force: Any = (0.0, 0.0, 0.0)
    torque: Any = (0.0, 0.0, 0.0)
    point: Any = (0.0, 0.0, 0.0)
    """In the frame."""
    reaction: str | None = None

    def __post_init__(self) -> None:
        for field in ("force", "torque", "point"):
            array = floats(getattr(self, field), f"action on {self.frame!r}, {field}", 3)
            object.__setattr__(self, field, array)


def generalized_force(tree: Tree, q: ArrayLike, actions: Iterable[Action]) -> NDArray[Any]:
    """τ, (..., nv): the sum of J_P^T F + J_R^T T of all actions.  [RD 3.49-3.53]

    Args:
        tree: the robot.
        q: (..., nq).
        actions: outer forces and torques, and those of actuators; their arrays (..., 3) broadcast with q.

    >>> import multibody as mb
    >>> robot = mb.load("planar-arm")
    >>> hang = Action(robot.bodies[2].name, force=[0.0, 0.0, -10.0], point=[0.0, 0.0, 0.1])
    >>> generalized_force(robot.tree, [0.5, 0.2, 0.1], [hang]).round(3)
    array([11.954, 7.16 , 0.717])
    >>> drive = Action(robot.bodies[1].name, torque=[0.0, 3.0, 0.0], reaction=robot.bodies[0].name)
    >>> generalized_force(robot.tree, [0.5, 0.2, 0.1], [drive]).round(9) + 0.0
    array([0., 3., 0.])
    """
    q = check_configuration.unit_coordinates(tree, q)
    actions = _listed(actions)
    vectors = [(x, 1) for action in actions for x in (action.force, action.torque, action.point)]
    batch_shape("generalized_force, q and force, torque, point of each action", (q, 1), *vectors)
    total = np.zeros((*q.shape[:-1], tree.nv), q.dtype)
    for action in actions:
        J_P = jacobian.point_jacobian(tree, action.frame, q, action.point)
        J_R = jacobian.jacobian(tree, action.frame, q, "mixed")[..., 3:, :]
        if action.reaction is not None:  # [RD 3.52]
            other = jacobian.jacobian(tree, action.reaction, q, "mixed")
            J_P, J_R = J_P - other[..., :3, :], J_R - other[..., 3:, :]
        total = total + matvec(transpose(J_P), action.force) + matvec(transpose(J_R), action.torque)
    return total


def _listed(actions: Iterable[Action]) -> list[Action]:
    if not isinstance(actions, Iterable):
        raise InputError(f"generalized_force: expected a list of actions, got {type(actions).__name__}")
    checked = list(actions)
    for action in checked:
        if not isinstance(action, Action):
            raise InputError(f"generalized_force: expected actions, got {type(action).__name__}")
    return checked
