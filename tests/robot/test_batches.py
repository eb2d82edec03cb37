"""Every quantity of a robot on batches: a sample's result is the same, bit for bit, whatever it is computed with."""

import numpy as np
import pytest

import multibody as mb
from multibody.robot.quantities import QUANTITIES

from ..every_law import check
from ..laws.tools import near
from .robots import ROBOTS, Call, identical, parts, robot_of


def the_kernel_is_the_numpy(call):
    """To rounding: a kernel fuses multiplications with additions."""
    args = call.arguments((7,))
    found = parts(call.kernel(*args))
    with mb.eager():
        plain = parts(call.kernel(*args))
        single = parts(call.kernel(*(x[3] for x in args)))
    for kernel, numpy, one in zip(found, plain, single, strict=True):
        near(kernel, numpy, 1e-10)
        near(one, numpy[3], 1e-12)


def a_batch_is_its_samples(call):
    args = call.arguments((2, 11))
    found = parts(call.kernel(*args))
    for index in np.ndindex(2, 11):
        identical(tuple(x[index] for x in found), tuple(parts(call.kernel(*(x[index] for x in args)))))


def empty_batches(call):
    for batch in ((0,), (3, 0)):
        single = parts(call.kernel(*call.arguments()))
        for empty, one in zip(parts(call.kernel(*call.arguments(batch))), single, strict=True):
            assert empty.shape == batch + one.shape


def one_configuration_with_many_of_the_rest(call):
    args = call.arguments((5,))
    for k in range(len(args)):
        mixed = [x[2] if i == k else x for i, x in enumerate(args)]
        whole = [np.broadcast_to(x[2], x.shape) if i == k else x for i, x in enumerate(args)]
        if len(args) > 1:
            identical(call.kernel(*mixed), call.kernel(*whole))


def layouts_lists_and_other_numbers(call):
    args = call.arguments((6,))
    expected = call.kernel(*args)
    identical(call.kernel(*(np.asfortranarray(x) for x in args)), expected)
    identical(call.kernel(*(np.repeat(x, 2, axis=0)[::2] for x in args)), expected)
    identical(call.kernel(*(np.flip(np.flip(x, -1).copy(), -1) for x in args)), expected)
    identical(call.kernel(*(x.tolist() for x in args)), expected)
    identical(call.kernel(*(x.astype(">f8") for x in args)), expected)


def threads_change_nothing(call):
    args = call.arguments((1030,))
    identical(call.kernel(*args, threads=2), call.kernel(*args))


def what_is_not_a_number_stays_in_its_sample(call):
    args = call.arguments((9,))
    clean = parts(call.kernel(*args))
    spoilt = [x.copy() for x in args]
    for x in spoilt:
        x[4] = np.nan
    for bad, good in zip(parts(call.kernel(*spoilt)), clean, strict=True):
        others = np.arange(9) != 4
        identical(bad[others], good[others])
    assert all(np.isfinite(x).all() for x in clean)


def out_is_filled(call):
    args = call.arguments((4,))
    expected = call.kernel(*args)
    places = tuple(np.full_like(x, 7.0) for x in parts(expected))
    out = places if isinstance(expected, tuple) else places[0]
    assert call.kernel(*args, out=out) is out
    identical(out, expected)
    strided = tuple(np.full((*x.shape[:-1], 2 * x.shape[-1]), 7.0)[..., ::2] for x in parts(expected) if x.ndim)
    if len(strided) == len(places):
        call.kernel(*args, out=strided if isinstance(expected, tuple) else strided[0])
        identical(tuple(x.copy() for x in strided), tuple(parts(expected)))


LAWS = (
    the_kernel_is_the_numpy,
    a_batch_is_its_samples,
    empty_batches,
    one_configuration_with_many_of_the_rest,
    layouts_lists_and_other_numbers,
    threads_change_nothing,
    what_is_not_a_number_stays_in_its_sample,
    out_is_filled,
)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_every_law_of_batches(name, quantity):
    check(f"{quantity} of {name}", LAWS, Call(robot_of(name), quantity))
