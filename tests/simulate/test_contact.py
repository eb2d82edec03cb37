"""Hard contact with friction: closed forms of blocks, balls and joints, energy, and the exact impulse of a contact."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import multibody as mb
from multibody import simulate
from multibody.model.joint import Limits, Passive
from multibody.model.joints import Cylindrical, Spherical, Translational, Universal
from multibody.model.shapes import Box
from multibody.simulate.contact.one_contact import contact_impulse

from .bodies import G, at, ball, box, hinge, slider


@pytest.fixture(scope="module")
def block():
    """The box on a plane, pushed by an input that turns gravity; friction as a parameter."""
    robot, contacts = box()

    def tilt(t, q, v, u):
        return np.concatenate([u, 0.0 * v[3:]])

    return simulate.Simulator(robot, dt=0.002, contacts=contacts, controller=tilt)


def turned(angles):
    return G * np.stack([np.sin(angles), 0 * angles, 1 - np.cos(angles)], axis=-1)[:, None]


def test_block_sticks_and_slips(block):
    """[RD §3.7.3; Kindr §Dynamics]"""
    mu = np.array([0.2, 0.5, 0.5, 0.8, 0.3, 0.5])
    angles = np.radians([10.0, 20.0, 25.5, 38.0, 20.0, 27.6])
    q = np.tile(at(block.robot, 0.1), (6, 1))
    run = block(q, np.zeros((6, 6)), seconds=1.0, every=100, inputs=turned(angles), parameters={"friction": mu})
    distance = np.maximum(0.0, G / 2 * (np.sin(angles) - mu * np.cos(angles)))
    np.testing.assert_allclose(run.last[0][:, 0], distance, atol=1e-7, rtol=1e-4)
    assert np.abs(run.last[0][:, 2] - 0.1).max() < 1e-7
    assert (run.residual <= 1e-8).all()
    assert (run.sweeps >= 1).all()
    total = run.forces.sum(axis=-2)  # on the robot: up, against the slip
    np.testing.assert_allclose(total[..., 2], np.broadcast_to(G * np.cos(angles)[:, None], total.shape[:2]), rtol=1e-6)
    slips = distance > 0
    np.testing.assert_allclose(total[slips, -1, 0], -mu[slips] * total[slips, -1, 2], rtol=1e-6)


def test_creep_is_none(block):
    run = block(
        at(block.robot, 0.1), seconds=10.0, every=5000, inputs=turned(np.array([0.35]))[0], parameters={"friction": 0.7}
    )
    assert np.linalg.norm(run.last[0][:3] - [0, 0, 0.1]) < 1e-7


def test_sphere_slides_then_rolls():
    """A ball that slides rolls at 5/7 of its speed after 2 v/(7 μ g)."""
    robot, contacts = ball()
    simulator = simulate.Simulator(robot, dt=0.002, contacts=contacts, ground=simulate.Ground(friction=0.2))
    run = simulator(at(robot, 0.1), [1.0, 0, 0, 0, 0, 0], seconds=1.0)
    v = run.last[1]
    t_s = 2 / (7 * 0.2 * G)
    assert abs(v[0] - 5 / 7) < 1e-9
    assert abs(v[0] - 0.1 * v[4]) < 1e-9
    assert abs(run.last[0][0] - (t_s - 0.1 * G * t_s**2 + 5 / 7 * (1 - t_s))) < 1e-5


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_bouncing_ball(e):
    """Newton's law of impact: each bounce has e² of the height."""
    robot, contacts = ball()
    simulator = simulate.Simulator(robot, dt=0.001, contacts=contacts, ground=simulate.Ground(restitution=e))
    run = simulator(at(robot, 1.1), seconds=1.0)
    first = np.sqrt(2 / G)
    z = run.q[:, 2] - 0.1
    assert z.min() > -5e-3
    if e == 0.0:
        assert np.abs(z[run.t > first + 0.01]).max() < 1e-6
        assert np.abs(run.v[-1]).max() < 1e-9
    else:
        top = z[(run.t > first) & (run.t < first * (1 + 2 * e))].max()
        assert abs(top - e**2) < 0.01
        assert np.diff(run.energy()).max() < 1e-3 * G


def test_bounces_have_their_own_times():
    """An elastic ball keeps its energy over tens of bounces at 10 ms, and its path does not jump from step to step."""
    robot, contacts = ball()
    simulator = simulate.Simulator(robot, dt=0.01, contacts=contacts, ground=simulate.Ground(restitution=1.0))
    heights = np.linspace(1.0, 1.05, 32)
    q = np.tile(robot.neutral(), (32, 1))
    q[:, 2] = heights + 0.1
    run = simulator(q, seconds=20.0)
    energy = G * (heights + 0.1)
    assert np.abs(run.energy() / energy[:, None] - 1).max() < 1e-5
    first = simulator(q, seconds=0.8).last[0][:, 2] - 0.1
    t1 = np.sqrt(2 * heights / G)
    after = 0.8 - t1
    np.testing.assert_allclose(first, G * t1 * after - G / 2 * after**2, atol=4e-4)


