"""What a robot can compute: a table from names to algorithms, their arguments and their options."""

from typing import Any

import numpy as np

from multibody.algorithms import (
    analytical_jacobian,
    centroidal,
    change_of_velocity,
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
)
from multibody.geometry.representations import REPRESENTATIONS
from multibody.model import actuation, configuration
from multibody.model.tree import Tree
from multibody.robot.quantity import Quantity


def _pose(tree: Tree, frame: str, q: Any) -> Any:
    return kinematics.pose(tree, frame, q)._arrays()


def _poses(tree: Tree, q: Any) -> Any:
    parts = [pose._arrays() for pose in kinematics.frame_poses(tree, q).values()]
    return np.stack([R for R, _ in parts], axis=-3), np.stack([p for _, p in parts], axis=-2)


def _relative_jacobian(tree: Tree, frame: str, q: Any, *, reference: str, **options: Any) -> Any:
    return jacobian.relative_jacobian(tree, frame, reference, q, **options)


REPRESENTATION = ("representation",)
CHART = ("rotation", "position", "coordinates")

QUANTITIES: dict[str, Quantity] = {
    "pose": Quantity(_pose, ("q",), frame=True),
    "poses": Quantity(_poses, ("q",), whole=True),
    "velocity": Quantity(kinematics.velocity, ("q", "v"), frame=True, options=REPRESENTATION),
    "acceleration": Quantity(
        kinematics.acceleration, ("q", "v", "a"), frame=True, options=(*REPRESENTATION, "intrinsic")
    ),
    "jacobian": Quantity(jacobian.jacobian, ("q",), frame=True, options=REPRESENTATION),
    "jacobian_dot": Quantity(jacobian.jacobian_dot, ("q", "v"), frame=True, options=REPRESENTATION),
    "hessian": Quantity(hessian.hessian, ("q",), frame=True, options=REPRESENTATION),
    "relative_jacobian": Quantity(
        _relative_jacobian,
        ("q",),
        frame=True,
        options=("reference", "kind", *REPRESENTATION),
        frame_options={"reference": ()},
        required=("reference",),
    ),
    "jacobian_in": Quantity(
        jacobian.jacobian_in,
        ("q",),
        frame=True,
        options=("written_in", "base"),
        frame_options={"written_in": (), "base": REPRESENTATIONS},
    ),
    "point_jacobian": Quantity(jacobian.point_jacobian, ("q", "point"), frame=True),
    "point_velocity": Quantity(kinematics.point_velocity, ("q", "v", "point"), frame=True),
    "point_acceleration": Quantity(kinematics.point_acceleration, ("q", "v", "a", "point"), frame=True),
    "analytical_jacobian": Quantity(
        analytical_jacobian.analytical_jacobian, ("q",), frame=True, options=CHART, optional=("damping",)
    ),
    "end_effector": Quantity(analytical_jacobian.parameters, ("q",), frame=True, options=CHART),
    "inverse_dynamics": Quantity(rnea.rnea, ("q", "v", "a"), wrenches=True),
    "joint_wrenches": Quantity(rnea.joint_wrenches, ("q", "v", "a"), wrenches=True),
    "forward_dynamics": Quantity(forward_dynamics.forward_dynamics, ("q", "v", "tau"), wrenches=True, solves=True),
    "mass_matrix": Quantity(crba.crba, ("q",)),
    "mass_matrix_product": Quantity(crba.mass_matrix_product, ("q", "x")),
    "bias": Quantity(coriolis.bias, ("q", "v")),
    "gravity": Quantity(coriolis.gravity, ("q",)),
    "coriolis": Quantity(coriolis.coriolis, ("q", "v")),
    "equations_of_motion": Quantity(change_of_velocity.equations_of_motion, ("q", "v"), options=("base",)),
    "inverse_dynamics_derivatives": Quantity(rnea_derivatives.rnea_derivatives, ("q", "v", "a")),
    "forward_dynamics_derivatives": Quantity(
        forward_dynamics_derivatives.forward_dynamics_derivatives, ("q", "v", "tau"), solves=True
    ),
    "center_of_mass": Quantity(centroidal.center_of_mass, ("q",)),
    "com_jacobian": Quantity(centroidal.com_jacobian, ("q",)),
    "com_velocity": Quantity(centroidal.com_velocity, ("q", "v")),
    "momentum": Quantity(centroidal.momentum, ("q", "v")),
    "centroidal_momentum": Quantity(centroidal.centroidal_momentum, ("q", "v")),
    "centroidal_momentum_rate": Quantity(centroidal.centroidal_momentum_rate, ("q", "v", "a")),
    "centroidal_momentum_matrix": Quantity(centroidal.centroidal_momentum_matrix, ("q",)),
    "centroidal_momentum_matrix_dot": Quantity(centroidal.centroidal_momentum_matrix_dot, ("q", "v")),
    "centroidal_inertia": Quantity(centroidal.centroidal_inertia, ("q",)),
    "kinetic_energy": Quantity(energy.kinetic_energy, ("q", "v")),
    "potential_energy": Quantity(energy.potential_energy, ("q",)),
    "power": Quantity(energy.power, ("q", "v", "a")),
    "regressor": Quantity(regressor.regressor, ("q", "v", "a")),
    "passive": Quantity(actuation.passive, ("q", "v"), whole=True),
    "integrate": Quantity(configuration.integrate, ("q", "dv")),
    "difference": Quantity(configuration.difference, ("q0", "q1")),
    "normalize": Quantity(configuration.normalize, ("q",), any_length=True),
    "rate_matrix": Quantity(configuration.rate_matrix, ("q",)),
    "rate_inverse": Quantity(configuration.rate_inverse, ("q",)),
}
"""What a robot computes by itself; `constrained` has what constraints do to it."""
