"""Closed chains in files: poses of both sides of each cut joint, closed forms of dynamics, and what is refused."""

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import scipy.linalg
import scipy.spatial.transform

import multibody as mb
from multibody.errors import RobotFileError

pytestmark = pytest.mark.filterwarnings("ignore::multibody.errors.RobotFileWarning")

INERTIA = "<inertial><mass>{}</mass><inertia><ixx>{}</ixx><iyy>{}</iyy><izz>{}</izz></inertia>{}</inertial>"


# ---- a parallelogram, whose motion has a closed form -----------------------------------------------------------------

LENGTH, MASS, COUPLER, MOMENT, DISTANCE = 0.5, 1.2, 3.0, 0.04, 0.8
CRANK = INERTIA.format(MASS, MOMENT, MOMENT, MOMENT, f"<pose>0 0 {-LENGTH / 2} 0 0 0</pose>")
BAR = INERTIA.format(COUPLER, 0.3, 0.3, 0.3, "")
LINKS = f"""
  <link name="ground"/>
  <link name="left">{CRANK}</link>
  <link name="right"><pose>{DISTANCE} 0 0 0 0 0</pose>{CRANK}</link>
  <link name="bar"><pose>0 0 {-LENGTH} 0 0 0</pose>{BAR}</link>
"""
HINGE = '<joint name="{}" type="revolute"><parent>{}</parent><child>{}</child><axis><xyz>0 1 0</xyz></axis>{}</joint>'
AT_RIGHT = f'<pose relative_to="right">0 0 {-LENGTH} 0 0 0</pose>'


def parallelogram(last: str = "revolute") -> str:
    """Two cranks on the ground and a bar that stays level; the joint `last` closes the loop."""
    hinges = [("a", "ground", "left", ""), ("b", "ground", "right", ""), ("c", "left", "bar", "")]
    joints = "".join(HINGE.format(*each) for each in hinges)
    joints += HINGE.format("d", "right", "bar", AT_RIGHT).replace("revolute", last)
    held = '<joint name="held" type="fixed"><parent>world</parent><child>ground</child></joint>'
    return f'<sdf version="1.9"><model name="linkage">{LINKS}{held}{joints}</model></sdf>'


def crank_acceleration(angle: float) -> float:
    """θ'' = -(m l + M l) g sin θ / (2 (I + m l²/4) + M l²): the bar translates on a circle of the radius l."""
    inertia = 2 * (MOMENT + MASS * LENGTH**2 / 4) + COUPLER * LENGTH**2
    return -(MASS + COUPLER) * LENGTH * 9.81 * np.sin(angle) / inertia


def together(robot: mb.Robot) -> np.ndarray:
    """The velocities that keep the parallelogram closed."""
    return robot.joint_velocities({"a": 1.0, "b": 1.0, "c": -1.0})


@pytest.mark.parametrize("last", ["revolute", "ball", "continuous"])
def test_a_parallelogram_swings_as_its_closed_form(last: str) -> None:
    robot = mb.load(parallelogram(last))
    (loop,) = robot.closures
    expected = mb.constraints.PointClosure if last == "ball" else mb.constraints.HingeClosure
    assert isinstance(loop, expected)
    assert (robot.nv, loop.name) == (3, "d")
    for angle in (0.0, 0.3, -1.1):
        q = robot.configuration({"a": angle, "b": angle, "c": -angle})
        assert abs(robot.constraints([loop]).error(q)).max() < 1e-12
        a, force = robot.constrained_dynamics(robot.closures, q, np.zeros(3), np.zeros(3))
        np.testing.assert_allclose(a, crank_acceleration(angle) * together(robot), atol=1e-9)
        assert force.shape == (loop.rows,)


