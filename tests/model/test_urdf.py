"""What a URDF file may say, and what the model makes of it."""

import io
import math
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from multibody.geometry import Pose, Rotation
from multibody.model import joints
from multibody.model.load import load
from multibody.model.loaders.snap import rotation_from_rpy
from multibody.model.model import Model
from multibody.model.shapes import Box, Capsule, Cylinder, Mesh, Sphere

from ..every_law import each_case
from .urdf_texts import INERTIAL, LIMIT, arm, joint, link, robot


def pose_of(model: Model, frame: str, q: list[float]) -> np.ndarray:
    """The homogeneous matrix of a frame in the world."""
    index, pose = model.tree.frame(frame)
    W_H = np.eye(4)
    for i in model.tree.support(index):
        W_H = W_H @ model.bodies[i - 1].joint.pose(np.array(q)).matrix
    return W_H @ pose.matrix


# ---- sources ---------------------------------------------------------------------------------------------------------


def test_a_path_a_file_and_a_text_give_the_same_model(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(arm())
    expected = load(path)
    assert expected.nv == 1
    assert load(str(path)) == load(arm()) == load(arm().encode()) == load(io.StringIO(arm())) == expected
    assert load(io.BytesIO(arm().encode())) == expected
    with path.open() as text, path.open("rb") as binary:
        assert load(text) == load(binary) == expected
    path.rename(path.with_suffix(".xml"))
    assert load(path.with_suffix(".xml")) == expected


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "iso-8859-1"])
def test_encodings(encoding: str, tmp_path: Path) -> None:
    declared = {"utf-16-le": "utf-16", "utf-16-be": "utf-16", "utf-8-sig": "utf-8"}.get(encoding, encoding)
    text = f'<?xml version="1.0" encoding="{declared}"?>\n' + robot(link("förarm"), name="Å")
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    path = tmp_path / "r.urdf"
    path.write_bytes(mark + text.encode(encoding))
    model = load(path)
    assert (model.name, model.frames) == ("Å", ("förarm",))
    assert load(text) == model  # characters are characters, whatever the text says of its encoding


def test_a_text_with_a_byte_order_mark() -> None:
    assert load("\ufeff" + arm()) == load(arm())


def test_mjcf_is_known_by_its_root() -> None:
    text = '<mujoco model="m"><worldbody><body><joint name="j"/><geom size="1"/></body></worldbody></mujoco>'
    assert [joint.name for joint in load(text).joints] == ["j"]


def test_unicode_names() -> None:
    model = load(robot(link("基座"), link("Ω"), joint("关节 🤖", "基座", "Ω")))
    assert model.joints[0].name == "关节 🤖"


def test_a_name_of_the_library_is_not_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scara").write_text(arm())
    assert load("scara").name == "scara"
    assert load("./scara").name == "r"


def test_namespaces_comments_and_instructions_are_no_matter() -> None:
    text = "<?tool x?><!-- a robot -->" + arm().replace("<robot ", '<robot xmlns="http://www.ros.org" ')
    assert load(text.replace("<link", "<!-- a link --><link")) == load(arm())


# ---- joints ----------------------------------------------------------------------------------------------------------


@each_case(
    "kind, expected",
    [
        ("revolute", joints.Revolute((0.6, 0.0, 0.8))),
        ("continuous", joints.Continuous((0.6, 0.0, 0.8))),
        ("prismatic", joints.Prismatic((0.6, 0.0, 0.8))),
        ("floating", joints.Floating()),
        ("fixed", joints.Fixed()),
    ],
)
def test_kinds_of_joints(kind: str, expected: joints.Kind) -> None:
    model = load(arm('<axis xyz="0.6 0 0.8"/>' + LIMIT, kind=kind))
    made = model.joint("hinge")
    assert made.kind == expected
    assert made.placement == Pose(Rotation.identity(), [0.0, 0.0, 1.0])
    assert model.nv == expected.nv


