"""Bounds of the walk over what a traced function reaches: its cost does not grow with the user's data."""

import time

import numpy as np
import pytest

import multibody as mb
from multibody.tracing.record.purity import MAX_MEMBERS, reachable
from multibody.tracing.record.trace import trace

from ..every_law import each_case

NUMBERS = [float(k) for k in range(2_000_000)]
TABLE = dict(enumerate(NUMBERS[: 100 * MAX_MEMBERS]))
ARRAY = np.zeros(20_000_000)
OBJECTS = np.array(NUMBERS[: 100 * MAX_MEMBERS], dtype=object)


@each_case(
    "function",
    [
        lambda x: x * NUMBERS[0],
        lambda x: x * TABLE[0],
        lambda x: x * OBJECTS[0],
        lambda x: mb.loop(3, lambda c: c * NUMBERS[1] + ARRAY[0], x),
        lambda x: mb.loop(3, lambda c: c * TABLE[1] + OBJECTS[0], x),
    ],
)
def test_large_data_is_not_walked(function):
    assert len(list(reachable(function))) < 10
    times = []
    for _ in range(3):
        start = time.thread_time()
        trace(function, [3])
        times.append(time.thread_time() - start)
    assert min(times) < 0.1


@pytest.mark.parametrize("change", [lambda many: many.append(1.0), lambda many: many.pop()])
def test_a_large_list_is_compared_by_its_length(change):
    many = [0.0] * (2 * MAX_MEMBERS)
    with pytest.raises(mb.TraceError, match="changes many, which is from outside"):
        mb.compile(lambda x: mb.loop(3, lambda c: (change(many), c * many[0])[1], x), 2)


@pytest.mark.parametrize("part", [slice(None), 0, -1])
def test_a_large_array_is_compared_by_samples_of_its_entries(part):
    many = np.zeros(300_000)

    def body(c):
        many[part] += 1.0
        return c * many[0]

    with pytest.raises(mb.TraceError, match="changes many, which is from outside"):
        mb.compile(lambda x: mb.loop(3, body, x), 2)


def test_functions_of_the_library_are_searched_for_those_of_users_alone():
    def user(x):
        return x @ x

    things = list(reachable(mb.gradient(user)))
    assert user in [thing.value for thing in things]
    assert len(things) < 10
