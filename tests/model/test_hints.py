"""Where numbers can mean two things: what the loader and the builder ask or say."""

import pytest

from multibody.errors import InputError, RobotFileError
from multibody.model import check_configuration
from multibody.model.builder import as_pose
from multibody.model.load import load

from ..every_law import each_case
from .urdf_texts import arm, link, robot

BEFORE = '<link name="tip"/><joint name="weld" type="fixed"><parent link="rod"/><child link="tip"/>'


def welded(rpy: str) -> str:
    return arm(links=f'{BEFORE}<origin rpy="{rpy}"/></joint>')


@each_case(
    "rpy, question",
    [
        ("0 1.5707963 0", "1.5707963, π/2?"),
        ("3.1416 0 0", "3.1416, π?"),
        ("0 0 -1.5708", "-1.5708, -π/2?"),
        ("1e-7 0 0", "1e-07, 0?"),
        ("0 0 4.7123", None),
        ("0 1.57079632679 0", None),
        ("0 1.57 0.7854", None),
    ],
)
def test_angles_that_are_nearly_right_ones_are_asked_about(rpy, question):
    notes = [d for d in load(welded(rpy)).diagnostics if d.code == "angle"]
    if question is None:
        assert not notes
        return
    (note,) = notes
    assert note.level == "note"
    assert question in note.message
    assert f"line {note.line}: " in note.message
    exact = load(welded(rpy), snap=1e-5)
    assert not any(d.code == "angle" for d in exact.diagnostics)
    assert set(abs(exact.joint("weld").placement.rotation.matrix).ravel()) == {0.0, 1.0}


def test_many_such_angles_are_one_note():
    parts = "".join(
        f'<link name="t{k}"/><joint name="w{k}" type="fixed"><parent link="rod"/><child link="t{k}"/>'
        f'<origin rpy="0 1.5708 0"/></joint>\n'
        for k in range(15)
    )
    (note,) = [d for d in load(arm(links=parts)).diagnostics if d.code == "angle"]
    assert note.message.startswith("15 rotations")
    assert note.message.endswith("; and 5 more")


MESH = '<visual><geometry><mesh filename="{}"/></geometry></visual>'


@pytest.mark.parametrize("kind", ["visual", "collision"])
@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("nothing.stl", None, "was not found"),
        ("empty.stl", b"", "is no STL file"),
        ("lies.stl", b"\1" * 200, "says that it has"),
        ("../../outside.stl", None, "is refused"),
        ("/etc/hostname", None, "is refused"),
    ],
)
def test_a_mesh_that_cannot_be_read_leaves_the_dynamics_alone(tmp_path, kind, name, content, words):
    path = tmp_path / "robot.urdf"
    shape = MESH.format(name).replace("visual", kind)
    path.write_text(robot(link("base", shape + '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" '
                               'iyy="1" iyz="0" izz="1"/></inertial>')))  # fmt: skip
    if content is not None:
        (tmp_path / name).write_bytes(content)
    model = load(path, floating=True)
    (warning,) = [d for d in model.diagnostics if d.code == "mesh"]
    assert warning.level == "warning"
    assert words in warning.message
    assert warning.message.endswith("the robot moves without it")
    assert model.tree.mass == 1.0
    (shape_of,) = model.links[0].visuals + model.links[0].collisions
    assert shape_of.shape.path is None  # nobody opens it later
    with pytest.raises(RobotFileError, match=words):
        load(path, floating=True, strict=True)


def test_a_mesh_of_mjcf_that_lies_is_left_out(tmp_path):
    (tmp_path / "lies.stl").write_bytes(b"\1" * 200)
    path = tmp_path / "robot.xml"
    path.write_text(
        '<mujoco><asset><mesh name="m" file="lies.stl"/></asset><worldbody><body><freejoint/>'
        '<inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
    )
    model = load(path)
    (warning,) = [d for d in model.diagnostics if d.code == "mesh"]
    assert "says that it has" in warning.message
    assert model.tree.mass == 2.0


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([0, 0, 0, 1, 0, 0, 0], "from_quaternion.wxyz.*from_xyzw"),
        ([0, 0, 0, 0, 0, 0], "rpy in radians"),
        ([[1, 0, 0, 0]] * 4, "Pose.from_matrix"),
        ([0, 0], "expected a pose, or a position of three finite numbers"),
    ],
)
def test_numbers_that_are_no_position_are_told_what_to_do(numbers, words):
    with pytest.raises(InputError, match=words):
        as_pose(numbers)


def test_an_angle_past_a_turn_is_told_that_angles_are_in_radians():
    tree = load(arm()).tree
    with pytest.raises(InputError, match="90 at joint 'hinge' is past its limits -1 and 1; angles are in radians"):
        check_configuration.check(tree, [90.0])
    with pytest.raises(InputError, match=r"2 at joint 'hinge' is past its limits -1 and 1$"):
        check_configuration.check(tree, [2.0])
