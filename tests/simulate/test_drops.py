"""Robots that are dropped from random states: nothing explodes, and energy that no force has put in is not there.

Joints are free and legs whirl at tens of turns a second: what a step of 10 ms is not made for, and must survive.
"""

import numpy as np
import pytest

import multibody as mb
from multibody import simulate
from multibody.algorithms.constraint_projection import projected_velocity
from multibody.model.shapes import Box
from multibody.simulate import SphereContact, contacts_of

from ..oracles.robot_data import urdf
from .bodies import ball
from .test_constraints import LOOP, four_bar, joints

pytestmark = pytest.mark.filterwarnings("ignore::multibody.errors.RobotFileWarning")
SECONDS = 1.5


def load(path, floating=True):
    return mb.load(str(urdf(path)), floating=floating)


def corners():
    """A box on all eight corners."""
    robot = mb.Robot(mb.Builder("box").body("box", shape=Box((0.2, 0.3, 0.4)), mass=1.0).model(floating=True))
    return robot, contacts_of(robot), 0.0


def sphere():
    return *ball(), 0.0


def anymal():
    """On the spheres that its file has at the feet."""
    robot = load("anymal_b_simple_description/robots/anymal.urdf")
    return robot, [contact for contact in contacts_of(robot) if contact.radius > 0], 0.0


def solo():
    """Its collision shapes are meshes: the feet are named."""
    robot = load("solo_description/robots/solo12.urdf")
    return robot, [SphereContact(frame, 0.016) for frame in robot.frames if frame.endswith("FOOT")], 0.0


def go1():
    """On the spheres of its feet and the corners of its trunk."""
    robot = load("go1_description/urdf/go1.urdf")
    return robot, [contact for contact in contacts_of(robot) if contact.radius > 0 or contact.frame == "trunk"], 0.0


def talos():
    """On the lower corners of the boxes that its file has for the soles."""
    robot = load("talos_data/robots/talos_reduced_box.urdf")
    soles = [contact for contact in contacts_of(robot) if contact.frame in ("leg_left_6_link", "leg_right_6_link")]
    low = min(contact.point[2] for contact in soles)
    return robot, [contact for contact in soles if contact.point[2] < low + 1e-6], 0.0


def arm():
    """Panda with its hand above a table."""
    robot = load("panda_description/urdf/panda.urdf", floating=False)
    fingers = [SphereContact(f"panda_{side}finger", 0.01, (0.0, 0.0, 0.05)) for side in ("left", "right")]
    return robot, [*fingers, SphereContact("panda_hand", 0.05), SphereContact("panda_link5", 0.06)], 0.1


def linkage():
    """A four-bar with a floating base, on the ends of its rods."""
    contacts = [SphereContact(frame, 0.02) for frame in ("base", "coupler", "rocker", "end")]
    return four_bar(floating=True), contacts, 0.0


def lowest(robot, contacts, q):
    """(...): the height of the lowest point of all contacts."""
    poses = [(robot.pose(contact.frame, q), contact) for contact in contacts]
    return np.min([(pose @ np.array(contact.point))[..., 2] - contact.radius for pose, contact in poses], axis=0)


def states(robot, contacts, table, count):
    """Random states whose lowest contact is above the ground; random velocities of all joints."""
    rng = np.random.default_rng(0)
    if robot.tree.floating:
        q = robot.random(rng, count)
        if robot.name == "four-bar":
            q[:, 7:] = [joints(theta) for theta in rng.uniform(-np.pi, np.pi, count)]
        q[:, :3] = 0.0
        q[:, 2] += rng.uniform(0.05, 0.5, count) - lowest(robot, contacts, q)
    else:
        q = robot.random(rng, 20 * count)
        q = q[lowest(robot, contacts, q) > table + 0.02][:count]
    return q, rng.standard_normal((len(q), robot.nv))


def check(case, dt, count):
    robot, contacts, table = case()
    q, v = states(robot, contacts, table, count)
    assert len(q) == count
    ground, loops = simulate.Ground(friction=0.8, offset=table), [LOOP] if robot.name == "four-bar" else []
    simulator = simulate.Simulator(robot, dt=dt, contacts=contacts, ground=ground, constraints=loops)
    if simulator.constraints is not None:
        v = projected_velocity(robot.tree, simulator.constraints, q, v)
    run = simulator(q, v, seconds=SECONDS)
    assert (run.failed == -1).all()
    if simulator.constraints is not None:
        assert np.abs(simulator.constraints.error(run.q)).max() < 1e-8
    assert np.abs(run.v).max() < 1500.0  # light hands on a humanoid's whirling arms have the most
    start = robot.potential_energy(q)
    E = np.concatenate([(robot.kinetic_energy(q, v) + start)[:, None], run.energy()], axis=1)
    lowest_of_all = np.minimum(start, robot.potential_energy(run.q).min(axis=1))
    drop = E[:, 0] - lowest_of_all  # what can become motion
    rise = (E - np.minimum.accumulate(E, axis=1)).max(axis=1)
    assert (rise / drop).max() < 0.01, f"sample {np.argmax(rise / drop)}"


@pytest.mark.filterwarnings("ignore::multibody.simulate.SimulationWarning")  # of legs that whirl without damping
@pytest.mark.parametrize(("case", "dt"), [(corners, 0.01), (sphere, 0.005), (solo, 0.01)])
def test_drop(case, dt):
    check(case, dt, 64)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::multibody.simulate.SimulationWarning")
@pytest.mark.parametrize("dt", [0.002, 0.005, 0.01])
@pytest.mark.parametrize("case", [corners, sphere, anymal, solo, go1, arm, talos, linkage])
def test_drop_of_a_thousand(case, dt):
    check(case, dt, 1024)
