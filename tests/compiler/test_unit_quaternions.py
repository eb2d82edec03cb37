"""Unit quaternions in arguments: wherever they are, and whatever way a call takes."""

import numpy as np
import pytest

import multibody as mb
from multibody import InputError


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_quaternions_of_another_length_are_found_wherever_they_are(dtype):
    kernel = mb.compile(
        lambda x, y: x[:3] + y[:3], 12, 4, names=("x", "y"), dtype=dtype, quaternions={"x": (2, 7), "y": (0,)}
    )
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((40, 12)), rng.standard_normal((40, 4))
    for part in (x[:, 2:6], x[:, 7:11], y):
        part /= np.linalg.norm(part, axis=-1, keepdims=True)
    x, y = x.astype(dtype), y.astype(dtype)
    ways = {
        "the door": lambda x, y: kernel(x, y),
        "threads": lambda x, y: kernel(x, y, threads=2),
        "two axes": lambda x, y: kernel(x.reshape(8, 5, 12), y.reshape(8, 5, 4)),
        "strides": lambda x, y: kernel(np.repeat(x, 2, axis=0)[::2], y),
        "lists": lambda x, y: kernel(x.tolist(), y.tolist()),
    }
    for way in ways.values():
        way(x, y)
    for row, start in ((0, 2), (15, 7), (16, 2), (39, 7), (39, 2)):
        wrong = x.copy()
        wrong[row, start] += 0.1
        for name, way in ways.items():
            sample = f"{row // 5}, {row % 5}" if name == "two axes" else f"{row}"
            with pytest.raises(InputError, match=rf"x \(sample {sample}\): .* in the entries {start} to {start + 3}"):
                way(wrong, y)
        wrong[row, start] = np.nan
        for way in ways.values():
            way(wrong, y)
    for factor in (2, 1e30):  # whose square is no float32
        with pytest.raises(InputError, match="y: expected a unit quaternion"):
            kernel(x, (factor * y[0]).astype(dtype))
    assert kernel(x[:0], y[:0]).shape == (0, 3)


def test_quaternions_are_checked_with_optional_arguments_too():
    def function(q, w=None):
        return q if w is None else w * q

    kernel = mb.compile(function, 4, names=("q",), optional={"w": ()}, quaternions={"q": (0,)})
    q = np.array([2.0, 0.0, 0.0, 0.0])
    for given in ({}, {"w": 1.0}):
        assert kernel(q / 2, **given).tolist() == [1.0, 0.0, 0.0, 0.0]
        with pytest.raises(InputError, match=r"q: expected a unit quaternion .* of length 2"):
            kernel(q, **given)


@pytest.mark.parametrize(
    ("quaternions", "message"),
    [
        ({"p": (0,)}, r"no argument is called 'p'; there are \['q'\]"),
        ({"q": (3,)}, "expected an element of 'q' from 0 to 2, got 3"),
        ({"q": (-1,)}, "got -1"),
        ({"q": (0.5,)}, "got 0.5"),
    ],
)
def test_quaternions_lie_in_an_argument(quaternions, message):
    with pytest.raises(InputError, match=message):
        mb.compile(lambda q: q, 6, names=("q",), quaternions=quaternions)
