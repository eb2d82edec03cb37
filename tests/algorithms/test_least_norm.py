"""Smallest solutions of singular systems, beside NumPy's pseudo-inverse."""

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms import least_norm
from multibody.algorithms.constraint_projection import contact_inertia

from ..every_law import each_case
from ..laws.tools import near


def rows(rng, n, extra):
    """J, (n + extra, n + 1): singular values from 1 to 1e-3, and sums of the rows besides."""
    left, right = (np.linalg.qr(rng.standard_normal((k, k)))[0] for k in (n, n + 1))
    J = left @ np.diag(np.geomspace(1.0, 1e-3, n)) @ right[:n]
    return np.concatenate([J, rng.standard_normal((extra, n)) @ J])[rng.permutation(n + extra)]


@each_case("weighted", [False, True])
@each_case("extra", [0, 1, 4])
@each_case("n", [1, 3, 7])
def test_beside_numpy(n, extra, weighted):
    """What J M^-1 J^T leaves of the rows is as little as with eigenvalues, although it squares their condition."""
    rng = np.random.default_rng(n + 10 * extra)
    J = np.stack([rows(rng, n, extra) for _ in range(20)])
    A, b = least_norm.gram(np.swapaxes(J, -1, -2)), rng.standard_normal((20, n + extra, 2))
    near(A, J @ np.swapaxes(J, -1, -2), 1e-14)
    w = rng.uniform(0.1, 10, (20, n + 1)) if weighted else None
    Y = np.swapaxes(J, -1, -2) / (1 if w is None else np.sqrt(w)[..., None])
    P = least_norm.pseudo_inverse(Y, w)
    near(A @ P @ J, J, 1e-9)
    near(P @ b, np.linalg.pinv(A, rcond=1e-9, hermitian=True) @ b, 1e-7)
    near(least_norm.solution(Y, b, w), np.linalg.pinv(A, rcond=1e-9, hermitian=True) @ b, 1e-7)
    near(A @ least_norm.solution(Y, A @ b, w), A @ b, 1e-11)


@pytest.mark.parametrize("extra", [0, 3])
def test_ranks_of_single_precision_are_not_those_of_squares(extra):
    """Singular values from 1 to 1e-3: their squares are below what float32 tells from the rounding errors of A."""
    rng = np.random.default_rng(extra)
    J = np.stack([rows(rng, 5, extra) for _ in range(200)])
    w = rng.uniform(0.1, 10, (200, 6))
    b = J @ rng.standard_normal((200, 6, 1))
    expected = np.linalg.pinv(np.swapaxes(J, -1, -2), rcond=1e-6) @ np.linalg.pinv(J, rcond=1e-6) @ b
    Y = (np.swapaxes(J, -1, -2) / np.sqrt(w)[..., None]).astype(np.float32)
    x = least_norm.solution(Y, b.astype(np.float32), w.astype(np.float32))
    assert x.dtype == np.float32
    off = np.linalg.norm(x - expected, axis=(-1, -2)) / np.linalg.norm(expected, axis=(-1, -2))
    assert off.max() < 0.01


def test_rows_of_zeros():
    assert not least_norm.pseudo_inverse(np.zeros((2, 4, 3))).any()
    near(least_norm.solution(np.diag([2.0**0.5, 0.0, 1e-15]), np.ones((3, 1))), [[0.5], [0.0], [0.0]], 1e-15)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_units_do_not_decide(dtype):
    """Rows in other units, as forces and torques of a small robot, are as independent as before."""
    rng = np.random.default_rng(5)
    eps = np.finfo(dtype).eps
    J = np.stack([np.linalg.qr(rng.standard_normal((7, 7)))[0][:5] for _ in range(30)])
    J[:, 3:] += 0.5 * J[:, :2]
    J = np.concatenate([J, J[:, 1:2] - 2 * J[:, 4:]], axis=1)  # the last is redundant
    units = np.array([1.0, 1.0, 1e3, 1e-3, 1e3, 1e3])[:, None] * J
    Y = np.swapaxes(units, -1, -2).astype(dtype)
    A = least_norm.gram(Y)
    b = A @ rng.standard_normal((30, 6, 1)).astype(dtype)
    x = least_norm.solution(Y, b)
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


def test_singular_mass_matrices_are_refused():
    M = np.stack([np.eye(3), np.diag([1.0, 0.0, 1.0])])
    with pytest.raises(mb.SingularityError, match=r"M \(sample 1\): expected a mass matrix, got a singular one"):
        contact_inertia(M, np.eye(3)[:2])
