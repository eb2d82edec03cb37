"""Expressions run as NumPy: the values of SymPy, with numbers, arrays and traced arrays."""

import numpy as np
import pytest
import sympy as sp

import multibody as mb
from multibody.derive.algebra.numpy_evaluation import FUNCTIONS, evaluate, numeric
from multibody.errors import InputError

x, y, z = sp.symbols("x y z", real=True)
AT = {x: 0.3, y: 0.7, z: 0.2}

EXPRESSIONS = [
    x * y - 2 * z,
    -x - y,
    -x * (y - z),
    x / (y * z**2),
    x**-3 + 1 / sp.sqrt(y) + sp.sqrt(x + y),
    x**y * sp.pi / 3,
    sp.Rational(2, 7) * x - sp.Float(0.25) * y**4,
    sp.Min(x, y, z) + sp.Max(x, y),
    sp.atan2(x, y) + sp.sign(x - y) * sp.Abs(x - y),
    sp.exp(-x) * sp.tan(y) + sp.tanh(z) + sp.log(x) + sp.asin(x) + sp.acos(y) + sp.atan(z),
    sp.Integer(3),
]


@pytest.mark.parametrize("e", EXPRESSIONS, ids=str)
def test_values_are_those_of_sympy(e):
    assert evaluate([e], AT)[0] == pytest.approx(float(e.subs(AT)), rel=1e-14)


def test_batches_and_kernels_are_the_same():
    def function(p):
        return np.stack(
            [r + 0 * p[..., 0] for r in evaluate(EXPRESSIONS, {x: p[..., 0], y: p[..., 1], z: p[..., 2]})], -1
        )

    points = np.random.default_rng(0).uniform(0.1, 0.9, (5, 3))
    eager = function(points)
    for row, point in zip(eager, points, strict=True):
        np.testing.assert_allclose(row, evaluate(EXPRESSIONS, dict(zip((x, y, z), point, strict=True))), rtol=1e-13)
    np.testing.assert_allclose(mb.compile(function, 3)(points), eager, rtol=1e-13)


def test_every_function_is_among_the_expressions():
    used = set().union(*({type(a) for a in sp.preorder_traversal(e)} for e in (*EXPRESSIONS, sp.sin(x), sp.cos(x))))
    assert set(FUNCTIONS) <= used


def test_a_symbol_without_a_value_is_named():
    with pytest.raises(InputError, match="z: there is no value"):
        evaluate([x + z], {x: 1.0})


RARE = [sp.gamma(x) * y, sp.sinh(x - y), sp.Piecewise((x, y < 0.5), (x**2 + z, True)), sp.Heaviside(x - y) + sp.erf(z)]


@pytest.mark.parametrize("e", RARE, ids=str)
def test_sympy_computes_what_numpy_does_not_have(e):
    expected = float(e.subs(AT))
    assert evaluate([e], AT)[0] == pytest.approx(expected, rel=1e-14)
    assert numeric(e, AT) == pytest.approx(expected, rel=1e-14)


def test_a_kernel_refuses_what_numpy_does_not_have():
    with pytest.raises(InputError, match=r"gamma\(x\): there is no gamma of arrays or in kernels"):
        mb.compile(lambda p: evaluate([sp.gamma(x)], {x: p[0]})[0], 1)
    with pytest.raises(InputError, match=r"f\(x\): it has no real value"):
        evaluate([sp.Function("f")(x)], {x: 1.0})


def test_numbers_that_are_not_finite_are_no_errors():
    with np.errstate(all="ignore"):
        assert np.isinf(numeric(1 / x, {x: 0.0}))
        assert np.isnan(numeric((x - 1) ** sp.Rational(1, 3), {x: 0.0}))


def test_matrices_have_their_shape():
    assert numeric(sp.Matrix([[x, y, 2]]), AT).tolist() == [[0.3, 0.7, 2.0]]
    assert numeric(sp.zeros(0, 3), AT).shape == (0, 3)
    assert numeric(2, AT).shape == ()


def test_no_expression_is_too_deep():
    e = x
    for _ in range(900):
        e = y + x * e
    assert evaluate([e], AT)[0] == pytest.approx(AT[y] / (1 - AT[x]))
