"""What `mb.load` says in Python of a file: once, at the caller's line, with the words that help."""

import warnings
from pathlib import Path

import pytest

import multibody as mb

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def arm(limit: str, joints: int = 1) -> str:
    """Hinges on a base with mass, all with one <limit>."""
    text = f'<robot name="arm"><link name="l0">{INERTIAL}</link>'
    for k in range(1, joints + 1):
        text += f'<link name="l{k}">{INERTIAL}</link><joint name="j{k}" type="revolute"><parent link="l{k - 1}"/>\n'
        text += f'<child link="l{k}"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/>{limit}</joint>\n'
    return text + "</robot>"


GOOD = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
DEGREES = '<limit lower="-90" upper="90" effort="1" velocity="1"/>'
MISSPELT = '<limit lower="-1" upper="1" effort="1" velocity="1"/><dynamic damping="1"/>'


def test_limits_in_degrees_are_heard_once_at_the_callers_line(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(arm(DEGREES))
    with pytest.warns(mb.RobotFileWarning) as heard:
        robot = mb.load(path)
    assert len(heard) == 1
    assert Path(heard[0].filename) == Path(__file__)
    text = str(heard[0].message)
    assert text.startswith("arm: 1 warning about the file; robot.diagnostics has all")
    assert "arm.urdf:2 <limit>" in text
    assert "look like degrees" in text
    assert "1 warning, see .diagnostics" in repr(robot)


def test_a_misspelt_element_is_heard():
    with pytest.warns(mb.RobotFileWarning, match=r"<string>:2 .*<dynamic>.*ignored"):
        mb.load(arm(MISSPELT))


def test_many_warnings_are_one_that_names_the_first():
    with pytest.warns(mb.RobotFileWarning) as heard:
        robot = mb.load(arm(MISSPELT, joints=12))
    assert len(heard) == 1
    text = str(heard[0].message)
    assert text.startswith("arm: 12 warnings about the file")
    assert text.count("<string>:") == 1
    assert text.endswith("[ignored], and 11 more like it")
    assert "12 warnings, see .diagnostics" in repr(robot)


def test_each_kind_of_warning_has_one_line():
    """Kinds are messages without names and numbers; beyond six the rest is counted."""
    with pytest.warns(mb.RobotFileWarning) as heard:
        mb.load(arm(DEGREES, joints=2))
    lines = str(heard[0].message).splitlines()
    assert len(lines) == 2
    assert lines[1].endswith("and 1 more like it")


def test_an_srdf_and_a_xacro_file_are_named():
    srdf = '<robot name="r"><group name="arm"/><disable_collisions link1="a" link2="b" reason="Never"/></robot>'
    with pytest.raises(mb.RobotFileError, match=r"got an SRDF file.*load the robot's URDF file"):
        mb.load(srdf)
    xacro = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arm/><link name="a"/></robot>'
    with pytest.raises(mb.RobotFileError, match="expand it with xacro first"):
        mb.load(xacro)
    for value in ("${prefix}arm", "$(arg prefix)arm"):
        with pytest.raises(mb.RobotFileError, match=r"`xacro robot.urdf.xacro > robot.urdf`"):
            mb.load(f'<robot name="r"><link name="{value}"/></robot>')


def test_an_srdf_file_without_groups_is_named_by_its_ending(tmp_path):
    file = tmp_path / "arm.srdf"
    file.write_text('<robot name="r"/>')
    with pytest.raises(mb.RobotFileError, match="got an SRDF file"):
        mb.load(file)


def test_unknown_attributes_are_notes_and_misspelt_ones_warnings():
    text = arm(GOOD).replace("<limit ", '<limit current="10" ')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = mb.load(text)
    note = next(each for each in robot.diagnostics if "current" in each.message)
    assert (note.level, note.code) == ("note", "ignored")
    with pytest.warns(mb.RobotFileWarning, match="the attribute velocty='2' is ignored: did you mean 'velocity'"):
        mb.load(arm(GOOD).replace("<limit ", '<limit velocty="2" '))


def test_units_are_named_before_what_matters_less():
    text = arm(MISSPELT, joints=5).replace('<limit lower="-1"', '<limit lower="-90"', 5)
    with pytest.warns(mb.RobotFileWarning) as heard:
        mb.load(text)
    assert "degrees" in str(heard[0].message).splitlines()[1]


def test_a_good_file_is_silent_and_so_are_the_embedded_robots():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = mb.load(arm(GOOD))
        for name in mb.robots.names():
            mb.load(name)
    assert repr(robot) == "<Robot 'arm': nq 1, nv 1, 1 bodies, 1 kg, 1 kg more fixed to the world>"


def test_strict_is_an_error_and_a_filter_silences():
    with pytest.raises(mb.RobotFileError, match="degrees"):
        mb.load(arm(DEGREES), strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", mb.RobotFileWarning)
        assert mb.load(arm(DEGREES)).nv == 1


# ---- a base that is fixed --------------------------------------------------------------------------------------------

BOX = '<robot name="copter"><link name="body">' + INERTIAL + "</link></robot>"


def test_a_robot_without_joints_is_told_to_float():
    with pytest.warns(mb.RobotFileWarning, match=r"1 kg are fixed to the world .* nothing moves.* floating=True"):
        robot = mb.load(BOX)
    assert repr(robot) == (
        "<Robot 'copter': nq 0, nv 0, 0 bodies, 0 kg, 1 kg more fixed to the world, 1 warning, see .diagnostics>"
    )


@pytest.mark.parametrize("floating", [True, False])
def test_who_says_what_the_base_does_is_not_warned(floating):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = mb.load(BOX, floating=floating)
    assert robot.nv == 6 * floating
    assert [d.level for d in robot.diagnostics if d.code == "fixed"] == ([] if floating else ["note"])


def test_a_base_that_floats_by_itself_is_not_fixed_in_silence():
    free = '<mujoco><worldbody><body name="b"><freejoint name="f"/><geom size="0.1"/></body></worldbody></mujoco>'
    for source, joint in (("quadrotor", "base"), (free, "f")):
        base = mb.load(source).tree.bases[0].name
        with pytest.raises(mb.InputError, match=f"floats by itself, on the joint '{base}': robot.lock") as told:
            mb.load(source, floating=False)
        assert joint in str(told.value)
        assert mb.load(source).lock({base: (0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0)}).nv == 0
