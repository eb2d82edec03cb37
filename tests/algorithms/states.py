"""Random robots in random states, and derivatives along their motion by finite differences."""

from typing import Any, NamedTuple

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from multibody.model import configuration
from multibody.model.model import Model
from multibody.model.tree import Tree

from ..laws.tools import unhat
from ..model.trees import models

REPRESENTATIONS = ("left", "right", "mixed")
STEP = 2e-3
PLACES = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
WEIGHTS = np.array([-1.0, 9.0, -45.0, 45.0, -9.0, 1.0]) / (60 * STEP)
"""Central differences of sixth order: what is left is near 1e-11."""


few = settings(max_examples=max(1, settings().max_examples // 4))
"""For tests of which one example is the work of several."""


class State(NamedTuple):
    """A robot, where it is and how it moves."""

    model: Model
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    rng: np.random.Generator

    @property
    def tree(self) -> Tree:
        return self.model.tree

    @property
    def frame(self) -> str:
        """The frame that lies on the deepest body."""
        return max(self.model.frames, key=lambda name: len(self.tree.support(self.tree.frame(name)[0])))

    @property
    def some_frames(self) -> tuple[str, ...]:
        """A few frames: on the world or the base, in the middle, at the end of the longest branch."""
        frames = self.model.frames
        return tuple(dict.fromkeys((frames[0], frames[len(frames) // 2], self.frame)))


@st.composite
def states(draw, most=4, **options):
    """A random robot, with at most that many joints of any kinds, in a random state."""
    model = draw(models(most=most, **options))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    v, a = rng.standard_normal((2, model.nv))
    return State(model, configuration.random(model.tree, rng), v, a, rng)


def rate(s: State, f: Any) -> np.ndarray:
    """d/dt f(q(t), v(t)) when the robot moves with v and accelerates with a; f takes batches."""
    t = (STEP * PLACES)[:, None]
    q = configuration.integrate(s.tree, s.q, t * s.v + t**2 / 2 * s.a)
    return np.tensordot(WEIGHTS, f(q, s.v + t * s.a), 1)


def along_each(model: Model, f: Any, q: np.ndarray) -> np.ndarray:
    """(nv, ...): the derivatives of f(q) along each of the robot's velocities; f takes batches."""
    t = (STEP * PLACES)[:, None, None]
    return np.tensordot(WEIGHTS, f(configuration.integrate(model.tree, q, t * np.eye(model.nv))), 1)


def by_each(f: Any, x: np.ndarray) -> np.ndarray:
    """(n, ...): the derivatives of f(x) by each number of x; f takes batches."""
    t = (STEP * PLACES)[:, None, None]
    return np.tensordot(WEIGHTS, f(x + t * np.eye(len(x))), 1)


def twist(H: np.ndarray, H_dot: np.ndarray, representation: str) -> np.ndarray:
    """The twist, by its definition, of a pose (4, 4) that changes at the rate H_dot.  [MDN 20, 25, 35]"""
    inverse = np.linalg.inv(H)
    left, right = inverse @ H_dot, H_dot @ inverse
    linear = {"left": left[..., :3, 3], "right": right[..., :3, 3], "mixed": H_dot[..., :3, 3]}[representation]
    return np.concatenate([linear, unhat((left if representation == "left" else right)[..., :3, :3])], axis=-1)
