"""Soft contact with anchors: closed forms of springs, dampers and friction, an adaptive integrator, and its order."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import multibody as mb
from multibody import simulate

from .bodies import G, at, ball, box, puck

K, D, MU = 2000.0, 10.0, 0.5


def pucks(dt, **options):
    robot, contacts = puck()
    ground = simulate.Ground(friction=MU, stiffness=K, damping=D)
    return simulate.Simulator(
        robot, dt=dt, method="soft", contacts=contacts, ground=ground, controller=lambda t, q, v, u: u, **options
    )


@pytest.fixture(scope="module")
def sliding():
    return pucks(0.002)


def test_sinks_by_its_weight_and_stays(sliding):
    run = sliding([0.3, 0.0], seconds=4.0, inputs=[0.0, 0.0])
    q, v = run.last
    assert abs(q[1] + G / K) < 1e-10  # e^(-d t/2m) of it is left
    assert np.abs(v).max() < 1e-8
    np.testing.assert_allclose(run.forces[-1, 0], [0, 0, G], atol=1e-6)
    assert np.array_equal(run.state["anchors"], [[0.3, 0.0, 0.0]])
    k = np.array([1000.0, 4000.0])
    several = sliding([0.3, 0.0], seconds=4.0, inputs=[0.0, 0.0], parameters={"ground_stiffness": k})
    np.testing.assert_allclose(several.last[0][:, 1], -G / k, atol=1e-6)


def bounce(height):
    """Where and how fast it is when the ground lets go, k z + d z' = 0; z + g/k is a damped oscillation."""
    a, w, fall, rest = D / 2, np.sqrt(K - D * D / 4), np.sqrt(2 * G * height), G / K
    A, B = rest, (-fall + a * rest) / w

    def z(t):
        return np.exp(-a * t) * (A * np.cos(w * t) + B * np.sin(w * t)) - rest

    def speed(t):
        return np.exp(-a * t) * ((w * B - a * A) * np.cos(w * t) - (w * A + a * B) * np.sin(w * t))

    end = brentq(lambda t: K * z(t) + D * speed(t), 0.5 * np.pi / w, 1.2 * np.pi / w, xtol=1e-15)
    return z(end), speed(end)


def test_damped_bounce(sliding):
    """The height to which it bounces, in closed form, from heights whose touch-downs are all over a step: order two."""
    height = np.linspace(0.5, 0.51, 21)
    top = np.array([z + speed**2 / (2 * G) for z, speed in map(bounce, height)])
    errors = []
    for simulator in (sliding, pucks(0.0005)):
        q, v = simulator(np.stack([0 * height, height], axis=-1), seconds=0.52, inputs=[0.0, 0.0]).last
        errors.append(np.abs(q[:, 1] + v[:, 1] ** 2 / (2 * G) - top).max())
    assert errors[0] < 8e-3 * top[0]
    assert errors[1] < errors[0] / 8


def test_sticks_like_a_spring_then_slips_at_the_cone(sliding):
    """Below the cone the stretch is F/k and the anchor stays; above, a = F/m - μ g, and the anchor trails by μ N/k."""
    rest = [0.0, -G / K]
    pull = np.array([0.4, 0.9, 1.5]) * MU * G
    inputs = np.stack([pull, 0 * pull], axis=-1)[:, None]
    settled = sliding(np.tile(rest, (3, 1)), seconds=4.0, inputs=inputs * [[[0.5, 1.0]], [[0.5, 1.0]], [[0.0, 1.0]]])
    run = sliding(settled, seconds=2.0, inputs=inputs * [[[1.0, 1.0]], [[0.6, 1.0]], [[1.0, 1.0]]])
    np.testing.assert_allclose(run.last[0][0, 0], pull[0] / K, atol=1e-7)
    assert np.array_equal(run.state["anchors"][:2], settled.state["anchors"][:2])
    assert np.abs(run.state["anchors"][:2]).max() == 0.0
    a = pull[2] - MU * G
    later = sliding(run, seconds=0.5, inputs=inputs)
    np.testing.assert_allclose(later.last[1][2, 0] - run.last[1][2, 0], 0.5 * a, rtol=1e-9)
    np.testing.assert_allclose(later.forces[2, -1, 0], [-MU * G, 0, G], atol=1e-7)
    trail = later.last[0][2, 0] - later.state["anchors"][2, 0, 0]
    assert abs(trail - MU * G / K) < 1e-3 * trail


def trajectory(q, v, seconds, pull):
    """The same model by an adaptive integrator: x, z, their rates, and the stretch, which slips at the cone."""

    def rates(t, y):
        _, z, u, w, s = y
        N = max(0.0, -K * z - D * w) if z < 0.0 else 0.0
        stick = -K * s - D * u
        cone = MU * N
        f = np.clip(stick, -cone, cone)
        return [u, w, f + pull, N - G, (-f - K * s) / D if z < 0.0 else -1e4 * s]

    answer = solve_ivp(rates, (0.0, seconds), [*q, *v, 0.0], rtol=1e-9, atol=1e-11, max_step=1e-4)
    return answer.y[:4, -1]


