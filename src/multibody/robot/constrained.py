"""What constraints do to a robot: the table of quantities that take a set of constraints."""

from functools import partial
from typing import Any

from multibody.algorithms import constrained_dynamics as dynamics
from multibody.algorithms import rows
from multibody.algorithms.constrained_dynamics_derivatives import constrained_dynamics_derivatives
from multibody.algorithms.constraints import ConstraintSet
from multibody.algorithms.crba import crba
from multibody.model.tree import Tree
from multibody.robot.quantity import Quantity
from multibody.tracing.differentiate import jacobian


def _null_space_projector(tree: Tree, constraints: ConstraintSet, q: Any) -> Any:
    return dynamics.null_space_projector(crba(tree, q), rows.jacobian(tree, constraints, q))


CONSTRAINED: dict[str, Quantity] = {
    "constraint_error": Quantity(rows.error, ("q",), constraints=True),
    "constraint_jacobian": Quantity(rows.jacobian, ("q",), constraints=True),
    "constraint_bias": Quantity(rows.bias, ("q", "v"), constraints=True),
    "constrained_dynamics": Quantity(
        dynamics.constrained_dynamics,
        ("q", "v", "tau"),
        constraints=True,
        options=("method",),
        wrenches=True,
        optional=("active", "baumgarte"),
        solves=True,
    ),
    "constrained_dynamics_derivatives": Quantity(
        partial(constrained_dynamics_derivatives, jacobian=jacobian),
        ("q", "v", "tau"),
        constraints=True,
        options=("method",),
        wrenches=True,
        optional=("active", "baumgarte"),
        solves=True,
    ),
    "impact": Quantity(dynamics.impact, ("q", "v"), constraints=True, optional=("active", "restitution"), solves=True),
    "null_space_projector": Quantity(_null_space_projector, ("q",), constraints=True, solves=True),
}
"""Entries whose function takes a ConstraintSet after the tree."""
