"""Smallest solutions of singular systems, beside NumPy's pseudo-inverse."""

import numpy as np
import pytest

import multibody as mb
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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_units_do_not_decide(dtype):
    """Rows in other units, as forces and torques of a small robot, are as independent as before."""
    rng = np.random.default_rng(5)
    eps = np.finfo(dtype).eps
    J = np.stack([np.linalg.qr(rng.standard_normal((7, 7)))[0][:5] for _ in range(30)])
    J[:, 3:] += 0.5 * J[:, :2]
    J = np.concatenate([J, J[:, 1:2] - 2 * J[:, 4:]], axis=1)  # the last is redundant
    units = np.array([1.0, 1.0, 1e3, 1e-3, 1e3, 1e3])[:, None] * J
    A = (units @ np.swapaxes(units, -1, -2)).astype(dtype)
    A = (A + np.swapaxes(A, -1, -2)) / 2
    b = A @ rng.standard_normal((30, 6, 1)).astype(dtype)
    x = least_norm.solution(A, b)
    own = 1 / np.linalg.norm(units, axis=-1)[..., None]
    assert np.abs(own * (A @ x - b)).max() < 1e3 * eps * np.abs(own * b).max()
    idle = np.array([0.0, 1e3, 0.0, 0.0, -2.0, -1.0])  # what A does not feel, in these units
    assert np.abs(x[..., 0] @ idle).max() < 1e3 * eps * np.abs(x).max() * np.linalg.norm(idle)


def test_a_held_hand_in_single_precision():
    """Rows of forces, in 1/kg, beside those of torques, in 1/(kg m²): none is dropped away from singularities."""
    robot = mb.load("panda")
    single = robot.astype("float32")
    hand = [mb.constraints.FrameContact("hand", robot.frames[-1])]
    rng = np.random.default_rng(0)
    q = robot.random(rng, (1000,))
    J = robot.constraints(hand).jacobian(q)
    q = q[np.linalg.svd(J, compute_uv=False)[:, -1] > 0.01]
    v, tau = rng.standard_normal((2, len(q), robot.nv))
    expected, _ = robot.constrained_dynamics(robot.constraints(hand), q, v, tau)
    found, _ = single.constrained_dynamics(single.constraints(hand), *(x.astype("float32") for x in (q, v, tau)))
    assert len(q) > 700
    assert np.abs(found - expected).max() < 2e-3 * np.abs(expected).max()
    assert (np.linalg.norm(found - expected, axis=-1) < 0.02 * np.linalg.norm(expected, axis=-1)).all()
