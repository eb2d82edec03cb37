"""Exact references with 50 digits, from the very floats that the library is given. Nothing here comes from the library.

Matrices are NumPy arrays of mpmath numbers. Matrix functions are their power series, so that no closed form with its
cancellations is trusted; they are summed in fixed point, in Python's integers, which is many times quicker.
"""

import math
from functools import cache

import mpmath as mp
import numpy as np

mp.mp.dps = 50
BITS = 200
"""Of the smallest number of a series: sixty digits."""


def exact(a):
    """Floats as numbers of 50 digits."""
    return np.vectorize(mp.mpf, otypes=[object])(np.asarray(a, float))


def floats(a):
    """Rounded to the nearest floats."""
    return np.asarray(a).astype(float)


def hat(w):
    x, y, z = w
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=object)


def hat6(v):
    X = np.zeros((4, 4), dtype=object)
    X[:3, :3], X[:3, 3] = hat(v[3:]), v[:3]
    return X


def inverse(A):
    return np.array((mp.matrix(A.tolist()) ** -1).tolist(), dtype=object).reshape(A.shape)


def norm(v):
    return mp.sqrt(v @ v)


def series(A, first=0):
    """Σ A^n / (n + first)!: the exponential for 0; for 1 the integral of exp(s A) over s from 0 to 1."""
    bits = BITS - min([0, *(mp.frexp(a)[1] for a in A.flat if a)])
    X = np.vectorize(lambda a: int(mp.ldexp(a, bits)), otypes=[object])(A)
    total = term = np.eye(len(A), dtype=int).astype(object) * (2**bits // math.factorial(first))
    n = first
    while np.abs(term).max() > 1 and n < 400:  # a negative number is rounded to -1 for ever
        n += 1
        term = (term @ X >> bits) // n
        total = total + term
    return np.vectorize(lambda k: mp.ldexp(mp.mpf(k), -bits), otypes=[object])(total)


@cache
def _series_of_hat(phi, first):
    return series(hat(phi), first)


def exp(phi):
    """The rotation matrix of a rotation vector."""
    return _series_of_hat(tuple(exact(phi)), 0)


def left_jacobian(phi):
    """The integral of exp(s φ^) over s from 0 to 1."""
    return _series_of_hat(tuple(phi if isinstance(phi[0], mp.mpf) else exact(phi)), 1)


def left_jacobian_dot(phi, dphi):
    """The derivative of that along dphi: the upper right block of the series of [[φ^, dφ^], [0, φ^]]."""
    A, D = hat(exact(phi)), hat(exact(dphi))
    return series(np.block([[A, D], [0 * A, A]]), 1)[:3, 3:]


def quaternion(R):
    """(w, x, y, z) with w >= 0 of the rotation nearest to floats that are one up to rounding (polar decomposition)."""
    X = exact(R)
    for _ in range(3):  # the error of 1e-16 is squared every time
        X = (X + inverse(X).T) / 2
    trace = X[0, 0] + X[1, 1] + X[2, 2]
    outer = np.diag([1 + trace, *(1 + 2 * X[i, i] - trace for i in range(3))])  # 4 q q^T
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        outer[0, i + 1] = outer[i + 1, 0] = X[k, j] - X[j, k]
        outer[j + 1, k + 1] = outer[k + 1, j + 1] = X[j, k] + X[k, j]
    best = max(range(4), key=lambda i: outer[i, i])
    q = outer[best] / (2 * mp.sqrt(outer[best, best]))
    return -q if q[0] < 0 else q


def angle_axis(R):
    """Angle in [0, π] and axis of the rotation nearest to a float matrix; x when there is none."""
    q = quaternion(R)
    n = norm(q[1:])
    return (2 * mp.atan2(n, q[0]), q[1:] / n) if n else (mp.mpf(0), exact([1, 0, 0]))


@cache
def _elementary(axis, angle):
    i = "xyz".index(axis)
    j, k = (i + 1) % 3, (i + 2) % 3
    c, s = mp.cos_sin(mp.mpf(angle))
    R = np.eye(3, dtype=object)
    R[j, j], R[j, k], R[k, j], R[k, k] = c, -s, s, c
    return R


def euler(sequence, chi):
    """The matrix of intrinsic or extrinsic angles."""
    one, two, three = (_elementary(axis, float(angle)) for axis, angle in zip(sequence[-3:], chi, strict=True))
    return three @ two @ one if sequence.startswith("extrinsic-") else one @ two @ three
