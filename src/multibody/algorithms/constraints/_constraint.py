"""The interface of constraints: rows that forbid motion, and the forces that they can exert."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry._arrays import transpose
from multibody.model import configuration
from multibody.model.model import Model


class Constraint(ABC):
    """Rows c with error(q) = 0, J(q) v = 0 and J v' + J' v = 0.  [RD 2.269-2.270, 3.59-3.61]

    A constraint pushes the robot with the generalized force J^T f, where f, (..., rows), is on the robot: row k of f is
    along what row k of J measures, in N for a velocity in m/s and in N m for one in rad/s. A constraint is frozen data:
    a subclass is a frozen dataclass with a `name`. All functions take batches and traced arrays.
    """

    name: str

    @property
    @abstractmethod
    def rows(self) -> int:
        """The number of rows."""

    @property
    def row_names(self) -> tuple[str, ...]:
        """One name for each row."""
        return tuple(f"{self.name}[{k}]" for k in range(self.rows))

    def error(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        """(..., rows): how far q is off; zeros where there is no position to be off from.

        Its time derivative is J v; for errors of rotation only as far as they are small.
        """
        del model
        return np.zeros((*q.shape[:-1], self.rows), q.dtype)

    @abstractmethod
    def jacobian(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        """J, (..., rows, nv), for the robot's own velocities."""

    @abstractmethod
    def bias(self, model: Model, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        """J' v, (..., rows): the acceleration of the rows when v' = 0."""

    def force_basis(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        """W = J^T, (..., nv, rows): the generalized force of each row's unit force.  [Kindr §Dynamics; RD 3.57]

        These are all the forces that can hold the rows without work at velocities that the rows allow.
        """
        return transpose(self.jacobian(model, q))

    def check(self, model: Model) -> None:
        """Refuse a model that the constraint does not fit."""
        shape = self.jacobian(model, configuration.neutral(model)).shape
        if self.rows < 1 or shape != (self.rows, model.nv):
            raise InputError(
                f"constraint {self.name!r}: expected at least one row, and a Jacobian ({self.rows}, {model.nv}), got "
                f"one of shape {shape}"
            )
