"""Strict priorities: optimal level by level against SVDs, in batches, traced, and bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import multibody as mb
from multibody import control

HEIGHTS = ((2, 2, 4), (5, 3))
"""Rows of levels of four unknowns: few, since each has a kernel."""


def lexicographic(levels):
    """The x of least norm under strict priorities, by SVDs in bases of null spaces."""
    n = levels[0][0].shape[1]
    x, Z = np.zeros(n), np.eye(n)
    for A, b in levels:
        U, s, Vt = np.linalg.svd(A @ Z)
        r = int((s > 1e-9 * max(np.linalg.norm(A, 2), 1e-300)).sum())
        x = x + Z @ Vt[:r].T @ ((U[:, :r].T @ (b - A @ x)) / s[:r])
        Z = Z @ Vt[r:].T
    return x


@st.composite
def problems(draw):
    """Levels of low rank, and levels that repeat what is above them."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    levels = []
    for m in draw(st.sampled_from(HEIGHTS)):
        rank = draw(st.integers(0, min(m, 4)))
        A = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, 4))
        if levels and draw(st.booleans()):
            A[0] = levels[-1][0][-1] * 3
        levels.append((A * 10 ** draw(st.floats(-3, 3)), rng.standard_normal(m)))
    return levels


@given(problems())
def test_optimal_level_by_level(levels):
    """As by SVDs; no level disturbs one above it. [RD 2.216-2.220, 3.102-3.107, Alg. 2, §3.10.2]"""
    v, slacks = control.prioritised(levels)
    best = lexicographic(levels)
    size = max(1.0, np.abs(best).max())
    assert_allclose(v, best, atol=1e-7 * size)
    for (A, b), slack in zip(levels, slacks, strict=True):
        assert_allclose(slack, A @ v - b, atol=1e-9 * size * max(1, np.abs(A).max()))
        assert_allclose(
            np.linalg.norm(A @ v - b), np.linalg.norm(A @ best - b), atol=1e-8 * size * max(1, np.abs(A).max())
        )
    above, _ = control.prioritised(levels[:1])
    A = levels[0][0]
    assert_allclose(A @ v, A @ above, atol=1e-10 * size * max(1, np.abs(A).max()))


def test_as_printed():
    """N (J_2 N)^+ (w_2 - J_2 J_1^+ w_1), and the recursion, on full ranks. [RD 2.216-2.220]"""
    rng = np.random.default_rng(1)
    J, w = [rng.standard_normal((2, 6)) for _ in range(3)], rng.standard_normal((3, 2))
    pinv, v = np.linalg.pinv, np.zeros(6)
    for i in range(3):
        stacked = np.vstack(J[:i]) if i else np.zeros((1, 6))
        N = np.eye(6) - pinv(stacked) @ stacked
        v = v + N @ pinv(J[i] @ N, rcond=1e-9) @ (w[i] - J[i] @ v)
    assert_allclose(control.prioritised(list(zip(J, w, strict=True)))[0], v, atol=1e-12)
    assert control.hierarchical_least_squares is control.prioritised


def test_alone_as_in_batches():
    """The same bits alone and in batches, which broadcast; what is no number stays where it is."""
    rng = np.random.default_rng(2)
    A, b, C, d = (rng.standard_normal(s) for s in ((4, 3, 2, 5), (3, 2), (4, 3, 4, 5), (4, 1, 4)))
    v, slacks = control.prioritised([(A, b), (C, d)])
    assert v.shape == (4, 3, 5)
    assert [s.shape for s in slacks] == [(4, 3, 2), (4, 3, 4)]
    alone, apart = control.prioritised([(A[2, 1], b[1]), (C[2, 1], d[2, 0])])
    assert_array_equal(alone, v[2, 1])
    assert_array_equal(apart[1], slacks[1][2, 1])
    bad = b.copy()
    bad[0] = np.nan
    spoiled, _ = control.prioritised([(A, bad), (C, d)])
    assert np.isnan(spoiled[:, 0]).all()
    assert_array_equal(spoiled[:, 1:], v[:, 1:])


def test_levels_without_rows_and_inside_of_kernels():
    rng = np.random.default_rng(3)
    A, b, C = rng.standard_normal((2, 5)), rng.standard_normal(2), rng.standard_normal((3, 5))
    plain, _ = control.prioritised([(A, b), (C, np.ones(3))])
    v, slacks = control.prioritised([(A, b), (np.zeros((0, 5)), np.zeros(0)), (C, np.ones(3))])
    assert_array_equal(v, plain)
    assert [len(s) for s in slacks] == [2, 0, 3]
    kernel = mb.compile(lambda b: control.prioritised([(A, b), (C, np.ones(3))])[0], 2)
    assert_allclose(kernel(b), plain, atol=1e-14)


def test_support_consistent_motion():
    """Contacts above all: u = N_c (J_t N_c)^+ w_t moves the trunk, and no foot. [RD 2.273-2.276]"""
    dog = mb.load("quadruped")
    q, w = dog.home(), np.array([0.1, 0.05, -0.1])
    J_c = dog.constraints([mb.constraints.PointContact(f, f) for f in ("foot-lf", "foot-rh", "foot-rf")]).jacobian(q)
    J_t = dog.jacobian("trunk", q)[:3]
    u, (still, moved) = control.prioritised([(J_c, np.zeros(9)), (J_t, w)])
    N = control.null_space_projector(J_c)
    assert_allclose(u, N @ np.linalg.pinv(J_t @ N, rcond=1e-9) @ w, atol=1e-9)
    assert_allclose(still, 0, atol=1e-12)
    assert_allclose(moved, 0, atol=1e-12)


def test_bad_input():
    I, o = np.eye(3), np.zeros(3)
    for message, levels in (
        ("expected at least one level", []),
        ("expected at least one level", 3),
        (r"level 2: expected a J of 3 columns", [(I, o), (np.ones((2, 4)), np.ones(2))]),
        (r"level 1: expected J \(..., m, n\) and w \(..., m\), got shapes \(3, 3\) and \(2,\)", [(I, np.ones(2))]),
        (r"level 2: expected a pair", [(I, o), I]),
        ("at least one row", [(np.zeros((0, 3)), np.zeros(0))]),
        ("J1, w1: batch shapes", [(np.ones((2, 3, 3)), np.ones((4, 3)))]),
    ):
        with pytest.raises(mb.InputError, match=message):
            control.prioritised(levels)
