"""MJCF files that are wrong, refer to what they may not, or say what a robot does not keep."""

import re
import sys
from pathlib import Path

import pytest

from multibody.errors import MissingPackageError, RobotFileError
from multibody.model.loaders import mjcf
from multibody.model.model import Model

from ..every_law import each_case
from .test_mjcf import TETRAHEDRON, arm, messages, world

BODY = "<body name='a'>\n{}\n<geom size='0.1'/></body>"


@each_case(
    "text, line, said",
    [
        ("", 1, "empty"),
        ("<mujoco><worldbody>", 1, "well-formed"),
        ("\x01\x02", 1, "well-formed"),
        ("<robot name='r'/>", 1, "<mujoco>"),
        ("<!DOCTYPE mujoco [<!ENTITY a 'b'>]><mujoco model='&a;'/>", 1, "DOCTYPE"),
        (world("<body>" * 100_000), 4, "nested|depth"),
        (world("<bdy/>"), 4, "unrecognized element"),
        (world("<body fall='1'/>"), 4, "unrecognized attribute"),
        (world(BODY.format("<joint axis='0 0 0'/>")), 5, "axis"),
        (world(BODY.format("<joint pos='1 2'/>")), 5, "enough data"),
        (world(BODY.format("<joint pos='1,5 0 0'/>")), 5, "bad format"),
        (world(BODY.format("<joint pos='1e400 0 0'/>")), 5, "too large"),
        (world(BODY.format("<joint pos='0 nan 0'/>")), 5, "finite numbers, got '0 nan 0'"),
        (world(BODY.format("<joint pos='0 inf 0'/>")), 5, "finite numbers"),
        (world(BODY.format("<joint range='2 1'/>")), 5, "lower number first, got"),
        (world(BODY.format("<joint limited='true' range='2 1'/>")), 5, "range"),
        (world(BODY.format("<joint damping='inf'/>")), 5, "finite numbers, got inf"),
        (world(BODY.format("<joint armature='-1'/>")), 5, "not negative, got -1"),
        (arm("<actuator><motor joint='j' forcerange='1 -1'/></actuator>"), 2, "lower number first, got 1 -1"),
        (world(BODY.format("<joint name='j'/><joint name='j' axis='1 0 0'/>")), 5, "repeated name 'j'"),
        (world(BODY.format("<joint/><inertial pos='0 0 0' mass='-1' diaginertia='1 1 1'/>")), 4, "mass"),
        (world(BODY.format("<joint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 5'/>")), 4, r"A \+ B >= C"),
        (world(BODY.format("<joint/><body><freejoint/><geom size='1'/></body>")), 5, "free joint"),
        (world("<body name='a'><joint/></body>"), 4, "mass and inertia"),
        (world("<geom size='-1'/>"), 4, "size"),
        (world("<include file='other.xml'/>"), 4, "not found"),
        (world("<flexcomp name='f' type='mesh' file='../../soft.obj'/>"), 4, "refused"),
        (arm("<include file='/etc/hostname'/>"), 2, "refused|not found"),
    ],
)
def test_bad_texts(text: str, line: int | None, said: str) -> None:
    with pytest.raises(RobotFileError, match=said) as caught:
        mjcf.read(text, file="robot.xml")
    assert caught.value.file == "robot.xml"
    assert caught.value.line == line


def test_an_error_in_an_included_file_is_told_there(tmp_path: Path) -> None:
    (tmp_path / "part.xml").write_text(
        "<mujoco>\n\n<worldbody>\n<body>\n<joint axis='0 0 0'/><geom size='1'/></body></worldbody></mujoco>"
    )
    with pytest.raises(RobotFileError, match="axis") as caught:
        mjcf.read("<mujoco>\n<include file='part.xml'/></mujoco>", file="robot.xml", directory=tmp_path)
    assert (Path(caught.value.file or "").name, caught.value.line) == ("part.xml", 5)


