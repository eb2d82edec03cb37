"""Eager blocks: the NumPy source runs with the shapes, outputs and errors of native calls, in one thread only."""

import numpy as np
import pytest

import multibody as mb
from multibody import InputError, Pose
from multibody.tracing.record.general_path import OPEN_BLOCKS

from ..laws.tools import near
from .cases import in_threads


def test_eager_runs_the_source():
    seen = []

    def function(x, y):
        seen.append(x)
        return {"a": x[0] * y, "b": [x @ x, Pose.exp(x)]}

    kernel = mb.compile(function, 6, ())
    seen.clear()
    x, y = np.random.default_rng(0).uniform(-1, 1, (4, 6)), np.arange(3.0)[:, None]
    found = kernel(x, y)
    assert not seen
    with mb.eager():
        plain = kernel(x, y)
        assert len(seen) == 12
        assert seen[0].shape == (6,)
        with mb.eager():
            pass
        kernel(x[0], 1.0)
        assert len(seen) == 13
    kernel(x[0], 1.0)
    assert len(seen) == 13
    near(plain["a"], found["a"])
    near(plain["b"][0], found["b"][0])
    near(plain["b"][1].matrix, found["b"][1].matrix)
    assert plain["b"][1].shape == (3, 4)


def test_eager_calls_have_the_checks_of_native_ones():
    kernel = mb.compile(lambda x: (x + 1, np.arange(2.0)), 3)
    out = np.zeros((5, 3)), np.zeros((5, 2))
    with mb.eager():
        assert kernel(np.ones((5, 3)), out=out) is out
        np.testing.assert_array_equal(out[0], np.full((5, 3), 2.0))
        np.testing.assert_array_equal(out[1], np.tile([0.0, 1.0], (5, 1)))
        with pytest.raises(InputError, match="x: expected shape"):
            kernel(np.ones(4))
        with pytest.raises(InputError, match="out: expected"):
            kernel(np.ones(3), out=np.zeros(3))
        assert kernel(np.ones((0, 3)))[0].shape == (0, 3)


def test_eager_is_of_this_thread_alone_and_ends_with_an_error():
    seen = []
    kernel = mb.compile(lambda x: seen.append(1) or x, 2)
    seen.clear()
    with mb.eager():
        in_threads(4, lambda _: kernel(np.ones(2)))
    assert not seen

    def work(_):
        for _ in range(300):
            with mb.eager():
                pass

    in_threads(8, work)
    with pytest.raises(ZeroDivisionError), mb.eager():
        raise ZeroDivisionError
    assert OPEN_BLOCKS.value == 0
    kernel(np.ones(2))
    assert not seen
