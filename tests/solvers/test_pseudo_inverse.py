"""Pseudo-inverses and projectors of any rank: their laws, against NumPy, in batches, traced, and bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import multibody as mb
from multibody import control

SHAPES = ((2, 3, 2), (3, 2, 1), (4, 4, 3), (6, 7, 5), (3, 3, 0))
"""Rows, columns and ranks: few, since each has a kernel."""


def of_rank(rng, m, n, r, batch=()):
    return rng.standard_normal((*batch, m, r)) @ rng.standard_normal((*batch, r, n))


@given(st.sampled_from(SHAPES), st.integers(0, 10**6), st.floats(-6, 6))
def test_moore_penrose(shape, seed, size):
    """The four conditions, which only the pseudo-inverse meets, whatever the units. [RD 2.195-2.199]"""
    A = of_rank(np.random.default_rng(seed), *shape) * 10**size
    P = control.pseudo_inverse(A)
    scale = max(np.abs(A).max(), 1e-300)
    A, P = A / scale, P * scale
    spread = max(1.0, np.abs(P).max())
    assert_allclose(A @ P @ A, A, atol=1e-12 * spread)
    assert_allclose(P @ A @ P, P, atol=1e-11 * spread**2)
    assert_allclose((A @ P).T, A @ P, atol=1e-12 * spread)
    assert_allclose((P @ A).T, P @ A, atol=1e-12 * spread)


@given(st.sampled_from(SHAPES), st.integers(0, 10**6))
def test_projector(shape, seed):
    """N is symmetric and idempotent, J N = 0, and J (J^+ w + N v0) = J J^+ w for all v0. [RD 2.206, 2.210-2.212]"""
    m, n, r = shape
    rng = np.random.default_rng(seed)
    J, w, v0 = of_rank(rng, m, n, r), rng.standard_normal(m), rng.standard_normal(n)
    N, P = control.null_space_projector(J), control.pseudo_inverse(J)
    assert_array_equal(N, N.T)
    assert_allclose(N @ N, N, atol=1e-13)
    assert_allclose(J @ N, 0, atol=1e-13 * max(1, np.abs(J).max()))
    assert_allclose(np.trace(N), n - r, atol=1e-12)
    assert_allclose(J @ (P @ w + N @ v0), J @ P @ w, atol=1e-10)
    assert_allclose(N, np.eye(n) - P @ J, atol=1e-10)


def test_tall_and_wide():
    """(A^T A)^-1 A^T and A^T (A A^T)^-1 where these exist: least squares, and least norm. [RD 2.200-2.205, 2.209]"""
    rng = np.random.default_rng(1)
    A, b = rng.standard_normal((6, 3)), rng.standard_normal(6)
    assert_allclose(control.pseudo_inverse(A), np.linalg.inv(A.T @ A) @ A.T, atol=1e-13)
    assert_allclose(control.pseudo_inverse(A) @ b, np.linalg.lstsq(A, b, rcond=None)[0], atol=1e-13)
    J, w = rng.standard_normal((2, 3, 6))[0], rng.standard_normal(3)
    assert_allclose(control.pseudo_inverse(J) @ w, J.T @ np.linalg.inv(J @ J.T) @ w, atol=1e-13)
    assert_allclose(control.pseudo_inverse(J), np.linalg.pinv(J), atol=1e-13)


@pytest.mark.parametrize("shape", [(3, 4, 3), (4, 3, 2), (3, 3, 0)])
@pytest.mark.parametrize("damping", [1e-6, 0.1, 3.0])
def test_damped(shape, damping):
    """J^T (J J^T + λ² 1)^-1, without the loss of digits of the square; λ may be one of each sample. [RD 2.207-2.208]"""
    J = of_rank(np.random.default_rng(2), *shape, batch=(5,))
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    true = np.swapaxes(Vt, 1, 2) @ ((s / (s**2 + damping**2))[..., None] * np.swapaxes(U, 1, 2))
    each = control.pseudo_inverse(J, damping=np.full(5, damping))
    assert_allclose(control.pseudo_inverse(J, damping=damping), each, rtol=0, atol=0)
    assert_allclose(each, true, atol=1e-9 * max(1, np.abs(true).max()) if damping > 1e-3 else 1e-3 / damping * 1e-6)


def test_weighted():
    """(J^T W J)^-1 J^T W: the minimiser of |W^1/2 (w - J v)|; a row without weight does not count. [RD 2.214-2.215]"""
    rng = np.random.default_rng(3)
    J, w, weights = rng.standard_normal((6, 4)), rng.standard_normal(6), rng.uniform(0.1, 10, 6)
    W = np.diag(weights)
    assert_allclose(control.pseudo_inverse(J, weights=weights), np.linalg.inv(J.T @ W @ J) @ J.T @ W, atol=1e-12)
    weights[2] = 0.0
    others = [0, 1, 3, 4, 5]
    best = np.linalg.lstsq(np.sqrt(weights[others])[:, None] * J[others], (np.sqrt(weights) * w)[others], rcond=None)[0]
    assert_allclose(control.pseudo_inverse(J, weights=weights) @ w, best, atol=1e-12)
    damped = np.linalg.solve(J.T @ np.diag(weights) @ J + 0.04 * np.eye(4), J.T @ (weights * w))
    assert_allclose(control.pseudo_inverse(J, damping=0.2, weights=weights) @ w, damped, atol=1e-12)


@pytest.mark.parametrize(("value", "kept"), [(1e-4, True), (1e-7, True), (1e-9, True), (1e-11, False), (1e-14, False)])
def test_rank_decision(value, kept):
    """Singular values down to some 1e-10 of the largest count, with the digits that they have; smaller ones do not."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        U, V = (np.linalg.qr(rng.standard_normal((6, 6)))[0] for _ in "ab")
        s = 1e3 * np.array([1, 0.9, 0.5, 0.1, 1e-3, value])
        P = control.pseudo_inverse((U * s) @ V)
        if kept:
            assert_allclose(P @ (U * s) @ V, np.eye(6), atol=1e-13 / value)
        else:
            assert np.abs(P).max() < 1e1


