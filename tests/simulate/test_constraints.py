"""Equality constraints in the step: a four-bar against its one equation of motion, drops, gears, forces, gradients."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

import multibody as mb
from multibody import simulate
from multibody.algorithms.constraint_projection import projected_velocity
from multibody.algorithms.constraints import HingeClosure, JointCoupling, PointClosure, Weld
from multibody.errors import InputError
from multibody.model.joint import Limits
from multibody.model.joints import Revolute
from multibody.model.shapes import Box, Sphere

from .bodies import G, at, ball

CRANK, COUPLER, ROCKER, BASE = 0.5, 1.2, 0.9, 1.1
MASSES = (0.5, 1.2, 0.9)
LOOP = PointClosure("loop", "end", "pin")
TURNED = mb.Pose(mb.Rotation.elementary("x", np.pi / 2), [0, 0, 0])


def four_bar(floating=False):
    """A crank that turns, of thin rods in the plane x, z; 1 kg/m, as boxes with ends that touch."""
    builder = mb.Builder("four-bar").body("base", shape=Box((BASE, 0.02, 0.02)), pose=[BASE / 2, 0, 0], mass=BASE)
    parent, place = "base", [0.0, 0.0, 0.0]
    for name, length in (("crank", CRANK), ("coupler", COUPLER), ("rocker", ROCKER)):
        builder.body(name, shape=Box((length, 0.02, 0.02)), pose=[length / 2, 0, 0], mass=length)
        builder.joint(f"to-{name}", Revolute("y"), parent=parent, child=name, placement=place)
        parent, place = name, [length, 0.0, 0.0]
    builder.frame("end", "rocker", [ROCKER, 0, 0]).frame("pin", "base", [BASE, 0, 0])
    return mb.Robot(builder.model(floating=floating))


def angles(theta):
    """Of crank, coupler and rocker against x, turned from x to z: two circles meet above the line to the pin."""
    A = CRANK * np.array([np.cos(theta), np.sin(theta)])
    way = np.array([BASE, 0.0]) - A
    d = np.hypot(*way)
    along = (d**2 + COUPLER**2 - ROCKER**2) / (2 * d)
    B = A + (along * way + np.sqrt(COUPLER**2 - along**2) * np.array([-way[1], way[0]])) / d
    back = np.array([BASE, 0.0]) - B
    return np.array([theta, np.arctan2(*(B - A)[::-1]), np.arctan2(*back[::-1])]), A, B


def energy_parts(theta, small=1e-5):
    """The inertia m(θ) of T = m θ'²/2, and V, from where rods are: nothing of the library."""

    def centres(x):
        phi, A, B = angles(x)
        return phi, np.array([A / 2, (A + B) / 2, (B + np.array([BASE, 0.0])) / 2])

    (phi_0, c_0), (phi_1, c_1) = centres(theta - small), centres(theta + small)
    turn = np.angle(np.exp(1j * (phi_1 - phi_0))) / (2 * small)
    speed = np.sum(((c_1 - c_0) / (2 * small)) ** 2, axis=-1)
    masses, lengths = np.array(MASSES), np.array([CRANK, COUPLER, ROCKER])
    inertia = masses * (lengths**2 + 0.02**2) / 12
    return np.sum(masses * speed + inertia * turn**2), G * np.sum(masses * centres(theta)[1][:, 1])


def path(theta, rate, times):
    """θ'' = -(m'/2 θ'² + V')/m."""

    def change(t, x):
        m, _ = energy_parts(x[0])
        (m_0, V_0), (m_1, V_1) = energy_parts(x[0] - 1e-4), energy_parts(x[0] + 1e-4)
        return [x[1], -((m_1 - m_0) / 4e-4 * x[1] ** 2 + (V_1 - V_0) / 2e-4) / m]

    return solve_ivp(change, (0, times[-1]), [theta, rate], t_eval=times, rtol=1e-9, atol=1e-9).y


def joints(theta):
    """A turn about y is one from z to x: angles have the opposite sign."""
    phi = angles(theta)[0]
    return -np.array([phi[0], phi[1] - phi[0], phi[2] - phi[1]])


@pytest.fixture(scope="module")
def crank():
    robot = four_bar()
    return simulate.Simulator(robot, dt=0.002, constraints=[LOOP])


def start(robot, held, theta, rate):
    q = joints(theta)
    turning = (joints(theta + 1e-6) - joints(theta - 1e-6)) / 2e-6
    return q, projected_velocity(robot.tree, held, q, turning * rate)