def test_a_ball_slides_in_a_bowl_as_a_pendulum_swings():
    """Without friction its centre is on a sphere; the place that it touches is not the one below it."""
    robot, contacts = ball()
    length, angle, errors, lost = 0.9, 0.6, [], []
    bowl = simulate.Ground(friction=0.0, height=lambda x, y: 1.0 - np.sqrt(1.0 - x * x - y * y))
    q = at(robot, 1.0 - length * np.cos(angle))
    q[0] = length * np.sin(angle)
    for dt in (0.004, 0.002):
        run = simulate.Simulator(robot, dt=dt, contacts=contacts, ground=bowl)(q, seconds=2.0)
        swing = solve_ivp(
            lambda t, x: [x[1], -G / length * np.sin(x[0])], (0, 2), [angle, 0.0], t_eval=run.t, rtol=1e-10, atol=1e-10
        )
        errors.append(np.abs(run.q[:, 0] - length * np.sin(swing.y[0])).max())
        lost.append(G * q[2] - run.energy().min())
        assert run.taken < 1e-4
    assert errors[1] < 3e-3
    assert lost[1] < 0.02 * G * (q[2] - 0.1)
    assert errors[1] < 0.6 * errors[0]  # of first order
    assert lost[1] < 0.6 * lost[0]


def test_plane_that_is_turned_and_landscape_that_is_the_same():
    robot, contacts = box()
    a = np.radians(35.0)
    n, down = np.array([-np.sin(a), 0, np.cos(a)]), np.array([-np.cos(a), 0, -np.sin(a)])
    q = np.r_[0.1 * n, np.cos(a / 2), 0, -np.sin(a / 2), 0]
    plane = simulate.Ground(friction=0.5, normal=tuple(3 * n), offset=0.0)
    height = simulate.Ground(friction=0.5, height=lambda x, y: np.tan(a) * x + 0.0 * y)
    distance = G / 2 * (np.sin(a) - 0.5 * np.cos(a)) * 0.25
    for ground in (plane, height):
        run = simulate.Simulator(robot, dt=0.002, contacts=contacts, ground=ground)(q, seconds=0.5)
        assert abs((run.last[0][:3] - q[:3]) @ down - distance) < 1e-4 * distance
        assert abs(run.forces[-1].sum(0) @ n - G * np.cos(a)) < 1e-5


def test_two_grounds_make_a_corner():
    robot, contacts = ball()
    walls = [simulate.Ground(friction=0.0), simulate.Ground(friction=0.0, normal=(-1, 0, 0), offset=-1.0)]
    run = simulate.Simulator(robot, dt=0.002, contacts=contacts, ground=walls)(
        at(robot, 0.1), [2.0, 0, 0, 0, 0, 0], seconds=1.0
    )
    assert abs(run.last[0][0] - 0.9) < 1e-6
    assert abs(run.last[1][0]) < 1e-9
    assert abs(run.forces[-1, 0, 2] - G) < 1e-6


def test_energy_of_a_drop_never_rises():
    """Boxes that fall on corners, from random states: restitution 0 takes energy away."""
    robot, contacts = box()
    rng = np.random.default_rng(1)
    q = robot.random(rng, 64)
    q[:, :3] = 0.0, 0.0, 0.4
    q[:, 2] += rng.uniform(0, 0.1, 64)
    v = rng.standard_normal((64, 6))
    run = simulate.Simulator(robot, dt=0.005, contacts=contacts)(q, v, seconds=1.5)
    assert (run.failed == -1).all()
    E = np.concatenate([(robot.kinetic_energy(q, v) + robot.potential_energy(q))[:, None], run.energy()], axis=1)
    assert (E.max(axis=1) - E[:, 0]).max() < 0.01 * (E[:, 0] - E.min(axis=1)).max()
    assert np.isfinite(run.q).all()


def test_pd_is_implicit():
    """Gains far beyond what an explicit step could take."""
    robot = hinge()
    stiff = simulate.Simulator(robot, dt=0.01, controller=simulate.PD(1e5, 1e3))
    run = stiff([0.0], seconds=2.0, inputs=[0.5])
    torque = robot.gravity([0.5])
    assert abs(torque[0]) > 1.0
    assert abs(run.last[0][0] - (0.5 - torque[0] / 1e5)) < 1e-5
    np.testing.assert_allclose(run.tau[-1], torque, atol=0.5)


