"""Hat, vee and cross products of arrays, on R^3 and R^6.

Vectors of R^6 have the linear part first, the angular part second.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.geometry._arrays import block_matrix, floats, matrix, transpose, vector
from multibody.geometry.public_api import public


@public
def hat3(w: ArrayLike) -> NDArray[Any]:
    """The skew-symmetric matrix of w, which times b is w × b.
    [MDN 5, §3.1; RD §1.2; QT 20; Kindr §Operators]

    Args:
        w: (..., 3).

    Returns:
        (..., 3, 3).

    >>> hat3([1.0, 2.0, 3.0]) @ [4.0, 5.0, 6.0]
    array([-3.,  6., -3.])
    """
    w = floats(w, "w", 3)
    x, y, z = w[..., 0], w[..., 1], w[..., 2]
    return matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


@public
def vee3(W: ArrayLike) -> NDArray[Any]:
    """The vector w with hat3(w) = W, of the antisymmetric part of W.
    [MDN 6; RD §1.2; Kindr §Operators]

    >>> vee3(hat3([1.0, 2.0, 3.0]))
    array([1., 2., 3.])
    """
    W = floats(W, "W", 3, 3)
    return vector(W[..., 2, 1] - W[..., 1, 2], W[..., 0, 2] - W[..., 2, 0], W[..., 1, 0] - W[..., 0, 1]) / 2


@public
def hat6(v: ArrayLike) -> NDArray[Any]:
    """The 4 × 4 matrix of a twist in se(3).  [MDN 4, 7]

    >>> hat6([1.0, 2.0, 3.0, 0.0, 0.0, 4.0])
    array([[ 0., -4.,  0.,  1.],
           [ 4.,  0., -0.,  2.],
           [-0.,  0.,  0.,  3.],
           [ 0.,  0.,  0.,  0.]])
    """
    v = floats(v, "v", 6)
    x, y, z = v[..., 3], v[..., 4], v[..., 5]
    return matrix([[0, -z, y, v[..., 0]], [z, 0, -x, v[..., 1]], [-y, x, 0, v[..., 2]], [0, 0, 0, 0]])


@public
def vee6(V: ArrayLike) -> NDArray[Any]:
    """The twist v with hat6(v) = V.  [MDN 8]

    >>> vee6(hat6([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    array([1., 2., 3., 4., 5., 6.])
    """
    V = floats(V, "V", 4, 4)
    return np.concatenate([V[..., :3, 3], vee3(V[..., :3, :3])], axis=-1)


@public
def cross3(a: ArrayLike, b: ArrayLike) -> NDArray[Any]:
    """a × b, broadcasting.  [RD §1.2; QT 20; Kindr §Operators]

    >>> cross3([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    array([0., 0., 1.])
    """
    a, b = floats(a, "a", 3), floats(b, "b", 3)
    ax, ay, az, bx, by, bz = a[..., 0], a[..., 1], a[..., 2], b[..., 0], b[..., 1], b[..., 2]
    return vector(ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx)


@public
def ad(v: ArrayLike) -> NDArray[Any]:
    """The matrix of the cross product of twists, v ×, which is ad_v of se(3).
    [MDN 37-38, 41-43, §5.3; From 8]

    Args:
        v: (..., 6) twist.

    Returns:
        (..., 6, 6), with ad(v) u = vee6(hat6(v) hat6(u) - hat6(u) hat6(v)).
    """
    v = floats(v, "v", 6)
    linear, angular = hat3(v[..., :3]), hat3(v[..., 3:])
    return block_matrix([[angular, linear], [0, angular]])


@public
def ad_dual(v: ArrayLike) -> NDArray[Any]:
    """The matrix of the dual cross product of a twist and a wrench, which is -ad_v^T.
    [MDN 61-66, §6.1]

    Args:
        v: (..., 6) twist.

    Returns:
        (..., 6, 6).
    """
    return -transpose(ad(v))


@public
def cross6(v: ArrayLike, u: ArrayLike) -> NDArray[Any]:
    """v × u for two twists, without forming the matrix.  [MDN 38-40]"""
    v, u = floats(v, "v", 6), floats(u, "u", 6)
    w = v[..., 3:]
    return np.concatenate([cross3(w, u[..., :3]) + cross3(v[..., :3], u[..., 3:]), cross3(w, u[..., 3:])], axis=-1)


@public
def cross6_dual(v: ArrayLike, f: ArrayLike) -> NDArray[Any]:
    """v ×̄* f for a twist and a wrench, without forming the matrix.  [MDN 62]"""
    v, f = floats(v, "v", 6), floats(f, "f", 6)
    w = v[..., 3:]
    return np.concatenate([cross3(w, f[..., :3]), cross3(v[..., :3], f[..., :3]) + cross3(w, f[..., 3:])], axis=-1)
