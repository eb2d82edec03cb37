"""Exact times of touch-down and lift-off, of robots with several contacts."""

import numpy as np
import pytest
from scipy.optimize import brentq

import multibody as mb
from multibody import simulate
from multibody.model.joint import Limits
from multibody.model.joints import Prismatic
from multibody.model.shapes import Box

from .bodies import G, at, box, puck


def first(times):
    """The first touch-down of each contact, of rows with the last ones."""
    return np.array([column[np.isfinite(column)][0] if np.isfinite(column).any() else np.nan for column in times.T])


@pytest.fixture(scope="module")
def jumping():
    """A puck between floor and ceiling; an upward force grows from 0, and is its weight at 0.3 s."""
    robot, contacts = puck()
    grounds = [simulate.Ground(friction=0.3), simulate.Ground(normal=(0, 0, -1), offset=-0.5)]
    return simulate.Simulator(
        robot,
        dt=0.01,
        method="events",
        contacts=contacts,
        ground=grounds,
        controller=lambda t, q, v: np.stack([0.0 * t, G / 0.3 * t]),
    )


def test_lifts_off_when_its_weight_is_lifted(jumping):
    """At 0.3 s and not at a multiple of dt; then z = g (t - t0)³/(6 t0), up to the ceiling, where it stays."""
    run = jumping([0.0, 0.0], [0.2, 0.0], seconds=1.2)
    np.testing.assert_allclose(run.liftoff[35], 0.3, atol=1e-12)
    assert np.isnan(run.liftoff[28]).all()
    assert run.touchdown[28] == 0.0
    late = run.t[35]
    assert abs(run.q[35, 1] - G * (late - 0.3) ** 3 / 1.8) < 2e-5  # of order dt²
    hit = 0.3 + (0.5 * 1.8 / G) ** (1 / 3)
    assert abs(run.touchdown[-1, 0] - hit) < 1e-4
    assert abs(run.last[0][1] - 0.5) < 1e-9
    np.testing.assert_allclose(run.forces[-1, 0, 2], G - G / 0.3 * (1.2 - 0.005), atol=1e-6)


def test_lift_off_between_steps():
    """The same with steps that do not end at the event: on the step's own motion it is exact."""
    robot, contacts = puck()
    simulator = simulate.Simulator(
        robot, dt=0.016, method="events", contacts=contacts, controller=lambda t, q, v: np.stack([0.0 * t, G / 0.3 * t])
    )
    whole = simulator([0.0, 0.0], seconds=0.4)
    np.testing.assert_allclose(whole.liftoff[-1], 0.3, atol=1e-12)
    half = simulator([0.0, 0.0], seconds=0.24)
    rest = simulator(half, seconds=0.16)
    assert np.array_equal(rest.q[-1], whole.q[-1])
    assert np.array_equal(rest.liftoff[-1], whole.liftoff[-1])


@pytest.fixture(scope="module")
def corners():
    robot, contacts = box()
    return simulate.Simulator(robot, dt=0.005, method="events", contacts=contacts)


def test_a_box_lands_corner_by_corner(corners):
    """A box that turns about its own axis falls along a parabola: the first corner's time is a root, others follow."""
    robot, turn, height = corners.robot, 1.5, 0.35
    q, v = at(robot, height), np.r_[0, 0, 0, 0, turn, 0]
    q[3:7] = np.cos(0.1), np.sin(0.1), 0.0, 0.0

    def gap(t, point):
        half = turn * t / 2
        spin = mb.Rotation.from_quaternion(q[3:7]) @ mb.Rotation.from_quaternion([np.cos(half), 0, np.sin(half), 0])
        return height - G / 2 * t * t + (spin @ np.array(point))[2]

    exact = [brentq(gap, 0.05, 0.5, args=(contact.point,), xtol=1e-14) for contact in corners.contacts]
    run = corners(q, v, seconds=0.6, parameters={"restitution": 0.0})
    times = first(run.touchdown)
    k = int(np.nanargmin(times))
    assert k == int(np.argmin(exact))
    assert abs(times[k] - exact[k]) < 2e-6
    assert np.isfinite(times).all()  # it falls over, on all of its corners
    assert len(np.unique(times.round(4))) == 4
    gaps = np.stack([robot.pose("box", run.q) @ np.array(contact.point) for contact in corners.contacts])[..., 2]
    assert gaps.min() > -1e-6


def test_at_rest_nothing_drifts(corners):
    robot = corners.robot
    run = corners(at(robot, 0.1), seconds=5.0, every=100, parameters={"restitution": 0.5})
    assert np.abs(run.last[0] - at(robot, 0.1)).max() < 1e-9
    assert (run.touchdown == 0.0).all()
    assert np.isnan(run.liftoff).all()
    np.testing.assert_allclose(run.forces[-1].sum(axis=0), [0, 0, G], atol=1e-6)


