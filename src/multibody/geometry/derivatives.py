"""Derivatives on SO(3).  [Kindr §Derivatives]

A derivative with respect to a rotation is taken along Φ ⊞ v = exp(v) ⊗ Φ, and a change of a
rotation is measured by ⊟: all perturbations are rotation vectors in the outer frame A. All
results are (..., 3, 3).
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.geometry import so3
from multibody.geometry._arrays import eye_like, transpose
from multibody.geometry.operators import hat3
from multibody.geometry.public_api import public
from multibody.geometry.rotation import Rotation
from multibody.geometry.value import need


@public
def of_rotated_vector(rotation: Rotation, r: ArrayLike) -> NDArray[Any]:
    """∂Φ(r)/∂Φ = -(Φ(r))^."""
    return -hat3(need(rotation, Rotation) @ r)


@public
def of_inverse(rotation: Rotation) -> NDArray[Any]:
    """∂Φ^-1/∂Φ = -C(Φ)^T."""
    return -transpose(need(rotation, Rotation).matrix)


@public
def of_composition_left(left: Rotation, right: Rotation) -> NDArray[Any]:
    """∂(Φ1 ⊗ Φ2)/∂Φ1 = 1."""
    return np.broadcast_to(eye_like(need(left, Rotation).matrix, 3), (left @ need(right, Rotation)).matrix.shape)


@public
def of_composition_right(left: Rotation, right: Rotation) -> NDArray[Any]:
    """∂(Φ1 ⊗ Φ2)/∂Φ2 = C(Φ1)."""
    return np.broadcast_to(need(left, Rotation).matrix, (left @ need(right, Rotation)).matrix.shape)


@public
def of_exponential(v: ArrayLike) -> NDArray[Any]:
    """∂exp(v)/∂v = Γ(v), the left Jacobian of the exponential map."""
    return so3.left_jacobian(v)


@public
def of_logarithm(rotation: Rotation) -> NDArray[Any]:
    """∂log(Φ)/∂Φ = Γ(log Φ)^-1."""
    return so3.left_jacobian_inverse(need(rotation, Rotation).log())
