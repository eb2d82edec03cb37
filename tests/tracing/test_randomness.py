"""Random numbers inside a traced function would stay in its kernel: it is refused."""

import random

import numpy as np
import pytest

import multibody as mb

from ..every_law import each_case

GENERATOR = np.random.default_rng(1)
OLD = np.random.RandomState(1)


def helper(x):
    return x + GENERATOR.normal()


def from_an_enclosing_function():
    rng = np.random.default_rng(2)
    return lambda x: x * rng.uniform()


DRAWS = {
    "np.random": lambda x: x + np.random.rand(3),  # noqa: NPY002
    "np.random.normal": lambda x: x * np.random.normal(),  # noqa: NPY002
    "random": lambda x: x * random.random(),
    "no seed": lambda x: x + np.random.default_rng().normal(size=3),
    "global": lambda x: x + GENERATOR.normal(),
    "old": lambda x: x + OLD.randn(),
    "helper": lambda x: 2.0 * helper(x),
    "closure": from_an_enclosing_function(),
    "default": lambda x, rng=GENERATOR: x * rng.normal(),
    "in a derivative": mb.gradient(lambda x: np.sum(x) ** 2 * GENERATOR.normal()),
}


@each_case("name", DRAWS)
def test_draws_are_refused(name):
    with pytest.raises(mb.TraceError, match="draw them outside, and pass them as an argument"):
        mb.compile(DRAWS[name], 3)


def test_draws_from_the_global_generator_are_refused_whatever_the_code_is_called():
    draw = np.random.uniform
    with pytest.raises(mb.TraceError, match="draws random numbers"):
        mb.compile(lambda x: x + draw(size=3), 3)


def test_numbers_that_are_the_same_each_time_are_constants():
    kernel = mb.compile(lambda x: x * np.random.default_rng(3).normal(), 2)
    np.testing.assert_array_equal(kernel(np.ones(2)), np.full(2, np.random.default_rng(3).normal()))
    weights = GENERATOR.normal(size=3)
    assert mb.compile(lambda x: x @ weights, 3).ops
    assert mb.compile(lambda x: x if GENERATOR.normal() < 1e3 else -x, 3)  # drawn, and of no effect


def test_random_numbers_of_others_during_a_trace_do_no_harm():
    def function(x):
        others()
        return 2.0 * x

    def others():
        np.random.rand()  # noqa: NPY002

    assert mb.compile(function, 3)