def test_dry_friction_holds_and_brakes():
    """|τ| below the dry friction does not move a cart; a sliding one stops after v²/(2 f/m), and stays."""
    robot = slider(Passive(friction=3.0))
    simulator = simulate.Simulator(robot, dt=0.002, passive=True, controller=lambda t, q, v, u: u)
    held = simulator([0.0], seconds=1.0, inputs=[2.9])
    assert np.abs(held.last[0]).max() < 1e-12
    pushed = simulator([0.0], seconds=1.0, inputs=[5.0])
    np.testing.assert_allclose(pushed.last[1], 1.0, atol=1e-9)
    braked = simulator([0.0], [1.5], seconds=3.0, inputs=[0.0])
    np.testing.assert_allclose(braked.last[0], 1.5**2 / (2 * 3.0 / 2.0), atol=5e-3)
    assert np.abs(braked.last[1]).max() < 1e-12


def test_damping_and_springs():
    robot = slider(Passive(damping=4.0, stiffness=50.0))
    run = simulate.Simulator(robot, dt=0.0005, passive=True)([0.1], seconds=0.5, every=1000)
    exact = simulate.Simulator(robot, dt=0.0005, method="rk4", passive=True)([0.1], seconds=0.5, every=1000)
    np.testing.assert_allclose(run.q, exact.q, atol=2e-5)
    stiff = slider(Passive(damping=1e6))
    still = simulate.Simulator(stiff, dt=0.01, passive=True)([0.0], [1.0], seconds=0.1)
    assert np.abs(still.last[1]).max() < 1e-6


def test_joint_limits_stop():
    robot = slider(limits=Limits(lower=-0.2, upper=0.3))
    simulator = simulate.Simulator(robot, dt=0.002, limits=True)
    for v, end in ((1.0, 0.3), (-1.0, -0.2)):
        run = simulator([0.0], [v], seconds=1.0)
        assert (run.q <= 0.3 + 1e-7).all()
        assert (run.q >= -0.2 - 1e-7).all()
        np.testing.assert_allclose(run.last[0], end, atol=1e-7)
        assert np.abs(run.last[1]).max() < 1e-12


@pytest.mark.parametrize("kind", [Universal(), Cylindrical(), Translational(), Spherical()])
def test_joints_of_several_velocities_have_friction_and_limits(kind):
    """Friction as "rk4" has it, and limits of each coordinate; both were left out."""
    ends = Limits(lower=-0.05, upper=0.08) if kind.nq == kind.nv else Limits()
    builder = mb.Builder("several").body("wall").body("box", shape=Box((0.2, 0.4, 0.3)), mass=2.0)
    builder.joint("joint", kind, parent="wall", child="box", passive=Passive(friction=0.05), limits=ends)
    robot = mb.Robot(builder.model()).with_gravity((0.0, 0.0, 0.0))
    v = np.linspace(1.0, 1.5, robot.nv)
    runs = [simulate.Simulator(robot, 0.002, method, passive=True) for method in ("contact", "events", "soft", "rk4")]
    *braked, exact = [simulator(robot.home(), v, seconds=0.04).last for simulator in runs]
    for q, rate in braked:
        np.testing.assert_allclose(q, exact[0], atol=1e-4)
        np.testing.assert_allclose(rate, exact[1], atol=1e-3)
    if kind.nq == kind.nv:
        q, rate = simulate.Simulator(robot, 0.002, limits=True)(robot.home(), v, seconds=0.5).last
        np.testing.assert_allclose(q, 0.08, atol=1e-7)
        assert np.abs(rate).max() < 1e-9


def test_resistance_that_would_have_no_effect_is_refused():
    robot, friction = slider(), {"joint_friction": [1.0]}
    refused = [
        ({}, friction, "joint_friction: expected passive=True"),
        ({}, {"damping": [1.0]}, "damping: expected passive=True"),
        ({"passive": True}, friction, "joint_friction: expected zeros at joints that have none in the model, got 1.0"),
        ({"passive": True}, {"damping": [-1.0]}, "damping: expected numbers >= 0"),
        ({}, {"armature": [-1.0]}, "armature: expected numbers >= 0"),
    ]
    for settings, parameters, words in refused:
        with pytest.raises(mb.InputError, match=words):
            simulate.Simulator(robot, **settings)([0.0], seconds=0.1, parameters=parameters)
    run = simulate.Simulator(robot, method="rk4", passive=True)([0.0], [1.0], seconds=0.1, parameters=friction)
    np.testing.assert_allclose(run.last[1], 1.0 - 0.1 / 2.0)


