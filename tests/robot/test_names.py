"""Limits as arrays, joints and configurations by name, another gravity."""

import numpy as np
import pytest

import multibody as mb
from multibody.model.joint import Limits, Mimic
from multibody.model.joints import Continuous, Prismatic, Revolute, Spherical
from multibody.model.shapes import Sphere

from ..every_law import each_case
from ..laws.tools import near


def machine(**options) -> mb.Robot:
    b = mb.Builder("machine")
    for k in range(6):
        b.body(f"l{k}", shape=Sphere(0.1), mass=1.0)
    b.joint("hip", Revolute("x"), parent="l0", child="l1", limits=Limits(-1.0, 2.0, velocity=3.0, effort=4.0))
    b.joint("ball", Spherical(), parent="l1", child="l2", limits=Limits(velocity=5.0))
    b.joint("wheel", Continuous("y"), parent="l2", child="l3", limits=Limits(effort=6.0))
    b.joint("slide", Prismatic("z"), parent="l3", child="l4", limits=Limits(0.0, 0.5))
    b.joint("follow", Revolute("z"), parent="l4", child="l5", mimic=Mimic("slide", 2.0, 0.1))
    return mb.Robot(b.model(**options))


ROBOT = machine()


def test_limits_are_arrays_over_coordinates_and_velocities():
    limits, inf = ROBOT.limits, np.inf
    assert limits.lower.tolist() == [-1, -inf, -inf, -inf, -inf, -inf, 0]
    assert limits.upper.tolist() == [2, inf, inf, inf, inf, inf, 0.5]
    assert limits.velocity.tolist() == [3, 5, 5, 5, inf, inf]
    assert limits.effort.tolist() == [4, inf, inf, inf, 6, inf]
    assert np.isinf(machine(floating=True).limits.lower[:7]).all()


def test_limits_are_frozen():
    with pytest.raises(AttributeError):
        ROBOT.limits.lower = np.zeros(7)  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        ROBOT.limits.lower[0] = 0.0


def test_a_joint_has_its_name_or_the_error_has_the_nearest():
    assert ROBOT.joint("slide").q == slice(6, 7)
    assert ROBOT.joint("follow").mimic == Mimic("slide", 2.0, 0.1)
    with pytest.raises(mb.InputError, match="no joint is named 'slyde'; did you mean 'slide'"):
        ROBOT.joint("slyde")


def test_configurations_by_name_go_both_ways():
    q = ROBOT.random(np.random.default_rng(0), (4, 2))
    by_name = ROBOT.by_name(q)
    assert list(by_name) == ["hip", "ball", "wheel", "slide"]
    assert by_name["hip"].shape == (4, 2)
    assert by_name["ball"].shape == (4, 2, 4)
    near(ROBOT.configuration(by_name), q, 0.0)
    single = ROBOT.by_name(q[0, 0])
    assert float(single["slide"]) == q[0, 0, 6]
    near(ROBOT.configuration(single), q[0, 0], 0.0)


def test_what_is_not_named_stays_at_home_or_where_the_default_is():
    panda = mb.load("panda")
    q = panda.configuration({"joint1": 0.5})
    near(q[1:], panda.home()[1:], 0.0)
    assert q[0] == 0.5
    near(panda.configuration({}, panda.neutral()), np.zeros(7), 0.0)
    assert panda.astype("float32").configuration({"joint1": 0.5}).dtype == np.float32


def test_values_and_defaults_broadcast():
    default = np.tile(ROBOT.neutral(), (3, 1, 1))
    q = ROBOT.configuration({"hip": [0.1, 0.2], "ball": [1.0, 0, 0, 0]}, default)
    assert q.shape == (3, 2, 7)
    near(q[2, :, 0], np.array([0.1, 0.2]), 0.0)


def test_names_work_in_functions_that_are_traced():
    def height(x):
        q = ROBOT.configuration({"hip": x[0], "slide": x[1]})
        return ROBOT.pose("l5", q).position + ROBOT.by_name(q)["slide"]

    x = np.array([0.3, 0.2])
    near(mb.compile(height, 2)(x), height(x), 1e-12)


