"""Spheres on spheres: closed forms of two balls, momentum, MuJoCo beside, a leg that kicks a ball."""

import mujoco
import numpy as np
import pytest

import multibody as mb
from multibody import simulate
from multibody.errors import InputError
from multibody.model.joint import Limits
from multibody.model.joints import Floating, Revolute
from multibody.model.shapes import Box, Sphere

from .bodies import slider

A, B = simulate.SphereContact("a", radius=0.1), simulate.SphereContact("b", radius=0.05)


def balls(gravity=(0.0, 0.0, 0.0)):
    """1 kg and 0.1 m, 3 kg and 0.05 m, each with a floating base."""
    builder = mb.Builder("balls", gravity=gravity)
    builder.body("a", shape=Sphere(0.1), mass=1.0).body("b", shape=Sphere(0.05), mass=3.0)
    builder.joint("at-a", Floating(), parent=None, child="a").joint("at-b", Floating(), parent=None, child="b")
    return mb.Robot(builder.model())


def start(a, b):
    return np.r_[a, 1, 0, 0, 0, b, 1, 0, 0, 0]


def simulator(friction, restitution, method="contact", dt=0.002):
    pair = simulate.SpherePair(A, B, friction=friction, restitution=restitution)
    return simulate.Simulator(balls(), dt=dt, method=method, pairs=[pair])


@pytest.mark.parametrize(("e", "method"), [(1.0, "contact"), (0.0, "contact"), (0.6, "events")])
def test_two_balls_collide(e, method):
    """Along the line of centres, smooth: v⁺ = v ± (1 + e) μ/m (v_b - v_a) with the reduced mass."""
    run = simulator(0.0, e, method)(
        start([0, 0, 0], [0.3, 0, 0]), [1.0, 0, 0, 0, 0, 0, -0.5, 0, 0, 0, 0, 0], seconds=0.3
    )
    jump = (1 + e) * 0.75 * 1.5
    expected = [1.0 - jump, -0.5 + jump / 3]
    np.testing.assert_allclose(run.last[1][[0, 6]], expected, atol=1e-12)
    assert run.pair_forces.shape == (150, 1, 3)
    assert run.forces.shape == (150, 0, 3)
    np.testing.assert_allclose(0.002 * run.pair_forces.sum(axis=0)[0], [-jump, 0, 0], atol=1e-12)
    slack = 1e-3 if e and method == "contact" else 1e-7
    assert np.linalg.norm(run.q[:, :3] - run.q[:, 7:10], axis=-1).min() > 0.15 - slack
    if e == 1.0:
        np.testing.assert_allclose(run.energy(), run.energy()[0], rtol=1e-9)  # blocks have 1e-12 of compliance


def test_spheres_are_hard_on_soft_ground():
    """The closed form of two balls, in the air above a ground with springs; then one of them lies on these."""
    pair = simulate.SpherePair(A, B, friction=0.0, restitution=0.5)
    ground = simulate.Ground(friction=0.0, stiffness=2000.0, damping=100.0)
    soft = simulate.Simulator(balls(), dt=0.002, method="soft", contacts=[A], ground=ground, pairs=[pair])
    v = [1.0, 0, 0, 0, 0, 0, -0.5, 0, 0, 0, 0, 0]
    jump = 1.5 * 0.75 * 1.5
    run = soft(start([0, 0, 0.5], [0.3, 0, 0.5]), v, seconds=0.3)
    np.testing.assert_allclose(run.last[1][[0, 6]], [1.0 - jump, -0.5 + jump / 3], atol=1e-12)
    assert run.pair_forces.shape == run.forces.shape == (150, 1, 3)
    assert soft.start(run.q[0])["anchors"].shape == (1, 3)
    heavy = simulate.Simulator(balls((0, 0, -9.81)), dt=0.002, method="soft", contacts=[A], ground=ground, pairs=[pair])
    lying = heavy(start([0, 0, 0.1], [0, 0, 0.25]), seconds=3.0)
    np.testing.assert_allclose(lying.last[0][[2, 9]], np.array([0.1, 0.25]) - 4 * 9.81 / 2000.0, atol=1e-6)
    np.testing.assert_allclose(lying.pair_forces[-1, 0], [0, 0, -3 * 9.81], atol=1e-4)


