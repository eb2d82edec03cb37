"""Hamilton's quaternions: arrays (..., 4) in the order wxyz."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody._foreign_names import unknown_attribute
from multibody.geometry._arrays import dot, floats, matrix, not_zero, unit, vector
from multibody.geometry.exponential_coefficients import half_angle
from multibody.geometry.public_api import public


def _parts(q: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    return q[..., 0], q[..., 1], q[..., 2], q[..., 3]


@public
def conjugate(q: ArrayLike) -> NDArray[Any]:
    """q* = (w, -x, -y, -z), the inverse of a unit quaternion.  [RD 2.56; Kindr §Quaternion]

    >>> conjugate([1.0, 2.0, 3.0, 4.0])
    array([ 1., -2., -3., -4.])
    """
    w, x, y, z = _parts(floats(q, "quaternion", 4))
    return vector(w, -x, -y, -z)


@public
def multiply(q: ArrayLike, p: ArrayLike) -> NDArray[Any]:
    """q ⊗ p: the quaternion of A_R_C from those of A_R_B and B_R_C.  [RD 2.57; Kindr §Quaternion]

    >>> multiply([0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0])  # i j = k
    array([0., 0., 0., 1.])
    """
    w, x, y, z = _parts(floats(q, "quaternion", 4))
    a, b, c, d = _parts(floats(p, "quaternion", 4))
    return vector(
        w * a - x * b - y * c - z * d,
        w * b + x * a + y * d - z * c,
        w * c - x * d + y * a + z * b,
        w * d + x * c - y * b + z * a,
    )


@public
def left_matrix(q: ArrayLike) -> NDArray[Any]:
    """M_l with q ⊗ p = M_l(q) p, (..., 4, 4); Kindr's Q.  [RD 2.58-2.59; Kindr §Quaternion]"""
    w, x, y, z = _parts(floats(q, "quaternion", 4))
    return matrix([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])


@public
def right_matrix(p: ArrayLike) -> NDArray[Any]:
    """M_r with q ⊗ p = M_r(p) q, (..., 4, 4); Kindr's conjugate Q.
    [RD 2.60-2.61; Kindr §Quaternion]
    """
    w, x, y, z = _parts(floats(p, "quaternion", 4))
    return matrix([[w, -x, -y, -z], [x, w, z, -y], [y, -z, w, x], [z, y, -x, w]])


@public
def pure(r: ArrayLike) -> NDArray[Any]:
    """The quaternion (0, r) of a vector.  [RD 2.62]

    >>> pure([1.0, 2.0, 3.0])
    array([0., 1., 2., 3.])
    """
    r = floats(r, "r", 3)
    return vector(np.zeros_like(r[..., 0]), r[..., 0], r[..., 1], r[..., 2])


@public
def rotate(q: ArrayLike, r: ArrayLike) -> NDArray[Any]:
    """A_r from B_r, by q ⊗ (0, r) ⊗ q* with the unit quaternion of A_R_B.  [RD 2.63-2.64]

    >>> rotate([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)], [1.0, 0.0, 0.0]).round(12)
    array([0., 1., 0.])
    """
    return multiply(multiply(q, pure(r)), conjugate(q))[..., 1:]


@public
def rate_matrix(q: ArrayLike) -> NDArray[Any]:
    """H(q), (..., 3, 4): A_w_AB = 2 H(q) q' and q' = H(q)^T A_w_AB / 2.
    [RD 2.94-2.99; Kindr §Quaternion Rates]
    """
    w, x, y, z = _parts(floats(q, "quaternion", 4))
    return matrix([[-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]])


@public
def rate_matrix_bar(q: ArrayLike) -> NDArray[Any]:
    """H̄(q), (..., 3, 4): B_w_AB = 2 H̄(q) q' and q' = H̄(q)^T B_w_AB / 2.
    [Kindr §Quaternion Rates]
    """
    w, x, y, z = _parts(floats(q, "quaternion", 4))
    return matrix([[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]])


@public
def normalize(q: ArrayLike) -> NDArray[Any]:
    """q / |q|.  [RD 2.53]

    >>> normalize([0.0, 3.0, 0.0, 4.0])
    array([0. , 0.6, 0. , 0.8])
    """
    return unit(not_zero(floats(q, "quaternion", 4), "quaternion"))


@public
def canonical(q: ArrayLike) -> NDArray[Any]:
    """The one of q and -q, which are the same rotation, that has w ≥ 0.

    >>> canonical([-1.0, 0.0, 2.0, 0.0])
    array([ 1., -0., -2., -0.])
    """
    q = floats(q, "quaternion", 4)
    return np.where(q[..., :1] < 0, -q, q)


@public
def to_matrix(q: ArrayLike) -> NDArray[Any]:
    """The rotation matrix of a unit quaternion.  [RD 2.54; Kindr §Quaternion and Matrix]"""
    w, x, y, z = _parts(floats(q, "quaternion", 4))
    xx, yy, zz = x * (2 * x), y * (2 * y), z * (2 * z)
    xy, xz, yz = x * (2 * y), x * (2 * z), y * (2 * z)
    wx, wy, wz = w * (2 * x), w * (2 * y), w * (2 * z)
    return matrix(
        [
            [1 - (yy + zz), xy - wz, xz + wy],
            [xy + wz, 1 - (xx + zz), yz - wx],
            [xz - wy, yz + wx, 1 - (xx + yy)],
        ]
    )