def test_an_adaptive_integrator_agrees():
    """A landing with slip, stick and a bounce: the error falls with the step, by some 20 from 2 ms to 0.25 ms."""
    q, v, seconds, pull = [0.0, 0.05], [0.3, 0.0], 0.3, 1.0
    exact = trajectory(q, v, seconds, pull)
    errors = []
    for dt in (0.002, 0.00025):
        run = pucks(dt)(q, v, seconds=seconds, inputs=[pull, 0.0])
        errors.append(np.abs(np.concatenate(run.last) - exact).max())
    assert errors[0] < 2e-3
    assert errors[1] < errors[0] / 12


def test_no_creep_on_a_slope():
    """Inside of the cone anchors stay where they are, to the last bit; outside the box slides as a hard one does."""
    robot, contacts = box()
    a = np.radians(25.0)
    n, down = np.array([-np.sin(a), 0, np.cos(a)]), np.array([-np.cos(a), 0, -np.sin(a)])
    plane = simulate.Ground(normal=tuple(n), stiffness=5e4, damping=300.0)
    simulator = simulate.Simulator(robot, dt=0.005, method="soft", contacts=contacts, ground=plane)
    q = np.r_[0.1 * n, np.cos(a / 2), 0, -np.sin(a / 2), 0]
    run = simulator(q, seconds=2.0, parameters={"friction": np.array([0.7, 0.3])})
    rest = simulator(run, seconds=10.0, parameters={"friction": np.array([0.7, 0.3])})
    assert np.array_equal(rest.state["anchors"][0], run.state["anchors"][0])
    assert np.abs(rest.last[0][0] - run.last[0][0]).max() < 1e-12
    assert np.abs(rest.last[1][0]).max() < 1e-12
    a_down = G * (np.sin(a) - 0.3 * np.cos(a))
    np.testing.assert_allclose(rest.last[1][1, :3] @ down, 12.0 * a_down, rtol=1e-3)
    np.testing.assert_allclose(run.forces[:, -1].sum(axis=-2) @ n, G * np.cos(a), rtol=1e-4)


def test_what_rolls_takes_its_anchor_along():
    """A ball slides, then rolls at 5/7 of its speed; in a corner of two grounds it stops, on a hill it rolls off."""
    robot, contacts = ball()
    rolls = simulate.Ground(friction=0.2, stiffness=2e4, damping=100.0)
    wall = simulate.Ground(friction=0.0, normal=(-1, 0, 0), offset=-1.0, stiffness=2e4, damping=280.0)
    simulator = simulate.Simulator(robot, dt=0.002, method="soft", contacts=contacts, ground=[rolls, wall])
    q = at(robot, 0.1 - G / 2e4)
    run = simulator(q, [1.0, 0, 0, 0, 0, 0], seconds=0.8)
    v = run.last[1]
    assert abs(v[0] - 5 / 7) < 1e-3
    assert abs(v[0] - 0.1 * v[4]) < 1e-5
    assert abs(run.state["anchors"][0, 0] - run.last[0][0]) < 1e-3
    stops = simulator(q, [2.0, 0, 0, 0, 0, 0], seconds=0.6)
    assert stops.forces[..., 0].min() < -100.0
    assert stops.q[:, 0].max() < 0.93


def test_height():
    robot, contacts = ball()
    hill = simulate.Ground(friction=0.0, height=lambda x, y: 0.2 * x * x + 0.0 * y, damping=20.0)
    simulator = simulate.Simulator(robot, dt=0.002, method="soft", contacts=contacts, ground=hill)
    q = np.stack([at(robot, 0.13)] * 2)
    q[:, 0] = 0.2
    run = simulator(q, seconds=3.0)
    period = 2 * np.pi * np.sqrt((1 / (2 * 0.2) - 0.1) / G)  # the centre's circle is smaller than the valley's
    crossed = run.t[np.flatnonzero(np.diff(np.sign(run.q[0, :, 0])))]
    np.testing.assert_allclose(np.diff(crossed), period / 2, rtol=0.005)


def test_goes_on_bit_for_bit(sliding, tmp_path):
    start, inputs = ([0.0, 0.05], [0.3, 0.0]), [1.0, 0.0]
    whole = sliding(*start, seconds=0.4, inputs=inputs)
    half = sliding(*start, seconds=0.2, inputs=inputs)
    half.save(tmp_path / "half.npz")
    for run in (half, simulate.load(tmp_path / "half.npz")):
        rest = sliding(run, seconds=0.2, inputs=inputs)
        assert np.array_equal(np.concatenate([half.q, rest.q]), whole.q)
        assert np.array_equal(np.concatenate([half.forces, rest.forces]), whole.forces)
        assert np.array_equal(rest.state["anchors"], whole.state["anchors"])
    batch = sliding(np.tile(start[0], (5, 1)), np.tile(start[1], (5, 1)), seconds=0.4, inputs=inputs)
    assert np.array_equal(batch.q[3], whole.q)