def test_single_precision():
    rng = np.random.default_rng(5)
    J = rng.standard_normal((10, 4, 6)).astype(np.float32)
    P = control.pseudo_inverse(J)
    assert P.dtype == np.float32
    assert_allclose(P, np.linalg.pinv(J.astype(np.float64)), atol=1e-5)
    low = of_rank(rng, 4, 6, 2).astype(np.float32)
    assert_allclose(control.pseudo_inverse(low), np.linalg.pinv(low.astype(float), rcond=1e-5), atol=1e-4)
    assert control.null_space_projector(J).dtype == np.float32


@pytest.mark.parametrize("shape", [(2, 3), (6, 7), pytest.param((10, 9), marks=pytest.mark.slow)])
def test_alone_as_in_batches(shape):
    """The same bits alone, in any batch, and beside samples that are no numbers, which stay what they are."""
    rng = np.random.default_rng(6)
    J = rng.standard_normal((5, 3, *shape))
    P, N = control.pseudo_inverse(J), control.null_space_projector(J)
    for index in ((0, 0), (4, 2), (2, 1)):
        assert_array_equal(control.pseudo_inverse(J[index]), P[index])
        assert_array_equal(control.null_space_projector(J[index]), N[index])
    assert_array_equal(control.pseudo_inverse(J[1:4, ::-1]), P[1:4, ::-1])
    bad = J.copy()
    bad[1, 1, 0, 1] = np.nan
    spoiled = control.pseudo_inverse(bad)
    assert np.isnan(spoiled[1, 1]).any()
    assert_array_equal(spoiled[2:], P[2:])
    assert control.pseudo_inverse(J[:0]).shape == (0, 3, *shape[::-1])


def test_large_and_small_numbers():
    J = np.random.default_rng(7).standard_normal((3, 4))
    for size in (1e-200, 1e200):
        assert_allclose(control.pseudo_inverse(size * J) * size, np.linalg.pinv(J), atol=1e-13)


def test_inside_of_traced_functions():
    """In a user's kernel, with rows that depend on the input, and eagerly: the same numbers but for rounding."""
    rng = np.random.default_rng(8)
    J = rng.standard_normal((3, 5))

    def law(x, damping):
        return control.pseudo_inverse(J * x[:, None], damping=damping) @ x + control.null_space_projector(J)[:, 0]

    x = rng.uniform(1, 2, (4, 3))
    compiled = mb.compile(law, 3, ())(x, 0.1)
    assert_allclose(compiled, [law(each, 0.1) for each in x], atol=1e-13)
    with mb.eager():
        assert_allclose(control.pseudo_inverse(J), np.linalg.pinv(J), atol=1e-14)


def test_bad_input():
    J = np.eye(3)
    for message, call in (
        ("J: expected a matrix", lambda: control.pseudo_inverse(np.ones(3))),
        ("J: expected a matrix", lambda: control.null_space_projector(np.zeros((0, 3)))),
        (r"damping: expected numbers that are not negative, got -1", lambda: control.pseudo_inverse(J, damping=-1.0)),
        ("weights", lambda: control.pseudo_inverse(J, weights=np.ones(2))),
        (r"weights \(sample 1\).*got -2", lambda: control.pseudo_inverse(J, weights=[1.0, -2.0, 1.0])),
        ("do not broadcast", lambda: control.pseudo_inverse(np.ones((2, 3, 3)), damping=np.ones(3))),
        ("dtype", lambda: control.pseudo_inverse(J * 1j)),
    ):
        with pytest.raises(mb.InputError, match=message):
            call()
