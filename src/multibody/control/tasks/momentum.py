"""The momentum of the robot."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import centroidal
from multibody.control.tasks._task import WORLD_AXES, Labelled
from multibody.errors import InputError
from multibody.model.tree import Tree


@dataclass(frozen=True)
class MomentumTask(Labelled):
    """The momentum of the robot: six rows, linear, then angular about the centre
    of mass, along the world's axes.

    J is the centroidal momentum matrix. The target is the momentum itself, (..., 6) in kg m/s
    and kg m²/s, or, for accelerations, its rate: q is not off from anything, so there is no
    error and no gain.

    >>> import multibody as mb
    >>> robot = mb.load("quadruped")
    >>> MomentumTask("still").jacobian(robot.tree, robot.home()).shape
    (6, 18)
    """

    name: str
    weight: float = 1.0
    _labels = WORLD_AXES
    of_velocity = True

    def error(self, tree: Tree, q: NDArray[Any], target: Any) -> NDArray[Any]:
        raise InputError(f"task {self.name!r}: a momentum is of velocities, so there is no error of q")

    def jacobian(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        return centroidal.centroidal_momentum_matrix(tree, q)

    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        return centroidal.centroidal_momentum_rate(tree, q, v, np.zeros_like(v))