def test_the_loop_stays_closed_and_keeps_its_energy() -> None:
    robot = mb.load(parallelogram("ball"))
    q, v = robot.configuration({"a": 1.0, "b": 1.0, "c": -1.0}), np.zeros(3)
    start, dt = robot.kinetic_energy(q, v) + robot.potential_energy(q), 2e-3

    def slope(q, v):
        return v, robot.constrained_dynamics(robot.closures, q, v, np.zeros(3))[0]

    for _ in range(500):  # Runge-Kutta, on angles alone
        k1 = slope(q, v)
        k2 = slope(q + dt / 2 * k1[0], v + dt / 2 * k1[1])
        k3 = slope(q + dt / 2 * k2[0], v + dt / 2 * k2[1])
        k4 = slope(q + dt * k3[0], v + dt * k3[1])
        q, v = (x + dt / 6 * (a + 2 * b + 2 * c + d) for x, a, b, c, d in zip((q, v), k1, k2, k3, k4, strict=True))
    assert abs(robot.constraints(robot.closures).error(q)).max() < 1e-8
    np.testing.assert_allclose(q, q[0] * together(robot), atol=1e-8)
    assert abs(q[0]) < 1.0
    np.testing.assert_allclose(robot.kinetic_energy(q, v) + robot.potential_energy(q), start, atol=1e-7)


def test_a_weld_takes_all_freedom() -> None:
    robot = mb.load(parallelogram("fixed"))
    (loop,) = robot.closures
    assert isinstance(loop, mb.constraints.Weld)
    assert abs(loop.error(robot.tree, robot.neutral())).max() < 1e-12
    a, _ = robot.constrained_dynamics([loop], robot.neutral(), np.zeros(3), np.array([5.0, 0.0, 0.0]))
    np.testing.assert_allclose(a, 0.0, atol=1e-9)


def test_a_foot_held_by_the_world_leaves_the_base_free() -> None:
    links = f'<link name="trunk"><pose>0 0 1 0 0 0</pose>{BAR}</link><link name="foot">{CRANK}</link>'
    joints = HINGE.format("leg", "trunk", "foot", "") + (
        '<joint name="ground" type="fixed"><parent>world</parent><child>foot</child></joint>'
    )
    robot = mb.load(f'<sdf version="1.9"><model name="m">{links}{joints}</model></sdf>')
    assert robot.nv == 7
    (loop,) = robot.closures
    assert isinstance(loop, mb.constraints.Weld)
    assert abs(loop.error(robot.tree, robot.home())).max() < 1e-12
    a, _ = robot.constrained_dynamics([loop], robot.home(), np.zeros(7), np.zeros(7))
    np.testing.assert_allclose(loop.jacobian(robot.tree, robot.home()) @ a, 0.0, atol=1e-9)


def test_a_ring_without_a_root_hangs_on_its_first_link() -> None:
    joints = "".join(
        HINGE.format(name, *ends, "") for name, *ends in [("i", "a", "b"), ("j", "b", "c"), ("k", "c", "a")]
    )
    links = "".join(f'<link name="{name}">{BAR}</link>' for name in "abc")
    robot = mb.load(f'<sdf version="1.9"><model name="ring">{links}{joints}</model></sdf>')
    assert (robot.nv, [loop.name for loop in robot.closures]) == (8, ["k"])


# ---- gearboxes -------------------------------------------------------------------------------------------------------


def geared(first: str = "0 0 1", second: str = "0 0 1", ratio: float = 0.04) -> str:
    links = "".join(f'<link name="{name}">{BAR}</link>' for name in ("base", "motor", "arm"))
    joints = HINGE.format("in", "base", "motor", "").replace("0 1 0", first)
    joints += HINGE.format("out", "base", "arm", "").replace("0 1 0", second)
    return f"""<sdf version="1.9"><model name="geared">{links}{joints}
    <joint name="gear" type="gearbox"><parent>motor</parent><child>arm</child>
      <gearbox_ratio>{ratio}</gearbox_ratio><gearbox_reference_body>base</gearbox_reference_body>
      <axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2></joint>
    <joint name="held" type="fixed"><parent>world</parent><child>base</child></joint></model></sdf>"""


@pytest.mark.parametrize(("first", "second", "sign"), [("0 0 1", "0 0 1", -1), ("0 0 -1", "0 0 1", 1)])
def test_a_gearbox_turns_the_child_back_by_its_ratio(first: str, second: str, sign: int) -> None:
    """θ2 = -ratio θ1 of the format, about the axes of the gearbox, whichever way the joints count."""
    robot = mb.load(geared(first, second))
    (gear,) = robot.closures
    v = robot.joint_velocities({"in": 1.0, "out": sign * 0.04})
    np.testing.assert_allclose(gear.jacobian(robot.tree, robot.neutral()) @ v, 0.0, atol=1e-15)
    inertia = 0.3 * (1 + 25.0**2)  # seen at the arm, the motor's inertia is multiplied by the square of 25
    tau = robot.joint_velocities({"out": 1.0})
    a, _ = robot.constrained_dynamics(robot.closures, robot.neutral(), np.zeros(2), tau)
    np.testing.assert_allclose(robot.velocities_by_name(a)["out"], 1.0 / inertia, rtol=1e-9)