def test_bounces_end_in_rest(corners):
    run = corners(at(corners.robot, 0.3), seconds=2.0, parameters={"restitution": 0.6})
    assert abs(first(run.touchdown)[0] - np.sqrt(2 * 0.2 / G)) < 1e-9
    assert np.abs(run.last[1]).max() < 1e-9
    assert abs(run.last[0][2] - 0.1) < 1e-7
    assert (run.touchdown[-1] > run.liftoff[-1]).all()
    momentum = np.cumsum(0.005 * (run.forces[..., 2].sum(axis=-1) - G))
    np.testing.assert_allclose(run.v[:, 2], momentum, atol=1e-6)


def test_limits_hold_in_an_impact():
    """A foot at its upper stop below a body: both bounce as one, and only the stop can hand the impulse on."""
    builder = mb.Builder("leg").body("world").body("body", shape=Box((0.1, 0.1, 0.1)), mass=3.0)
    builder.body("foot", shape=Box((0.05, 0.05, 0.05)), mass=1.0)
    builder.joint("z", Prismatic("z"), parent="world", child="body")
    builder.joint("slide", Prismatic("z"), parent="body", child="foot", limits=Limits(lower=-0.2, upper=0.0))
    robot = mb.Robot(builder.model())
    ground = simulate.Ground(restitution=0.5)
    simulator = simulate.Simulator(
        robot, dt=0.01, method="events", contacts=[simulate.SphereContact("foot")], ground=ground, limits=True
    )
    run = simulator([0.2, 0.0], seconds=0.3)
    fall = np.sqrt(2 * 0.2 / G)
    up = 0.5 * G * fall - G * (0.3 - fall)
    np.testing.assert_allclose(run.last[1], [up, 0.0], atol=1e-7)  # sweeps end at 1e-8 m/s
    assert run.q[:, 1].max() < 1e-9
    np.testing.assert_allclose(0.01 * run.forces[:, 0, 2].sum(), 4.0 * 1.5 * G * fall, rtol=1e-7)


@pytest.mark.slow
def test_a_quadruped_lands():
    """Tilted, with its legs held: the first foot's time is a root of the free flight, the others' of small steps."""
    robot = mb.load("quadruped")
    feet = [simulate.SphereContact(frame, radius=0.02) for frame in robot.frames if frame.startswith("foot")]
    hold = simulate.PD(80.0, 2.0)
    q = robot.home()
    q[3:7] = np.cos(0.05), np.sin(0.05), 0.03, 0.0
    q[3:7] /= np.linalg.norm(q[3:7])
    lowest = min(robot.pose(foot.frame, q).position[2] for foot in feet)
    q[2] += 0.12 - lowest
    v = np.zeros(robot.nv)
    v[6:] = 0.5
    flight = simulate.Simulator(robot, dt=1e-4, method="rk4", controller=hold)(q, v, seconds=0.2)
    height = np.stack([robot.pose(foot.frame, flight.q).position[:, 2] - 0.02 for foot in feet], axis=-1)
    roots = []
    for column in height.T:
        k = int(np.argmax(column < 0))
        roots.append(flight.t[k - 1] + 1e-4 * column[k - 1] / (column[k - 1] - column[k]))
    times = {}
    for dt in (0.002, 0.0005):
        ground = simulate.Ground()  # what bounces twice in a step tells the last time alone
        simulator = simulate.Simulator(robot, dt=dt, method="events", contacts=feet, ground=ground, controller=hold)
        run = simulator(q, v, seconds=0.4)
        times[dt] = first(run.touchdown)
        assert (run.failed == -1).all()
        gap = np.stack([robot.pose(foot.frame, run.q).position[:, 2] - 0.02 for foot in feet], axis=-1)
        assert gap.min() > -1e-6
    k = int(np.argmin(roots))
    assert abs(times[0.0005][k] - roots[k]) < 2e-6
    assert abs(times[0.002][k] - roots[k]) < 2e-5
    assert np.isfinite(times[0.002]).all()
    np.testing.assert_allclose(times[0.002], times[0.0005], atol=5e-4)


def test_many_bounces_in_a_step_are_those_of_each_ball_alone():
    """Eight elastic balls side by side, at steps of 50 ms: each falls and rises as long as it falls."""
    ball = mb.Robot(mb.Builder("ball").body("ball", shape=mb.model.shapes.Sphere(0.1), mass=0.4).model(floating=True))
    several = ball
    for k in range(1, 8):
        several = several.beside(ball, prefix=f"{k}-")
    q = np.stack([[k, 0.0, 0.6 + 0.013 * k, 1.0, 0.0, 0.0, 0.0] for k in range(8)])
    contacts = [simulate.SphereContact(frame, radius=0.1) for frame in several.frames]
    ground = simulate.Ground(restitution=1.0)
    run = simulate.Simulator(several, 0.05, "events", contacts, ground)(q.ravel(), seconds=2.0)
    fall = np.sqrt(2 * (q[:, 2] - 0.1) / 9.81)
    after = (2.0 - fall) % (2 * fall)
    np.testing.assert_allclose(run.q[-1, 2::7], 0.1 + 9.81 * (fall * after - after**2 / 2), atol=1e-6)