def test_limits_and_dynamics() -> None:
    made = load(arm(LIMIT + '<axis xyz="1 0 0"/><dynamics damping="0.5" friction="0.25"/>')).joints[0]
    assert (made.limits.lower, made.limits.upper, made.limits.velocity, made.limits.effort) == ((-1,), (1,), (2,), (3,))
    assert (made.passive.damping, made.passive.friction) == (0.5, 0.25)
    free = load(arm('<axis xyz="1 0 0"/><limit lower="-inf" upper="INF" velocity="1e3" effort="+inf"/>')).joints[0]
    assert (free.limits.lower, free.limits.upper, free.limits.effort) == ((-math.inf,), (math.inf,), (math.inf,))
    turning = load(arm('<axis xyz="1 0 0"/>', kind="continuous"))
    assert turning.joints[0].limits.upper == (math.inf,)
    assert {d.code for d in turning.diagnostics} == {"fixed"}
    turning = load(arm('<axis xyz="1 0 0"/>' + LIMIT, kind="continuous"))
    assert (turning.joints[0].limits.upper, turning.joints[0].limits.effort) == ((math.inf,), (3,))


def test_mimic() -> None:
    text = robot(
        *(link(name) for name in "abc"),
        joint(
            "follower",
            "a",
            "b",
            content=LIMIT + '<axis xyz="0 0 1"/><mimic joint="leader" multiplier="-2" offset="1"/>',
        ),
        joint("leader", "b", "c"),
    )
    model = load(text)
    assert (model.nq, model.nv) == (1, 1)
    np.testing.assert_allclose(model.joint("follower").coordinates(np.array([0.3])), [0.4])
    assert load(text, mimic="independent").nv == 2


@each_case("normal", [(0, 0, 1), (1, 0, 0), (0, -1, 0), (0, 0, -1), (1, 2, -2)])
def test_a_planar_joint_moves_across_its_axis(normal: tuple[float, float, float]) -> None:
    axis = " ".join(map(str, normal))
    model = load(arm(f'<axis xyz="{axis}"/>', kind="planar"))
    assert model.nv == 3
    n = np.array(normal) / np.linalg.norm(normal)
    rest = pose_of(model, "rod", [0, 0, 0])
    np.testing.assert_allclose(rest, Pose(Rotation.identity(), [0.0, 0.0, 1.0]).matrix, atol=1e-15)
    x = pose_of(model, "rod", [1, 0, 0])[:3, 3] - rest[:3, 3]
    y = pose_of(model, "rod", [0, 1, 0])[:3, 3] - rest[:3, 3]
    np.testing.assert_allclose(np.cross(x, y), n, atol=1e-15)
    turned = pose_of(model, "rod", [0, 0, 0.3])
    np.testing.assert_allclose(turned[:3, :3], Rotation.from_angle_axis(0.3, n).matrix, atol=1e-15)
    np.testing.assert_allclose(turned[:3, 3], rest[:3, 3], atol=1e-15)


def test_planar_and_floating_joints_are_those_of_pinocchio() -> None:
    text = robot(
        *(link(name) for name in "abc"),
        joint("slide", "a", "b", kind="planar", content='<axis xyz="0 0 1"/>'),
        joint("free", "b", "c", kind="floating", content=""),
    )
    model, theirs = load(text), pin.buildModelFromXML(text)
    data = theirs.createData()
    quaternion = np.array([0.5, -0.1, 0.7, 0.5]) / np.linalg.norm([0.5, -0.1, 0.7, 0.5])
    q = [0.1, 0.2, 0.7, 1.0, 2.0, 3.0, *quaternion]
    pin.forwardKinematics(
        theirs, data, np.array([0.1, 0.2, math.cos(0.7), math.sin(0.7), 1, 2, 3, *quaternion[1:], quaternion[0]])
    )
    np.testing.assert_allclose(pose_of(model, "c", q), data.oMi[theirs.getJointId("free")].homogeneous, atol=1e-14)


