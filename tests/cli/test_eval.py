"""`multibody eval`."""

import json
import math
from typing import Any

import numpy as np
import pytest

import multibody as mb

from .running import run, widest


def numbers(*arguments: str) -> dict[str, Any]:
    done = run("eval", *arguments, "--json")
    assert done.code == 0, done.err
    quantities = json.loads(done.out, parse_constant=pytest.fail)
    return {name: np.array(x) if isinstance(x, list) else x for name, x in quantities.items()}


def test_the_planar_arm_of_the_lecture_notes() -> None:
    """[RD Ex. 2.8.5]: with unit lengths, position and Jacobian of the tool."""
    q = np.array([-0.3, 0.5, 0.9])
    quantities = numbers("planar-arm", "--frame", "tool", "--q", "-0.3,0.5,0.9")
    s, c = np.sin(np.cumsum(q)), np.cos(np.cumsum(q))
    np.testing.assert_allclose(quantities["pose"]["position"], [s.sum(), 0, 1 + c.sum()], atol=1e-14)
    np.testing.assert_allclose(quantities["jacobian"][0], [c[k:].sum() for k in range(3)], atol=1e-14)
    np.testing.assert_allclose(quantities["jacobian"][2], [-s[k:].sum() for k in range(3)], atol=1e-14)
    np.testing.assert_allclose(quantities["jacobian"][4], 1.0)
    half = q.sum() / 2
    np.testing.assert_allclose(quantities["pose"]["quaternion"], [np.cos(half), 0, np.sin(half), 0], atol=1e-14)


@pytest.mark.parametrize("representation", ["left", "right", "mixed"])
def test_the_numbers_belong_together_and_are_those_of_the_robot(representation: str) -> None:
    states = ("--q", "random", "--v", "random", "--a", "random", "--seed", "5")
    quantities = numbers("planar-arm", "--floating", "--frame", "tool", *states, "--representation", representation)
    robot = mb.load("planar-arm", floating=True)
    q, v, a = quantities["q"], quantities["v"], quantities["a"]
    robot.check(q)
    assert np.abs(v).min() > 0
    assert np.abs(a).min() > 0
    np.testing.assert_allclose(quantities["jacobian"] @ v, quantities["velocity"], atol=1e-12)
    np.testing.assert_allclose(
        quantities["mass_matrix"] @ a + quantities["bias"], quantities["inverse_dynamics"], atol=1e-11
    )
    np.testing.assert_allclose(quantities["kinetic_energy"], v @ quantities["mass_matrix"] @ v / 2, rtol=1e-12)
    np.testing.assert_allclose(quantities["velocity"], robot.velocity("tool", q, v, representation), atol=1e-12)
    np.testing.assert_allclose(quantities["gravity"], robot.inverse_dynamics(q, 0 * v, 0 * v), atol=1e-11)


def test_configurations_by_name() -> None:
    robot = mb.load("panda")
    np.testing.assert_array_equal(numbers("panda")["q"], robot.home())
    np.testing.assert_array_equal(numbers("panda", "--q", "home")["q"], robot.home())
    np.testing.assert_array_equal(numbers("panda", "--q", "neutral")["q"], robot.neutral())
    first, again, other = (numbers("panda", "--q", "random", "--seed", seed)["q"] for seed in "112")
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).min() > 0


def test_past_the_limits_is_said_beside_the_numbers() -> None:
    done = run("eval", "panda", "--q", "neutral", "--json")
    assert done.code == 0
    assert "joint4" in done.err
    assert "past its limits" in done.err
    assert "joint4" not in done.out


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize(
    ("name", "frame"), [("panda", "tool"), ("humanoid", "hand-left"), ("branching-figure", "tip3")]
)
def test_tables_fit_the_terminal_and_leave_nothing_out(name: str, frame: str, columns: int) -> None:
    done = run("eval", name, "--frame", frame, columns=columns)
    assert (done.code, done.err) == (0, "")
    assert widest(done.out) <= columns
    robot = mb.load(name)
    mass = done.out[done.out.index("Mass matrix M") :]
    heads = [line.split() for line in mass.splitlines() if line.split() and line.split()[0].isdigit()]
    assert [int(x) for head in heads for x in head] == list(range(robot.nv))
    forces = done.out[done.out.index("Forces") : done.out.index("Mass matrix M")].splitlines()[3:]
    shown = [float(line.split()[-1]) for line in forces if line.strip()]
    np.testing.assert_allclose(shown, robot.gravity(robot.home()), rtol=1e-3, atol=1e-11)


def test_a_robot_that_cannot_move_has_poses() -> None:
    weld = '<joint name="weld" type="fixed"><parent link="base"/><child link="tip"/><origin xyz="0 0 2"/></joint>'
    done = run("eval", f'<robot name="rod"><link name="base"/><link name="tip"/>{weld}</robot>', "--frame", "tip")
    assert done.code == 0, done.err
    assert "(0, 0, 2) m" in done.out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--frame", "tol"), 1, "did you mean 'tool'?"),
        (("--q", "1,2,3"), 1, "q needs the shape (..., 7)"),
        (("--v", "1"), 1, "v needs the shape (..., 7)"),
        (("--q", "0,x"), 2, "got '0,x'"),
        (("--a", "nan"), 2, "got 'nan'"),
        (("--representation", "up"), 2, "'up' is not one of"),
        (("--seed", "-1"), 2, "--seed"),
    ],
)
def test_errors_are_one_message(arguments: tuple[str, ...], code: int, said: str) -> None:
    done = run("eval", "panda", *arguments, columns=200)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert "Traceback" not in done.err


def test_a_quaternion_that_is_no_unit_is_refused() -> None:
    done = run("eval", "free-body-se3", "--q", "0,0,0,1,1,0,0")
    assert done.code == 1
    assert "quaternion (w, x, y, z)" in done.err


def test_degrees_on_request() -> None:
    plain = json.loads(run("eval", "scara", "--q", "0.5,0,0,-0.1", "--v", "1,0,0,2", "--json").out)
    turned, speed = f"{math.degrees(0.5)},0,0,-0.1", f"{math.degrees(1.0)},0,0,2"
    done = json.loads(run("eval", "scara", "--q", turned, "--v", speed, "--degrees", "--json").out)
    np.testing.assert_allclose(done["q"], plain["q"], rtol=1e-15)
    np.testing.assert_allclose(done["v"], plain["v"], rtol=1e-15)
    assert done["v"][3] == 2.0  # what slides has metres


def test_what_could_mean_two_things_is_told() -> None:
    said = " ".join(run("eval", "--help", columns=200).out.split())
    for words in ("in rad and m", "quaternions w, x, y, z", "the same seed", "--degrees", "--trust-paths", "--root"):
        assert words in said
