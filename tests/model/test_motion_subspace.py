"""The motion subspace: twists of velocities, forces of wrenches, and their duality."""

import numpy as np
import pytest

import multibody as mb
from multibody.geometry import Wrench
from multibody.model.joints.motion_subspace import Subspace

from ..laws.tools import T, mul, near


@pytest.fixture
def rng():
    return np.random.default_rng(61)


@pytest.mark.parametrize("batch", [(), (2, 3), (0,)])
@pytest.mark.parametrize("n", [0, 1, 3, 6])
def test_twists_and_forces(batch, n, rng):
    """[From 58]"""
    S = Subspace(rng.standard_normal((*batch, 6, n)))
    v, f = rng.standard_normal((*batch, n)), Wrench.from_vector(rng.standard_normal((*batch, 6)))
    near((S @ v).vector, mul(S.matrix, v), 1e-15)
    near(S.project(f), mul(T(S.matrix), f.vector), 1e-14)
    near(np.sum((S @ v).vector * f.vector, axis=-1), np.sum(v * S.project(f), axis=-1), 1e-13)
    for k in range(n):
        near(S.column(k).vector, S.matrix[..., k], 0.0)


def test_one_subspace_serves_a_batch(rng):
    S = Subspace.constant(rng.standard_normal((6, 2)), np.zeros(1))
    v = rng.standard_normal((5, 2))
    near((S @ v).vector, v @ S.matrix.T, 1e-15)


def test_scaled_moves_faster(rng):
    S = Subspace(rng.standard_normal((6, 1)))
    near(S.scaled(-2.0).matrix, -2 * S.matrix, 0.0)


def test_constant_takes_the_precision_of_the_coordinates():
    assert Subspace.constant(np.eye(6), np.zeros(1, np.float32)).matrix.dtype == np.float32


def test_arrays_do_not_swallow_it(rng):
    with pytest.raises(TypeError):
        rng.standard_normal((6, 6)) @ Subspace(np.eye(6))


def test_it_traces(rng):
    S = rng.standard_normal((6, 2))
    kernel = mb.compile(lambda v, f: (Subspace(S) @ v, Subspace(S).project(Wrench.from_vector(f))), 2, 6)
    v, f = rng.standard_normal((4, 2)), rng.standard_normal((4, 6))
    twist, force = kernel(v, f)
    near(twist.vector, v @ S.T, 1e-15)
    near(force, f @ S, 1e-14)
