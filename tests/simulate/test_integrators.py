"""Integrators: their orders, what they keep, closed forms and MuJoCo."""

from itertools import pairwise

import numpy as np
import pytest

import multibody as mb
from multibody import simulate

from ..sampling import sampled
from .bodies import G, swing, top

ORDERS = [("euler", 1), ("verlet", 2), ("rk4", 4), ("variational", 2)]


def last(robot, method, dt, q, v, seconds):
    return np.concatenate(simulate.Simulator(robot, dt=dt, method=method)(q, v, seconds=seconds, every=10**9).last)


@pytest.mark.parametrize(("method", "order"), ORDERS)
def test_order_on_a_double_pendulum(method, order):
    robot = mb.load("double-pendulum")
    ends = [last(robot, method, 0.4 / n, [1.2, 0.5], [0.3, -0.2], 0.4) for n in (80, 160, 320)]
    errors = [np.linalg.norm(a - b) for a, b in pairwise(ends)]
    assert np.log2(errors[0] / errors[1]) > order - 0.2


@pytest.mark.parametrize(("method", "order"), ORDERS)
def test_order_on_rotations(method, order):
    """[MDN 77-79]"""
    robot = top()
    v = [0.3, 0.0, 0.2, 0.1, 5.0, 0.1]
    ends = [last(robot, method, 0.5 / n, robot.neutral(), v, 0.5) for n in (50, 100, 200)]
    errors = [np.linalg.norm(a - b) for a, b in pairwise(ends)]
    assert np.log2(errors[0] / errors[1]) > order - 0.2


@pytest.mark.parametrize("velocity", sampled(["kindr", "left", "right", "mixed"], 2))
@pytest.mark.parametrize("method", ["verlet", "rk4"])
def test_representations_of_the_base_agree(velocity, method):
    """The same motion, however the base's velocity is written."""
    robot, other = swing("kindr"), swing(velocity)
    rng = np.random.default_rng(0)
    q, v = robot.random(rng), rng.standard_normal(robot.nv)
    start = v.copy()
    if velocity != "kindr":
        start[:6] = robot.velocity("trunk", q, v, velocity)
    ours = simulate.Simulator(robot, dt=0.001, method="rk4")(q, v, seconds=0.05).last[0]
    theirs = simulate.Simulator(other, dt=0.001, method=method)(q, start, seconds=0.05).last[0]
    np.testing.assert_allclose(theirs, ours, atol=1e-4 if method == "verlet" else 1e-9)


def test_variational_keeps_the_angular_momentum():
    robot, inertia = top(), np.array([1.0, 2.0, 2.5])
    w = np.array([0.1, 5.0, 0.1])
    run = simulate.Simulator(robot, dt=0.01, method="variational")(
        robot.neutral(), [0, 0, 0, *w], seconds=50.0, every=5
    )
    R = mb.Rotation.from_quaternion(run.q[:, 3:7]).matrix
    L = (R @ (inertia * run.v[:, 3:])[..., None])[..., 0]
    assert np.abs(L - inertia * w).max() < 1e-11
    E = run.energy()
    assert np.abs(E / E[0] - 1).max() < 1e-3
    assert abs(E[-100:].mean() / E[:100].mean() - 1) < 1e-6


@pytest.mark.parametrize("method", sampled(["euler", "verlet", "variational", "rk4"], 2))
def test_free_fall_and_units(method):
    """A body that turns about a principal axis falls along a parabola, and its quaternion stays a unit."""
    robot = mb.load("quadruped")
    v = np.zeros(robot.nv)
    v[:3] = 1.0, 0.0, 2.0
    run = simulate.Simulator(robot, dt=0.002, method=method)(robot.home(), v, seconds=0.5)
    com = robot.center_of_mass(run.q) - robot.center_of_mass(robot.home())
    exact = np.outer(run.t, v[:3])
    exact[:, 2] -= G / 2 * run.t**2
    assert np.abs(com - exact).max() < (6e-3 if method == "euler" else 1e-9)
    assert np.abs(np.linalg.norm(run.q[:, 3:7], axis=-1) - 1).max() < 1e-15
    assert np.abs(run.momentum()[:, 3:]).max() < 1e-10


def test_rk4_against_mujoco(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    text = """<mujoco><option integrator="RK4" timestep="0.004"/><worldbody><body><freejoint/>
      <geom type="box" size=".1 .2 .05" mass="3" contype="0" conaffinity="0"/>
      <body pos=".1 0 0"><joint type="hinge" axis="0 1 0"/><geom type="capsule" size=".03" fromto="0 0 0 .3 0 .1"
      mass="1" contype="0" conaffinity="0"/><body pos=".3 0 .1"><joint type="ball"/><geom type="box" size=".05 .1 .02"
      pos=".05 0 0" mass=".5" contype="0" conaffinity="0"/></body></body></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    path = tmp_path / "body.xml"
    path.write_text(text)
    robot = mb.load(str(path))
    rng = np.random.default_rng(3)
    q, v = robot.random(rng), rng.standard_normal(robot.nv)
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_step(model, data, 50)
    run = simulate.Simulator(robot, dt=0.004, method="rk4")(q, v, seconds=0.2)
    # the methods differ at fourth order on rotations
    np.testing.assert_allclose(run.last[0], data.qpos, atol=2e-6)
    np.testing.assert_allclose(run.last[1], data.qvel, atol=2e-5)


def test_euler_gains_where_verlet_does_not():
    """Semi-implicit Euler in (q, v) is not symplectic where M depends on q; drift-kick-drift is of second order."""
    robot = mb.load("double-pendulum")
    spread = {}
    for method in ("euler", "verlet"):
        run = simulate.Simulator(robot, dt=0.005, method=method)([1.2, 0.5], seconds=5.0)
        E = run.energy()
        spread[method] = np.ptp(E)
    assert spread["verlet"] < 0.02 * spread["euler"]
