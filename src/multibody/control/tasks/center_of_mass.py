"""The centre of mass at a place."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import centroidal
from multibody.control.tasks._task import Labelled, letters, vector
from multibody.model.tree import Tree


@dataclass(frozen=True)
class CenterOfMassTask(Labelled):
    """The centre of mass of the robot at a place: a row for each letter of
    `axes`, along the world's axes.  [RD 3.16]

    The target is an array (..., rows), in m, in the order of the letters.

    >>> import multibody as mb
    >>> robot = mb.load("quadruped")
    >>> task = CenterOfMassTask("balance", axes="xy")
    >>> task.error(robot.tree, robot.home(), robot.center_of_mass(robot.home())[:2])
    array([0., 0.])
    """

    name: str
    axes: str = "xyz"
    weight: float = 1.0

    def __post_init__(self) -> None:
        letters(self.axes, self.name)

    @property
    def labels(self) -> str:
        return self.axes

    def error(self, tree: Tree, q: NDArray[Any], target: Any) -> NDArray[Any]:
        actual = centroidal.center_of_mass(tree, q)
        return vector(target, self, self.rows) - actual[..., letters(self.axes, self.name)]

    def jacobian(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        return centroidal.com_jacobian(tree, q)[..., letters(self.axes, self.name), :]

    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        force = centroidal.centroidal_momentum_rate(tree, q, v, np.zeros_like(v))
        mass = tree.mass if isinstance(tree.mass, float) else tree.mass[..., None]
        return force[..., letters(self.axes, self.name)] / mass