@public
def from_matrix(R: ArrayLike) -> NDArray[Any]:
    """The unit quaternion, w ≥ 0, of a rotation matrix, precise for every rotation.  [RD 2.55]

    4 q q^T is linear in R. Of its four columns the one with a large diagonal entry is taken, so
    that nothing is divided by a small number and no sign is lost, as it is in the printed
    formula at half a turn.
    """
    R = floats(R, "rotation matrix", 3, 3)
    r = [[R[..., i, j] for j in range(3)] for i in range(3)]
    x, y, z = r[0][0], r[1][1], r[2][2]
    wx, wy, wz = r[2][1] - r[1][2], r[0][2] - r[2][0], r[1][0] - r[0][1]
    xy, xz, yz = r[0][1] + r[1][0], r[0][2] + r[2][0], r[1][2] + r[2][1]
    upper, x_first, z_first = z < 0, x > y, x < -y

    def pick(column_x: Any, column_y: Any, column_z: Any, column_w: Any) -> Any:
        return np.where(upper, np.where(x_first, column_x, column_y), np.where(z_first, column_z, column_w))

    ww, xx, yy, zz = 1 + x + y + z, 1 + x - y - z, 1 - x + y - z, 1 - x - y + z
    w, i, j, k = pick(wx, wy, wz, ww), pick(xx, xy, xz, wx), pick(xy, yy, yz, wy), pick(xz, yz, zz, wz)
    scale = 1 / np.sqrt(w * w + i * i + j * j + k * k)
    scale = np.where(w < 0, -scale, scale)
    return vector(scale * w, scale * i, scale * j, scale * k)


@public
def from_rotation_vector(phi: ArrayLike) -> NDArray[Any]:
    """The unit quaternion (cos θ/2, n sin θ/2).  [RD 2.51-2.52; Kindr §Quaternion and Angle-Axis]"""
    phi = floats(phi, "rotation vector", 3)
    c, s = half_angle(dot(phi, phi))
    return vector(c, s * phi[..., 0], s * phi[..., 1], s * phi[..., 2])


@public
def to_rotation_vector(q: ArrayLike) -> NDArray[Any]:
    """The rotation vector, of length in [0, π], of a unit quaternion, w ≥ 0.
    [Kindr §Quaternion and Angle-Axis]
    """
    w, x, y, z = _parts(floats(q, "quaternion", 4))
    n2 = x * x + y * y + z * z
    small = n2 < 1e-6
    n = np.sqrt(np.where(small, 1.0, n2))
    t2 = np.where(small, n2, 0.0) / np.where(small, w * w, 1.0)
    series = (1 - t2 * (1 / 3 - t2 / 5)) / np.where(small, w, 1.0)
    factor = 2 * np.where(small, series, np.arctan2(n, w) / n)
    return vector(factor * x, factor * y, factor * z)


@public
def to_angle_axis(q: ArrayLike) -> NDArray[Any]:
    """(..., 4): angle in [0, π] and unit axis of a unit quaternion, w ≥ 0.
    [Kindr §Quaternion and Angle-Axis]

    The axis of no rotation is x. The vector part is scaled before it is squared, so that the
    axis has length one even when the angle is as small as a float can be.
    """
    w, x, y, z = _parts(floats(q, "quaternion", 4))
    largest = np.maximum(np.maximum(np.abs(x), np.abs(y)), np.abs(z))
    zero = largest == 0.0
    largest = np.where(zero, 1.0, largest)
    x, y, z = np.where(zero, 1.0, x / largest), y / largest, z / largest
    n = np.sqrt(x * x + y * y + z * z)
    return vector(2 * np.arctan2(np.where(zero, 0.0, n * largest), w), x / n, y / n, z / n)


@public
def dominant(K: ArrayLike) -> NDArray[Any]:
    """The unit eigenvector, w ≥ 0, of the largest eigenvalue of a positive
    semi-definite (..., 4, 4) matrix.

    The matrix is squared until only that eigenvector is left: no branches, and as precise as
    the gap allows.
    """
    power = floats(K, "K", 4, 4)
    for _ in range(56):
        power = power / np.trace(power, axis1=-2, axis2=-1)[..., None, None]
        power = np.matmul(power, power)
    columns = [power[..., k] for k in range(4)]
    longest = columns[0]  # of q q^T
    for column in columns[1:]:
        longest = np.where((dot(column, column) > dot(longest, longest))[..., None], column, longest)
    return canonical(normalize(longest))


@public
def of_nearest_rotation(M: ArrayLike) -> NDArray[Any]:
    """The quaternion of the rotation nearest to M in the Frobenius norm (Davenport's q-method)."""
    M = floats(M, "matrix", 3, 3)
    largest = np.abs(M[..., 0, 0])
    for i, j in ((0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)):
        largest = np.maximum(largest, np.abs(M[..., i, j]))
    m = [[M[..., i, j] / largest for j in range(3)] for i in range(3)]  # so that no square under- or overflows
    wx, wy, wz = m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]
    xy, xz, yz = m[0][1] + m[1][0], m[0][2] + m[2][0], m[1][2] + m[2][1]
    x, y, z = m[0][0], m[1][1], m[2][2]
    size = 9.0  # no eigenvalue is below -9 when no entry is above 1
    K = matrix(
        [
            [size + x + y + z, wx, wy, wz],
            [wx, size + x - y - z, xy, xz],
            [wy, xy, size - x + y - z, yz],
            [wz, xz, yz, size - x - y + z],
        ]
    )
    return dominant(K)


__getattr__ = unknown_attribute(__name__)
