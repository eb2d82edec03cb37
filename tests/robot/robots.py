"""Robots that tests of the face share, so that a kernel is compiled once, and arguments for every quantity."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from multibody.robot.requests import length

import multibody as mb
from multibody.robot.quantities import QUANTITIES

from ..model.trees import random_model

SMALL = ("double-pendulum", "free-body-se3")
LARGE = ("branching-figure", "scara", "cart-pendulum", "random", "random chain", "panda")
ROBOTS = (*SMALL, *(pytest.param(name, marks=pytest.mark.slow) for name in LARGE))


@cache
def robot_of(name: str) -> mb.Robot:
    """An embedded robot, or a random one with coupled joints, or a long chain with a base that floats."""
    match name:
        case "random":
            return mb.Robot(random_model(np.random.default_rng(1), 5, mimic=0.5, floating=True, velocity="mixed"))
        case "random chain":
            kinds = ("revolute", "universal", "helical", "planar")
            model = random_model(np.random.default_rng(2), 8, kinds=kinds, chain=True)
            return mb.Robot(model)
    return mb.load(name)


class Call(NamedTuple):
    """A quantity of a robot: its kernel, and arguments for it."""

    robot: mb.Robot
    name: str

    @property
    def kernel(self) -> mb.Kernel:
        entry = QUANTITIES[self.name]
        options = {"reference": self.robot.frames[0]} if "reference" in entry.options else {}
        return self.robot.kernel(self.name, self.robot.frames[-1] if entry.frame else None, **options)

    def arguments(self, batch: tuple[int, ...] = (), seed: int = 0) -> list[np.ndarray]:
        """Random ones, well away from limits of parameterisations."""
        rng = np.random.default_rng(seed)
        return [
            self.robot.random(rng, batch)
            if name.startswith("q")
            else rng.standard_normal((*batch, length(self.robot.model, name)))
            for name in QUANTITIES[self.name].inputs
        ]


def parts(result: Any) -> list[np.ndarray]:
    """The arrays of a result: one or several."""
    return [np.asarray(x) for x in result] if isinstance(result, tuple) else [np.asarray(result)]


def identical(found: Any, expected: Any) -> None:
    """Assert results that are equal bit for bit, NaN too."""
    for a, b in zip(parts(found), parts(expected), strict=True):
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes()
