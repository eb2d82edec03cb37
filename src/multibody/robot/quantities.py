"""Quantities of robots: the table of algorithms by name, which other rooms extend, and its look-up."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from multibody._foreign_names import translate_quantity
from multibody.algorithms import (
    analytical_jacobian,
    centroidal,
    change_of_velocity,
    constrained_dynamics,
    constraint_projection,
    coriolis,
    crba,
    energy,
    forward_dynamics,
    forward_dynamics_derivatives,
    hessian,
    jacobian,
    kinematics,
    regressor,
    rnea,
    rnea_derivatives,
    rows,
)
from multibody.algorithms import impact as impacts
from multibody.algorithms.constrained_dynamics_derivatives import constrained_dynamics_derivatives
from multibody.algorithms.constraints import ConstraintSet
from multibody.algorithms.kinematics import FRAME_REPRESENTATIONS
from multibody.errors import InputError, unknown
from multibody.geometry._arrays import truth
from multibody.geometry.representations import representation
from multibody.model import actuation, configuration
from multibody.model.tree import Tree
from multibody.robot.inputs import VALUES, Kind
from multibody.robot.quantity import Quantity, parse_count, parse_indices, parse_name


def _pose(tree: Tree, frame: str, q: Any) -> Any:
    return kinematics.pose(tree, frame, q)._arrays()


def _poses(tree: Tree, q: Any) -> Any:
    parts = [pose._arrays() for pose in kinematics.frame_poses(tree, q).values()]
    return np.stack([R for R, _ in parts], axis=-3), np.stack([p for _, p in parts], axis=-2)


def _relative_jacobian(
    tree: Tree, frame: str, q: Any, *, reference: str, kind: str = "twist", representation: str = "left"
) -> Any:
    return jacobian.relative_jacobian(tree, frame, reference, q, kind=kind, representation=representation)


def _null_space_projector(tree: Tree, constraints: ConstraintSet, q: Any) -> Any:
    return constraint_projection.null_space_projector(crba.crba(tree, q), rows.jacobian(tree, constraints, q))


def _support_consistent_velocity(
    tree: Tree, constraints: ConstraintSet, q: Any, task: Any, wanted: Any, *, task_rows: int
) -> Any:
    del task_rows  # it is in the shapes
    return constraint_projection.support_consistent_velocity(rows.jacobian(tree, constraints, q), task, wanted)


REPRESENTATION = {"representation": lambda value, _: representation(value, FRAME_REPRESENTATIONS)}
CHART = {"rotation": parse_name, "position": parse_name, "coordinates": parse_indices}
METHOD = {"method": parse_name}
Q: dict[str, Kind] = {"q": "configuration"}
QV = Q | {"v": "velocity"}
QVA = QV | {"a": "acceleration"}
QV_TAU = QV | {"tau": "force"}
POINT: dict[str, Kind] = {"point": "point"}
ROW_INPUTS: dict[str, Kind] = {"active": "rows", "baumgarte": (2,)}

QUANTITIES: dict[str, Quantity] = {
    "pose": Quantity(_pose, Q, frame=True),
    "poses": Quantity(_poses, Q),
    "velocity": Quantity(kinematics.velocity, QV, frame=True, options=REPRESENTATION),
    "acceleration": Quantity(kinematics.acceleration, QVA, frame=True, options=REPRESENTATION | {"intrinsic": truth}),
    "jacobian": Quantity(jacobian.jacobian, Q, frame=True, options=REPRESENTATION),
    "jacobian_dot": Quantity(jacobian.jacobian_dot, QV, frame=True, options=REPRESENTATION),
    "hessian": Quantity(hessian.hessian, Q, frame=True, options=REPRESENTATION),
    "relative_jacobian": Quantity(
        _relative_jacobian, Q, frame=True, options={"reference": parse_name, "kind": parse_name} | REPRESENTATION
    ),
    "jacobian_in": Quantity(
        jacobian.jacobian_in, Q, frame=True, options={"written_in": parse_name, "base": parse_name}
    ),
    "point_jacobian": Quantity(jacobian.point_jacobian, Q | POINT, frame=True),
    "point_velocity": Quantity(kinematics.point_velocity, QV | POINT, frame=True),
    "point_acceleration": Quantity(kinematics.point_acceleration, QVA | POINT, frame=True),
    "analytical_jacobian": Quantity(
        analytical_jacobian.analytical_jacobian, Q, frame=True, options=CHART, optional={"damping": (1,)}
    ),
    "end_effector": Quantity(analytical_jacobian.parameters, Q, frame=True, options=CHART),
    "inverse_dynamics": Quantity(rnea.rnea, QVA, wrenches=True),
    "joint_wrenches": Quantity(rnea.joint_wrenches, QVA, wrenches=True),
    "forward_dynamics": Quantity(forward_dynamics.forward_dynamics, QV_TAU, wrenches=True, solves=True),
    "mass_matrix": Quantity(crba.crba, Q),
    "mass_matrix_product": Quantity(crba.mass_matrix_product, Q | {"x": "velocity"}),
    "bias": Quantity(coriolis.bias, QV),
    "gravity": Quantity(coriolis.gravity, Q),
    "coriolis": Quantity(coriolis.coriolis, QV),
    "equations_of_motion": Quantity(change_of_velocity.equations_of_motion, QV, options={"base": parse_name}),
    "inverse_dynamics_derivatives": Quantity(rnea_derivatives.rnea_derivatives, QVA),
    "forward_dynamics_derivatives": Quantity(
        forward_dynamics_derivatives.forward_dynamics_derivatives, QV_TAU, solves=True
    ),
    "center_of_mass": Quantity(centroidal.center_of_mass, Q),
    "com_jacobian": Quantity(centroidal.com_jacobian, Q),
    "com_velocity": Quantity(centroidal.com_velocity, QV),
    "momentum": Quantity(centroidal.momentum, QV),
    "centroidal_momentum": Quantity(centroidal.centroidal_momentum, QV),
    "centroidal_momentum_rate": Quantity(centroidal.centroidal_momentum_rate, QVA),
    "centroidal_momentum_matrix": Quantity(centroidal.centroidal_momentum_matrix, Q),
    "centroidal_momentum_matrix_dot": Quantity(centroidal.centroidal_momentum_matrix_dot, QV),
    "centroidal_inertia": Quantity(centroidal.centroidal_inertia, Q),
    "kinetic_energy": Quantity(energy.kinetic_energy, QV),
    "potential_energy": Quantity(energy.potential_energy, Q),
    "power": Quantity(energy.power, QVA),
    "regressor": Quantity(regressor.regressor, QVA),
    "passive": Quantity(actuation.passive, QV),
    "integrate": Quantity(configuration.integrate, Q | {"dv": "velocity"}),
    "difference": Quantity(configuration.difference, {"q0": "configuration", "q1": "configuration"}),
    "normalize": Quantity(configuration.normalize, Q, any_length=True),
    "rate_matrix": Quantity(configuration.rate_matrix, Q),
    "rate_inverse": Quantity(configuration.rate_inverse, Q),
}
"""Quantities of a robot without constraints."""


def _constrained(function: Callable[..., Any]) -> Quantity:
    """The quantity of a constrained motion."""
    return Quantity(function, QV_TAU, constraints=True, options=METHOD, wrenches=True, optional=ROW_INPUTS, solves=True)


CONSTRAINED: dict[str, Quantity] = {
    "constraint_error": Quantity(rows.error, Q, constraints=True),
    "constraint_jacobian": Quantity(rows.jacobian, Q, constraints=True),
    "constraint_bias": Quantity(rows.bias, QV, constraints=True),
    "constrained_dynamics": _constrained(constrained_dynamics.constrained_dynamics),
    "constrained_dynamics_derivatives": _constrained(constrained_dynamics_derivatives),
    "impact": Quantity(
        impacts.impact,
        QV,
        constraints=True,
        optional={"active": "rows", "restitution": (1,)},
        solves=True,
    ),
    "null_space_projector": Quantity(_null_space_projector, Q, constraints=True, solves=True),
    "support_consistent_velocity": Quantity(
        _support_consistent_velocity,
        Q | {"task": "task-jacobian", "wanted": "task"},
        constraints=True,
        options={"task_rows": parse_count},
    ),
}
"""Quantities of a robot with constraints, which the function takes after the tree."""

TABLE: dict[str, Quantity] = {**QUANTITIES, **CONSTRAINED}
"""Every name that `robot.kernel`, `robot.evaluate` and `robot.derivatives` take."""


def register(quantities: Mapping[str, Quantity]) -> None:
    """Add quantities to the table, for all robots."""
    for name, quantity in quantities.items():
        if not isinstance(quantity, Quantity):
            raise InputError(f"the quantity {name!r}: expected a Quantity, got {type(quantity).__name__}")
        unknown_options = quantity.options.keys() - inspect.signature(quantity.function).parameters.keys()
        if unknown_options:
            raise InputError(f"the quantity {name!r}: its function has no argument {sorted(unknown_options)[0]!r}")
        for argument, kind in (*quantity.inputs.items(), *quantity.optional.items()):
            if isinstance(kind, str) and kind in VALUES:
                raise InputError(f"the quantity {name!r}, {argument}: expected arrays, got the kind {kind!r}")
        if TABLE.setdefault(name, quantity) is not quantity:
            raise InputError(f"a quantity is named {name!r} already")


def quantity_of(name: Any, owner: str) -> Quantity:
    """Return a quantity by name."""
    if not isinstance(name, str) or name not in TABLE:
        ours = translate_quantity(name)
        if ours in TABLE:
            raise InputError(f"{owner}: no quantity is named {name!r}; it is {ours!r} here")
        raise InputError(unknown("quantity", name, tuple(TABLE), owner))
    return TABLE[name]