@each_case(
    "values, words",
    [
        ({"hop": 0.1}, "no moving joint is named 'hop'; did you mean 'hip'"),
        ({"follow": 0.2}, "'follow' has no coordinate .* 2 times 'slide' plus 0.1; expected 0.1, got 0.2: set 'slide'"),
        ({"slide": [0.1, 0.2], "follow": [0.3, 0.6]}, "expected 0.5, got 0.6"),
        ({"slide": 0.1, "follow": np.nan}, "got nan"),
        ({"ball": [1.0, 0, 0]}, r"'ball' \(spherical\).*4.*got"),
        ({"hip": [0.1, 0.2], "slide": [0.1, 0.2, 0.3]}, r"default, hip, slide"),
        ([0.1, 0.2], r"expected \{joint: value\}, got list"),
        ({"hip": "0.1 rad"}, "'hip'"),
    ],
)
def test_wrong_names_and_shapes_are_refused(values, words):
    with pytest.raises(mb.InputError, match=words):
        ROBOT.configuration(values)


def test_mimic_joints_that_agree_are_accepted():
    """As in messages that state all joints of a robot."""
    q = ROBOT.configuration({"slide": [0.1, 0.2], "follow": [0.3, 0.5]})
    near(q, ROBOT.configuration({"slide": [0.1, 0.2]}), 0.0)
    near(ROBOT.configuration({"follow": 0.1 + 1e-9}), ROBOT.home(), 0.0)
    v = ROBOT.joint_velocities({"slide": 0.5, "follow": 1.0})
    near(v, np.array([0.0, 0, 0, 0, 0, 0.5]), 0.0)
    with pytest.raises(mb.InputError, match=r"'follow' has no coordinate of its own.*expected 1, got 1\.1"):
        ROBOT.joint_velocities({"slide": 0.5, "follow": 1.1})
    with pytest.raises(mb.InputError, match="set 'slide'"):
        mb.compile(lambda x: ROBOT.configuration({"slide": x, "follow": x}), ())


def test_velocities_by_name_go_both_ways():
    v = np.random.default_rng(0).standard_normal((4, 2, ROBOT.nv))
    by_name = ROBOT.velocities_by_name(v)
    assert {name: x.shape for name, x in by_name.items()} == {
        "hip": (4, 2),
        "ball": (4, 2, 3),
        "wheel": (4, 2),
        "slide": (4, 2),
    }
    near(ROBOT.joint_velocities(by_name), v, 0.0)
    near(ROBOT.joint_velocities({"wheel": 2.0}), np.array([0.0, 0, 0, 0, 2.0, 0]), 0.0)
    near(ROBOT.joint_velocities({"wheel": 2.0}, np.ones(6)), np.array([1.0, 1, 1, 1, 2, 1]), 0.0)
    compiled = mb.compile(lambda x: ROBOT.joint_velocities({"hip": x[0], "ball": x[1:]}), 4)
    near(compiled([1.0, 2, 3, 4]), np.array([1.0, 2, 3, 4, 0, 0]), 0.0)
    for wrong, words in (
        ({"hop": 1.0}, "no moving joint is named 'hop'"),
        ({"ball": [1.0, 0, 0, 0]}, r"'ball' \(spherical\).*3.*got"),
        ([1.0], r"expected \{joint: value\}, got list"),
    ):
        with pytest.raises(mb.InputError, match=words):
            ROBOT.joint_velocities(wrong)
    with pytest.raises(mb.InputError, match=r"v needs the shape \(\.\.\., 6\)"):
        ROBOT.velocities_by_name(np.zeros(7))


def test_wrong_lengths_are_refused():
    with pytest.raises(mb.InputError, match="default needs the shape"):
        ROBOT.configuration({}, np.zeros(3))
    with pytest.raises(mb.InputError, match=r"q needs the shape \(\.\.\., 7\)"):
        ROBOT.by_name(np.zeros(6))


def test_another_gravity():
    panda = mb.load("panda")
    moon, q = panda.with_gravity((0, 0, -1.62)), panda.home()
    near(moon.gravity(q), panda.gravity(q) * 1.62 / 9.81, 1e-12)
    near(panda.gravity(q), mb.load("panda").gravity(q), 0.0)
    for bad in ((0, 0), 9.81, (0, 0, np.nan), "down"):
        with pytest.raises(mb.InputError, match="gravity: expected three finite numbers"):
            panda.with_gravity(bad)
