"""Orthogonal factorizations: unrolled and in loops, solutions beside NumPy's, and complements of rows that vanish."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import multibody as mb
from multibody.solvers import least_squares


def test_written_out_or_in_a_loop(monkeypatch):
    """Both forms of the factorizations are the same arithmetic."""
    J = np.random.default_rng(9).standard_normal((4, 5))
    Q = least_squares.row_space(J)

    def all_of_them():
        return least_squares.row_space(J), least_squares.left_inverse(J.T), least_squares.complement(Q)

    rows = all_of_them()
    monkeypatch.setattr(least_squares, "UNROLLED", 0)
    for one, other in zip(rows, all_of_them(), strict=True):
        assert_allclose(one, other, atol=1e-15)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (6, 4), (12, 10), (3, 0), (0, 0)])
def test_one_right_side_needs_no_inverse(rows, columns):
    """L^+ b beside NumPy's, also where a column is zero, written out and in a loop."""
    rng = np.random.default_rng(rows)
    L, b = 1e3 * rng.standard_normal((5, rows, columns)), rng.standard_normal((5, rows))
    if columns > 1:
        L[1, :, 1] = 0.0
    wanted = [np.linalg.pinv(each) @ right for each, right in zip(L, b, strict=True)]
    assert_allclose(least_squares.left_solution(L, b), wanted, atol=1e-14)
    if columns:
        kernel = mb.compile(lambda L, b: least_squares.left_solution(L, b), (rows, columns), rows)
        assert_allclose(kernel(L, b), wanted, atol=1e-14)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 7), (6, 6), (12, 17)])
def test_a_complement_is_orthonormal_whatever_the_rows(rows, columns):
    """Also beside rows of zeros, unit vectors, and their opposites."""
    rng = np.random.default_rng(rows)
    Q = np.linalg.qr(rng.standard_normal((6, columns, columns)))[0][:, :rows]
    Q[1, -1], Q[2, 0], Q[3] = 0.0, 0.0, 0.0
    Q[4], Q[5] = np.eye(columns)[:rows], -np.eye(columns)[-rows:]
    C = least_squares.complement(Q)
    assert C.shape == (6, columns, columns - rows)
    assert_allclose(Q @ C, np.zeros((6, rows, columns - rows)), atol=1e-13)
    assert_allclose(
        np.swapaxes(C, -1, -2) @ C, np.broadcast_to(np.eye(columns - rows), (6, *(columns - rows,) * 2)), atol=1e-13
    )


def test_a_complement_has_columns_for_rows_that_are_zero_here_and_there():
    rng = np.random.default_rng(0)
    Q, least = np.linalg.qr(rng.standard_normal((5, 7, 7)))[0][:, :5], 2
    ranks = [5, 4, 3, 2, 2]
    for own, rank in zip(Q, ranks, strict=True):
        own[rank:] = 0.0
    Q[4, :2] = np.eye(7)[2:4]  # along the columns of rows that are zero
    C = least_squares.complement(Q, least)
    assert C.shape == (5, 7, 5)
    for own, across, rank in zip(Q, C, ranks, strict=True):
        assert_allclose(across @ across.T, np.eye(7) - own.T @ own, atol=1e-13)
        assert (across[:, : rank - least] == 0).all()
