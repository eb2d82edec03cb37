"""Soft contact: the spring and damper of the text, friction within its cone, and one source eager and compiled."""

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms.soft_contact import SoftContact
from multibody.errors import InputError

GROUND = SoftContact(stiffness=1e4, damping=100.0, friction=0.6, slip=0.01)


def test_spring_and_damper():
    """Minus F_c = k_p (r - r_0) + k_d r' where the point is in the ground. [RD 3.58, §3.7.1]"""
    p, v = np.array([0.3, -0.2, -0.01]), np.array([0.0, 0.0, -0.5])
    np.testing.assert_allclose(GROUND.force(p, v), [0.0, 0.0, -(1e4 * p[2] + 100.0 * v[2])])
    assert not GROUND.force(np.array([0.0, 0.0, 0.01]), v).any()
    assert not GROUND.force(p, np.array([0.0, 0.0, 5.0])).any()  # the ground does not pull


def test_friction_stays_in_its_cone_and_takes_energy():
    rng = np.random.default_rng(0)
    p, v = rng.uniform(-0.02, 0.0, (500, 3)), rng.standard_normal((500, 3))
    f = GROUND.force(p, v)
    assert (np.linalg.norm(f[:, :2], axis=1) <= 0.6 * f[:, 2] + 1e-12).all()
    assert ((f[:, :2] * v[:, :2]).sum(axis=1) <= 0).all()
    fast = GROUND.force(p, v * [100.0, 100.0, 0.0])
    np.testing.assert_allclose(np.linalg.norm(fast[:, :2], axis=1), 0.6 * fast[:, 2], rtol=1e-3)


def test_a_quadruped_comes_to_rest_on_its_feet():
    """Compiled into the dynamics, the four forces carry the weight of the robot."""
    robot = mb.load("quadruped")
    feet = tuple(f for f in robot.frames if f.startswith("foot"))
    home, ground = robot.home(), SoftContact(stiffness=5e3, damping=100.0, slip=0.2)

    def step(x):
        q, v = x[..., : robot.nq], x[..., robot.nq :]
        # stiff springs hold the joints at home
        pull = -100.0 * (q[..., 7:] - home[7:]) - 3.0 * v[..., 6:]
        tau = np.concatenate([np.zeros_like(v[..., :6]), pull], axis=-1)
        a = robot.forward_dynamics(q, v, tau, wrenches=ground.wrenches(robot.model, feet, q, v))
        v = v + 2e-4 * a
        return np.concatenate([robot.integrate(q, 2e-4 * v), v], axis=-1)

    kernel = mb.compile(step, robot.nq + robot.nv)
    x = np.concatenate([home, np.zeros(robot.nv)])
    np.testing.assert_allclose(kernel(x), step(x), atol=1e-10)
    for _ in range(10000):
        x = kernel(x)
    q, v = x[: robot.nq], x[robot.nq :]
    assert np.abs(v).max() < 2e-2
    total = sum(f[:3] for f in ground.wrenches(robot.model, feet, q, v).values())
    np.testing.assert_allclose(total, [0.0, 0.0, robot.mass * 9.81], atol=0.02 * robot.mass * 9.81)


def test_bad_numbers_are_refused():
    with pytest.raises(InputError, match="expected a positive stiffness and slip"):
        SoftContact(slip=0.0)
