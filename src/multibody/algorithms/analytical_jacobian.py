"""End-effector parameters and their Jacobians.  [RD §2.8.2, 2.8.4, 2.8.6]"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import kinematics
from multibody.algorithms.jacobian import jacobian
from multibody.errors import InputError
from multibody.geometry import rates
from multibody.geometry._arrays import damped_inverse3, numbers
from multibody.model.tree import Tree


def parameters(
    tree: Tree,
    frame: str,
    q: NDArray[Any],
    rotation: str = "euler-zyx",
    position: str = "cartesian",
    *,
    coordinates: Sequence[int] | None = None,
) -> NDArray[Any]:
    """χ, (..., m): the configuration of a frame as parameters of its position and rotation.  [RD 2.133-2.134, 2.137]

    Args:
        tree: the robot.
        frame: its name.
        q: (..., nq).
        rotation: "euler-zyx" or another name of `geometry.rates`.
        position: "cartesian", "cylindrical" or "spherical".
        coordinates: which of the parameters, by their places from 0 on, for the operational-space coordinates χ_o
            [RD 2.135-2.136]; by default all.
    """
    pose = kinematics.pose(tree, frame, q)
    parts = [rates.position_inverse(position, pose.position), rates.parameters(rotation, pose.rotation)]
    chi = np.concatenate(parts, axis=-1)
    return chi if coordinates is None else chi[..., check_coordinates(coordinates, chi.shape[-1])]


def analytical_jacobian(
    tree: Tree,
    frame: str,
    q: NDArray[Any],
    rotation: str = "euler-zyx",
    position: str = "cartesian",
    *,
    coordinates: Sequence[int] | None = None,
    damping: Any = None,
) -> NDArray[Any]:
    """J_A, (..., m, nv): χ' = J_A v, E J_A is the mixed Jacobian.  [RD 2.145-2.148, 2.189-2.192]

    Args:
        tree: the robot.
        frame: its name.
        q: (..., nq).
        rotation: as in `parameters`.
        position: as in `parameters`.
        coordinates: as in `parameters`: the rows of these.
        damping: positive, a number or (..., 1): in place of E^-1 the damped inverse E^T (E E^T + damping² 1)^-1, which
            exists everywhere.

    Raises:
        SingularityError: where the rates of the parameters are not defined, as in gimbal lock, without damping.
    """
    pose = kinematics.pose(tree, frame, q)
    J = jacobian(tree, frame, q, "mixed")
    chi_P, chi_R = rates.position_inverse(position, pose.position), rates.parameters(rotation, pose.rotation)
    if damping is None:
        E_P_inverse = rates.linear_inverse(position, chi_P)
        E_R_inverse = rates.angular_inverse(rotation, chi_R, frame="A")
    else:
        squared = np.square(numbers(damping, "damping", J))[..., None]
        E_P_inverse = damped_inverse3(rates.linear(position, chi_P), squared)
        E_R_inverse = damped_inverse3(rates.angular(rotation, chi_R, frame="A"), squared)
    upper, lower = np.matmul(E_P_inverse, J[..., :3, :]), np.matmul(E_R_inverse, J[..., 3:, :])
    J_A = np.concatenate([upper, lower], axis=-2)
    return J_A if coordinates is None else J_A[..., check_coordinates(coordinates, J_A.shape[-2]), :]


def check_coordinates(coordinates: Sequence[int], count: int) -> list[int]:
    """The places of some coordinates, checked: each is one of so many."""
    try:
        rows = list(coordinates)
    except TypeError:
        rows = []
    whole = all(isinstance(k, int | np.integer) and not isinstance(k, bool) for k in rows)
    if not rows or not whole or not all(0 <= k < count for k in rows):
        raise InputError(f"coordinates: expected some of 0 to {count - 1}, got {coordinates!r}")
    return rows
