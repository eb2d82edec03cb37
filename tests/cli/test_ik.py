"""`multibody ik`."""

import json

import numpy as np

import multibody as mb

from .running import run, widest


def test_a_pose_is_reached() -> None:
    done = run("ik", "panda", "--frame", "tool", "--xyz", "0.5", "0.1", "0.4", "--rpy", "3.0", "0.1", "0.2", "--json")
    said = json.loads(done.out)
    robot = mb.load("panda")
    H = robot.pose("tool", said["q"])
    wanted = mb.Rotation.from_euler("zyx", [0.2, 0.1, 3.0])  # URDF's roll, pitch, yaw are about fixed axes
    assert done.code == 0
    assert said["success"]
    np.testing.assert_allclose(H.position, [0.5, 0.1, 0.4], atol=1e-4)
    assert H.rotation.angle_to(wanted) < 1e-3
    assert said["joints"]["joint2"] == said["q"][1]


def test_degrees_and_a_first_guess() -> None:
    radians = run(
        "ik", "panda", "--frame", "tool", "--xyz", "0.5", "0", "0.4", "--rpy", f"{np.pi}", "0", "0", "--q0", "home"
    )
    degrees = run(
        "ik",
        "panda",
        "--frame",
        "tool",
        "--xyz",
        "0.5",
        "0",
        "0.4",
        "--rpy",
        "180",
        "0",
        "0",
        "--degrees",
        "--q0",
        "home",
    )
    assert radians.code == degrees.code == 0
    assert "tool reached" in radians.out
    assert radians.out == degrees.out
    assert widest(radians.out) <= 80


def test_out_of_reach_is_told() -> None:
    done = run("ik", "planar-arm", "--frame", "tool", "--xyz", "9", "0", "0")
    assert done.code == 1
    assert "out of reach" in done.out


def test_a_position_alone() -> None:
    said = json.loads(run("ik", "panda", "--frame", "tool", "--xyz", "0.4", "0", "0.4", "--json").out)
    assert said["success"]
    assert said["rotation_error"] == 0


def test_what_is_missing_or_unknown() -> None:
    assert "--xyz" in run("ik", "panda", "--frame", "tool").err
    unknown = run("ik", "panda", "--frame", "tol", "--xyz", "0", "0", "0")
    assert unknown.code == 1
    assert "'tool'" in unknown.err
