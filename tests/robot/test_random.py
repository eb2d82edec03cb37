"""Kernels of random robots: all kinds of joints, compiled, against the NumPy they were made from."""

import numpy as np
import pytest

import multibody as mb

from ..laws.tools import near
from ..model.trees import random_model
from .robots import identical

SEEDS = (0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 20)))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_kernel_is_the_numpy(seed):
    rng = np.random.default_rng(seed)
    velocity = ("kindr", "left", "right", "mixed")[seed % 4]
    model = random_model(rng, 4, floating=bool(seed % 2), mimic=0.4, velocity=velocity)
    robot = mb.Robot(model)
    tip = robot.frames[-1]
    what = ["inverse_dynamics", "mass_matrix", "forward_dynamics", ("jacobian", tip), ("acceleration", tip)]
    q, (v, a, tau) = robot.random(rng, (5,)), rng.standard_normal((3, 5, robot.nv))
    found = robot.evaluate(q, v, what, a=a, tau=tau)
    single = robot.evaluate(q[3], v[3], what, a=a[3], tau=tau[3])
    with mb.eager():
        plain = robot.evaluate(q, v, what, a=a, tau=tau)
    condition = np.linalg.cond(plain["mass_matrix"]).max()
    for name in found:
        near(found[name], plain[name], 1e-12 * condition if name == "forward_dynamics" else 1e-11)
        identical(single[name], found[name][3])
