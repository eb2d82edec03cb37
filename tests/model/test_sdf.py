"""SDF files: the same robots as otherwise, closed forms for each type of joint, what is refused and where."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import multibody as mb
from multibody.errors import RobotFileError
from multibody.model.joints import Floating
from multibody.model.shapes import Box, Mesh, Sphere

from .sdf_text import sdf
from .test_urdf_spoilt import problem

INERTIAL = "<inertial><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>"
TWO = f'<link name="a">{INERTIAL}</link><link name="b"><pose>0.5 0 0 0 0 0</pose>{INERTIAL}</link>'


def model(inside: str, version: str = "1.9", attributes: str = "") -> str:
    return f'<sdf version="{version}"><model name="m"{attributes}>{inside}</model></sdf>'


def joint(kind: str, inside: str = "", parent: str = "a") -> str:
    return f'<joint name="j" type="{kind}"><parent>{parent}</parent><child>b</child>{inside}</joint>'


def near(a, b, tolerance=1e-12):
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", ["panda", "quadruped", "scara", "planar-arm"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_robot_however_its_poses_and_axes_are_said(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ours = mb.Robot(mb.load(name).model.with_(actuators=None))  # rotors are not in the format
    floats = any(isinstance(each.kind, Floating) for each in ours.joints)
    read = mb.load(sdf(ours.model, rng), floating=floats)
    assert (read.nq, read.nv) == (ours.nq, ours.nv)
    q, v, a = ours.random(rng), rng.normal(size=ours.nv), rng.normal(size=ours.nv)
    armature = np.concatenate([np.full(each.nv, each.passive.armature) for each in ours.joints])  # not in the format
    with mb.eager():
        near(read.mass_matrix(q), ours.mass_matrix(q) - np.diag(armature), 1e-9)
        near(read.inverse_dynamics(q, v, a), ours.inverse_dynamics(q, v, a) - armature * a, 1e-8)
        near(read.passive(q, v), ours.passive(q, v), 1e-9)
        poses = read.poses(q)
        for link in ours.model.links:
            near(poses[link.name].matrix, ours.pose(link.name, q).matrix, 1e-9)
    for limit in ("lower", "upper", "velocity", "effort"):
        near(*(np.nan_to_num(getattr(each.limits, limit), posinf=9e9, neginf=-9e9) for each in (read, ours)))


def child_at(inside: str, q: list[float], version: str = "1.9") -> np.ndarray:
    robot = mb.load(model(TWO + inside, version), floating=False)
    with mb.eager():
        return robot.pose("b", np.array(q)).matrix


def turned(axis, angle: float, about=(0.0, 0.0, 0.0), start=(0.5, 0.0, 0.0)) -> np.ndarray:
    """Where a frame that starts at a place is, turned about an axis through a point."""
    R, about = mb.Rotation.from_angle_axis(angle, np.array(axis) / np.linalg.norm(axis)).matrix, np.array(about)
    H = np.eye(4)
    H[:3, :3], H[:3, 3] = R, R @ (np.array(start) - about) + about
    return H


def test_a_hinge_turns_about_the_origin_of_its_own_frame_which_may_be_off_the_childs() -> None:
    near(child_at(joint("revolute", "<axis><xyz>0 1 0</xyz></axis>"), [0.3]), turned([0, 1, 0], 0.3, about=(0.5, 0, 0)))
    moved = "<pose>-0.2 0.1 0 0 0 1.5707963267948966</pose><axis><xyz>1 0 0</xyz></axis>"  # its x is the model's y
    near(child_at(joint("revolute", moved), [0.3]), turned([0, 1, 0], 0.3, about=(0.3, 0.1, 0)))
    by_name = '<pose relative_to="a">0.1 0 0 0 0 0</pose><axis><xyz>0 0 1</xyz></axis>'
    near(child_at(joint("continuous", by_name), [0.3]), turned([0, 0, 1], 0.3, about=(0.1, 0, 0)))


def test_axes_of_old_versions_are_along_the_model() -> None:
    inside = "<pose>0 0 0 0 0 1.5707963267948966</pose><axis><xyz>1 0 0</xyz>{}</axis>"
    near(child_at(joint("revolute", inside.format("")), [0.3]), turned([0, 1, 0], 0.3, about=(0.5, 0, 0)))
    near(child_at(joint("revolute", inside.format("")), [0.3], "1.4"), turned([1, 0, 0], 0.3, about=(0.5, 0, 0)))
    stated = inside.format("<use_parent_model_frame>true</use_parent_model_frame>")
    near(child_at(joint("revolute", stated), [0.3], "1.5"), turned([1, 0, 0], 0.3, about=(0.5, 0, 0)))


def test_sliders_screws_balls_and_cardan_joints() -> None:
    slid = np.eye(4)
    slid[:3, 3] = [0.5, 0.0, 0.4]
    near(child_at(joint("prismatic", "<axis><xyz>0 0 2</xyz></axis>"), [0.4]), slid)
    screw = "<axis><xyz>1 0 0</xyz></axis><screw_thread_pitch>0.01</screw_thread_pitch>"
    whole = np.eye(4)
    whole[0, 3] = 0.51
    near(child_at(joint("screw", screw), [2 * np.pi]), whole)
    older = f"<axis><xyz>1 0 0</xyz></axis><thread_pitch>{-2 * np.pi / 0.01}</thread_pitch>"
    near(child_at(joint("screw", older), [2 * np.pi]), whole)
    quaternion = mb.Rotation.from_euler("zyx", [0.1, 0.2, 0.3])
    near(child_at(joint("ball"), quaternion.quaternion.tolist())[:3, :3], quaternion.matrix)
    cardan = "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>"
    near(
        child_at(joint("universal", cardan), [0.3, 0.4])[:3, :3], mb.Rotation.from_euler("xyz", [0.3, 0.4, 0.0]).matrix
    )
    near(child_at(joint("fixed", "<pose>9 9 9 1 1 1</pose>"), []), turned([0, 0, 1], 0.0))


def test_a_model_is_free_unless_it_is_static_or_held_and_starts_where_its_pose_puts_it() -> None:
    inside = "<pose>1 2 3 0 0 1.5707963267948966</pose>" + TWO + joint("fixed")
    free = mb.load(model(inside))
    assert free.nv == 6
    near(free.home()[:3], [1, 2, 3])
    with mb.eager():
        near(free.pose("b", free.home()).position, [1, 2.5, 3])
        for text, options in (
            (inside, {"floating": False}),
            (inside + "<static>true</static>", {}),
            (inside + '<joint name="w" type="fixed"><parent>world</parent><child>a</child></joint>', {}),
        ):
            held = mb.load(model(text), **options)
            assert held.nv == 0
            near(held.pose("b", np.zeros(0)).position, [1, 2.5, 3])
    slider = (
        '<joint name="w" type="prismatic"><parent>world</parent><child>a</child><axis><xyz>1 0 0</xyz></axis></joint>'
    )
    cart = mb.load(model(inside + slider))
    with mb.eager():
        near(cart.pose("b", np.array([0.5])).position, [1, 3, 3])
    with pytest.raises(mb.InputError, match="cannot float"):
        mb.load(model(inside + slider), floating=True)


def test_frames_limits_springs_shapes_and_what_is_assumed() -> None:
    shapes = """<visual name="seen"><pose>0 0 1 0 0 0</pose><geometry><box><size>1 2 3</size></box></geometry>
      <material><diffuse>1 0 0 1</diffuse></material></visual>
      <collision name="felt"><geometry><sphere><radius>0.2</radius></sphere></geometry></collision>
      <collision name="far"><geometry><mesh><uri>model://m/a.stl</uri></mesh></geometry></collision>"""
    inside = f"""<link name="a">{INERTIAL}{shapes}</link><link name="b"/>
      <frame name="tool" attached_to="b"><pose>0 0 0.1 0 0 0</pose></frame>
      <frame name="on-it" attached_to="tool"/><plugin name="p" filename="f"/>"""
    axis = """<axis><xyz>0 0 1</xyz>
      <limit><lower>-1</lower><upper>2</upper><effort>-1</effort><velocity>3</velocity></limit><dynamics>
      <damping>0.5</damping><spring_stiffness>4</spring_stiffness><spring_reference>0.2</spring_reference></dynamics>
      </axis>"""
    with pytest.warns(mb.RobotFileWarning):
        robot = mb.load(model(inside + joint("revolute", axis)), floating=False)
    hinge = robot.joint("j")
    assert (hinge.limits.lower, hinge.limits.upper) == ((-1.0,), (2.0,))
    assert (hinge.limits.velocity, hinge.limits.effort) == ((3.0,), (np.inf,))
    with mb.eager():
        near(robot.passive([0.5], [2.0]), [-4 * 0.3 - 0.5 * 2.0])
        near(robot.pose("on-it", [0.0]).position, [0, 0, 0.1])
        near(robot.mass_matrix([0.0]), [[1.0]])  # a link without <inertial>
    (seen,), (felt, far) = robot.model.links[0].visuals, robot.model.links[0].collisions
    assert (seen.shape, seen.color) == (Box((1, 2, 3)), (1.0, 0.0, 0.0, 1.0))
    assert felt.shape == Sphere(0.2)
    assert isinstance(far.shape, Mesh)
    told = {(d.level, d.code) for d in robot.diagnostics}
    assert {("warning", "assumed"), ("warning", "mesh"), ("note", "ignored")} <= told


