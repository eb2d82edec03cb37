"""Several constraints as one."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.constraints._constraint import Constraint
from multibody.errors import InputError
from multibody.model.model import Model

RANK_WITHIN = 1e-9
"""Singular values below this times the largest count as zero."""


class Ranks(NamedTuple):
    """What constraints do to a robot.  [RD 2.271-2.272, §2.10.4]"""

    rows: int
    rank: int
    """rank(J_c): independent constraints."""
    base: int
    """rank(J_c,b): those that hold the base."""
    internal: int
    """The rest: those that couple joints among themselves."""


class ConstraintSet:
    """Constraints on one robot, stacked in their order.  [RD 2.271]"""

    def __init__(self, model: Model, constraints: Iterable[Constraint]) -> None:
        self.model = model
        self.constraints = tuple(constraints)
        if not self.constraints:
            raise InputError(f"{model.name}: expected at least one constraint, got none")
        seen: set[str] = set()
        for constraint in self.constraints:
            if not isinstance(constraint, Constraint):
                raise InputError(f"{model.name}: expected constraints, got {type(constraint).__name__}")
            if constraint.name in seen:
                raise InputError(f"{model.name}: two constraints are named {constraint.name!r}")
            seen.add(constraint.name)
            constraint.check(model)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(constraint.rows for constraint in self.constraints)

    @property
    def row_names(self) -> tuple[str, ...]:
        """One name for each row."""
        return tuple(name for constraint in self.constraints for name in constraint.row_names)

    def slices(self) -> dict[str, slice]:
        """Where the rows of each constraint are."""
        found, start = {}, 0
        for constraint in self.constraints:
            found[constraint.name] = slice(start, start + constraint.rows)
            start += constraint.rows
        return found

    def error(self, q: NDArray[Any]) -> NDArray[Any]:
        """(..., rows)."""
        return np.concatenate([constraint.error(self.model, q) for constraint in self.constraints], axis=-1)

    def jacobian(self, q: NDArray[Any], velocity: str | None = None) -> NDArray[Any]:
        """J_c, (..., rows, nv); the base's velocity in any representation, by default the robot's own.  [RD 2.271]"""
        model = self.model if velocity in (None, self.model.velocity) else self.model.with_(velocity=velocity)
        return np.concatenate([constraint.jacobian(model, q) for constraint in self.constraints], axis=-2)

    def bias(self, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        """J_c' v, (..., rows).  [RD 2.270]"""
        return np.concatenate([constraint.bias(self.model, q, v) for constraint in self.constraints], axis=-1)

    def ranks(self, q: NDArray[Any]) -> Ranks:
        """Of one configuration: how many independent constraints there are, and what they hold.  [RD §2.10.4]"""
        J = self.jacobian(q)
        if J.ndim != 2:
            raise InputError(f"ranks: expected one configuration (nq,), got a batch of shape {q.shape[:-1]}")
        total = _rank(J)
        base = [k for joint in self.model.bases for k in range(joint.v.start, joint.v.stop)]
        held = _rank(J[:, base]) if base else 0
        return Ranks(self.rows, total, held, total - held)


def _rank(J: NDArray[Any]) -> int:
    values = np.linalg.svd(J, compute_uv=False)
    return int((values > RANK_WITHIN * max(1.0, values.max(initial=0.0))).sum())