def test_includes_are_looked_for_as_mujoco_does(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    body = "<mujoco><worldbody><body name='{}'/></worldbody>{}</mujoco>"
    (tmp_path / "sub" / "a.xml").write_text(body.format("a", "<include file='b.xml'/>"))
    (tmp_path / "sub" / "b.xml").write_text(body.format("beside", ""))
    text = "<mujoco><include file='sub/a.xml'/></mujoco>"
    assert mjcf.read(text, directory=tmp_path).model().frames == ("world", "a", "beside")
    (tmp_path / "b.xml").write_text(body.format("above", ""))
    assert mjcf.read(text, directory=tmp_path).model().frames == ("world", "a", "above")


def test_a_file_that_includes_itself(tmp_path: Path) -> None:
    text = "<mujoco><include file='self.xml'/></mujoco>"
    (tmp_path / "self.xml").write_text(text)
    with pytest.raises(RobotFileError, match="twice"):
        mjcf.read(text, directory=tmp_path)


def test_models_that_are_attached(tmp_path: Path) -> None:
    (tmp_path / "t.obj").write_text(TETRAHEDRON)
    (tmp_path / "hand.xml").write_text(
        "<mujoco><asset><mesh file='t.obj'/></asset><worldbody><body name='palm'><joint name='j'/>"
        "<geom type='mesh' mesh='t'/></body></worldbody></mujoco>"
    )
    text = world(
        "<body name='arm'><freejoint/><geom size='0.1'/><attach model='hand' body='palm' prefix='left_'/>"
        "<attach model='hand' body='palm' prefix='right_'/></body>",
        "<asset><model name='hand' file='hand.xml'/></asset>",
    )
    model = mjcf.read(text, directory=tmp_path).model()
    assert model.frames == ("world", "arm", "left_palm", "right_palm")
    assert [joint.name for joint in model.joints] == ["arm_free", "left_j", "right_j"]
    assert model.link("right_palm").visuals[0].shape.path == tmp_path / "t.obj"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "rest",
    [
        "<include file='../../secret.xml'/>",
        "<asset><model name='m' file='../../secret.xml'/></asset>",
    ],
)
def test_files_outside_of_the_directory_are_refused_unless_trusted(tmp_path: Path, rest: str) -> None:
    home = tmp_path / "a" / "home"
    home.mkdir(parents=True)
    (tmp_path / "secret.xml").write_text("<mujoco/>")
    with pytest.raises(RobotFileError, match="trust_paths") as caught:
        mjcf.read(arm(rest), directory=home)
    assert caught.value.line == 2
    for allowed in ({"trust_paths": True}, {"roots": [tmp_path]}):
        assert mjcf.read(arm(rest), directory=home, **allowed).model().nv == 1  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "rest",
    [
        "<asset><mesh file='../../secret.obj'/></asset>",
        "<compiler meshdir='../..'/><asset><mesh file='secret.obj'/></asset>",
    ],
)
def test_meshes_outside_of_the_directory_are_left_out_unless_trusted(tmp_path: Path, rest: str) -> None:
    home = tmp_path / "a" / "home"
    home.mkdir(parents=True)
    (tmp_path / "secret.obj").write_text("not to be opened")
    model = mjcf.read(arm(rest), directory=home).model()
    (warning,) = [d for d in model.diagnostics if d.code == "mesh"]
    assert "trust_paths" in warning.message
    assert warning.line == 2
    (tmp_path / "secret.obj").write_text(TETRAHEDRON)
    for allowed in ({"trust_paths": True}, {"roots": [tmp_path]}):
        trusted = mjcf.read(arm(rest), directory=home, **allowed).model()  # type: ignore[arg-type]
        assert not any(d.code == "mesh" for d in trusted.diagnostics)


def test_a_missing_mesh_is_told_and_the_robot_is_kept(tmp_path: Path) -> None:
    text = world(
        "<body name='b'><joint name='j'/><geom size='0.1'/><geom type='mesh' mesh='no'/></body>",
        "<asset>\n<mesh file='no.stl'/></asset>",
    )
    model = mjcf.read(text, directory=tmp_path).model()
    assert [len(model.link("b").visuals), model.nv] == [1, 1]
    (warning,) = (d for d in model.diagnostics if d.code == "mesh")
    assert (warning.level, warning.line) == ("warning", 3)
    with pytest.raises(RobotFileError, match=r"'no\.stl' is not found") as caught:
        mjcf.read(text, directory=tmp_path, strict=True)
    assert caught.value.line == 3


