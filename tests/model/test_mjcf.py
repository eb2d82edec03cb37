"""What the MJCF loader keeps: names, frames, shapes, motors, constraints, a home, gravity."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from multibody.geometry import Pose
from multibody.model.actuator import Actuator, Equality
from multibody.model.joints import Fixed, Floating, Prismatic, Revolute, Spherical
from multibody.model.load import load
from multibody.model.loaders import mjcf
from multibody.model.model import Model
from multibody.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Sphere

from .mjcf_texts import GENERATED, JOINTS

CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
TETRAHEDRON = "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS) + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def world(content: str, rest: str = "") -> str:
    return f"<mujoco>\n{rest}\n<worldbody>\n{content}\n</worldbody>\n</mujoco>"


def arm(rest: str = "", joint: str = "<joint name='j'/>") -> str:
    return world(f"<body name='arm'>{joint}<geom name='g' size='0.1'/></body>", rest)


def messages(model: Model, level: str | None = None) -> list[str]:
    return [d.message for d in model.diagnostics if level in (None, d.level)]


def test_kinds_of_joints_and_the_links_between_them() -> None:
    model = mjcf.read(JOINTS).model()
    assert model.name == "joints"
    kinds = {joint.name: type(joint.kind) for joint in model.joints}
    assert kinds == {
        "trunk_free": Floating,
        "hip": Revolute,
        "slide": Prismatic,
        "roll": Revolute,
        "pitch": Revolute,
        "shoulder": Spherical,
        "wrist": Spherical,
        "swing": Revolute,
        "spin": Revolute,
        "loose": Floating,
    }
    between = [link.name for link in model.links if link.name.startswith("foot")]
    assert between == ["foot_slide", "foot_roll", "foot_pitch", "foot"]
    assert all(model.link(name).inertia is None for name in between[:-1])
    assert isinstance(model.joint("foot_fixed").kind, Fixed)
    assert model.joint("spin").child == "spinner", "an axis through the origin needs no link of its own"
    assert [joint.name for joint in model.tree.bases] == ["trunk_free", "loose"]
    assert model.joint("trunk_free").placement == Pose.identity()


def test_parts_without_names_get_names_that_nothing_else_has() -> None:
    model = mjcf.read(GENERATED).model()
    assert len(set(model.frames)) == len(model.frames)
    assert {"body7", "body8", "body8_hinge", "body8_hinge_2", "body9", "body9_free"} <= {
        *model.frames,
        *(joint.name for joint in model.joints),
    }
    told = "\n".join(messages(model))
    for name in ("body7", "body8_hinge_2", "body9_site", "body9_site_2"):
        assert repr(name) in told


def test_a_site_with_the_name_of_a_body_is_renamed_and_told() -> None:
    text = world("<body name='a'><joint/><geom size='0.1'/><site name='a' pos='1 2 3'/></body>")
    model = mjcf.read(text).model()
    assert model.tree.frame("a_site")[1].position.tolist() == [1.0, 2.0, 3.0]
    assert any("'a_site'" in message for message in messages(model))


def test_shapes() -> None:
    text = world(
        """<geom type='plane' size='1 1 1'/>
        <body name='b'><freejoint/>
          <geom name='ball' size='0.1' rgba='1 0 0 0.5'/>
          <geom name='box' type='box' size='0.1 0.2 0.3' pos='1 2 3' material='blue'/>
          <geom name='pill' type='capsule' size='0.1 0.2' contype='0' conaffinity='0'/>
          <geom name='can' type='cylinder' size='0.1 0.2' group='3'/>
          <geom name='egg' type='ellipsoid' size='0.1 0.2 0.3'/>
        </body>""",
        "<asset><material name='blue' rgba='0 0 1 1'/></asset>",
    )
    model = mjcf.read(text).model()
    assert model.link("world").collisions[0].shape == Plane()
    visuals = {shape.name: shape for shape in model.link("b").visuals}
    collisions = {shape.name: shape for shape in model.link("b").collisions}
    assert set(visuals) == {"ball", "box", "pill", "egg"}
    assert set(collisions) == {"ball", "box", "can", "egg"}
    assert {name: shape.shape for name, shape in (visuals | collisions).items()} == {
        "ball": Sphere(0.1),
        "box": Box((0.2, 0.4, 0.6)),
        "pill": Capsule(0.1, 0.4),
        "can": Cylinder(0.1, 0.4),
        "egg": Ellipsoid((0.1, 0.2, 0.3)),
    }
    assert visuals["box"].pose.position.tolist() == [1.0, 2.0, 3.0]
    assert (visuals["ball"].color, visuals["box"].color) == ((1.0, 0.0, 0.0, 0.5), (0.0, 0.0, 1.0, 1.0))


@pytest.mark.parametrize(
    "mesh", ["scale='1 2 3' refpos='0.1 0.2 0.3'", "scale='2 2 2' refpos='0.1 0.2 0.3' refquat='1 2 3 4'"]
)
def test_the_triangles_of_a_mesh_are_where_mujoco_has_them(tmp_path: Path, mesh: str) -> None:
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "t.obj").write_text(TETRAHEDRON)
    assets = f"<compiler meshdir='meshes'/><asset><mesh name='m' file='t.obj' {mesh}/></asset>"
    text = world("<body name='b'><freejoint/><geom type='mesh' mesh='m' pos='1 0 0' euler='10 20 30'/></body>", assets)
    shape = mjcf.read(text, directory=tmp_path).model().link("b").visuals[0]
    assert isinstance(shape.shape, Mesh)
    assert (shape.shape.uri, shape.shape.path) == ("meshes/t.obj", tmp_path / "meshes" / "t.obj")

    (tmp_path / "model.xml").write_text(text)
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    data = mujoco.MjData(m)
    data.qpos[:] = [0, 0, 0, 1, 0, 0, 0]
    mujoco.mj_kinematics(m, data)
    theirs = m.mesh_vert @ data.geom_xmat[0].reshape(3, 3).T + data.geom_xpos[0]
    ours = shape.pose @ (CORNERS * shape.shape.scale)
    distances = np.linalg.norm(ours[:, None] - theirs, axis=-1)
    np.testing.assert_allclose(distances.min(axis=1), 0.0, atol=1e-6)  # MuJoCo keeps vertices in single precision


def test_motors() -> None:
    text = arm(
        """<actuator>
          <motor name='strong' joint='j' gear='5' armature='0.1' damping='0.01' ctrlrange='-2 2'/>
          <position joint='j' kp='3' forcerange='-1 4'/>
          <motor name='push' site='s'/>
        </actuator>""",
        "<joint name='j' damping='0.5'/><site name='s'/>",
    )
    model = mjcf.read(text).model()
    assert model.actuators == (
        Actuator("strong", "j", gear=5.0, rotor_inertia=0.1, effort=2.0),
        Actuator("j_motor", "j", gear=1.0, effort=4.0),
    )
    assert model.joint("j").passive.damping == pytest.approx(0.5 + 25 * 0.01)
    assert model.armature.tolist() == pytest.approx([2.5])
    told = "\n".join(messages(model))
    assert "control law" in told
    assert "'push' is ignored" in "\n".join(messages(model, "warning"))
    assert "the larger is taken" in told


def test_no_actuators_means_motors_everywhere_and_is_told() -> None:
    model = mjcf.read(arm()).model()
    assert model.actuators is None
    assert any("no actuators" in message for message in messages(model))


def test_constraints_are_kept_as_data() -> None:
    text = world(
        """<body name='a'><joint name='j'/><geom size='0.1'/><site name='s'/>
          <body name='b' pos='0 0 1'><joint name='k'/><geom size='0.1'/><site name='t'/></body></body>""",
        """<equality><connect name='pin' body1='a' body2='b' anchor='1 2 3'/><weld site1='s' site2='t' active='false'/>
        <joint joint1='j' joint2='k' polycoef='0 2 0 0 0'/><joint joint1='k'/></equality>""",
    )
    model = mjcf.read(text).model()
    pin, weld, couple, lock = model.equalities
    assert (pin.kind, pin.first, pin.second, pin.name) == ("connect", "a", "b", "pin")
    assert pin.data == (1.0, 2.0, 3.0, 1.0, 2.0, 2.0)
    assert (weld.kind, weld.first, weld.second, weld.active) == ("weld", "s", "t", False)
    assert couple == Equality("joint", "j", "k", (0.0, 2.0, 0.0, 0.0, 0.0))
    assert (lock.first, lock.second) == ("k", None)
    assert sum("dynamics does not hold it" in message for message in messages(model)) == 4


def test_home() -> None:
    first, home = "<key name='up' qpos='1'/>", "<key name='home' qpos='2'/>"
    assert mjcf.read(arm()).model().home is None
    assert mjcf.read(arm(joint="<joint ref='3' name='j'/>", rest="<compiler angle='radian'/>")).model().home == (3.0,)
    assert mjcf.read(arm(f"<keyframe>{first}</keyframe>")).model().home == (1.0,)
    model = mjcf.read(arm(f"<keyframe>{first}{home}</keyframe>")).model()
    assert model.home == (2.0,)
    assert any("2 keyframes" in message for message in messages(model))


def test_the_home_of_a_free_body_is_where_the_file_draws_it() -> None:
    model = mjcf.read(world("<body pos='1 2 3'><freejoint/><geom size='0.1'/></body>")).model()
    assert model.home == (1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0)


def test_a_base_added_to_a_robot_with_a_home_starts_at_the_origin() -> None:
    model = mjcf.read(arm("<keyframe><key qpos='1'/></keyframe>")).model(floating=True)
    assert model.home == (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


def test_gravity() -> None:
    assert mjcf.read(arm("<option gravity='1 2 3'/>")).model().gravity == (1.0, 2.0, 3.0)
    flag = "<option gravity='1 2 3'><flag gravity='disable'/></option>"
    assert mjcf.read(arm(flag)).model().gravity == (0.0, 0.0, 0.0)


def test_bodies_and_shapes_that_mujoco_would_drop_are_kept() -> None:
    text = world(
        "<body name='a'><joint/><geom size='0.1'/><body name='plate'><geom size='0.1' contype='0' conaffinity='0'/>"
        "</body></body>",
        "<compiler fusestatic='true' discardvisual='true'/>",
    )
    model = mjcf.read(text).model()
    assert "plate" in model.frames
    assert len(model.link("plate").visuals) == 1


def test_rounded_right_angles_are_snapped_and_told() -> None:
    text = arm("<compiler angle='radian'/>").replace("name='arm'", "name='arm' euler='0 1.57079632679 0'")
    exact, kept = mjcf.read(text).model(), mjcf.read(text, snap=0.0).model()
    assert exact.joint("j").placement.rotation.matrix.tolist() == [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
    assert 0 < abs(kept.joint("j").placement.rotation.matrix[0, 0]) < 1e-10
    assert any(d.code == "snapped" for d in exact.diagnostics)
    assert not any(d.code == "snapped" for d in kept.diagnostics)


def test_texts_in_other_encodings() -> None:
    text = "<?xml version='1.0' encoding='utf-16'?>\n" + arm().replace("arm", "bras_é")
    for source in (text, text.encode("utf-16")):
        assert "bras_é" in mjcf.read(source).model().frames


def test_the_door_to_all_formats(tmp_path: Path) -> None:
    (tmp_path / "robot.xml").write_text(JOINTS)
    assert load(tmp_path / "robot.xml", velocity="left") == mjcf.read(JOINTS).model(velocity="left")


def test_a_long_chain() -> None:
    links = 200
    text = world("<body pos='0 0 1'><joint/><geom size='0.1'/>" * links + "</body>" * links)
    assert mjcf.read(text).model().nv == links


def test_a_model_with_a_free_joint_gets_no_second_base() -> None:
    text = "<mujoco><worldbody><body name='b'><freejoint/><geom size='0.1'/></body></worldbody></mujoco>"
    assert load(text, floating=True) == load(text)
    assert load(text).nv == 6
