"""Nothing is silent: what is ignored, assumed, merged, reordered, coupled, snapped or odd is in the diagnostics."""

import re

import pytest

from multibody.errors import RobotFileError
from multibody.model.load import load

from ..every_law import each_case
from .urdf_texts import INERTIAL, LIMIT, arm, joint, link, robot

AXIS = '<axis xyz="0 0 1"/>'
THIN = INERTIAL.replace('ixx="1"', 'ixx="5"')

# name: (text, level, code, line, element, what the message says)
NOTICED = {
    "unknown tag": (arm(links="<lamp/>"), "warning", "ignored", 5, '<lamp> in <robot name="r">', "no such element"),
    "misspelt tag": (
        robot(link("a", "<inertail/>")),
        "warning",
        "ignored",
        2,
        '<inertail> in <link name="a">',
        "<link> has no such element",
    ),
    "gazebo": (arm(links="<gazebo><x/></gazebo>"), "note", "ignored", 5, "<gazebo> in", "no part of the model"),
    "transmission": (arm(links='<transmission name="t"/>'), "note", "ignored", 5, '<transmission name="t">', "ignored"),
    "sensor": (arm(links='<sensor name="s"/>'), "note", "ignored", 5, '<sensor name="s">', "ignored"),
    "safety controller": (
        arm(AXIS + LIMIT + '<safety_controller k_velocity="1"/>'),
        "note",
        "ignored",
        4,
        "<safety_controller> in",
        "ignored",
    ),
    "calibration": (
        arm(AXIS + LIMIT + '<calibration rising="1"/>'),
        "note",
        "ignored",
        4,
        "<calibration> in",
        "ignored",
    ),
    "unknown attribute": (
        arm(AXIS + '<limit lower="0" upper="1" velocity="1" effort="1" current="2"/>'),
        "note",
        "ignored",
        4,
        '<limit> in <joint name="hinge">',
        "current='2'",
    ),
    "second inertial": (
        robot(link("a", INERTIAL * 2)),
        "warning",
        "ignored",
        2,
        "<inertial> in",
        "a second <inertial>",
    ),
    "axis of a fixed joint": (arm('<axis xyz="0 0 0"/>', kind="fixed"), "note", "ignored", 4, "<axis> in", "no axis"),
    "limit of a fixed joint": (arm(LIMIT, kind="fixed"), "note", "ignored", 4, "<limit> in", "has no <limit>"),
    "mimic of a fixed joint": (
        arm('<mimic joint="x"/>', kind="fixed"),
        "warning",
        "ignored",
        4,
        "<mimic> in",
        "a fixed joint cannot mimic 'x'",
    ),
    "bounds of a continuous joint": (
        arm(AXIS + LIMIT, kind="continuous"),
        "note",
        "ignored",
        4,
        "<limit> in",
        "'lower'",
    ),
    "no axis": (arm(LIMIT), "warning", "assumed", 4, '<joint name="hinge">', "the axis is x"),
    "long axis": (arm('<axis xyz="0 0 2"/>' + LIMIT), "warning", "assumed", 4, "<axis> in", "the length 2"),
    "no limit": (arm(AXIS), "warning", "assumed", 4, '<joint name="hinge">', "without one it has no limits"),
    "no limit of a slider": (arm(AXIS, kind="prismatic"), "warning", "assumed", 4, '<joint name="hinge">', "no limits"),
    "no lower limit": (
        arm(AXIS + '<limit upper="1" velocity="1" effort="1"/>'),
        "warning",
        "assumed",
        4,
        "<limit> in",
        "'lower' it is 0",
    ),
    "no effort": (
        arm(AXIS + '<limit lower="0" upper="1" velocity="1"/>'),
        "warning",
        "assumed",
        4,
        "<limit>",
        "'effort'",
    ),
    "no origin": (
        arm().replace('<origin xyz="0 0 1"/>', ""),
        "note",
        "assumed",
        4,
        '<joint name="hinge">',
        "without <origin>",
    ),
    "no robot name": ("<robot>" + link("a") + "</robot>", "warning", "assumed", 1, "<robot>", "named '<string>'"),
    "version": (robot(link("a")).replace("<robot ", '<robot version="7" '), "warning", "assumed", 1, "<robot", "'7'"),
    "no material": (
        robot(link("a", '<visual><geometry><sphere radius="1"/></geometry><material name="m"/></visual>')),
        "warning",
        "assumed",
        2,
        '<material name="m">',
        "no material is named 'm'",
    ),
    "plane": (arm('<axis xyz="1 0 0"/>', kind="planar"), "note", "assumed", 4, '<joint name="hinge">', "normal 1 0 0"),
    "merged link": (
        arm("", kind="fixed"),
        "note",
        "merged",
        3,
        '<link name="rod">',
        "fixed to 'base'.*part of its body",
    ),
    "merged frame": (
        robot(link("a"), link("b", ""), joint("j", "a", "b", kind="fixed", content="")),
        "note",
        "merged",
        3,
        '<link name="b">',
        "has no mass and is a frame",
    ),
    "reordered": (
        robot(*(link(n) for n in "abc"), joint("outer", "b", "c"), joint("inner", "a", "b")),
        "note",
        "reordered",
        5,
        '<joint name="outer">',
        "'outer' comes before 'inner'",
    ),
    "coupled": (
        robot(
            *(link(n) for n in "abc"),
            joint("j", "a", "b"),
            joint("k", "b", "c", content=AXIS + LIMIT + '<mimic joint="j" multiplier="2"/>'),
        ),
        "note",
        "coupled",
        6,
        '<mimic> in <joint name="k">',
        "2 times 'j' plus 0",
    ),
    "snapped": (
        arm().replace('xyz="0 0 1"/><p', 'xyz="0 0 1" rpy="0 0 1.57079632679"/><p'),
        "note",
        "snapped",
        4,
        '<origin> in <joint name="hinge">',
        "1 rotations or axes within 1e-10",
    ),
    "triangle inequality": (robot(link("a", THIN)), "warning", "inertia", 2, "<inertial> in", "triangle inequality"),
    "point mass": (
        robot(
            link(
                "a",
                '<inertial><mass value="1"/>' + '<inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>',
            )
        ),
        "warning",
        "inertia",
        2,
        "<inertial> in",
        "principal moment 0",
    ),
    "inertia without mass": (
        robot(link("a", INERTIAL.replace('mass value="1"', 'mass value="0"'))),
        "warning",
        "inertia",
        2,
        "<inertial> in",
        "got 0 kg",
    ),
    "leaf without mass": (
        robot(link("a"), link("b", ""), joint("j", "a", "b")),
        "warning",
        "inertia",
        4,
        '<joint name="j">',
        "nothing that the joint moves has inertia",
    ),
    "gyration": (
        robot(link("a", INERTIAL.replace('="1"', '="1000"').replace('s value="1000"', 's value="1"'))),
        "warning",
        "units",
        2,
        "<inertial> in",
        "radius of gyration is 31.6 m",
    ),
    "degrees": (
        arm().replace('xyz="0 0 1"/><p', 'xyz="0 0 1" rpy="0 0 90"/><p'),
        "warning",
        "units",
        4,
        "<origin> in",
        "look like degrees",
    ),
    "limits in degrees": (
        arm(AXIS + '<limit lower="-90" upper="90" velocity="1" effort="1"/>'),
        "warning",
        "units",
        4,
        "<limit> in",
        "look like degrees",
    ),
    "color of 255": (
        robot('<material name="m"><color rgba="255 0 0 1"/></material>', link("a")),
        "warning",
        "units",
        2,
        "<color> in",
        "from 0 to 1",
    ),
    "mesh": (
        robot(link("a", '<visual><geometry><mesh filename="package://p/a.stl"/></geometry></visual>')),
        "warning",
        "mesh",
        2,
        "<mesh> in",
        "'package://p/a.stl' was not found",
    ),
}


