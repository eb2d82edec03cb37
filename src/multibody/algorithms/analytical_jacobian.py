"""End-effector parameters, their Jacobians, and how close a frame is to a singularity.  [RD §2.8.2, 2.8.4, 2.8.6]"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import kinematics
from multibody.algorithms.jacobian import jacobian
from multibody.errors import InputError
from multibody.geometry import rates
from multibody.model.model import Model


def parameters(
    model: Model, frame: str, q: NDArray[Any], rotation: str = "euler-zyx", position: str = "cartesian"
) -> NDArray[Any]:
    """χ, (..., m): the configuration of a frame as parameters of its position and rotation.  [RD 2.133-2.134, 2.137]

    Args:
        model: the robot.
        frame: its name.
        q: (..., nq).
        rotation: "euler-zyx" or another name of `geometry.rates`.
        position: "cartesian", "cylindrical" or "spherical".
    """
    pose = kinematics.pose(model, frame, q)
    chi = [rates.position_inverse(position, pose.position), rates.parameters(rotation, pose.rotation)]
    return np.concatenate(chi, axis=-1)


def analytical_jacobian(
    model: Model, frame: str, q: NDArray[Any], rotation: str = "euler-zyx", position: str = "cartesian"
) -> NDArray[Any]:
    """J_A, (..., m, nv): χ' = J_A v, E J_A is the mixed Jacobian.  [RD 2.145-2.148, 2.189-2.192]

    Raises:
        SingularityError: where the rates of the parameters are not defined, as in gimbal lock.
    """
    pose = kinematics.pose(model, frame, q)
    J = jacobian(model, frame, q, "mixed")
    chi_P, chi_R = rates.position_inverse(position, pose.position), rates.parameters(rotation, pose.rotation)
    upper = np.matmul(rates.linear_inverse(position, chi_P), J[..., :3, :])
    lower = np.matmul(rates.angular_inverse(rotation, chi_R, frame="A"), J[..., 3:, :])
    return np.concatenate([upper, lower], axis=-2)


def singular_values(model: Model, frame: str, q: NDArray[Any], coordinates: Sequence[int] = range(6)) -> NDArray[Any]:
    """(..., k): of the rows of the mixed Jacobian that the task uses, largest first.  [RD 2.135]

    `coordinates` are those of operational space: 0 to 2 the position, 3 to 5 the rotation about the world's axes.
    """
    return singular_values_of(jacobian(model, frame, q), coordinates)


def singular_values_of(J: NDArray[Any], coordinates: Sequence[int] = range(6)) -> NDArray[Any]:
    """The same, from the Jacobian (..., 6, nv).  [RD 2.135]"""
    rows = list(coordinates)
    if not rows or any(k not in range(6) for k in rows):
        raise InputError(f"coordinates: expected some of 0 to 5, got {coordinates!r}")
    return np.linalg.svd(J[..., rows, :], compute_uv=False)


def manipulability(model: Model, frame: str, q: NDArray[Any], coordinates: Sequence[int] = range(6)) -> NDArray[Any]:
    """(...): sqrt(det(J J^T)), the product of the singular values: zero at a singularity."""
    return np.prod(singular_values(model, frame, q, coordinates), axis=-1)


def rank(
    model: Model, frame: str, q: NDArray[Any], coordinates: Sequence[int] = range(6), tolerance: float = 1e-9
) -> NDArray[Any]:
    """(...): the number of coordinates that can move at q, by singular values above tolerance times the largest.

    The configuration is singular where it is smaller than elsewhere.
    """
    values = singular_values(model, frame, q, coordinates)
    return (values > tolerance * np.maximum(values[..., :1], 1e-300)).sum(axis=-1)
