"""Dispatcher: keys of calls, and how many kernels a robot keeps."""

import numpy as np
import pytest

import multibody as mb
from multibody.robot import dispatch
from multibody.robot.dispatch import CallKey


def test_short_keys_stand_for_call_keys():
    assert CallKey.of("bias") == CallKey("bias")
    assert CallKey.of(("velocity", "tool", "left")) == CallKey("velocity", "tool", ("left",))
    key = CallKey("impact", optional=("active",))
    assert CallKey.of(key) is key


def test_a_warm_call_finds_the_code_by_its_short_key():
    robot = mb.load("planar-arm")
    q = robot.neutral()
    with mb.eager():
        robot.gravity(q)
    assert "gravity" not in robot._calls
    robot.gravity(q)
    robot.gravity(q)
    assert robot._calls["gravity"] is robot.kernel("gravity").call


def test_the_number_of_kernels_is_bounded(monkeypatch):
    monkeypatch.setattr(dispatch, "CAPACITY", 4)
    robot = mb.load("planar-arm")
    q, names = robot.neutral(), ("gravity", "mass_matrix", "center_of_mass", "potential_energy", "com_jacobian")
    for name in (*names, *names):
        getattr(robot, name)(q)
        for options in ("left", "right"):
            robot.jacobian("tool", q, options)
        robot.evaluate(q, None, ["gravity", name, ("jacobian", "tool")])
    calls = robot._calls
    assert max(len(calls), len(calls._kernels), len(calls.requests)) <= 4
    np.testing.assert_array_equal(robot.gravity(q), mb.load("planar-arm").gravity(q))


@pytest.mark.parametrize("name", ["velocity", "jacobian", "pose"])
def test_one_kind_of_explanation(name):
    robot = mb.load("planar-arm")
    args = (robot.neutral(),) * (2 if name == "velocity" else 1)
    with pytest.raises(mb.InputError, match="no frame is named"):
        getattr(robot, name)("nothing", *args)
    with pytest.raises(mb.InputError, match="q needs the shape"):
        getattr(robot, name)("tool", *(np.zeros(2) for _ in args))
