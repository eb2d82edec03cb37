"""Kernels of robots with every kind of joint: a batch is its samples bit for bit, and the NumPy to rounding."""

from functools import cache

import pytest

import multibody as mb
from multibody.robot.quantities import QUANTITIES

from ..algorithms.covering import BASES, coupled, covering, kinds_of, way
from ..laws.tools import near
from ..model.trees import MOVING
from .robots import Call, identical, parts

COMPILED = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "jacobian",
    "acceleration",
    "integrate",
    "inverse_dynamics_derivatives",
)
COUNT = 11
"""Of samples: neither whole lanes of 4 nor of 8."""


@cache
def robots(base: str) -> tuple[tuple[mb.Robot, str], ...]:
    """Chains that have all kinds of joints together, each with its last frame, and a tree with coupled joints."""
    return tuple((mb.Robot(s.model), s.frame) for s in covering((base,)))


def test_all_kinds_are_there():
    chains = [s for s in covering(("fixed",)) if not coupled(s.model.joints)]
    assert set().union(*(kinds_of(way(s)) for s in chains)) == set(MOVING)


def quick(base: str, quantity: str) -> bool:
    """What runs by default: without the largest kernels, each quantity with fixed bases or with those that float."""
    if quantity == "inverse_dynamics_derivatives":
        return False
    return base == ("fixed", "kindr")[COMPILED.index(quantity) % 2]


@pytest.mark.parametrize(
    ("base", "quantity"),
    [
        pytest.param(*case, marks=() if quick(*case) else pytest.mark.slow)
        for case in ((base, quantity) for base in BASES for quantity in COMPILED)
    ],
)
def test_a_batch_is_its_samples(base, quantity):
    for robot, frame in robots(base):
        kernel = robot.kernel(quantity, frame if QUANTITIES[quantity].frame else None)
        args = Call(robot, quantity).arguments((COUNT,))
        found = parts(kernel(*args))
        for k in range(COUNT):
            identical(tuple(x[k] for x in found), tuple(parts(kernel(*(x[k] for x in args)))))
        with mb.eager():
            plain = parts(kernel(*args))
        for ours, numpy in zip(found, plain, strict=True):
            near(ours, numpy, 1e-10)
