"""`compile` and derivatives as users of other libraries call them first: it works, or the error says the right word."""

import inspect

import numpy as np
import pytest

import multibody as mb
from multibody.errors import InputError

from ..every_law import each_case
from ..laws.tools import near


def spring(x, k):
    r = np.sqrt(np.sum(x * x))
    return -k * (r - 1.0) * x / r


def cost(x, u):
    return np.sum(x * x) * u[0] + np.sin(u[1]) * x[0]


X, U = np.array([0.4, -0.2, 0.7]), np.array([0.5, 0.3])


def test_a_decorator():
    @mb.compile(3, ())
    def law(x, k):
        """A spring."""
        return k * x

    assert isinstance(law, mb.Kernel)
    assert law.name == "law"
    near(law(X, 2.0), 2 * X, 1e-15)

    @mb.compile((3,), dtype="float32", names=["position"])
    def twice(x):
        return 2 * x

    assert twice(position=X).dtype == np.float32
    near(mb.compile([3], key=None)(np.sin)(X), np.sin(X), 1e-15)
    assert mb.compile(np.int64(3))(np.cos).signature.inputs[0].shape == (3,)


@pytest.mark.parametrize("shapes", [(), (3,), (3, (), 2)])
def test_shapes_that_are_missing_or_too_many(shapes):
    """They cannot come with the first call: (7, 7) may be a matrix, or seven samples."""
    with pytest.raises(InputError) as caught:
        mb.compile(spring, *shapes)
    for word in ("the shape of one sample of each argument of spring(x, k)", "mb.compile(f, 3, 3)", f"got {[*shapes]}"):
        assert word in str(caught.value)


def test_what_is_no_function():
    with pytest.raises(InputError, match=r"compile: expected a function, or the shapes of one to come, got 'x'"):
        mb.compile("x", 3)
    with pytest.raises(InputError, match="expected the shape of one sample"):
        mb.compile(3)(spring)


def test_arguments_that_may_be_left_out():
    def law(x, k=2.0):
        return k * x

    near(mb.compile(law, 3)(X), 2 * X, 1e-15)
    near(mb.compile(law, 3, ())(X, 3.0), 3 * X, 1e-15)
    near(mb.compile(law, 3, optional={"k": ()})(X, k=3.0), 3 * X, 1e-15)
    near(mb.compile(lambda *parts: parts[0] + parts[1], 3, 3)(X, X), 2 * X, 1e-15)
    assert mb.compile(lambda: np.float64(3.0))() == 3.0


def test_c_into_a_file(tmp_path):
    kernel = mb.compile(spring, 3, ())
    code = kernel.to_c(tmp_path / "law.c")
    assert (tmp_path / "law.c").read_text(encoding="utf-8") == code.source == kernel.to_c().source
    assert (tmp_path / "law.h").read_text(encoding="utf-8") == code.header
    assert kernel.to_c(str(tmp_path / "again.c")) == code
    for bad in ("law", "law.cpp", 3, ""):
        with pytest.raises(InputError, match=r"path: expected the name of a C file such as 'law.c', got"):
            kernel.to_c(bad)


# ---- derivatives -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("derivative", [mb.gradient, mb.jacobian, mb.hessian, mb.hessian_vector])
def test_words_of_others_for_the_argument(derivative):
    with pytest.raises(TypeError, match=r"has no argument 'argnums'; it is called argument here: argument=1"):
        derivative(cost, argnums=1)
    with pytest.raises(TypeError, match=r"has no argument 'wrt'; it is called argument here: argument=\(0, 1\)"):
        derivative(cost, wrt=(0, 1))
    with pytest.raises(TypeError, match=r"has no argument 'mode'; it has argument, shapes"):
        derivative(cost, mode="forward")


@each_case(
    "derivative, shapes, name, names",
    [
        (mb.gradient(cost), (3, 2), "cost_gradient", ["x", "u"]),
        (mb.gradient(cost, (0, 1)), (3, 2), "cost_gradient", ["x", "u"]),
        (mb.jacobian(spring), (3, ()), "spring_jacobian", ["x", "k"]),
        (mb.hessian(cost), (3, 2), "cost_hessian", ["x", "u"]),
        (mb.jvp(cost), (3, 2, 3, 2), "cost_jvp", ["x", "u", "dx", "du"]),
        (mb.vjp(spring), (3, (), 3), "spring_vjp", ["x", "k", "ybar"]),
        (mb.hessian_vector(cost, 1), (3, 2, 2), "cost_hessian_vector", ["x", "u", "du"]),
        (mb.jacobian(mb.gradient(cost)), (3, 2), "cost_gradient_jacobian", ["x", "u"]),
        (mb.gradient(lambda x: x @ x), (3,), "gradient", ["x"]),
        (mb.jvp(lambda x, dx: x @ dx), (3, 3, 3, 3), "jvp", ["x", "dx", "dx_", "ddx"]),
        (mb.jvp(lambda x, k=1.0: k * x), (3, 3), "jvp", ["x0", "x1"]),
        (mb.gradient(lambda x, k=1.0: k * x @ x), (3,), "gradient", ["x"]),
    ],
)
def test_kernels_keep_names(derivative, shapes, name, names):
    kernel = mb.compile(derivative, *shapes)
    assert kernel.name == derivative.__name__ == name
    assert [spec.name for spec in kernel.signature.inputs] == names
    with pytest.raises(InputError, match=rf"missing: .*expected {', '.join(names)}"):
        kernel()


def test_names_in_signatures_and_messages():
    slope = mb.gradient(cost)
    assert list(inspect.signature(slope).parameters) == ["x", "u"]
    near(mb.compile(slope, 3, 2)(u=U, x=X), slope(X, U), 1e-14)
    with pytest.raises(InputError, match="x: expected numbers"):
        slope([[1.0], [2.0, 3.0]], U)
    with pytest.raises(InputError, match=r"dx: expected shape \(3,\), got \(2,\)"):
        mb.jvp(cost)(X, U, U, U)
    with pytest.raises(InputError, match="u: expected real numbers"):
        slope(X, "u")
