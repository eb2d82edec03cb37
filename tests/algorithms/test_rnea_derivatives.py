"""The derivatives of inverse and forward dynamics, against finite differences along the robot's velocities."""

import numpy as np
import pytest
from hypothesis import assume

import multibody as mb
from multibody.algorithms import crba
from multibody.algorithms.forward_dynamics import forward_dynamics
from multibody.algorithms.forward_dynamics_derivatives import forward_dynamics_derivatives
from multibody.algorithms.rnea import rnea
from multibody.algorithms.rnea_derivatives import rnea_derivatives

from ..laws.tools import T, near
from .covering import law
from .states import along_each, by_each


@law()
def test_derivatives_of_inverse_dynamics(s):
    m = s.tree
    dq, dv, da = rnea_derivatives(m, s.q, s.v, s.a)
    near(T(dq), along_each(s.model, lambda q: rnea(m, q, s.v, s.a), s.q), 1e-7)
    near(T(dv), by_each(lambda v: rnea(m, s.q, v, s.a), s.v), 1e-8)
    near(da, crba.crba(m, s.q), 1e-10)


@law()
def test_derivatives_of_forward_dynamics(s):
    m = s.tree
    M = crba.crba(m, s.q)
    assume(m.nv == 0 or np.linalg.cond(M) < 1e3)
    tau = rnea(m, s.q, s.v, s.a)
    dq, dv, dtau = forward_dynamics_derivatives(m, s.q, s.v, tau)
    near(T(dq), along_each(s.model, lambda q: forward_dynamics(m, q, s.v, tau), s.q), 1e-6)
    near(T(dv), by_each(lambda v: forward_dynamics(m, s.q, v, tau), s.v), 1e-7)
    near(dtau, np.linalg.inv(M), 1e-9)


@law(pairs=False)
def test_derivatives_of_a_batch(s):
    q = np.stack([s.q, s.q])[:, None]
    v = np.stack([s.v, -s.v, 0 * s.v])
    found = rnea_derivatives(s.tree, q, v, s.a)
    for k in range(3):
        for batch, single in zip(found, rnea_derivatives(s.tree, s.q, v[k], s.a), strict=True):
            assert batch.shape == (2, 3, s.model.nv, s.model.nv)
            near(batch[1, k], single, 1e-12)


def test_derivatives_agree_with_those_of_the_graph():
    """The recursion against the automatic derivative of the same function."""
    robot = mb.load("panda")
    rng = np.random.default_rng(3)
    q, (v, a) = robot.random(rng), rng.standard_normal((2, 7))
    J = mb.jacobian(lambda q: robot.inverse_dynamics(q, v, a))(q)
    near(robot.inverse_dynamics_derivatives(q, v, a)[0], J, 1e-11)


@pytest.mark.parametrize("velocity", ["kindr", "left", "right", "mixed"])
def test_derivatives_of_a_free_body_by_complex_step_of_its_equations(velocity):
    """Without gravity, one body: dτ/dv is that of the products written out, exact to rounding."""
    robot = mb.load("free-body-se3", velocity=velocity).change(gravity=(0, 0, 0))
    rng = np.random.default_rng(4)
    q, (v, a) = robot.random(rng), rng.standard_normal((2, 6))
    _, dv, _ = robot.inverse_dynamics_derivatives(q, v, a)
    # τ is a polynomial of second degree in v: central differences of any step are exact
    steps = np.eye(6)
    expected = (robot.inverse_dynamics(q, v + steps, a) - robot.inverse_dynamics(q, v - steps, a)) / 2
    near(dv, T(expected), 1e-12)