def test_a_gearbox_without_its_hinges_is_refused_with_the_constraint_to_use() -> None:
    for text in (geared("1 0 0"), geared().replace("<gearbox_reference_body>base", "<gearbox_reference_body>arm")):
        with pytest.raises(RobotFileError, match="JointCoupling") as caught:
            mb.load(text)
        assert caught.value.line == 2
    with pytest.raises(RobotFileError, match="expected the element <gearbox_reference_body>"):
        mb.load(re.sub("<gearbox_reference_body>.*?</gearbox_reference_body>", "", geared()))


# ---- Cassie, in five files -------------------------------------------------------------------------------------------


def cassie_files() -> list[Path]:
    cmeel = pytest.importorskip("cmeel")
    data = Path(cmeel.__file__).parent.parent / "cmeel.prefix/share/example-robot-data/robots/cassie_description/robots"
    files = sorted(data.glob("*.sdf"))
    if len(files) != 5:
        pytest.skip("example-robot-data is not installed")
    return files


def homogeneous(numbers: str | None) -> np.ndarray:
    x, y, z, *rpy = map(float, (numbers or "0 0 0 0 0 0").split())
    H = np.eye(4)
    H[:3, :3] = scipy.spatial.transform.Rotation.from_euler("xyz", rpy).as_matrix()
    H[:3, 3] = x, y, z
    return H


class FileTree:
    """The poses of links in an SDF file, by exponentials of screws in the model's frame, from the XML alone."""

    def __init__(self, file: Path) -> None:
        model = ElementTree.parse(file).getroot().find("model")
        assert model is not None
        self.rest = {link.get("name"): homogeneous(link.findtext("pose")) for link in model.iter("link")}
        self.joints = {joint.get("name"): joint for joint in model.findall("joint")}

    def frame(self, name: str) -> np.ndarray:
        """The frame of a joint in the model, when the links are where the file draws them."""
        joint = self.joints[name]
        return self.rest[joint.findtext("child")] @ homogeneous(joint.findtext("pose"))

    def screw(self, name: str) -> tuple[np.ndarray, np.ndarray, bool]:
        axis = self.joints[name].find("axis")
        assert axis is not None
        direction = np.array([float(x) for x in (axis.findtext("xyz") or "0 0 1").split()])
        if axis.findtext("use_parent_model_frame") != "1":
            direction = self.frame(name)[:3, :3] @ direction
        return (
            direction / np.linalg.norm(direction),
            self.frame(name)[:3, 3],
            self.joints[name].get("type") == "prismatic",
        )

    def motion(self, name: str, x: np.ndarray) -> np.ndarray:
        """The displacement of what hangs on a joint, in the model's frame."""
        hat = np.zeros((4, 4))
        if self.joints[name].get("type") == "ball":  # a quaternion, in the frame of the joint
            at, turn = self.frame(name), np.eye(4)
            turn[:3, :3] = scipy.spatial.transform.Rotation.from_quat(np.roll(x, -1)).as_matrix()
            return at @ turn @ np.linalg.inv(at)
        s, p, slides = self.screw(name)
        if slides:
            hat[:3, 3] = s
        else:
            hat[:3, :3] = np.cross(np.eye(3), s)
            hat[:3, 3] = -np.cross(s, p)
        return scipy.linalg.expm(hat * float(x[0]))