def test_four_bar_moves_as_its_one_equation_says(crank):
    q, v = start(crank.robot, crank.constraints, 1.0, 3.0)
    run = crank(q, v, seconds=1.0)
    expected = path(1.0, 3.0, run.t[99::100])
    error = np.abs(-run.q[99::100, 0] - expected[0]).max()
    half = simulate.Simulator(crank.robot, dt=0.001, constraints=[LOOP])(q, v, seconds=1.0)
    finer = np.abs(-half.q[199::200, 0] - expected[0]).max()
    assert error < 1e-3
    assert finer < 0.35 * error  # of second order
    np.testing.assert_allclose(-run.v[99::100, 0], expected[1], atol=2e-2)


def test_four_bar_keeps_closed_and_keeps_its_energy(crank):
    """10 s; the row across the plane is redundant."""
    q, v = start(crank.robot, crank.constraints, 1.0, 3.0)
    run = crank(q, v, seconds=10.0)
    assert crank.constraints.ranks(q) == (3, 2, 0, 2)
    assert np.abs(crank.constraints.error(run.q)).max() < 1e-8
    E = run.energy()
    assert np.abs(E - E[0]).max() < 1e-3 * run.robot.kinetic_energy(run.q, run.v).max()
    assert run.constraint_forces.shape == (5000, 3)
    assert run.about["constraints"] == ["loop[0]", "loop[1]", "loop[2]"]
    again = crank(crank(q, v, seconds=5.0, every=2500), seconds=5.0)
    assert (again.last[0] == run.last[0]).all()


def test_redundant_rows_move_alike(crank):
    """The same loop as a hinge, five rows of which two count, and twice the same loop."""
    q, v = start(crank.robot, crank.constraints, 1.0, 3.0)
    run = crank(q, v, seconds=0.2)
    several = [HingeClosure("hinge", "end", "pin", TURNED, TURNED), LOOP]
    twice = simulate.Simulator(crank.robot, dt=0.002, constraints=several)
    other = twice(q, v, seconds=0.2)
    assert twice.constraints.ranks(q).rank == 2
    np.testing.assert_allclose(other.q, run.q, atol=1e-7)
    shared = other.constraint_forces[-1]
    np.testing.assert_allclose(shared[[0, 2]] + shared[[5, 7]], run.constraint_forces[-1, ::2], rtol=1e-4)


def test_a_start_that_is_open_is_refused(crank):
    q = joints(1.0) + np.array([0.01, 0.0, 0.0])
    with pytest.raises(InputError, match=r"'loop\[\d\]' is off by .* simulator.closed"):
        crank(q, seconds=0.002)
    assert np.abs(crank.constraints.error(crank.closed([q, q]))).max() < 1e-9
    with pytest.raises(InputError, match='"events" or "soft"'):
        simulate.Simulator(crank.robot, method="rk4", constraints=[LOOP])


def test_a_velocity_that_is_forbidden_is_lost(crank):
    """As in a plastic impact: energy goes, and what is left closes."""
    q = joints(1.0)
    v = np.array([2.0, 1.0, -1.0])
    run = crank(q, v, seconds=0.002)
    allowed = projected_velocity(crank.tree, crank.constraints, q, v)
    np.testing.assert_allclose(run.v[0], allowed, atol=0.1)
    np.testing.assert_allclose(np.abs(crank.constraints.jacobian(run.q[0]) @ run.v[0]).max(), 0, atol=0.02)


def test_four_bars_fall_on_the_ground():
    """From random states, on the ends of their rods: energy only falls, loops stay closed."""
    robot, rng, n = four_bar(floating=True), np.random.default_rng(0), 32
    contacts = [simulate.SphereContact(name, 0.02) for name in ("base", "coupler", "end")]
    drop = simulate.Simulator(robot, dt=0.005, contacts=contacts, constraints=[LOOP])
    q = robot.random(rng, n)
    q[:, :3], q[:, 7:] = (0.0, 0.0, 1.6), joints(1.0)
    v = projected_velocity(robot.tree, drop.constraints, q, rng.standard_normal((n, robot.nv)))
    run = drop(q, v, seconds=1.5)
    E = np.concatenate([(robot.kinetic_energy(q, v) + robot.potential_energy(q))[:, None], run.energy()], axis=1)
    rise = (E - np.minimum.accumulate(E, axis=1)).max(axis=1)
    assert (rise < 0.01 * (E[:, 0] - E.min(axis=1))).all()
    assert np.abs(drop.constraints.error(run.q)).max() < 1e-8
    assert (run.failed == -1).all()