def test_gradient(sliding):
    """Through a landing that slips and sticks: by the start, a push, friction, stiffness and damping."""
    slopes = simulate.gradient(sliding, lambda q, v: q[0] + 3.0 * q[1] * v[1] + v[0] ** 2)
    start = {
        "q": np.array([0.0, 0.05]),
        "v": np.array([0.3, 0.0]),
        "inputs": np.array([1.0, 0.1]),
        "parameters": {"friction": 0.4, "ground_stiffness": 1500.0, "ground_damping": 12.0},
    }
    g = slopes(**start, seconds=0.3)

    def value(**changed):
        return slopes(**{**start, **changed}, seconds=0.3).value

    d = np.array([0.6, -0.8])
    for name in ("q", "v", "inputs"):
        difference = (value(**{name: start[name] + 1e-6 * d}) - value(**{name: start[name] - 1e-6 * d})) / 2e-6
        assert abs(getattr(g, name) @ d - difference) < 1e-6, name
    for name, x in start["parameters"].items():
        ends = [value(parameters={**start["parameters"], name: x * (1 + s)}) for s in (1e-6, -1e-6)]
        assert abs(g.parameters[name] * x - (ends[0] - ends[1]) / 2e-6) < 1e-6, name
    assert abs(g.parameters["friction"]) > 1e-3
    run = sliding(start["q"], start["v"], seconds=0.3, inputs=start["inputs"], parameters=start["parameters"])
    q, v = run.last
    assert abs(g.value - (q[0] + 3.0 * q[1] * v[1] + v[0] ** 2)) < 1e-9


STIFFNESS = np.array([2e3, 2e4, 1e6, 1e9, 1e9, 2e4])
DAMPING = np.array([100.0, 200.0, 1e4, 0.0, 1e6, 1e5])


def test_lands_whatever_the_stiffness():
    """From 2e3 to 1e9 N/m at 5 ms, undamped to overdamped, in float32: a box on its corners comes to rest."""
    robot, contacts = box()
    simulator = simulate.Simulator(robot, dt=0.005, method="soft", contacts=contacts, dtype="float32")
    q, v = at(robot, 0.3), np.array([0.2, 0.0, 0.0, 0.3, 0.5, 0.1])
    run = simulator(q, v, seconds=3.0, parameters={"ground_stiffness": STIFFNESS, "ground_damping": DAMPING})
    assert (run.failed == -1).all()
    assert run.q.dtype == np.float32
    np.testing.assert_allclose(run.forces[:, -1].sum(axis=-2)[:, 2], G, rtol=1e-2)
    assert np.abs(run.last[1]).max() < 1e-2
    E = run.energy()
    assert (E.max(axis=1) - E[:, 0]).max() < 0.01 * G * 0.2


@pytest.mark.slow
def test_a_quadruped_lands_whatever_the_stiffness():
    robot = mb.load("quadruped")
    feet = [simulate.SphereContact(frame, radius=0.02) for frame in robot.frames if frame.startswith("foot")]
    simulator = simulate.Simulator(
        robot, dt=0.005, method="soft", contacts=feet, controller=simulate.PD(80.0, 2.0), limits=True, dtype="float32"
    )
    q = robot.home()
    q[2] += 0.12 - robot.pose("foot-lf", q).position[2]
    run = simulator(q, seconds=2.0, parameters={"ground_stiffness": STIFFNESS, "ground_damping": DAMPING})
    assert (run.failed == -1).all()
    height = robot.pose("foot-lf", run.q).position[..., 2]
    assert height[1:].min() > -0.01
    np.testing.assert_allclose(run.forces[:, -1].sum(axis=-2)[:, 2], robot.mass * G, rtol=0.02)
    assert np.abs(run.last[1]).max() < 0.05


@pytest.mark.parametrize(
    ("ground", "words"),
    [({"restitution": 0.5}, "restitution"), ({"stiffness": 0.0}, "stiffness"), ({"damping": -1.0}, "damping")],
)
def test_refusals(ground, words):
    robot, contacts = puck()
    with pytest.raises(mb.InputError, match=words):
        simulate.Simulator(robot, method="soft", contacts=contacts, ground=simulate.Ground(**ground))
    with pytest.raises(mb.InputError, match="soft"):
        simulate.Simulator(robot, contacts=contacts, ground=simulate.Ground(stiffness=1e4))
