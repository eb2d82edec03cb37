"""What the printed formulas are measured against. Nothing here comes from the library.

Rates of change are exact to rounding: an analytic function is evaluated at t + ih with a step h so small that its
square vanishes, and the imaginary part is the derivative (no difference is taken, so nothing cancels).
"""

import numpy as np
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

STEP = 1e-30


def rows(*m):
    """Rows of scalars, each of the batch's shape or a number, as a matrix on two new last axes."""
    entries = np.broadcast_arrays(*[entry for row in m for entry in row])
    return np.stack(entries, axis=-1).reshape(*entries[0].shape, len(m), -1)


def hat(a):
    """The matrix of a × (.): Kindr, Operators; RD 1.2; QT 20, which all print the same one."""
    a1, a2, a3 = np.moveaxis(np.asarray(a), -1, 0)
    return rows((0, -a3, a2), (a3, 0, -a1), (-a2, a1, 0))


def vee(A):
    """The vector whose matrix is the skew-symmetric A."""
    np.testing.assert_allclose(A, -T(A), rtol=0, atol=1e-9 * max(1.0, np.abs(A).max()))
    return np.stack([A[..., 2, 1], A[..., 0, 2], A[..., 1, 0]], axis=-1)


def T(A):
    """The transpose, over a batch."""
    return np.swapaxes(A, -1, -2)


def mul(A, x):
    """A x over a batch of matrices and vectors."""
    return np.einsum("...ij,...j->...i", A, x)


def unit(v):
    """V scaled to length one."""
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def elementary(axis, angle):
    """The rotation matrix about "x", "y" or "z", also of complex angles: cos, sin and -sin around the unit entry."""
    i = "xyz".index(axis)
    j, k = (i + 1) % 3, (i + 2) % 3
    c, s, entries = np.cos(angle), np.sin(angle), [[0] * 3 for _ in range(3)]
    entries[i][i], entries[j][j], entries[j][k], entries[k][j], entries[k][k] = 1, c, -s, s, c
    return rows(*entries)


def rate(f, t=0.0):
    """df/dt of an analytic function."""
    return f(t + 1j * STEP).imag / STEP


def rotations(rng, n):
    """n matrices, uniform on SO(3)."""
    return Rotation.random(n, rng=rng).as_matrix()


def turning(rng, n):
    """A frame that turns: t -> C_AB(t), analytic in t, with three unrelated axes."""
    C, a, b = rotations(rng, n), hat(rng.normal(size=(n, 3))), hat(rng.normal(size=(n, 3)))
    return lambda t: expm(a * t) @ C @ expm(b * np.sin(t))


def angular_velocity(C, t=0.0):
    """A_w_AB of C_AB(t) by its definition: the rotation vector from B(t) to B(t + h), seen in A, over h."""
    return vee(rate(C, t) @ T(C(t).real))


def same(a, b, tolerance=1e-13):
    """Assert equality up to rounding, relative to the largest number at hand."""
    a, b = np.asarray(a), np.asarray(b)
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * max(1.0, np.abs(b).max()))


def differ(a, b, least=1e-3):
    """Assert that two arrays differ in every sample: the largest entry of each by `least` or more."""
    gap = np.abs(np.asarray(a) - np.asarray(b))
    gap = gap.reshape(len(gap), -1).max(axis=1) if gap.ndim > 1 else gap.max()
    assert np.min(gap) > least
