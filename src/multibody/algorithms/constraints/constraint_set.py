"""Several constraints as one."""

import copy
from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.constraints._constraint import Constraint
from multibody.errors import InputError
from multibody.geometry._arrays import at, choice, first, floats, is_traced, transpose
from multibody.geometry.representations import REPRESENTATIONS
from multibody.model import configuration
from multibody.model.digest import digest
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
    """Constraints on one robot, stacked in their order: frozen, and compared by what is in it.  [RD 2.271]"""

    def __init__(self, model: Model, constraints: Iterable[Constraint]) -> None:
        if not isinstance(constraints, Iterable):
            raise InputError(f"{model.name}: expected a list of constraints, got {type(constraints).__name__}")
        self.model = model
        self.constraints = tuple(constraints)
        if not self.constraints:
            raise InputError(f"{model.name}: expected at least one constraint, got none")
        seen: set[str] = set()
        for constraint in self.constraints:
            if not isinstance(constraint, Constraint):
                raise InputError(f"{model.name}: expected constraints, got {type(constraint).__name__}")
            if not isinstance(constraint.name, str):
                raise InputError(f"{model.name}: expected a constraint with a name, got {constraint.name!r}")
            if constraint.name in seen:
                raise InputError(f"{model.name}: two constraints are named {constraint.name!r}")
            seen.add(constraint.name)
            try:
                hash(constraint)
            except TypeError as error:
                raise InputError(f"constraint {constraint.name!r}: expected frozen data, got {error}") from None
            constraint.check(model)

    def on(self, model: Model) -> Self:
        """The same constraints on a model with the same names, unchecked: its numbers may be traced."""
        other = copy.copy(self)
        other.model = model
        return other

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
        q = configuration.sized(self.model, q, "q")
        return np.concatenate([constraint.error(self.model, q) for constraint in self.constraints], axis=-1)

    def jacobian(self, q: NDArray[Any], velocity: str | None = None) -> NDArray[Any]:
        """J_c, (..., rows, nv); the base's velocity in any representation, by default the robot's own.  [RD 2.271]"""
        q = configuration.sized(self.model, q, "q")
        model = self.model if velocity is None else _with_velocity(self.model, velocity)
        return np.concatenate([constraint.jacobian(model, q) for constraint in self.constraints], axis=-2)

    def bias(self, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        """J_c' v, (..., rows).  [RD 2.270]"""
        q, v = configuration.sized(self.model, q, "q"), configuration.sized(self.model, v, "v")
        return np.concatenate([constraint.bias(self.model, q, v) for constraint in self.constraints], axis=-1)

    def force_basis(self, q: NDArray[Any]) -> NDArray[Any]:
        """W = J_c^T, (..., nv, rows): the generalized force of each row's unit force.  [Kindr §Dynamics; RD 3.57]"""
        return transpose(self.jacobian(q))

    def mask(self, active: Any) -> NDArray[Any]:
        """(..., rows) of ones and zeros, from as many, or from one for each constraint, which its rows share."""
        active = floats(active, "active")
        if not is_traced(active):
            bad = (active != 0) & (active != 1)
            if bad.any():
                raise InputError(f"active{at(first(bad)[:-1])}: expected ones and zeros, got {active[bad][0]}")
        count, counts = len(self.constraints), [constraint.rows for constraint in self.constraints]
        length = active.shape[-1] if active.ndim else 0
        if length == self.rows:
            return active
        if length != count:
            raise InputError(
                f"active: expected (..., {count}), one for each constraint, or (..., {self.rows}), one for each row; "
                f"got shape {active.shape}"
            )
        return np.concatenate([active[..., k : k + 1] for k, rows in enumerate(counts) for _ in range(rows)], axis=-1)

    def ranks(self, q: NDArray[Any]) -> Ranks:
        """Of one configuration: how many independent constraints there are, and what they hold.  [RD §2.10.4]"""
        J = self.jacobian(q)
        if J.ndim != 2:
            raise InputError(f"ranks: expected one configuration (nq,), got a batch of shape {J.shape[:-2]}")
        total = _rank(J)
        base = [k for joint in self.model.bases for k in range(joint.v.start, joint.v.stop)]
        held = _rank(J[:, base]) if base else 0
        return Ranks(self.rows, total, held, total - held)

    # ---- as a value --------------------------------------------------------------------------------------------------

    @property
    def digest(self) -> str | None:
        """Equal for equal sets in every process; None when a class of the user is in it, whose code could change."""
        if any(not type(constraint).__module__.startswith("multibody.") for constraint in self.constraints):
            return None
        return digest(self.model.digest, *self.constraints)

    @cached_property
    def _hash(self) -> int:
        return hash((self.model, self.constraints))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConstraintSet):
            return NotImplemented
        return self is other or (self.model == other.model and self.constraints == other.constraints)

    def __getstate__(self) -> dict[str, Any]:
        """Without the hash: that of a text differs from process to process."""
        return {"model": self.model, "constraints": self.constraints}

    def __repr__(self) -> str:
        names = ", ".join(repr(constraint.name) for constraint in self.constraints)
        return f"<ConstraintSet on {self.model.name!r}: {names}, {self.rows} rows>"


def _with_velocity(model: Model, velocity: str) -> Model:
    """The model with another representation of the base's velocity; numbers that are traced stay as they are."""
    if choice(velocity, "velocity", REPRESENTATIONS) == model.velocity:
        return model
    other = copy.copy(model)
    vars(other)["structure"] = model.structure
    object.__setattr__(other, "velocity", velocity)
    return other


def _rank(J: NDArray[Any]) -> int:
    values = np.linalg.svd(J, compute_uv=False)
    return int((values > RANK_WITHIN * max(1.0, values.max(initial=0.0))).sum())