@pytest.mark.parametrize("number", range(5))
def test_cassie_loads_and_both_sides_of_each_cut_joint_are_where_its_file_has_them(number: int) -> None:
    file = cassie_files()[number]
    robot, tree, rng = mb.load(file), FileTree(file), np.random.default_rng(number)
    cut = {loop.name for loop in robot.closures if not isinstance(loop, mb.constraints.JointCoupling)}
    assert len(cut) == (6 if file.stem == "cassie" else 4)
    q = robot.home().copy()
    for joint in robot.joints:
        if joint.kind.nq == 1:
            q[joint.q] = rng.uniform(-0.5, 0.5)
        elif joint.name != "floating_base":
            q[joint.q] = mb.Rotation.random(rng).quaternion
    above = {tree.joints[j.name].findtext("child"): j.name for j in robot.joints if j.name in tree.joints}
    by_name = robot.by_name(q)

    def pose(link: str) -> np.ndarray:
        """The pose of a link in the model whose root stays where the file draws it."""
        H, at = tree.rest[link], link
        while at in above:
            joint = above[at]
            H = tree.motion(joint, np.atleast_1d(by_name[joint])) @ H
            at = tree.joints[joint].findtext("parent") or ""
        return H

    with mb.eager():
        for link in tree.rest:
            np.testing.assert_allclose(robot.pose(link, q).matrix, pose(link), atol=1e-9)
        for loop in robot.closures:
            if loop.name not in cut:
                continue
            joint = tree.joints[loop.name]
            child, parent = (joint.findtext(role) or "" for role in ("child", "parent"))
            at_child, at_parent = (
                pose(x) @ np.linalg.inv(tree.rest[x]) @ tree.frame(loop.name) for x in (child, parent)
            )
            error = loop.error(robot.tree, q)
            np.testing.assert_allclose(error[:3], (at_child - at_parent)[:3, 3], atol=1e-9)
            if len(error) == 5:  # the last two are sines of the angle between the axes, about two directions
                s = np.linalg.inv(tree.frame(loop.name)[:3, :3]) @ tree.screw(loop.name)[0]
                sine = np.linalg.norm(np.cross(at_child[:3, :3] @ s, at_parent[:3, :3] @ s))
                np.testing.assert_allclose(np.linalg.norm(error[3:]), sine, atol=1e-9)
            assert abs(loop.error(robot.tree, robot.home())).max() < 1e-12


def test_constrained_dynamics_of_cassie_keeps_its_loops_closed() -> None:
    """Rows times acceleration plus bias vanish; the error grows with the third power of time, and not the second."""
    robot = mb.load(cassie_files()[3])
    rng = np.random.default_rng(0)
    q, v, tau = robot.home(), rng.standard_normal(robot.nv), 100 * rng.standard_normal(robot.nv)
    with mb.eager():
        loops = robot.constraints(robot.closures)
        J = loops.jacobian(q)
        v = v - np.linalg.pinv(J) @ (J @ v)
        a, force = robot.constrained_dynamics(loops, q, v, tau)
        np.testing.assert_allclose(J @ a + loops.bias(q, v), 0.0, atol=1e-6)
        np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), tau + J.T @ force, atol=1e-6)
        h = 1e-4
        errors = [
            abs(loops.error(robot.integrate(q, h * v + h * h / 2 * x))).max()
            for x in (a, robot.forward_dynamics(q, v, tau))
        ]
    assert errors[0] < 1e-3 * errors[1]


# ---- extensions ------------------------------------------------------------------------------------------------------