def test_a_joint_follows_another() -> None:
    third = f'<link name="c">{INERTIAL}</link>'
    follower = """<joint name="k" type="revolute"><parent>b</parent><child>c</child><axis><xyz>0 0 1</xyz>
      <mimic joint="j"><multiplier>2</multiplier><reference>0.1</reference><offset>0.3</offset></mimic></axis>
      </joint>"""
    text = model(TWO + third + joint("revolute", "<axis/>") + follower)
    robot = mb.load(text, floating=False)
    assert robot.nv == 1
    with mb.eager():
        angle = 0.4 + 2 * (0.4 - 0.1) + 0.3
        near(robot.pose("c", [0.4]).rotation.matrix, mb.Rotation.from_angle_axis(angle, [0, 0, 1]).matrix)
    assert mb.load(text, floating=False, mimic="independent").nv == 2


BAD = {
    "no version": ("<sdf>\n</sdf>", 1, "expected the attribute 'version'"),
    "no model": ('<sdf version="1.9">\n</sdf>', 1, "expected one <model>"),
    "two models": ('<sdf version="1.9"><model name="a"/>\n<model name="b"/></sdf>', 2, "expected one <model>"),
    "a world": ('<sdf version="1.9">\n<world name="w"/></sdf>', 2, "<world> is not read"),
    "nested": (model(TWO + '\n<model name="n"/>'), 2, "nested models are not read yet"),
    "include": (model(TWO + "\n<include/>"), 2, "nested models are not read yet"),
    "nested name": (model('<link name="a">\n<pose relative_to="x::y">0 0 0 0 0 0</pose></link>'), 1, "nested model"),
    "no links": (model(""), 1, "expected a model with links"),
    "unknown frame": (model('\n<link name="a"><pose relative_to="x">0 0 0 0 0 0</pose></link>'), 2, "named 'x'"),
    "circle": (
        model('<link name="a"><pose relative_to="b"/></link>\n<link name="b"><pose relative_to="a"/></link>'),
        1,
        "relative to itself",
    ),
    "twice": (model('<link name="a"/>\n<frame name="a"/>'), 2, "the name 'a' is taken by an element on line 1"),
    "type": (model(TWO + "\n" + joint("revolute2")), 2, "expected one of fixed, ball"),
    "no axis": (model(TWO + "\n" + joint("revolute")), 2, "expected the element <axis>"),
    "zero axis": (model(TWO + joint("revolute", "\n<axis><xyz>0 0 0</xyz></axis>")), 2, "not zero"),
    "parallel": (model(TWO + "\n" + joint("universal", "<axis/><axis2/>")), 2, "not parallel"),
    "pose": (model('<link name="a">\n<pose>0 0 0</pose></link>'), 2, "expected 6 numbers"),
    "words": (model('<link name="a">\n<pose>0 0 0 0 0 x</pose></link>'), 2, "expected finite numbers"),
    "child world": (
        model(TWO + '<joint name="w" type="fixed"><parent>a</parent>\n<child>world</child></joint>'),
        2,
        "got the world",
    ),
    "no child": (
        model(TWO + '\n<joint name="w" type="fixed"><parent>a</parent></joint>'),
        2,
        "expected the element <child>",
    ),
    "to itself": (
        model(TWO + '\n<joint name="w" type="fixed"><parent>b</parent><child>b</child></joint>'),
        2,
        "same link",
    ),
    "limits": (
        model(TWO + joint("revolute", "<axis>\n<limit><lower>1</lower><upper>0</upper></limit></axis>")),
        2,
        "expected lower <= upper",
    ),
    "mass": (model('<link name="a"><inertial>\n<mass>-1</mass></inertial></link>'), 2, "expected a mass"),
    "auto": (model('<link name="a">\n<inertial auto="true"/></link>'), 2, "inertias from shapes"),
    "two parents": (
        model(
            TWO
            + joint("prismatic", "<axis/>")
            + '\n<joint name="k" type="prismatic"><parent>a</parent><child>b</child><axis/></joint>'
        ),
        2,
        "no constraint stands for a prismatic joint",
    ),
    "shape": (model('<link name="a"><visual name="v"><geometry>\n<box/></geometry></visual></link>'), 2, "<size>"),
}


