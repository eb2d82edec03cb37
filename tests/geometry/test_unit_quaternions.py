"""Unit quaternions: models and kernels accept and refuse the same ones, up to the last bit of a coordinate."""

import numpy as np
import pytest

import multibody as mb
from multibody import InputError
from multibody.geometry.unit_quaternions import UNIT_QUATERNION_TOLERANCE, check_unit_quaternions, first_non_unit


def accepts(check, *arguments) -> bool:
    try:
        check(*arguments)
    except InputError:
        return False
    return True


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("side", [-1, 1])
def test_models_and_kernels_agree_at_the_bounds(dtype, side):
    body = mb.load("free-body-so3")
    kernel = mb.compile(lambda q: q, 4, quaternions={"q": (0,)}, dtype=dtype)
    direction = np.array([0.5, -0.1, 0.7, 0.3])
    bound = (direction / np.linalg.norm(direction) * (1 + side * UNIT_QUATERNION_TOLERANCE)).astype(dtype)
    verdicts = set()
    for steps in range(-40, 41):
        q = bound.copy()
        q[2] += steps * np.spacing(q[2]) * (1000 if dtype == np.float64 else 1)
        accepted = first_non_unit(q) is None
        assert accepts(kernel, q) == accepts(kernel, q[None]) == accepted
        assert accepts(body.check, q) == accepted
        verdicts.add(accepted)
    assert verdicts == {True, False}


def test_the_first_bad_sample_is_named():
    q = np.tile([1.0, 0.0, 0.0, 0.0], (2, 3, 1))
    check_unit_quaternions(q, "q", ["a", "b", "c"])
    q[0, 1] = np.nan, np.inf, 0.0, 0.0  # data, not an error
    q[1, 2] = 0.0, 3.0, 0.0, 4.0
    assert first_non_unit(q) == ((1, 2), 5.0)
    message = r"q \(sample 1\): the quaternion \(w, x, y, z\) of c has the length 5, expected 1 within 1e-06; scale it"
    with pytest.raises(InputError, match=message):
        check_unit_quaternions(q, "q", ["a", "b", "c"], "; scale it")