def test_paths_that_mujoco_is_told_to_strip(tmp_path: Path) -> None:
    (tmp_path / "t.obj").write_text(TETRAHEDRON)
    assets = "<compiler strippath='true'/><asset><mesh file='/far/away/t.obj'/></asset>"
    text = world("<body name='b'><joint/><geom type='mesh' mesh='t'/></body>", assets)
    assert len(mjcf.read(text, directory=tmp_path).model().link("b").visuals) == 1


def test_a_mesh_that_lies_about_its_triangles(tmp_path: Path) -> None:
    (tmp_path / "m.stl").write_bytes(b"\0" * 80 + (1_000_000).to_bytes(4, "little") + b"\0" * 100)
    model = mjcf.read(arm("<asset><mesh file='m.stl'/></asset>"), directory=tmp_path).model()
    (warning,) = [d for d in model.diagnostics if d.code == "mesh"]
    assert "triangles" in warning.message


def test_textures_skins_and_height_fields_are_not_opened() -> None:
    text = world(
        "<geom type='hfield' hfield='h'/><geom size='1' material='m'/>",
        "<asset><texture name='t' type='2d' file='no.png'/><material name='m' texture='t' rgba='1 0 0 1'/>"
        "<hfield name='h' file='no.png' size='1 1 1 1'/></asset>",
    )
    model = mjcf.read(text).model()
    assert len(model.link("world").visuals) == 1
    told = "\n".join(messages(model))
    assert "textures" in told
    assert "height field 'h'" in told


@each_case(
    "text, level, line, said",
    [
        (arm("<tendon><fixed><joint joint='j' coef='1'/></fixed></tendon>"), "warning", 2, "tendons"),
        (arm("<contact><exclude body1='arm' body2='world'/></contact>"), "note", 2, "may touch"),
        (arm("<sensor><jointpos joint='j'/></sensor>"), "note", 2, "sensors"),
        (arm("<custom><numeric name='n' data='1'/></custom>"), "note", 2, "users"),
        (arm("<option timestep='0.01'/>"), "note", 2, "options"),
        (arm("<visual/>"), "note", 2, "visual"),
        (arm("<statistic extent='1'/>"), "note", 2, "statistic"),
        (arm("<option density='1000'/>"), "warning", None, "fluid"),
        (world("<light/><camera/>"), "note", 4, "lights"),
        (world("<light/><camera/>"), "note", 4, "cameras"),
        (world("<body name='m' mocap='true'/>"), "warning", 4, "mocap body 'm'"),
        (arm(joint="<joint name='j' solreflimit='0.1 1'/>"), "note", 4, "solver"),
        (arm(joint="<joint name='j' type='ball' range='0 1'/>"), "warning", 4, "ball joint 'j'"),
        (arm(joint="<joint name='j' damping='1 2'/>"), "warning", 4, "linear"),
        (arm(joint="<joint name='j' actuatorfrcrange='-1 2'/>"), "note", 4, "larger"),
        (arm().replace("name='arm'", "gravcomp='1' name='arm'"), "warning", 4, "gravcomp"),
        (arm("<compiler settotalmass='2'/>"), "warning", None, "MuJoCo says: .*settotalmass"),
    ],
)
def test_what_is_not_kept_is_told(text: str, level: str, line: int | None, said: str) -> None:
    model: Model = mjcf.read(text, file="robot.xml").model()
    diagnostics = [d for d in model.diagnostics if re.search(said, d.message)]
    assert [(d.level, d.file, d.line) for d in diagnostics] == [(level, "robot.xml", line)]
    if level == "warning":
        with pytest.raises(RobotFileError, match=said):
            mjcf.read(text, strict=True)


def test_mujoco_writes_no_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    mjcf.read(arm("<compiler settotalmass='2'/>"))
    with pytest.raises(RobotFileError):
        mjcf.read(arm("<option wind='nan 0 0'/>"))
    model = mjcf.read(arm("<option wind='nan(1) 0 0'/>")).model()  # MuJoCo reads what Python does not
    assert any("NaN" in message for message in messages(model, "warning"))
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


def test_without_mujoco_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingPackageError, match=r"-m pip install .*\[mjcf\]"):
        mjcf.read(arm())
