"""What the law tests share: closeness that NaN fails, small linear algebra, and strategies for hypothesis."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

TOLERANCE = {np.float64: 1e-12, np.float32: 2e-5}


def near(found, expected, tolerance=1e-12):
    """Assert equal shapes, and numbers equal up to the tolerance, relative to the largest one when it is above 1."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, f"shape {found.shape}, expected {expected.shape}"
    if expected.size:
        error = np.abs(found - expected).max()
        assert error <= tolerance * max(1.0, np.abs(expected).max()), f"off by {error:.2e} (tolerance {tolerance:.0e})"


def mul(A, x):
    """A x over the batch."""
    return (A @ x[..., None])[..., 0]


def T(A):
    """The transpose over the batch."""
    return np.swapaxes(A, -1, -2)


def hat(w):
    """The matrix of w ×."""
    return np.cross(np.eye(3), np.asarray(w)[..., None, :])


def unhat(W):
    """The vector of a skew-symmetric matrix."""
    return np.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], axis=-1)


def difference(f, t=0.0, h=1e-3):
    """df/dt by central differences of sixth order, whose error is near 1e-12 for smooth f."""
    return (
        45 * (f(t + h) - f(t - h)) - 9 * (f(t + 2 * h) - f(t - 2 * h)) + (f(t + 3 * h) - f(t - 3 * h))
    ) / (60 * h)  # fmt: skip


# ---- strategies ------------------------------------------------------------------------------------------------------


def vectors(n, size=3.0, batch=()):
    """Vectors with entries of at most that size; zeros and tiny numbers among them."""
    return arrays(np.float64, (*batch, n), elements=st.floats(-size, size))


def quaternions(batch=()):
    """Quaternions that are not zero, of any length from 1e-3 to 2."""
    return vectors(4, 1.0, batch).filter(lambda q: (np.linalg.norm(q, axis=-1) > 1e-3).all())


angles = st.floats(-10.0, 10.0)
