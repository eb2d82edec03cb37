"""Exponential map, logarithm and their Jacobians on SO(3), for arrays.

All are matrices of the form a 1 + b φ^ + c φ φ^T with coefficients in θ² = φ·φ:

    exp(φ)  = cos θ 1 + A φ^ + B φ φ^T          A = sin θ / θ
    Γ(φ)    =     A 1 + B φ^ + C φ φ^T          B = (1 - cos θ) / θ²
    Γ(φ)^-1 = (1 - D θ²) 1 - φ^ / 2 + D φ φ^T   C = (θ - sin θ) / θ³,  D = (1 - A / 2B) / θ²

Γ is the left Jacobian of the exponential map (Kindr); the right one (From's S) is Γ(-φ).
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.errors import SingularityError
from multibody.geometry import exponential_coefficients as k
from multibody.geometry import quaternions
from multibody.geometry._arrays import (
    at,
    blockwise,
    dot,
    first,
    floats,
    is_traced,
    matrix,
    numbers,
    singular_within,
    transpose,
)
from multibody.geometry.public_api import public


def _isotropic(a: Any, b: Any, c: Any, phi: NDArray[Any]) -> NDArray[Any]:
    """The matrix a 1 + b φ^ + c φ φ^T."""
    x, y, z = phi[..., 0], phi[..., 1], phi[..., 2]
    bx, by, bz = b * x, b * y, b * z
    cx, cy = c * x, c * y
    xy, xz, yz = cx * y, cx * z, cy * z
    return matrix(
        [
            [a + cx * x, xy - bz, xz + by],
            [xy + bz, a + cy * y, yz - bx],
            [xz - by, yz + bx, a + c * z * z],
        ]
    )


@public
def exp(phi: ArrayLike) -> NDArray[Any]:
    """The rotation matrix of a rotation vector (Rodrigues).  [Kindr item 6; QT 53, 55; RD 2.48]

    Args:
        phi: (..., 3) rotation vector, of any length.

    Returns:
        (..., 3, 3).

    >>> exp([0.0, 0.0, np.pi / 2]).round(12) + 0.0
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """

    def block(phi: NDArray[Any]) -> NDArray[Any]:
        x = dot(phi, phi)
        a, b = k.a_b_squared(x)
        return _isotropic(1 - b * x, a, b, phi)

    return blockwise(block, (floats(phi, "rotation vector", 3), 1))


@public
def from_angle_axis(angle: ArrayLike, axis: ArrayLike) -> NDArray[Any]:
    """The rotation matrix of an angle (...) about a unit axis (..., 3).  [RD 2.48]"""
    axis = floats(axis, "axis", 3)
    angle = numbers(angle, "angle", axis)
    half = np.sin(angle / 2)
    return _isotropic(np.cos(angle), np.sin(angle), 2 * half * half, axis)


@public
def log(R: ArrayLike) -> NDArray[Any]:
    """The rotation vector of a rotation matrix, its length in [0, π].  [Kindr item 7; RD 2.47]

    It is that of the unit quaternion, which `quaternions.from_matrix` takes from the largest of
    four columns. So it is precise near π, too, where R - R^T vanishes. At π itself either sign
    of the axis is right; the columns decide.

    Args:
        R: (..., 3, 3); taken to be a rotation, without a check.

    Returns:
        (..., 3).
    """

    def block(R: NDArray[Any]) -> NDArray[Any]:
        return quaternions.to_rotation_vector(quaternions.from_matrix(R))

    return blockwise(block, (floats(R, "rotation matrix", 3, 3), 2))


@public
def left_jacobian(phi: ArrayLike) -> NDArray[Any]:
    """Γ(φ): the angular velocity in the fixed frame is Γ(φ) φ'.
    [Kindr §Derivatives; RD 2.104, 2.106; QT 54, 56, §5.2]

    Args:
        phi: (..., 3) rotation vector.

    Returns:
        (..., 3, 3).
    """

    def block(phi: NDArray[Any]) -> NDArray[Any]:
        x = dot(phi, phi)
        a, b = k.a_b_squared(x)
        return _isotropic(a, b, k.c(x, a), phi)

    return blockwise(block, (floats(phi, "rotation vector", 3), 1))


@public
def left_jacobian_inverse(phi: ArrayLike) -> NDArray[Any]:
    """Γ(φ)^-1, which does not exist at θ = 2π, 4π, ...  [Kindr §Derivatives; RD 2.105, 2.107]

    Args:
        phi: (..., 3) rotation vector.

    Returns:
        (..., 3, 3).

    Raises:
        SingularityError: within 1e-9 rad of a whole turn (other than none).
    """
    phi = floats(phi, "rotation vector", 3)
    check_whole_turns(phi)

    def block(phi: NDArray[Any]) -> NDArray[Any]:
        x = dot(phi, phi)
        a, b = k.a_b_squared(x)
        d = k.d(x, a, b)
        return _isotropic(1 - d * x, -0.5, d, phi)

    return blockwise(block, (phi, 1))


@public
def right_jacobian(phi: ArrayLike) -> NDArray[Any]:
    """Γ(-φ), which times φ' is the angular velocity in the moving frame.
    [Kindr §Rotation Vector Rates; From 29]
    """
    return left_jacobian(-floats(phi, "rotation vector", 3))


@public
def right_jacobian_inverse(phi: ArrayLike) -> NDArray[Any]:
    """Γ(-φ)^-1.  [Kindr §Rotation Vector Rates]"""
    return left_jacobian_inverse(-floats(phi, "rotation vector", 3))


@public
def left_jacobian_dot(phi: ArrayLike, dphi: ArrayLike) -> NDArray[Any]:
    """The derivative of Γ(φ) along dphi: its time derivative when dphi is φ'.

    With A' = (C - B)/2 and the derivatives of B and C with respect to θ².

    Args:
        phi: (..., 3) rotation vector.
        dphi: (..., 3) direction or rate.

    Returns:
        (..., 3, 3).
    """

    def block(phi: NDArray[Any], dphi: NDArray[Any]) -> NDArray[Any]:
        x, dx = dot(phi, phi), 2 * dot(phi, dphi)
        a, b = k.a_b_squared(x)
        c = k.c(x, a)
        da = dx * (c - b) / 2
        db = dx * k.db(x, a, b)
        dc = dx * k.dc(x, b, c)
        u = c[..., None] * dphi
        outer = u[..., :, None] * phi[..., None, :]
        return _isotropic(da, db, dc, phi) + _isotropic(0.0, b, 0.0, dphi) + outer + transpose(outer)

    return blockwise(block, (floats(phi, "rotation vector", 3), 1), (floats(dphi, "its rate", 3), 1))


def check_whole_turns(phi: NDArray[Any]) -> None:
    """Refuse concrete rotation vectors at the singularity of Γ^-1."""
    if is_traced(phi):
        return
    with np.errstate(all="ignore"):
        turns = np.linalg.norm(phi, axis=-1) / (2 * np.pi)
        distance = 2 * np.pi * np.abs(turns - np.round(turns))
        bad = (distance < singular_within(phi)) & (np.round(turns) > 0)
    if bad.any():
        index = first(bad)
        raise SingularityError(
            f"rotation vector of {turns[index]:.6g} whole turns{at(index)}: its inverse rate map does not exist "
            f"at a whole turn, which is {distance[index]:.1e} rad away; shorten it to at most half a turn"
        )
