"""Inertial parameters without constraints.

Any ten numbers make a body that can exist.

A body's pseudo-inertia J = ∫ [r; 1][r; 1]^T dm, (4, 4), is positive definite exactly when its
mass is positive and its moments satisfy the triangle inequality. J = U U^T with an upper
triangular U, whose diagonal is kept as logarithms (Rucker and Wensing, Smooth Parameterization
of Rigid-Body Inertia, 2022):

    U = e^α [[e^d1, s12, s13, t1], [0, e^d2, s23, t2], [0, 0, e^d3, t3], [0, 0, 0, 1]]
    θ = (α, d1, d2, d3, s12, s23, s13, t1, t2, t3)
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError
from multibody.geometry._arrays import first, floats, is_traced, matrix, vector
from multibody.geometry.public_api import public

SIZE = 10


@public
def parameters(theta: ArrayLike) -> NDArray[Any]:
    """(..., 10): m, m c, and Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin, from any θ (..., 10).

    >>> parameters(np.zeros(10)) + 0.0  # no -0
    array([1., 0., 0., 0., 2., 0., 2., 0., 0., 2.])
    """
    x = floats(theta, "log-Cholesky parameters", SIZE)
    alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 = (x[..., k] for k in range(SIZE))
    scale = np.exp(2 * alpha)
    u1, u2, u3 = np.exp(d1), np.exp(d2), np.exp(d3)
    xx = scale * (u1 * u1 + s12 * s12 + s13 * s13 + t1 * t1)
    yy = scale * (u2 * u2 + s23 * s23 + t2 * t2)
    zz = scale * (u3 * u3 + t3 * t3)
    xy = scale * (s12 * u2 + s13 * s23 + t1 * t2)
    xz = scale * (s13 * u3 + t1 * t3)
    yz = scale * (s23 * u3 + t2 * t3)
    return vector(scale, scale * t1, scale * t2, scale * t3, yy + zz, -xy, xx + zz, -xz, -yz, xx + yy)


@public
def from_parameters(parameters: ArrayLike) -> NDArray[Any]:
    """θ, (..., 10), of inertial parameters (..., 10) that a body can have: the
    inverse of `parameters`.

    NaN and Inf are data, as everywhere in geometry, and stay in their sample;
    `robot.check_parameters` refuses them and names the sample and the body.

    Raises:
        InputError: that names the index in the array, when a body cannot have them.

    >>> from_parameters([1.0, 0, 0, 0, 2, 0, 2, 0, 0, 2]) + 0.0  # no -0
    array([0., 0., 0., 0., 0., 0., 0., 0., 0., 0.])
    """
    p = floats(parameters, "inertial parameters", SIZE)
    m = p[..., 0]
    J = pseudo_inertia(p) / m[..., None, None]
    t1, t2, t3 = (J[..., k, 3] for k in range(3))
    # second moments about the centre of mass, for a unit of mass
    xx, yy, zz = J[..., 0, 0] - t1 * t1, J[..., 1, 1] - t2 * t2, J[..., 2, 2] - t3 * t3
    xy, xz, yz = J[..., 0, 1] - t1 * t2, J[..., 0, 2] - t1 * t3, J[..., 1, 2] - t2 * t3
    u3 = np.sqrt(zz)
    s13, s23 = xz / u3, yz / u3
    u2 = np.sqrt(yy - s23 * s23)
    s12 = (xy - s13 * s23) / u2
    u1 = np.sqrt(xx - s12 * s12 - s13 * s13)
    theta = vector(np.log(m) / 2, np.log(u1), np.log(u2), np.log(u3), s12, s23, s13, t1, t2, t3)
    if not is_traced(theta):
        bad = ~np.isfinite(theta).all(axis=-1) & np.isfinite(p).all(axis=-1)
        if bad.any():
            index = first(bad)
            where = f" at {list(index)}" if index else ""  # which axes are samples, and which bodies, the caller knows
            raise InputError(f"inertial parameters{where}: no body can have {p[index].tolist()}")
    return theta


@public
def pseudo_inertia(parameters: ArrayLike) -> NDArray[Any]:
    """J, (..., 4, 4), of inertial parameters (..., 10): positive definite when a
    body can have them.

    >>> np.diag(pseudo_inertia([1.0, 0, 0, 0, 2, 0, 2, 0, 0, 2]))
    array([1., 1., 1., 1.])
    """
    p = floats(parameters, "inertial parameters", SIZE)
    half = (p[..., 4] + p[..., 6] + p[..., 9]) / 2
    xx, yy, zz = (half - p[..., k] for k in (4, 6, 9))
    xy, xz, yz = -p[..., 5], -p[..., 7], -p[..., 8]
    m, hx, hy, hz = (p[..., k] for k in range(4))
    return matrix([[xx, xy, xz, hx], [xy, yy, yz, hy], [xz, yz, zz, hz], [hx, hy, hz, m]])
