"""Second derivatives as a matrix: closed forms, SymPy, finite differences, symmetry, nesting, batches, kernels."""

import numpy as np
import pytest

import multibody as mb
from multibody.errors import InputError

from ..laws.tools import near

RNG = np.random.default_rng(0)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def second_differences(f, x, h=1e-4):
    """Central differences of f, of second order in h."""
    x = np.asarray(x, float)
    steps = h * np.eye(x.size).reshape(x.size, *x.shape)
    each = [[f(x + a + b) - f(x + a - b) - f(x - a + b) + f(x - a - b) for b in steps] for a in steps]
    return (np.array(each) / (4 * h * h)).reshape(x.shape + x.shape)


def test_of_a_quadratic_form():
    A = RNG.standard_normal((4, 4))
    near(mb.hessian(lambda x: x @ A @ x)(RNG.standard_normal(4)), A + A.T, 1e-13)


def test_against_sympy():
    sympy = pytest.importorskip("sympy")
    symbols = sympy.symbols("x:3")
    expression = sympy.exp(symbols[0] * symbols[1]) * sympy.sin(symbols[2]) + symbols[0] / (2 + symbols[2] ** 2)
    expected = sympy.lambdify(symbols, sympy.hessian(expression, symbols), "numpy")

    def f(x):
        return np.exp(x[0] * x[1]) * np.sin(x[2]) + x[0] / (2 + x[2] ** 2)

    for x in RNG.uniform(-1, 1, (5, 3)):
        near(mb.hessian(f)(x), expected(*x), 1e-12)
        near(mb.compile(mb.hessian(f), 3)(x), expected(*x), 1e-12)


def test_against_finite_differences_and_products():
    x = RNG.uniform(-1, 1, 5)
    H = mb.hessian(rosenbrock)(x)
    near(H, second_differences(rosenbrock, x), 1e-3)
    for v in np.eye(5):
        near(H @ v, mb.hessian_vector(rosenbrock)(x, v), 1e-11)
    near(H, mb.jacobian(mb.gradient(rosenbrock))(x), 1e-11)


def test_it_is_symmetric_bit_by_bit_and_costs_half():
    """Also where both orders of differentiation round otherwise."""
    A = RNG.standard_normal((6, 6))

    def f(x):
        return np.sum(np.exp(A @ x) / (1.0 + np.sin(A.T @ x) ** 2))

    kernel = mb.compile(mb.hessian(f), 6)
    for x in RNG.uniform(-1, 1, (20, 6)):
        for H in (kernel(x), mb.hessian(f)(x)):
            assert (H == H.T).all()
    near(kernel(x), second_differences(f, x), 1e-4)
    whole = mb.compile(mb.jacobian(mb.gradient(f)), 6)
    assert sum(kernel.ops.values()) < sum(whole.ops.values())


def test_shapes_and_nesting():
    """[i][j] is the derivative by i, then by j; values and dicts as in gradients."""
    B = RNG.standard_normal((2, 3))
    X = RNG.standard_normal((2, 3))
    H = mb.hessian(lambda X: np.sum(B * X) ** 2)(X)
    assert H.shape == (2, 3, 2, 3)
    near(H, 2 * np.multiply.outer(B, B), 1e-12)
    assert mb.hessian(lambda t: t**3)(2.0) == 12.0

    def f(x, k):
        return k * (x @ x)

    (xx, xk), (kx, kk) = mb.hessian(f, (0, 1))(X[0], 2.0)
    near(xx, 4 * np.eye(3), 1e-14)
    near(xk, 2 * X[0], 1e-14)
    near(kx, 2 * X[0], 1e-14)
    assert kk == 0.0
    assert mb.hessian(f, 1)(X[0], 2.0) == 0.0
    nest = mb.hessian(lambda s: s["k"] * (s["x"] @ s["x"]))({"k": 2.0, "x": X[0]})
    near(nest["x"]["k"], 2 * X[0], 1e-14)
    near(nest["x"]["x"], 4 * np.eye(3), 1e-14)


def test_batches_precision_and_kernels():
    x = RNG.uniform(-1, 1, (7, 4))
    expected = np.stack([mb.hessian(rosenbrock)(row) for row in x])
    near(mb.hessian(rosenbrock, shapes=[4])(x), expected, 1e-12)
    kernel = mb.compile(mb.hessian(rosenbrock), 4)
    near(kernel(x), expected, 1e-11)
    assert (kernel(x)[3] == kernel(x[3])).all()
    with mb.eager():
        near(kernel(x), expected, 1e-12)
    single = mb.compile(mb.hessian(rosenbrock), 4, dtype="float32")(x)
    assert single.dtype == np.float32
    near(single, expected, 1e-2)


def test_of_a_loop_and_inside_other_functions():
    def grow(x):
        return np.sum(mb.loop(3, lambda y: y * y + 0.1 * x, x))

    x = np.array([0.3, -0.2])
    near(mb.compile(mb.hessian(grow), 2)(x), second_differences(grow, x), 1e-6)
    newton = mb.compile(lambda x: x - np.linalg.solve(mb.hessian(rosenbrock)(x), mb.gradient(rosenbrock)(x)), 2)
    point = np.array([-0.5, 0.5])
    for _ in range(20):
        point = newton(point)
    near(point, np.ones(2), 1e-12)


def test_refusals():
    with pytest.raises(InputError, match="a function that returns one number"):
        mb.hessian(lambda x: x)([1.0, 2.0])
    with pytest.raises(InputError, match="expected a position below 1"):
        mb.hessian(rosenbrock, 1)([1.0, 2.0])
