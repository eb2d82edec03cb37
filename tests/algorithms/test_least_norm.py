"""Smallest solutions of singular systems, beside NumPy's pseudo-inverse."""

import numpy as np
import pytest

from multibody.algorithms import least_norm

from ..laws.tools import near


def rows(rng, n, extra):
    """J, (n + extra, n + 1): singular values from 1 to 1e-3, and sums of the rows besides."""
    left, right = (np.linalg.qr(rng.standard_normal((k, k)))[0] for k in (n, n + 1))
    J = left @ np.diag(np.geomspace(1.0, 1e-3, n)) @ right[:n]
    return np.concatenate([J, rng.standard_normal((extra, n)) @ J])[rng.permutation(n + extra)]


@pytest.mark.parametrize("extra", [0, 1, 4])
@pytest.mark.parametrize("n", [1, 3, 7])
def test_beside_numpy(n, extra):
    """What J M^-1 J^T leaves of the rows is as little as with eigenvalues, although it squares their condition."""
    rng = np.random.default_rng(n + 10 * extra)
    J = np.stack([rows(rng, n, extra) for _ in range(20)])
    A = J @ np.swapaxes(J, -1, -2)
    A, b = (A + np.swapaxes(A, -1, -2)) / 2, rng.standard_normal((20, n + extra, 2))
    P = least_norm.pseudo_inverse(A)
    near(A @ P @ J, J, 1e-9)
    near(P @ b, np.linalg.pinv(A, rcond=1e-9, hermitian=True) @ b, 1e-7)
    near(least_norm.solution(A, b), np.linalg.pinv(A, rcond=1e-9, hermitian=True) @ b, 1e-7)
    near(A @ least_norm.solution(A, A @ b), A @ b, 1e-11)


def test_rows_of_zeros():
    assert not least_norm.pseudo_inverse(np.zeros((2, 3, 3))).any()
    near(least_norm.solution(np.diag([2.0, 0.0, 1e-30]), np.ones((3, 1))), [[0.5], [0.0], [0.0]], 1e-15)
