"""`multibody simulate`: a table, a file that goes on, a picture, and refusals."""

from unittest import mock

import numpy as np

import multibody as mb
from multibody import simulate
from multibody.cli._contacts import contacts_at

from .running import run


def test_a_body_is_dropped(tmp_path):
    done = run(
        *("simulate", "free-body-se3", "--seconds", "0.5", "--drop", "0.1"),
        *("--save", str(tmp_path / "run.npz"), "--plot", str(tmp_path / "run.png")),
    )
    assert done.code == 0, done.err
    assert "height of the base" in done.out
    assert (tmp_path / "run.png").stat().st_size > 10_000
    kept = simulate.load(tmp_path / "run.npz")
    assert len(kept.t) == 250
    assert np.isfinite(kept.q).all()


def test_a_pendulum_swings_with_a_bar():
    done = run("simulate", "double-pendulum", "--seconds", "0.2", "--kp", "5", "--kd", "1", live=True)
    assert done.code == 0, done.err
    assert "energy" in done.out


def test_embedded_robots_touch_with_their_feet(tmp_path):
    saved = str(tmp_path / "run.npz")
    gains = ("--kp", "80", "--kd", "2")  # the kernel of the command in README.md
    done = run("simulate", "quadruped", "--seconds", "0.05", "--drop", "0.02", *gains, "--save", saved)
    assert done.code == 0, done.err
    kept = simulate.load(saved)
    assert kept.about["contacts"] == ["lf-shank", "rf-shank", "lh-shank", "rh-shank"]
    robot = mb.load("quadruped")
    lowest = min(robot.pose(f"foot-{leg}", kept.q[0]).position[2] for leg in ("lf", "rf", "lh", "rh"))
    np.testing.assert_allclose(lowest - 0.018, 0.02, atol=1e-4)  # the spheres of its feet


def test_feet_of_boxes_are_their_lower_corners():
    robot = mb.load("humanoid")
    contacts = contacts_at(robot, robot.home(), simulate.Ground(), shapes=False)
    assert {contact.frame for contact in contacts} == {"left-foot", "right-foot"}
    places = np.array([robot.pose(contact.frame, robot.home()) @ contact.point for contact in contacts])
    assert len(places) == 8
    np.testing.assert_allclose(places[:, 2], robot.pose("foot-left", robot.home()).position[2], atol=1e-12)


HOPPER = """
<mujoco><worldbody><body name="torso" pos="0 0 0.3"><freejoint/><geom type="sphere" size="0.1" mass="1"/>
  <body name="shank" pos="0 0 -0.1"><joint name="knee" type="hinge" axis="0 1 0"/>
    <geom type="sphere" size="0.02" pos="0.02 0 -0.15" mass="0.1"/><site name="foot-one" pos="0.02 0 -0.15"/></body>
</body></worldbody></mujoco>
"""


def test_a_shape_that_sinks_is_named_and_can_touch(tmp_path):
    (tmp_path / "hopper.xml").write_text(HOPPER)
    fallen = ("simulate", str(tmp_path / "hopper.xml"), "--seconds", "0.8", "--drop", "0", "--dt", "0.01")
    done = run(*fallen, columns=200)
    assert "1 contacts" in done.out
    assert "torso ends" in done.err
    assert "below the ground: only feet touch it; --shapes" in done.err
    done = run(*fallen, "--shapes", columns=200)
    assert "2 contacts" in done.out
    assert "below the ground" not in done.err


def test_of_many_points_of_shapes_those_nearest_to_the_ground_touch(capsys):
    robot = mb.load("quadruped")
    with mock.patch("multibody.cli._contacts.MAX_CONTACTS", 12):
        contacts = contacts_at(robot, robot.home(), simulate.Ground(), shapes=True)
    heights = [(robot.pose(c.frame, robot.home()) @ c.point)[2] - c.radius for c in simulate.contacts_of(robot)]
    chosen = [(robot.pose(c.frame, robot.home()) @ c.point)[2] - c.radius for c in contacts]
    np.testing.assert_allclose(sorted(chosen), sorted(heights)[:12], atol=1e-12)
    assert f"of {len(heights)} points of the robot's shapes, the 12 nearest" in " ".join(
        capsys.readouterr().err.split()
    )


def test_refusals(tmp_path):
    assert "multiple of dt" in run("simulate", "double-pendulum", "--seconds", "0.0015").err
    assert "--plot" in run("simulate", "double-pendulum", "--plot", "nowhere/run.png").err
    assert "--save" in run("simulate", "double-pendulum", "--save", str(tmp_path)).err


TWO_BASES = """
<mujoco><worldbody>
  <body name="box" pos="0 0 1"><freejoint name="box-base"/>
    <geom type="sphere" size="0.1" mass="1"/>
    <body name="arm" pos="0 0 0.1"><joint name="swing" type="hinge" axis="0 1 0"/>
      <geom type="sphere" size="0.05" pos="0 0 0.2" mass="0.2"/></body>
  </body>
  <body name="ball" pos="1 0 1"><freejoint name="ball-base"/><geom type="sphere" size="0.1" mass="0.4"/></body>
</worldbody></mujoco>
"""


def test_targets_and_drop_of_two_bases(tmp_path):
    (tmp_path / "two.xml").write_text(TWO_BASES)
    saved = str(tmp_path / "run.npz")
    start = "0 0 1 1 0 0 0 0.3 1 0 3 1 0 0 0"
    done = run(
        *("simulate", str(tmp_path / "two.xml"), "--seconds", "0.1", "--drop", "0.2", "--kp", "5", "--kd", "0.1"),
        *("--q", start, "--save", saved),
        columns=120,
    )
    assert done.code == 0, done.err
    assert "height of box" in done.out
    assert "height of ball" in done.out
    kept = simulate.load(saved)
    # box and ball fall together, 2 m apart, from 0.2 m above the ground for the lower one
    np.testing.assert_allclose(kept.q[0, [2, 10]], [0.3, 2.3], atol=1e-3)
    np.testing.assert_allclose(kept.q[:, 7], 0.3, atol=1e-3)  # held at its start