def test_events_find_when_a_loop_touches_down():
    """The end of the coupler meets a plane: when, from the one equation of motion, and how fast it leaves."""
    robot, level, e = four_bar(), 0.83, 0.6
    ground, end = simulate.Ground(friction=0.0, restitution=e, offset=level), simulate.SphereContact("rocker")
    times = np.linspace(0.7, 0.8, 21)
    turning = CubicSpline(times, path(1.0, 3.0, np.r_[0.0, times])[:, 1:], axis=1)
    expected = brentq(lambda t: angles(turning(t)[0])[2][1] - level, 0.7, 0.8)
    errors = []
    for dt in (0.004, 0.002):
        events = simulate.Simulator(
            robot,
            dt=dt,
            method="events",
            contacts=[end],
            ground=ground,
            constraints=[LOOP],
        )
        q, v = start(robot, events.constraints, 1.0, 3.0)
        run = events(q, v, seconds=0.8)
        errors.append(abs(run.touchdown[-1, 0] - expected))
        assert np.abs(events.constraints.error(run.q)).max() < 1e-8
        assert run.constraint_forces.shape == (len(run.t), 3)
    assert errors[0] < 2e-4
    assert errors[1] < 0.35 * errors[0]  # of second order
    hit = np.argmax(np.isfinite(run.touchdown[:, 0]))
    height = robot.velocity("rocker", run.q, run.v, "mixed")[:, 2]
    assert abs(height[hit] + e * height[hit - 1]) < 0.05 * abs(height[hit - 1])  # of one step before it and one after
    assert run.energy()[-1] < run.energy()[hit - 1]


def test_forces_hold_what_hangs_and_contacts_add_nothing():
    """A ball that is welded to the world carries itself, even where it touches the ground and cannot move."""
    robot, contacts = ball()
    place = mb.Pose(mb.Rotation.identity(), [0, 0, 0.1])
    for touching in ((), contacts):
        held = simulate.Simulator(
            robot, dt=0.002, contacts=touching, constraints=[Weld("w", "ball", second_pose=place)]
        )
        run = held(at(robot, 0.1), seconds=0.1)
        np.testing.assert_allclose(run.last[0], at(robot, 0.1), atol=1e-12)
        total = run.constraint_forces[-1, :3] + (run.forces[-1, 0] if touching else 0)
        np.testing.assert_allclose(total, [0, 0, G], atol=1e-6)


def geared():
    """Two arms on parallel axes; the second turns with -2 of the first."""
    builder = mb.Builder("gears").body("wall")
    for k, name in enumerate("ab"):
        builder.body(name, shape=Sphere(0.05), pose=[0, 0, -0.5], mass=1.0 + k)
        limits = Limits(lower=-0.4, upper=0.4) if k else Limits()
        builder.joint(f"at-{name}", Revolute("y"), parent="wall", child=name, placement=[0, 0.2 * k, 0], limits=limits)
    return mb.Robot(builder.model()), JointCoupling("gear", "at-b", "at-a", -2.0)


def test_gears_and_limits_act_together():
    """The stop of one joint stops the other through the gear; dt is long."""
    robot, gear = geared()
    simulator = simulate.Simulator(robot, dt=0.01, constraints=[gear], limits=True)
    run = simulator([0.1, -0.2], [1.5, -3.0], seconds=0.3)
    assert run.q[:, 1].min() > -0.4 - 1e-7
    np.testing.assert_allclose(run.q[:, 1], -2.0 * run.q[:, 0], atol=1e-8)
    still = np.argmin(run.q[:, 1])
    assert np.abs(run.v[still]).max() < 1e-6


def test_gradients_go_through_constraints():
    robot, gear = geared()
    simulator = simulate.Simulator(robot, dt=0.01, constraints=[gear], controller=lambda t, q, v, u: u)
    slopes = simulate.gradient(simulator, lambda q, v: q[0] ** 2 + v[1])
    q, v, u = np.array([0.1, -0.2]), np.array([0.5, -1.0]), np.array([0.3, -0.1])
    found = slopes(q, v, u, seconds=0.2)
    for name, x in (("inputs", u), ("v", v)):
        for k in range(2):
            d = 1e-6 * np.eye(2)[k]
            ends = [slopes(**{"q": q, "v": v, "inputs": u, name: x + s * d}, seconds=0.2).value for s in (1, -1)]
            assert abs(getattr(found, name)[k] - (ends[0] - ends[1]) / 2e-6) < 1e-6