@each_case("name", NOTICED)
def test_it_is_noticed_where_it_is(name: str) -> None:
    text, level, code, line, element, message = NOTICED[name]
    diagnostics = [d for d in load(text).diagnostics if d.code == code]
    assert diagnostics
    at = diagnostics[0]
    assert (at.level, at.file, at.line) == (level, "<string>", line)
    assert at.element is not None
    assert at.element.startswith(element)
    assert re.search(message, at.message)
    assert str(at).startswith(f"{level}: <string>:{line} {at.element}: ")


def told(text: str, **options: float) -> list[str]:
    """The codes of what was noticed, but for the mass of the base."""
    return [d.code for d in load(text, **options).diagnostics if d.code != "fixed"]  # type: ignore[arg-type]


def test_a_plain_robot_has_nothing_to_tell_but_the_mass_of_its_base() -> None:
    assert [(d.level, d.code) for d in load(arm()).diagnostics] == [("note", "fixed")]


@each_case("name", NOTICED)
def test_strict_makes_errors_of_warnings_and_of_nothing_else(name: str) -> None:
    text = NOTICED[name][0]
    warnings = [d for d in load(text).diagnostics if d.level == "warning"]
    if not warnings:
        assert load(text, strict=True) == load(text)
        return
    with pytest.raises(RobotFileError) as caught:
        load(text, strict=True)
    first, error = warnings[0], caught.value
    assert (error.message, error.file, error.line, error.element) == (
        first.message,
        first.file,
        first.line,
        first.element,
    )


def test_independent_joints_are_told_of_too() -> None:
    (note,) = (d for d in load(NOTICED["coupled"][0], mimic="independent").diagnostics if d.code == "coupled")
    assert "moves on its own" in note.message


def test_without_snap_nothing_is_snapped() -> None:
    assert told(NOTICED["snapped"][0], snap=0) == []


def test_exact_right_angles_are_no_news() -> None:
    text = arm().replace('xyz="0 0 1"/><p', 'xyz="0 0 1" rpy="0 0 1.5707963267948966"/><p')
    assert told(text) == []


def test_a_link_without_mass_between_joints_is_fine() -> None:
    text = robot(link("a"), link("b", ""), link("c"), joint("j", "a", "b"), joint("k", "b", "c"))
    assert load(text, strict=True).nv == 2