URDF = """<robot xmlns:drake="http://drake.mit.edu" name="linkage">
  <link name="ground"/>
  {links}
  {joints}
  {extension}
</robot>"""
URDF_LINK = """<link name="{}"><inertial><origin xyz="0 0 {}"/><mass value="{}"/>
  <inertia ixx="{I}" iyy="{I}" izz="{I}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
URDF_JOINT = """<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/><origin xyz="{}"/>
  <axis xyz="0 1 0"/></joint>"""


def urdf(extension: str, *more: str) -> str:
    cranks = [URDF_LINK.format(name, -LENGTH / 2, MASS, I=MOMENT) for name in ("left", "right")]
    joints = [
        URDF_JOINT.format("a", "ground", "left", "0 0 0"),
        URDF_JOINT.format("b", "ground", "right", f"{DISTANCE} 0 0"),
        URDF_JOINT.format("c", "left", "bar", f"0 0 {-LENGTH}"),
    ]
    links = "\n".join([*cranks, URDF_LINK.format("bar", 0, COUPLER, I=0.3)])
    return URDF.format(links=links, joints="\n".join([*joints, *more]), extension=extension)


POINTS = (f"0 0 {-LENGTH}", f"{DISTANCE} 0 0")
EXTENSIONS = {
    "gazebo": f"""<gazebo><joint name="d" type="revolute"><parent>right</parent><child>bar</child>
      <pose>{DISTANCE} 0 0 0 0 0</pose><axis><xyz>0 1 0</xyz></axis></joint></gazebo>""",
    "drake": f"""<drake:ball_constraint><drake:ball_constraint_body_A name="right"/>
      <drake:ball_constraint_body_B name="bar"/><drake:ball_constraint_p_AP value="{POINTS[0]}"/>
      <drake:ball_constraint_p_BQ value="{POINTS[1]}"/></drake:ball_constraint>""",
}


@pytest.mark.parametrize("kind", EXTENSIONS)
def test_extensions_of_urdf_close_the_loop(kind: str) -> None:
    robot = mb.load(urdf(EXTENSIONS[kind]))
    angle = 0.4
    q = robot.configuration({"a": angle, "b": angle, "c": -angle})
    assert abs(robot.constraints(robot.closures).error(q)).max() < 1e-12
    a, _ = robot.constrained_dynamics(robot.closures, q, np.zeros(3), np.zeros(3))
    np.testing.assert_allclose(a, crank_acceleration(angle) * together(robot), atol=1e-9)


def test_drakes_ball_constraint_in_an_sdf_file() -> None:
    ball = f"""<drake:ball_constraint><drake:ball_constraint_body_A>right</drake:ball_constraint_body_A>
      <drake:ball_constraint_body_B>bar</drake:ball_constraint_body_B>
      <drake:ball_constraint_p_AP>{POINTS[0]}</drake:ball_constraint_p_AP>
      <drake:ball_constraint_p_BQ>{POINTS[1]}</drake:ball_constraint_p_BQ></drake:ball_constraint>"""
    text = re.sub('<joint name="d".*?</joint>', ball, parallelogram()).replace(
        "<sdf ", '<sdf xmlns:drake="drake.mit.edu" '
    )
    robot = mb.load(text)
    q = robot.configuration({"a": 0.4, "b": 0.4, "c": -0.4})
    a, _ = robot.constrained_dynamics(robot.closures, q, np.zeros(3), np.zeros(3))
    np.testing.assert_allclose(a[0], crank_acceleration(0.4), atol=1e-9)
    for bad, message in (
        (text.replace(">right</drake", ">nobody</drake"), "no link named 'nobody'"),
        (re.sub("<drake:ball_constraint_p_AP>.*?AP>", "", text), "expected the element <drake:ball_constraint_p_AP>"),
    ):
        with pytest.raises(RobotFileError, match=message):
            mb.load(bad)


def test_a_second_parent_in_urdf_names_the_joint_to_remove_and_a_constraint_that_works() -> None:
    second = URDF_JOINT.format("d", "right", "bar", f"{-DISTANCE} 0 {-LENGTH}")
    with pytest.raises(
        RobotFileError, match=r"URDF has one\. If it closes a loop, remove the joint 'd', and add"
    ) as caught:
        mb.load(urdf("", second))
    constraint = eval(str(caught.value).split("and add ")[1])
    robot = mb.load(urdf(""))
    assert abs(robot.constraints([constraint]).error(robot.neutral())).max() < 1e-12
    q = robot.configuration({"a": 0.4, "b": 0.7, "c": -0.2})  # of the joint: where its frame is on both links
    apart = robot.pose("bar", q).position - robot.pose("right", q) @ np.array([-DISTANCE, 0.0, -LENGTH])
    np.testing.assert_allclose(robot.constraints([constraint]).error(q), [*apart, 0.0, 0.0], atol=1e-9)


def test_what_a_cut_joint_leaves_out_is_a_warning() -> None:
    damped = (
        parallelogram().replace(AT_RIGHT, "@").replace("</axis>@", "<dynamics><damping>1</damping></dynamics></axis>@")
    )
    robot = mb.load(damped.replace("@", AT_RIGHT))
    (dropped,) = [each for each in robot.diagnostics if each.code == "dropped"]
    assert "damping are left out" in dropped.message
    assert [each.level for each in robot.diagnostics if each.code == "closure"] == ["note"]


def test_closures_follow_the_robot_through_surgery() -> None:
    robot = mb.load(parallelogram())
    renamed = robot.rename({"right": "other", "bar": "beam"})
    assert [(loop.name, loop.first, loop.second) for loop in renamed.closures] == [("d", "beam", "other")]
    q = robot.configuration({"a": 0.2, "b": 0.5, "c": 0.1})
    np.testing.assert_allclose(
        renamed.constraints(renamed.closures).error(q), robot.constraints(robot.closures).error(q), atol=1e-15
    )
    assert robot.remove("right").closures == ()