def test_floating_base_gravity_and_velocity() -> None:
    model = load(arm(), floating=True, velocity="mixed", gravity=(0, 0, -1.62))
    assert (model.nq, model.nv, model.velocity, model.gravity) == (8, 7, "mixed", (0, 0, -1.62))
    assert load(arm()).gravity == (0, 0, -9.81)


# ---- places ----------------------------------------------------------------------------------------------------------


def test_roll_pitch_yaw_are_those_of_pinocchio() -> None:
    rng = np.random.default_rng(0)
    for angles in rng.uniform(-7, 7, (20, 3)):
        rotation, changed = rotation_from_rpy(angles, 0.0)
        assert not changed
        np.testing.assert_allclose(rotation.matrix, pin.rpy.rpyToMatrix(*angles), atol=1e-15)


@pytest.mark.parametrize(
    ("text", "zeros"),
    [
        ("1.57079632679 0 0", 6),
        ("3.14159265359 -1.57079632679 0.5", 4),
        ("0.3 1.570796326795 -0.2", 4),
        ("1.57079632679 0.3 0.4", 1),
    ],
)
def test_rounded_right_angles_are_made_exact(text: str, zeros: int) -> None:
    angles = tuple(map(float, text.split()))
    rotation, changed = rotation_from_rpy(angles, 1e-10)
    matrix = rotation.matrix
    assert changed
    assert (matrix == 0).sum() == zeros
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(matrix, pin.rpy.rpyToMatrix(*angles), atol=2e-10)
    assert (matrix == 0).sum() > (rotation_from_rpy(angles, 0.0)[0].matrix == 0).sum()


def test_snapping_never_leaves_the_rotations() -> None:
    for angle in np.logspace(-12, -3, 60):
        for rpy in ((angle, 0.0, 0.0), (0.4, angle, 0.0), (angle, 0.4, -angle)):
            matrix = rotation_from_rpy(rpy, 1e-10)[0].matrix
            np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=2e-15)


def test_inertia_is_turned_into_the_frame_of_the_link() -> None:
    content = (
        '<inertial><origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><mass value="2"/>'
        '<inertia ixx="0.3" ixy="0.01" ixz="0.02" iyy="0.4" iyz="0.03" izz="0.5"/></inertial>'
    )
    model = load(robot(link("a", content)), floating=True)
    theirs = pin.buildModelFromXML(robot(link("a", content)), pin.JointModelFreeFlyer())
    np.testing.assert_allclose(model.bodies[0].inertia.matrix, theirs.inertias[1].matrix(), atol=1e-15)


# ---- shapes ----------------------------------------------------------------------------------------------------------


def test_shapes_and_materials() -> None:
    content = INERTIAL + "".join(
        f'<{what}><origin xyz="0 0 {k}"/><geometry>{shape}</geometry>{material}</{what}>'
        for k, (what, shape, material) in enumerate(
            (
                ("visual", '<box size="1 2 3"/>', '<material name="red"/>'),
                (
                    "visual",
                    '<cylinder radius="1" length="2"/>',
                    '<material name="own"><color rgba="0 0 1 1"/></material>',
                ),
                ("visual", '<sphere radius="1"/>', '<material name="own"/>'),
                ("collision", '<capsule radius="1" length="2"/>', ""),
                ("collision", '<mesh filename="a.dae" scale="1 -1 1"/>', ""),
            )
        )
    )
    model = load(robot('<material name="red"><color rgba="1 0 0 1"/></material>', link("a", content)))
    box, cylinder, sphere = model.link("a").visuals
    assert (box.shape, cylinder.shape, sphere.shape) == (Box([1, 2, 3]), Cylinder(1, 2), Sphere(1))
    assert (box.color, cylinder.color, sphere.color) == ((1, 0, 0, 1), (0, 0, 1, 1), (0, 0, 1, 1))
    assert cylinder.pose.position.tolist() == [0, 0, 1]
    capsule, mesh = model.link("a").collisions
    assert capsule.shape == Capsule(1, 2)
    assert mesh.shape == Mesh("a.dae", None, (1, -1, 1))
