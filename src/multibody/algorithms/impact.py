"""Impacts: the velocity after a collision with restitution, its impulse and the lost energy.  [RD §3.7.3]"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import rows
from multibody.algorithms.constrained_dynamics import Response
from multibody.algorithms.constraints.constraint import Constraint
from multibody.algorithms.velocity_blocks import common_batch
from multibody.geometry._arrays import check_values, dot, floats, matvec
from multibody.model import base_velocity
from multibody.model.tree import Tree, expect_tree

Constraints = Iterable[Constraint]


class Impact(NamedTuple):
    """The result of an impact."""

    velocity: NDArray[Any]
    """(..., nv) after it."""
    impulse: NDArray[Any]
    """(..., rows) on the robot, in N s."""
    energy_loss: NDArray[Any]
    """(...) in J, not negative."""


def impact(
    tree: Tree,
    constraints: Constraints,
    q: NDArray[Any],
    v: NDArray[Any],
    restitution: Any = 0.0,
    *,
    active: Any = None,
) -> Impact:
    """The instantaneous collision with J v⁺ = -restitution J v⁻.  [RD 3.66-3.72, §3.7.3]

    The impulse is on the robot: RD's [3.66-3.69] has the opposite sign, as its F_c has.

    Args:
        tree: the robot.
        constraints: the closing ones.
        q: (..., nq).
        v: (..., nv) before the impact.
        restitution: from 0, plastic, to 1, without loss; a number or (..., 1).
        active: (..., constraints) or (..., rows) of ones, and zeros for inactive ones.
    """
    after, impulse, before_slip, after_slip = impact_step(
        tree, constraints, q, v, check_restitution(restitution), active
    )
    loss = -dot(impulse, before_slip + after_slip) / 2
    return Impact(after, impulse, np.where(loss == 0, 0.0, loss)[()])  # not -0.0, where nothing is hit


class ImpactStep(NamedTuple):
    """Velocities after an impact (..., nv), impulses, and slips J v⁻ and J v⁺, each (..., rows)."""

    velocity: NDArray[Any]
    impulse: NDArray[Any]
    before: NDArray[Any]
    after: NDArray[Any]


def impact_step(
    tree: Tree, constraints: Constraints, q: NDArray[Any], v: NDArray[Any], restitution: Any = 0.0, active: Any = None
) -> ImpactStep:
    """The v⁺ with J v⁺ = -restitution J v⁻, and the smallest impulse P with M (v⁺ - v⁻) = J^T P on the robot."""
    members = rows.members(constraints, "impact")
    response = Response(expect_tree(tree), members, q, common_batch(q, v), active)
    left_v = base_velocity.to_left(tree, q, v)
    before = response.expanded(matvec(response.R, left_v))
    x = response.force(response.reduced(-(1 + restitution) * before))
    after = left_v + response.velocity(x)
    slip = response.expanded(matvec(response.R, after))
    return ImpactStep(base_velocity.from_left(tree, q, after), response.expanded(x), before, slip)


def check_restitution(restitution: Any) -> NDArray[Any]:
    """The coefficients of restitution, of any shape, if all are from 0 to 1."""
    e = floats(restitution, "restitution")
    return check_values(e, "restitution", lambda e: (e >= 0) & (e <= 1), "0, plastic, to 1, without loss")
