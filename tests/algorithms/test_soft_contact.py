"""Soft contact: the spring and damper of the text, friction within its cone, and one source eager and compiled."""

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms.soft_contact import SoftContact
from multibody.errors import InputError

from ..every_law import each_case

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
        a = robot.forward_dynamics(q, v, tau, wrenches=ground.wrenches(robot.tree, feet, q, v))
        v = v + 2e-4 * a
        return np.concatenate([robot.integrate(q, 2e-4 * v), v], axis=-1)

    kernel = mb.compile(step, robot.nq + robot.nv)
    x = np.concatenate([home, np.zeros(robot.nv)])
    np.testing.assert_allclose(kernel(x), step(x), atol=1e-10)
    for _ in range(10000):
        x = kernel(x)
    q, v = x[: robot.nq], x[robot.nq :]
    assert np.abs(v).max() < 2e-2
    total = sum(f[:3] for f in ground.wrenches(robot.tree, feet, q, v).values())
    np.testing.assert_allclose(total, [0.0, 0.0, robot.mass * 9.81], atol=0.02 * robot.mass * 9.81)


@each_case(
    "given, message",
    [
        ({"slip": 0.0}, "soft contact, slip: expected a finite number > 0, got 0.0"),
        ({"stiffness": np.inf}, "soft contact, stiffness: expected a finite number > 0, got inf"),
        ({"stiffness": "a"}, "soft contact, stiffness: expected real floats"),
        ({"damping": -1.0}, "soft contact, damping: expected a finite number >= 0, got -1.0"),
        ({"friction": np.nan}, "soft contact, friction: expected a finite number >= 0, got nan"),
        ({"friction": [0.5, 0.6]}, "soft contact, friction: expected a finite number >= 0"),
    ],
)
def test_bad_numbers_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        SoftContact(**given)


def test_bad_states_are_refused():
    model = mb.load("quadruped").model
    q, v = np.concatenate([np.zeros(3), [1.0], np.zeros(15)]), np.zeros(18)
    with pytest.raises(InputError, match=r"position: expected .* got shape \(2,\)"):
        GROUND.force([0.0, 1.0], [0.0, 0.0, 0.0])
    with pytest.raises(InputError, match=r"position, velocity: batch shapes \(2,\), \(3,\) do not broadcast"):
        GROUND.force(np.zeros((2, 3)), np.zeros((3, 3)))
    with pytest.raises(InputError, match="frames: expected a list of names, got 'foot-lf'"):
        GROUND.wrenches(model.tree, "foot-lf", q, v)
    for bad in (5, None):
        with pytest.raises(InputError, match=f"frames: expected a list of names, got {bad}"):
            GROUND.wrenches(model.tree, bad, q, v)
    with pytest.raises(InputError, match="no frame is named 5"):
        GROUND.wrenches(model.tree, [5], q, v)
    for bad in (mb.load("quadruped"), 5, None):
        with pytest.raises(InputError, match=rf"expected the Tree of a robot, .*, got {type(bad).__name__}"):
            GROUND.wrenches(bad, ["foot-lf"], q, v)
    with pytest.raises(InputError, match=r"quadruped: q needs the shape"):
        GROUND.wrenches(model.tree, ["foot-lf"], v, v)
    with pytest.raises(InputError, match="has the length 2"):
        GROUND.wrenches(model.tree, ["foot-lf"], 2 * q, v)
    with pytest.raises(InputError, match="batch shapes"):
        GROUND.wrenches(model.tree, ["foot-lf"], np.stack([q] * 2), np.stack([v] * 3))


def test_lists_are_taken():
    p, v = [[0.1, 0.2, -0.01], [0.0, 0.0, 0.1]], [0.3, 0.0, -0.2]
    np.testing.assert_array_equal(GROUND.force(p, v), GROUND.force(np.array(p), np.array(v)))