@pytest.mark.parametrize("late", [-0.4, 0.0, 0.4])
def test_momentum_stays_through_a_plastic_hit(late):
    """A ball hits a body with a swinging arm, at any time of a step: Coriolis forces change with the impact."""
    builder = mb.Builder("hit", gravity=(0, 0, 0)).body("trunk", shape=Box((0.3, 0.2, 0.1)), mass=2.0)
    builder.body("arm", shape=Box((0.05, 0.05, 0.4)), pose=[0.0, 0.0, 0.2], mass=1.5).body(
        "ball", shape=Sphere(0.1), mass=3.0
    )
    builder.joint("shoulder", Revolute("y"), parent="trunk", child="arm", placement=[0.1, 0.0, 0.0])
    builder.joint("at", Floating(), parent=None, child="trunk").joint("flies", Floating(), parent=None, child="ball")
    robot = mb.Robot(builder.model())
    pair = simulate.SpherePair(
        simulate.SphereContact("arm", 0.05, (0.0, 0.0, 0.4)), simulate.SphereContact("ball", 0.1), friction=0.3
    )
    dt = 0.01
    q, v, speed = robot.neutral(), np.zeros(robot.nv), 5.0
    flies = robot.tree.joint("flies")
    q[flies.q.start], q[flies.q.start + 2] = -0.05 - speed * dt * (4.5 + late), 0.42
    v[flies.v.start] = speed
    run = simulate.Simulator(robot, dt=dt, pairs=[pair])(q, v, seconds=0.2)
    assert np.abs(run.pair_forces).max() > 0
    error = np.linalg.norm(run.momentum()[:, :3] - [15.0, 0.0, 0.0], axis=-1)
    assert error.max() < 0.03


def test_spin_friction_and_momentum():
    """An oblique plastic hit that sticks: the points that touch have no velocity, momenta stay to rounding."""
    sim = simulator(5.0, 0.0)
    n = np.array([-0.8, 0.36, -0.48])
    v = np.r_[[0.9, 0.1, 0.2], [3.0, -2.0, 5.0], [-0.5, 0.3, 0.1], [1.0, 7.0, -4.0]]
    q = start([0, 0, 0], 0.001 * (v[:3] - v[6:9]) - 0.15 * n)  # they touch at q_m
    run = sim(q, v, seconds=0.004)
    total = sim.robot.centroidal_momentum(q, v)
    after = run.momentum()
    np.testing.assert_allclose(after - total, np.zeros((2, 6)), atol=1e-14)
    # closed form: W = (1/m_a + 1/m_b) 1 + Σ r²/I (1 - n n^T), I = 2/5 m r²
    m, r = np.array([1.0, 3.0]), np.array([0.1, 0.05])
    u = v[:3] + np.cross(v[3:6], -r[0] * n) - v[6:9] - np.cross(v[9:12], r[1] * n)
    W = np.sum(1 / m) * (np.eye(3) + 2.5 * (np.eye(3) - np.outer(n, n)))
    P = -np.linalg.solve(W, u)
    np.testing.assert_allclose(run.v[0, :3], v[:3] + P / m[0], atol=1e-9)
    np.testing.assert_allclose(run.v[0, 6:9], v[6:9] - P / m[1], atol=1e-9)
    np.testing.assert_allclose(run.pair_forces[0, 0], P / 0.002, rtol=1e-7)


def test_centres_on_each_other_stay_finite():
    run = simulator(5.0, 0.0)(start([0, 0, 0], [0, 0, 0]), seconds=0.01)
    assert np.isfinite(run.q).all()
    assert np.linalg.norm(run.last[0][:3] - run.last[0][7:10]) > 0.15 - 1e-7
    assert np.abs(run.last[1]).max() < 1e-12


XML = """<mujoco><option timestep="2e-5" gravity="0 0 -9.81"/>
<default><geom condim="1" solref="-1000 -40000" solimp="0.9999 0.9999 1e-5"/></default>
<worldbody>
<body name="leg" pos="0 0 0.5"><joint name="hip" type="hinge" axis="0 1 0"/>
  <geom type="sphere" size="0.04" mass="0.5" pos="0 0 -0.4"/></body>
<body name="ball" pos="-0.2 0 0.1"><freejoint/><geom type="sphere" size="0.1" mass="0.4"/></body>
</worldbody></mujoco>"""


def leg_and_ball():
    builder = mb.Builder("leg").body("hip").body("leg", shape=Sphere(0.04), pose=[0, 0, -0.4], mass=0.5)
    builder.joint("hip", Revolute("y"), parent="hip", child="leg", placement=[0, 0, 0.5])
    ball = mb.Builder("ball").body("ball", shape=Sphere(0.1), mass=0.4).model(floating=True)
    return mb.Robot(builder.model()).beside(mb.Robot(ball))