def test_effort_limits():
    robot = slider(limits=Limits(effort=2.0))
    simulator = simulate.Simulator(robot, dt=0.002, controller=simulate.PD(1e4, 0.0), effort=True)
    run = simulator([0.0], seconds=0.1, inputs=[1.0])
    assert np.abs(run.tau).max() <= 2.0
    np.testing.assert_allclose(run.last[1], 0.1, atol=1e-9)


def test_contact_impulse_obeys_signorini_and_coulomb():
    rng = np.random.default_rng(0)
    kinds = {"opens": 0, "sticks": 0, "slips": 0}
    for _ in range(300):
        A = rng.standard_normal((3, 4)) * [[1.0], [1.0], [1.5]]
        W, b, mu = A @ A.T + 0.3 * np.eye(3), rng.standard_normal(3) * [0.4, 0.4, 1.0], rng.uniform(0.0, 0.8)
        P = contact_impulse(W, np.linalg.inv(W), b, mu)
        u = b + W @ P
        tangent, slip = P[:2], u[:2]
        assert P[2] >= 0
        assert np.linalg.norm(tangent) <= mu * P[2] * (1 + 1e-9)
        if P[2] == 0:
            kinds["opens"] += 1
            assert u[2] >= 0
        elif np.linalg.norm(u) < 1e-9:
            kinds["sticks"] += 1
        else:
            kinds["slips"] += 1
            assert abs(u[2]) < 1e-9 * (1 + np.abs(b).max())
            assert tangent @ slip <= 0
            across = tangent[0] * slip[1] - tangent[1] * slip[0]
            assert abs(across) < 1e-8 * np.linalg.norm(tangent) * np.linalg.norm(slip) + 1e-12
    assert min(kinds.values()) > 5


def test_contacts_of_shapes():
    robot, _ = box()
    corners = simulate.contacts_of(robot)
    assert len(corners) == 8
    assert {contact.radius for contact in corners} == {0.0}
    robot, _ = ball(0.2)
    assert simulate.contacts_of(robot) == (simulate.SphereContact("ball", radius=0.2),)
    assert len(simulate.contacts_of(mb.load("quadruped"))) >= 4


@pytest.mark.parametrize("e", [0.8, 0.3])
def test_events_find_the_times_of_bounces(e):
    """A ball that bounces: the time of bounce n is t1 (1 + 2 e + 2 e² + ...), and each is exact."""
    robot, contacts = ball()
    ground = simulate.Ground(friction=0.2, restitution=e)
    simulator = simulate.Simulator(robot, dt=0.01, method="events", contacts=contacts, ground=ground)
    run = simulator(at(robot, 1.1), seconds=1.5)
    z, w = run.q[:, 2] - 0.1, run.v[:, 2]
    up = np.sqrt(w * w + 2 * G * np.maximum(z, 0))  # the speed after the last bounce, and when that was
    bounced, t1 = run.t - (up - w) / G, np.sqrt(2 / G)
    for n in (1, 2):
        time = t1 * (1 + 2 * sum(e**k for k in range(1, n)))
        row = np.searchsorted(run.t, time + 0.6 * t1 * e**n)
        assert abs(bounced[row] - time) < 1e-10
    assert z.min() > -1e-9


def test_events_end_in_rest_and_keep_the_weight():
    """Infinitely many bounces end; impulses of impacts are in the mean forces: they and gravity make the momentum."""
    robot, contacts = ball()
    ground = simulate.Ground(restitution=0.5)
    run = simulate.Simulator(robot, dt=0.01, method="events", contacts=contacts, ground=ground)(
        at(robot, 0.4), seconds=2.0
    )
    assert np.abs(run.last[1]).max() < 1e-9
    assert abs(run.last[0][2] - 0.1) < 1e-7
    np.testing.assert_allclose(run.forces[-1, 0], [0, 0, G], atol=1e-6)
    momentum = np.cumsum(0.01 * (run.forces[:, 0, 2] - G))
    np.testing.assert_allclose(run.v[:, 2], momentum, atol=1e-6)


@pytest.mark.slow
def test_events_of_several_contacts():
    """A box that lands on one edge, then on the other: less error than "contact" has at the same step."""
    robot, contacts = box()
    q, a = at(robot, 0.3), 0.2
    q[3:7] = np.cos(a / 2), np.sin(a / 2), 0.0, 0.0
    fine = simulate.Simulator(robot, dt=2e-5, contacts=contacts)(q, seconds=0.3, every=15_000)
    errors = {}
    for method in ("contact", "events"):
        run = simulate.Simulator(robot, dt=0.005, method=method, contacts=contacts)(q, seconds=0.3)
        assert (run.failed == -1).all()
        errors[method] = np.linalg.norm(run.last[0][:3] - fine.last[0][:3])
    assert errors["events"] < 0.5 * errors["contact"]
