"""Truth values where numbers are usual, letters of sums that are no product, arguments that NumPy would not ignore."""

import warnings

import numpy as np
import pytest

import multibody as mb
from multibody.tracing.interpret import evaluate
from multibody.tracing.record.trace import trace

from ..every_law import each_case

A = np.array([[0.5, -1.0, 2.0], [3.0, 0.25, -0.5], [1.5, 2.5, -3.0]])
B = np.array([[0.5, 1.0], [-2.0, 4.0], [0.25, 3.0]])
X = np.array([2.0, -0.5, 3.0])


def agrees(function, *arguments):
    """The recorded function is the plain one, in shape, in numbers, and in the signs of zeros."""
    with warnings.catch_warnings(action="ignore"):
        expected = np.asarray(function(*arguments), dtype=float)
    recorded = trace(function, [np.shape(x) for x in arguments])
    computed = np.asarray(evaluate(recorded, *arguments), dtype=float)
    assert computed.shape == expected.shape
    np.testing.assert_allclose(computed, expected, rtol=1e-14, atol=1e-15)
    zero = (expected == 0.0) & (computed == 0.0)
    np.testing.assert_array_equal(np.signbit(computed[zero]), np.signbit(expected[zero]))


@each_case(
    "function",
    [
        lambda A, x: (A > 0.0) + (x > 0.0),
        lambda A, x: ((A > 0.0) + (x > 0.0)) * 3.0,
        lambda A, x: np.where((A > 0.0) * (x > 0.0), A, x),
        lambda A, x: np.maximum(A > 0.0, x > 0.0) + np.minimum(A > 0.0, x > 0.0),
        lambda A, x: 1 + (x > 0.0) + (x > 1.0) + A,
        lambda A, x: (A > 0.0) @ (x > 0.0),
        lambda A, x: (A > 0.0) @ x + A @ (x > 0.0),
        lambda A, x: np.dot(x > 0.0, x > 1.0) + A,
        lambda A, x: np.inner(A > 0.0, x > 0.0),
        lambda A, x: np.tensordot(A > 0.0, x > 0.0, 1),
        lambda A, x: np.kron(A > 0.0, x > 0.0),
        lambda A, x: np.einsum("ij,j->i", A > 0.0, x > 0.0),
        lambda A, x: np.einsum("ij,j,i", A, x, x > 0.0),
        lambda A, x: np.cross(x > 0.0, A),
        lambda A, x: np.linalg.solve(A, x > 0.0),
        lambda A, x: np.linalg.inv(np.diag(x) + (A > 0.0)),
    ],
)
def test_truth_values_count_as_in_numpy(function):
    agrees(function, A, X)


def test_truth_values_in_a_kernel():
    """What is no number there cannot be multiplied: it once failed in LLVM."""
    kernel = mb.compile(lambda A, x: (np.einsum("i,i", x > 0.0, A[0] > 0.0), np.cross(x > 0.0, x)), (3, 3), 3)
    both, cross = kernel(A, X)
    assert both == 1.0
    np.testing.assert_array_equal(cross, np.cross(X > 0.0, X))


@each_case("letters", ["ii,i->i", "ij,j->i", "ij,i->j", "ji,j->i", "ij,j->j", "ii,i", "ij,i->i"])
def test_letters_of_a_matrix_and_a_vector(letters):
    """ "ii,i->i" was taken for the product of matrix and vector."""
    agrees(lambda A, x: np.einsum(letters, A, x), A, X)
    agrees(lambda A, x: np.einsum(letters, A, x, optimize=True), A, X)


def test_axes_of_length_one_in_sums_of_products():
    agrees(lambda A, x: np.einsum("ij,j->i", A[:, :1], x), A, X)


@each_case("ddof", [0, 1, 2, 3, 4.5])
def test_variances_of_too_few(ddof):
    agrees(lambda B: np.var(B, axis=0, ddof=ddof), B)


def test_means_of_nothing():
    agrees(lambda B: np.mean(B[:0] + B[0, 0], axis=0), B)
    agrees(lambda B: np.mean(B[:0] + B[0, 0], axis=1), B)


def test_whole_quotients_keep_the_signs_of_zeros():
    x, y = (n.ravel() for n in np.meshgrid([0.0, -0.0, 0.5, -0.5, 7.0, -7.0, np.inf], [1.0, -1.0, 3.0, np.inf, 0.0]))
    agrees(np.floor_divide, x, y)


def test_several_arrays_with_at_least_so_many_axes():
    for function in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
        agrees(lambda x, B, f=function: f(x, B)[0], X, B)
        agrees(lambda x, B, f=function: f(x, B)[1], X, B)
        agrees(lambda x, f=function: f(x, 3.0)[1] + x[0], X)


@each_case(
    "function, words",
    [
        (lambda A, x: np.einsum("ij,j->i", A, x, out=np.zeros(3)), "subscripts, operands, optimize only"),
        (lambda A, x: np.einsum("ij,j->i", A, x, dtype=np.float32), "subscripts, operands, optimize only"),
        (lambda A, x: np.tensordot(A, x, axes=(5, 0)), "axis 5 is out of bounds"),
        (lambda A, x: np.tensordot(A, x[:1], axes=(1, 0)), "lengths differ"),
        (lambda A, x: np.repeat(A, x[0]), "must not depend on traced values"),
        (lambda A, x: np.tile(A, x[0]), "must not depend on traced values"),
        (lambda A, x: np.roll(A, shift=x[0]), "must not depend on traced values"),
    ],
)
def test_what_cannot_be_recorded_is_refused(function, words):
    with pytest.raises((mb.TraceError, np.exceptions.AxisError), match=words):
        trace(function, [(3, 3), (3,)])


def test_a_truth_value_that_a_loop_carries_is_one_of_numpy():
    """~True is -2, and true, for Python alone."""

    def blink(x):
        return mb.loop(5, lambda c: (~c[0], np.where(c[0], 2.0 * c[1], c[1] + x)), (True, x))

    on, y = blink(X)
    assert not on
    np.testing.assert_array_equal(y, 2 * (2 * (2 * X + X) + X))
    assert [z.tolist() for z in mb.compile(blink, 3)(X)] == [0.0, y.tolist()]
