"""Functions that move and select elements, on boolean arrays: values and types as in NumPy."""

from functools import cache

import numpy as np

import multibody as mb

from ..every_law import each_case

X = np.array([1.0, -2.0, -3.0, 4.0])
FUNCTIONS = {
    "diag of a matrix": lambda m: np.diag(m),
    "diag beside": lambda m: np.diag(m, 1),
    "diag of a vector": lambda m: np.diag(m[0]),
    "diagonal": lambda m: np.diagonal(m),
    "diagonal method": lambda m: m.diagonal(),
    "tril": lambda m: np.tril(m),
    "triu": lambda m: np.triu(m, 1),
    "trace": lambda m: np.trace(m),
    "roll": lambda m: np.roll(m, 1),
    "repeat": lambda m: np.repeat(m, 2, axis=0),
    "tile": lambda m: np.tile(m, (2, 1)),
    "flip": lambda m: np.flip(m),
    "rot90": lambda m: np.rot90(m),
    "concatenate": lambda m: np.concatenate([m, ~m]),
    "concatenate with floats": lambda m: np.concatenate([m, np.ones((1, 2))]),
    "stack": lambda m: np.stack([m, m & True]),
    "block": lambda m: np.block([[m, m], [m, ~m]]),
    "hstack with floats": lambda m: np.hstack([m, 2.0 * m]),
    "delete": lambda m: np.delete(m, 0, axis=1),
    "split": lambda m: np.split(m, 2)[1],
    "broadcast": lambda m: np.broadcast_to(m[0], (3, 2)),
    "atleast": lambda m: np.atleast_3d(m),
    "take": lambda m: np.take(m, [1, 0], axis=1),
    "zeros_like": lambda m: np.zeros_like(m),
    "ones_like": lambda m: np.ones_like(m),
    "ones_like of a shape": lambda m: np.ones_like(m, shape=(3,)),
    "full_like": lambda m: np.full_like(m, 2.0),
    "full_like with floats": lambda m: np.full_like(m, 2.0, dtype=float),
    "where of masks": lambda m: np.where(m, ~m, m.T),
    "where": lambda m: np.where(m, m, 2.0),
    "select": lambda m: np.select([m, m.T], [m, ~m], True),
    "max": lambda m: np.max(m, axis=0),
    "min": lambda m: m.min(),
    "sort": lambda m: np.sort(m, axis=1),
    "argsort": lambda m: np.argsort(m, axis=1, kind="stable"),
    "diff": lambda m: np.diff(m),
    "cumsum": lambda m: np.cumsum(m),
    "outer": lambda m: np.outer(m[0], m[1]),
    "kron": lambda m: np.kron(m, m),
    "matmul": lambda m: m @ m,
    "sum": lambda m: np.sum(m, axis=0),
    "mean": lambda m: np.mean(m, axis=0),
    "absolute": lambda m: np.abs(m),
    "copy": lambda m: m.copy(),
    "ravel": lambda m: m.ravel(order="F"),
}


EXPECTED = {name: function((X > 0).reshape(2, 2)) for name, function in FUNCTIONS.items()}
CONDITIONS = [name for name, expected in EXPECTED.items() if expected.dtype == bool]


@cache
def of_one_kernel():
    """By name, the results of all functions as numbers, and their choices where they are conditions."""

    def function(x):
        results = {name: f((x > 0).reshape(2, 2)) for name, f in FUNCTIONS.items()}
        choices = {name: np.where(results[name], 1.0, 2.0) for name in CONDITIONS}
        return {name: 1.0 * result for name, result in results.items()}, choices

    return mb.compile(function, 4)(X)


@each_case("name", FUNCTIONS)
def test_booleans_as_in_numpy(name):
    numbers, choices = of_one_kernel()
    np.testing.assert_array_equal(numbers[name], EXPECTED[name])
    if name in CONDITIONS:
        np.testing.assert_array_equal(choices[name], np.where(EXPECTED[name], 1.0, 2.0))


def test_a_trace_of_booleans_and_numbers_in_a_list_is_a_number():
    function = lambda x: np.trace(np.array([[x[0] > 0, x[1]], [x[2], x[3]]], dtype=object))
    assert mb.compile(function, 4)(X) == 5.0


def test_plus_of_booleans_is_no_boolean_of_floats():
    assert mb.compile(lambda x: np.sum(+(x > 0)), 4)(X) == 2.0