def test_a_leg_kicks_a_ball_beside_mujoco():
    """A leg swings into a ball that flies off. Without friction: MuJoCo's cone pushes apart what slips."""
    robot = leg_and_ball()
    foot, ball = simulate.SphereContact("leg", 0.04, (0, 0, -0.4)), simulate.SphereContact("ball", 0.1)
    pair = simulate.SpherePair(foot, ball, friction=0.0)
    kick = simulate.Simulator(robot, dt=0.001, pairs=[pair])
    q, v = np.r_[-0.3, -0.2, 0, 0.1, 1, 0, 0, 0], np.r_[5.0, np.zeros(6)]
    run = kick(q, v, seconds=0.1)
    model = mujoco.MjModel.from_xml_string(XML)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_step(model, data, 5000)
    assert run.last[1][1] < -0.5  # it was kicked
    np.testing.assert_allclose(run.last[1], data.qvel, atol=0.02)
    np.testing.assert_allclose(run.last[0], data.qpos, atol=3e-3)


def test_pd_leaves_a_ball_alone():
    """PD pulls the leg, whose target is one number, and not the ball beside it."""
    robot = leg_and_ball()
    run = simulate.Simulator(robot, dt=0.005, controller=simulate.PD(50.0, 5.0))(
        np.r_[0.3, -0.5, 0, 1.0, 1, 0, 0, 0], seconds=1.0, inputs=[0.2]
    )
    assert abs(run.last[0][0] - 0.2) < 0.02
    np.testing.assert_allclose(run.last[0][3], 1.0 - 9.81 / 2, atol=1e-9)
    assert np.abs(run.tau[:, 1:]).max() == 0


def test_pairs_are_checked():
    robot = balls()
    with pytest.raises(InputError, match="two bodies"):
        simulate.Simulator(robot, pairs=[simulate.SpherePair(A, A)])
    with pytest.raises(InputError, match="SpherePair"):
        simulate.Simulator(robot, pairs=[(A, B)])
    with pytest.raises(InputError, match="from 0 to 1"):
        simulate.SpherePair(A, B, restitution=1.5)
    with pytest.raises(InputError, match="no contacts, pairs"):
        simulate.Simulator(robot, method="rk4", pairs=[simulate.SpherePair(A, B)])
    with pytest.raises(InputError, match="no 'friction'"):
        simulate.Simulator(robot, pairs=[simulate.SpherePair(A, B)])(
            start([0, 0, 0], [1, 0, 0]), seconds=0.002, parameters={"friction": 0.1}
        )


def hung(limits):
    """1 kg that slides down a vertical rail."""
    builder = mb.Builder("drop").body("rail").body("cart", shape=Box((0.1, 0.1, 0.1)), mass=1.0)
    return mb.Robot(
        builder.joint("rail", mb.model.joints.Prismatic("z"), parent="rail", child="cart", limits=limits).model()
    )


def test_limits_bounce():
    """A slider that falls on its stop: each bounce has e² of the height, and it comes to rest."""
    robot = hung(mb.model.joint.Limits(lower=0.0, upper=2.0))
    sim = simulate.Simulator(robot, dt=0.001, limits=True, limit_restitution=0.5)
    run = sim([1.0], seconds=2.5)
    first, z = np.sqrt(2 / 9.81), run.q[:, 0]
    assert abs(z[(run.t > first) & (run.t < 2 * first)].max() - 0.25) < 5e-3
    assert abs(z[(run.t > 2.01 * first) & (run.t < 2.49 * first)].max() - 0.0625) < 5e-3
    assert z.min() > -1e-7
    assert np.abs(run.last[1]).max() < 1e-12
    up = sim([1.9], [3.0], seconds=0.1)  # at the upper stop, too
    assert (
        abs(up.last[1][0] - (-0.5 * np.sqrt(9 - 2 * 9.81 * 0.1) - 9.81 * (0.1 - (3 - np.sqrt(9 - 1.962)) / 9.81)))
        < 0.03
    )
    with pytest.raises(InputError, match="limits=True"):
        simulate.Simulator(robot, limit_restitution=0.5)


def test_limits_bounce_at_their_own_times():
    """From stop to stop without losses, at steps of 3 ms and 6 mm: the path is folded at the limits."""
    sim = simulate.Simulator(slider(limits=Limits(lower=-0.5, upper=0.5)), dt=0.003, limits=True, limit_restitution=1.0)
    run = sim([0.1], [2.0], seconds=3.0)
    folded = 0.5 - np.abs((0.6 + 2.0 * run.t) % 2.0 - 1.0)
    np.testing.assert_allclose(run.q[:, 0], folded, atol=1e-12)
    np.testing.assert_allclose(np.abs(run.v), 2.0, atol=1e-12)
