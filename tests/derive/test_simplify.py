"""Simplification of sets of matrices: the same values, shared factors alike, never more operations."""

import numpy as np
import pytest
import sympy as sp

from multibody.derive.algebra.forms_to_expressions import ORDERS, PRODUCTS
from multibody.derive.algebra.normal_form import is_zero, normal, normals
from multibody.derive.algebra.numpy_evaluation import evaluate
from multibody.derive.algebra.simplify import count, simplify

q1, q2, v1, v2 = sp.symbols("q1 q2 q1_dot q2_dot", real=True)
m1, m2, l, c1, c2, g = sp.symbols("m1 m2 l c1 c2 g", positive=True)
q, v = sp.Matrix([q1, q2]), sp.Matrix([v1, v2])


def double_pendulum():
    """M, b and g as the chain rule leaves them."""
    upper = sp.Matrix([c1 * sp.sin(q1), -c1 * sp.cos(q1)])
    elbow = sp.Matrix([l * sp.sin(q1), -l * sp.cos(q1)])
    lower = elbow + sp.Matrix(
        [
            c2 * (sp.sin(q1) * sp.cos(q2) + sp.cos(q1) * sp.sin(q2)),
            -c2 * (sp.cos(q1) * sp.cos(q2) - sp.sin(q1) * sp.sin(q2)),
        ]
    )
    M, b, G = sp.zeros(2), sp.zeros(2, 1), sp.zeros(2, 1)
    for mass, place in ((m1, upper), (m2, lower)):
        J = place.jacobian(q)
        M += mass * J.T * J
        b += mass * J.T * (J * v).jacobian(q) * v
        G += mass * g * J[1, :].T
    return [M, b, G]


def test_a_double_pendulum_reads_as_in_the_books():
    M, b, G = simplify(double_pendulum())
    K = l * m2 * c2
    assert is_zero(M[0, 0] - c1**2 * m1 - (c2**2 + l**2) * m2 - 2 * K * sp.cos(q2))
    assert b[0] == -K * v2 * (2 * v1 + v2) * sp.sin(q2)
    assert b[1] == K * v1**2 * sp.sin(q2)
    assert G[1] == c2 * g * m2 * sp.sin(q1 + q2)
    assert M[0, 1] == M[1, 0]


def test_the_same_values_with_fewer_operations():
    matrices = double_pendulum()
    shorter = simplify(matrices)
    rng = np.random.default_rng(0)
    values = {s: rng.uniform(0.5, 1.5) for s in (q1, q2, v1, v2, m1, m2, l, c1, c2, g)}
    for before, after in zip(matrices, shorter, strict=True):
        assert after.shape == before.shape
        np.testing.assert_allclose(evaluate(list(after), values), evaluate(list(before), values), rtol=1e-13)
    assert count(shorter) < count(matrices) / 2


@pytest.mark.parametrize("by", [*ORDERS, PRODUCTS])
@pytest.mark.parametrize("numbers", [{}, {m1: sp.Float(1.3), m2: sp.Float(0.71), l: sp.Float(0.37), g: sp.Float(9.81)}])
def test_every_way_to_collect_keeps_the_values(by, numbers):
    expressions = [e.subs(numbers) for x in double_pendulum() for e in x]
    expressions.append(sp.sin(3 * q1 - 2 * q2) * sp.cos(q1 / 2) * v1)
    collected = next(normals(expressions, orders=((by,),)))
    values = {s: 0.3 + 0.1 * k for k, s in enumerate((q1, q2, v1, v2, m1, m2, l, c1, c2, g))}
    np.testing.assert_allclose(evaluate(collected, values), evaluate(expressions, values), rtol=1e-12)


def test_products_are_kept_where_axes_are_not_parallel():
    q3 = sp.Symbol("q3", real=True)
    products = sp.Matrix([sp.cos(q1) * sp.cos(q2) * sp.cos(q3), sp.sin(q1) * sp.cos(q2) * sp.cos(q3)])
    assert simplify([products.applyfunc(normal)]) == [products]


def test_factors_are_shared_between_matrices():
    K = m1 * c1 + m2 * l
    M = sp.Matrix([[sp.expand(K * sp.cos(q1))]])
    b = sp.Matrix([sp.expand(-K * v1**2 * g) * sp.sin(q1)])
    M_, b_ = simplify([M, b])
    assert M_[0] == K * sp.cos(q1)
    assert b_[0] == -g * v1**2 * K * sp.sin(q1)


@pytest.mark.parametrize("expression", [sp.sin(q1) * sp.cos(q2), (m1 + m2) ** 3 * sp.cos(q1) ** 4])
def test_what_is_shortest_already_stays(expression):
    assert simplify([expression]) == [expression]


def test_numbers_and_empty_matrices_pass():
    zero, none, number = simplify([sp.zeros(2, 1), sp.zeros(0, 2), 3])
    assert zero == sp.zeros(2, 1)
    assert none.shape == (0, 2)
    assert number == 3


def test_unit_quaternions_are_used():
    w, x, y, z = unit = sp.symbols("w x y z")
    (shorter,) = simplify([m1 * (w**2 + x**2 + y**2 + z**2)], units=[unit])
    assert shorter == m1


def test_operations_are_counted_once():
    shared = sp.sin(q1 + q2)
    assert count([shared]) == 2
    assert count([shared * m1, sp.Matrix([shared + 1])]) == 4
    assert count([q1, 2]) == 0
