"""Derivatives by arguments of every shape, number and nesting, against finite differences."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import multibody as mb
from multibody import Pose, Rotation
from multibody.tracing.ad.api import gradient, hessian_vector, jacobian, jvp, vjp
from multibody.tracing.interpret import evaluate
from multibody.tracing.record.layout import flatten, rebuild
from multibody.tracing.record.trace import trace

from ..laws.tools import difference, near
from ..sampling import sampled

SHAPES = [(), (1,), (3,), (0,), (2, 3), (3, 1), (3, 3), (2, 0), (2, 2, 3)]


def parts(nested):
    """The arrays of nested values."""
    arrays = []
    flatten(nested, arrays.append)
    return arrays


def around(nested, arrays):
    """The same nesting around other arrays."""
    return rebuild(flatten(nested, lambda _: None), iter(arrays))


def drawn(shapes, seed=0):
    """Numbers in place of the shapes, which are the leaves of a nest: tuples of lengths."""
    rng = np.random.default_rng(seed)
    if isinstance(shapes, dict):
        return {key: drawn(part, seed + k) for k, (key, part) in enumerate(shapes.items())}
    if isinstance(shapes, list):
        return [drawn(part, seed + k) for k, part in enumerate(shapes)]
    if shapes and not isinstance(shapes[0], int):
        return tuple(drawn(part, seed + k) for k, part in enumerate(shapes))
    return rng.uniform(-1, 1, shapes)


def entangled(*arguments):
    """A number and arrays that depend on every element of every argument."""
    arrays = parts(arguments)
    total = sum(np.sum(np.sin(x + 0.3 * k)) * (1.0 + k) for k, x in enumerate(arrays))
    return {"total": np.cos(total), "each": tuple(x * total + x * x for x in arrays)}


def number(*arguments):
    return entangled(*arguments)["total"] + sum(np.sum(x * x * x) for x in parts(arguments))


def drawn_like(nested, seed):
    rng = np.random.default_rng(seed)
    return around(nested, [rng.uniform(-1, 1, np.shape(x)) for x in parts(nested)])


def changes(function, arguments, directions):
    """Those of the arrays which the function returns, by differences."""
    moves = list(zip(parts(arguments), parts(directions), strict=True))
    at = lambda t: parts(function(*around(arguments, [x + t * d for x, d in moves])))
    shapes = [np.shape(y) for y in at(0.0)]
    flat = difference(lambda t: np.concatenate([np.ravel(y) for y in at(t)]))
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    return [part.reshape(shape) for part, shape in zip(np.split(flat, ends[:-1]), shapes, strict=True)]


def slopes(function, arguments):
    """For each array that the function returns, its Jacobians by each array of the arguments."""
    arrays = parts(arguments)
    blocks = [[np.zeros((*np.shape(y), x.size)) for x in arrays] for y in parts(function(*arguments))]
    for k, x in enumerate(arrays):
        for j, direction in enumerate(np.eye(x.size)):
            steps = [direction.reshape(x.shape) if i == k else 0 * other for i, other in enumerate(arrays)]
            for row, column in zip(blocks, changes(function, arguments, steps), strict=True):
                row[k][..., j] = column
    return [[J.reshape(J.shape[:-1] + x.shape) for J, x in zip(row, arrays, strict=True)] for row in blocks]


def evaluated(derivative, *arguments):
    """The derivative in a function that is traced: all of its arguments are."""
    arrays = parts(arguments)
    function = lambda *traced: derivative(*around(arguments, traced))
    return evaluate(trace(function, [x.shape for x in arrays], [f"p{k}" for k in range(len(arrays))]), *arrays)


def dot(J, x):
    """J x, over all axes of x."""
    return np.tensordot(J, x, np.ndim(x))


def check(arguments):
    """All five derivatives at these arguments, plain and traced."""
    arguments = tuple(arguments)
    results = entangled(*arguments)
    directions, weights = drawn_like(arguments, 5), drawn_like(results, 6)
    blocks, (first,) = slopes(entangled, arguments), slopes(number, arguments)
    for run in (lambda f, *x: f(*x), evaluated):
        by_all = run(jacobian(entangled, tuple(range(len(arguments)))), *arguments)
        for J, block in zip(parts(by_all), itertools.chain(*blocks), strict=True):
            near(J, block, 1e-8)
        y, dy = run(jvp(entangled), *arguments, *directions)
        for n, row in enumerate(blocks):
            near(parts(y)[n], parts(results)[n], 1e-14)
            near(parts(dy)[n], sum(dot(J, d) for J, d in zip(row, parts(directions), strict=True)), 1e-8)
        for k, xbar in enumerate(parts(run(vjp(entangled), *arguments, weights)[1])):
            weighted = [np.tensordot(w, row[k], np.ndim(w)) for w, row in zip(parts(weights), blocks, strict=True)]
            near(xbar, sum(weighted), 1e-8)
        start = 0
        for k, argument in enumerate(arguments):
            slope = gradient(number, k)
            computed = parts(run(slope, *arguments))
            for n, array in enumerate(computed):
                near(array, first[start + n], 1e-8)
            start += len(computed)
            direction = drawn_like(argument, 7)
            still = around(arguments, [0 * x for x in parts(arguments)])
            steps = (*still[:k], direction, *still[k + 1 :])
            products = run(hessian_vector(number, k), *arguments, direction)
            for array, expected in zip(parts(products), changes(slope, arguments, steps), strict=True):
                near(array, expected, 1e-8)
        assert start == len(first)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_argument(shape):
    check([drawn(shape)])


@pytest.mark.parametrize("shapes", sampled(itertools.combinations(SHAPES, 2), 2), ids=str)
def test_two_arguments(shapes):
    check(drawn(list(shapes)))


@pytest.mark.parametrize(
    "shapes", [((3,), (3, 3), ()), ((2, 3), (), (3,)), ((2,), (2, 2, 3), (0,)), ((), (), ())], ids=str
)
def test_three_arguments(shapes):
    check(drawn(list(shapes)))


NESTS = {
    "tuple": [((2,), (3, 2))],
    "list": [[(2,), (3, 2)]],
    "dict": [{"q": (2,), "gains": (2, 3)}],
    "beside": [(3,), {"A": (3, 3), "b": ((3,), ())}, {"g": ()}],
    "deep": [{"a": {"b": [((2,), (2, 2)), (1,)]}, "c": (0,)}],
}


@pytest.mark.parametrize("name", NESTS)
def test_nested_arguments(name):
    check(drawn(NESTS[name]))


@given(
    st.lists(
        st.recursive(
            st.sampled_from(SHAPES),
            lambda inner: (
                st.lists(inner, max_size=2).map(lambda x: [*x, (2,)])
                | st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=2)
                | inner.map(lambda x: (x, (2,)))
            ),
            max_leaves=3,
        ),
        min_size=1,
        max_size=3,
    )
)
def test_random_nests(shapes):
    arguments = drawn(shapes)
    results = parts(entangled(*arguments))
    directions = drawn_like(arguments, 1)
    along = parts(jvp(entangled)(*arguments, *directions)[1])
    expected = changes(entangled, arguments, directions)
    blocks = iter(parts(jacobian(entangled, tuple(range(len(arguments))))(*arguments)))
    for n, result in enumerate(results):
        near(along[n], expected[n], 1e-7)
        row = [(next(blocks), d) for d in parts(directions)]
        assert [J.shape for J, _ in row] == [np.shape(result) + d.shape for _, d in row]
        near(sum(dot(J, d) for J, d in row), expected[n], 1e-7)


@pytest.mark.parametrize("name", NESTS)
@pytest.mark.parametrize("batch", [(2,), (2, 3), (0,)], ids=str)
def test_batches_are_asked_for_by_shapes(name, batch):
    """Every sample of a batch has the derivative that it has alone, plain and traced."""
    shapes = NESTS[name]
    sample = tuple(drawn(shapes))
    arrays = [np.random.default_rng(k).uniform(-1, 1, batch + x.shape) for k, x in enumerate(parts(sample))]
    arguments = around(sample, arrays)
    for derivative, rest in (
        (gradient(number, shapes=shapes), ()),
        (hessian_vector(number, shapes=shapes), arguments[:1]),
    ):
        alone = gradient(number) if not rest else hessian_vector(number)
        plain, traced = derivative(*arguments, *rest), evaluated(derivative, *arguments, *rest)
        for n, (computed, recorded) in enumerate(zip(parts(plain), parts(traced), strict=True)):
            assert computed.shape == batch + parts(sample[:1])[n].shape
            near(recorded, computed, 1e-12)
            for index in np.ndindex(*batch):
                at = around(sample, [x[index] for x in arrays])
                near(computed[index], parts(alone(*at, *at[: len(rest)]))[n], 1e-13)


# ---- the ways in which it was wrong ----------------------------------------------------------------------------------


def test_the_gradient_by_a_matrix():
    square = lambda U: np.sum(U) ** 2
    np.testing.assert_array_equal(gradient(square)(np.ones((3, 2))), np.full((3, 2), 12.0))
    np.testing.assert_array_equal(mb.compile(gradient(square), (3, 2))(np.ones((3, 2))), np.full((3, 2), 12.0))
    kernel = mb.compile(gradient(square), (3, 2))
    np.testing.assert_array_equal(kernel(np.ones((4, 3, 2))), np.full((4, 3, 2), 12.0))


def test_the_gradient_beside_a_matrix():
    x, A = np.array([1.0, -2.0, 0.5]), np.arange(9.0).reshape(3, 3)
    norm = lambda x, A: np.sum((A @ x) ** 2)
    near(gradient(norm)(x, A), 2 * A.T @ A @ x)
    near(gradient(norm, 1)(x, A), 2 * np.outer(A @ x, x))
    near(mb.compile(gradient(norm, (0, 1)), 3, (3, 3))(x, A)[1], 2 * np.outer(A @ x, x))


def test_lists_of_numbers_are_arrays():
    near(gradient(lambda x: x @ x)([1.0, 2.0]), [2.0, 4.0])
    near(gradient(lambda x: np.sum(x**2))(((1.0, 2.0), (3.0, np.float64(4.0)))), [[2.0, 4.0], [6.0, 8.0]])
    near(gradient(lambda s: s["x"] @ s["x"])({"x": [1, 2]})["x"], [2.0, 4.0])
    assert gradient(lambda x: x * x)(3) == 6.0
    near(mb.compile(lambda x: gradient(lambda y: y[0] * y[1])([x[0], x[1]]), 2)([3.0, 5.0]), [5.0, 3.0])


def test_values_of_geometry_are_arguments():
    pose = Pose(Rotation.exp(np.array([0.1, -0.4, 0.3])), np.array([1.0, 2.0, 3.0]))
    point = np.array([0.5, -1.0, 2.0])
    moved = lambda pose, r: pose @ r
    (by_matrix, by_position), by_point = jacobian(moved, (0, 1))(pose, point)
    near(by_position, np.eye(3))
    near(by_point, pose.rotation.matrix)
    near(by_matrix, np.einsum("ij,k->ijk", np.eye(3), point))
    y, dy = jvp(moved)(pose, point, (np.eye(3), np.ones(3)), np.zeros(3))
    near(y, pose @ point)
    near(dy, point + 1)
    near(gradient(lambda R: np.sum(R.matrix**2))(pose.rotation), 2 * pose.rotation.matrix)
    inside = lambda w: gradient(lambda pose, r: np.sum((pose @ r) ** 2))(Pose(Rotation.exp(w), w), point)[1]
    near(mb.compile(inside, 3)(point), inside(point))


# ---- derivatives of derivatives, and in loops ------------------------------------------------------------------------


def cubic(A):
    return np.sum(A) * np.sum(A * A)


def test_derivatives_of_derivatives_by_matrices():
    A = drawn((2, 3))
    H = 2 * np.sum(A) * np.eye(6) + 2 * np.add.outer(A.ravel(), A.ravel())
    for run in (lambda f, *x: f(*x), evaluated):
        near(run(jacobian(gradient(cubic)), A).reshape(6, 6), H, 1e-13)
        near(run(jacobian(lambda A: vjp(cubic)(A, 1.0)[1]), A).reshape(6, 6), H, 1e-13)
        near(run(lambda A: jvp(gradient(cubic))(A, A)[1], A), (H @ A.ravel()).reshape(2, 3), 1e-13)
        near(run(gradient(lambda A: np.sum(gradient(cubic)(A))), A), H.sum(axis=1).reshape(2, 3), 1e-13)
        near(run(hessian_vector(lambda A: np.sum(gradient(cubic)(A))), A, A), 12 * A + 4 * np.sum(A), 1e-12)


def test_derivatives_by_matrices_in_loops_and_loops_in_them():
    descent = lambda A: mb.loop(4, lambda B: B - 0.1 * gradient(lambda C: np.sum(C - A) ** 2 + cubic(C))(B), A)
    through = gradient(lambda A: np.sum(mb.loop(4, lambda B: 0.5 * B + 0.1 * np.sin(B @ B.T) @ A, A)) ** 2)
    A = drawn((2, 3))
    near(mb.compile(descent, (2, 3))(A), descent(A))
    near(mb.compile(through, (2, 3))(A), through(A))
    step = lambda A: (descent(A), None)
    near(mb.compile_scan(step, (2, 3))(A, steps=2)[0], descent(descent(A)))


@pytest.mark.parametrize("derivative", [gradient, jacobian], ids=lambda f: f.__name__)
def test_a_loop_that_depends_on_another_argument(derivative):
    """Which the derivative leaves as a loop: its carried values must not be those of the recording."""
    function = lambda x, y: np.sum(x * mb.loop(5, np.sin, y))
    x, y = drawn([(3,), (3,)])
    near(mb.compile(derivative(function), 3, 3)(x, y), derivative(function)(x, y))
    near(mb.compile(lambda x: derivative(function)(x, y) * x, 3)(x), derivative(function)(x, y) * x)