@pytest.mark.filterwarnings("ignore::multibody.errors.RobotFileWarning")
@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_with_their_line(case: str) -> None:
    text, line, message = BAD[case]
    with pytest.raises(RobotFileError, match=re.escape(message)) as refused:
        mb.load(text)
    assert refused.value.line == line, str(refused.value)


WHOLE = model(
    TWO
    + '<frame name="f" attached_to="a"><pose degrees="true">0 0 0 1 2 3</pose></frame>'
    + joint(
        "revolute",
        "<axis><xyz expressed_in='f'>0 1 0</xyz><limit><lower>0</lower></limit></axis><pose>0 1 0 0 0 0</pose>",
    )
)
JUNK = (
    "",
    "0",
    "-1",
    "nan",
    "1e999",
    "1e308",
    "<",
    "/>",
    "&",
    "<link/>",
    "world",
    "__model__",
    "screw",
    "a",
    "f::b",
    "<axis2/>",
)


@pytest.mark.filterwarnings("ignore::multibody.errors.RobotFileWarning")
@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), st.sampled_from(JUNK)), max_size=4))
@settings(max_examples=150)
def test_spoilt_texts_load_or_are_one_typed_error(cuts: list[tuple[float, int, str]]) -> None:
    text = WHOLE
    for place, length, junk in cuts:
        at = int(place * len(text))
        text = text[:at] + junk + text[at + length :]
    error = problem(text)
    assert error is None or error.line is not None
