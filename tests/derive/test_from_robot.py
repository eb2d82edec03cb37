"""Systems from robots: exact numbers, symbols, every kind of joint, drives, and the library's own dynamics as truth."""

import numpy as np
import pytest
import sympy as sp

import multibody as mb
from multibody import derive
from multibody.derive.algebra.numpy_evaluation import numeric
from multibody.derive.system.random_states import random_values
from multibody.derive.system.symbolic_tree import tree
from multibody.derive.system.traced_formulas import exact, exact_rotation
from multibody.errors import InputError
from multibody.model.builder import Builder
from multibody.model.joint import Mimic, Passive
from multibody.model.joints import (
    Cylindrical,
    Floating,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Schoenflies,
    Spherical,
    Translational,
    Universal,
)
from multibody.robot import Robot

from ..sampling import sampled

CLOSE = 1e-12
FAST = ("projected-newton-euler", "recursive-newton-euler")
KINDS = {
    "revolute": Revolute("-y"),
    "revolute about an odd axis": Revolute([0.2, -0.5, 0.7]),
    "prismatic": Prismatic("x"),
    "helical": Helical("z", pitch=0.05),
    "cylindrical": Cylindrical("y"),
    "universal": Universal("x", "z"),
    "spherical": Spherical(),
    "planar": Planar(),
    "translational": Translational(),
    "schoenflies": Schoenflies("x"),
    "floating": Floating(),
}


def inertia(scale=1.0):
    moments = scale * np.array([[0.5, 0.02, -0.03], [0.02, 0.6, 0.01], [-0.03, 0.01, 0.4]])
    return mb.SpatialInertia(mass=2.0 * scale, com=[0.1, -0.2, 0.05], inertia=moments)


def on(kind, parent=None, velocity="kindr"):
    """A body on a joint of a kind; on another body on a hinge when that has a name."""
    b = Builder("robot").body("body", inertia())
    if parent is not None:
        b.body(parent, inertia(0.5)).joint("hinge", Revolute("z"), parent=None, child=parent)
    turned = mb.Rotation.from_angle_axis(0.5, [0.0, 0.6, 0.8])
    b.joint("joint", kind, parent=parent, child="body", placement=mb.Pose(turned, [0.3, 0.0, -0.1]))
    return Robot(b.model(velocity=velocity))


def agrees(robot, system, methods=FAST):
    """Poses, rates, mass matrix, bias and gravity of a system are those of the robot."""
    rng = np.random.default_rng(5)
    values = random_values(system, rng)
    q, v, a = (np.array([values[x] for x in part]) for part in (system.q, system.v, system.a))
    for body in robot.bodies:
        placed = system.body(body.name)
        pose = robot.pose(body.name, q)
        close(numeric(sp.Matrix(placed.rotation), values), pose.rotation.matrix)
        close(numeric(sp.Matrix(placed.position), values)[:, 0], pose @ body.inertia.com)
    close(numeric(system.rates, values), robot.rate_matrix(q))
    for method in methods:
        equations = derive.equations(system, method)
        close(numeric(equations.M, values), robot.mass_matrix(q))
        close(numeric(equations.g, values)[:, 0], robot.gravity(q))
        close(numeric(equations.inertial, values)[:, 0], robot.inverse_dynamics(q, v, a))


def close(actual, expected):
    assert np.abs(actual - expected).max() <= CLOSE * max(np.abs(expected).max(), 1.0)


# ---- numbers ---------------------------------------------------------------------------------------------------------


def test_decimals_of_the_file_are_exact():
    assert [exact(x) for x in (0.333, -0.0825, 0.1 + 0.2, 1 / 12, 2.0, 0.0, 6.1e-17)] == [
        sp.Rational(333, 1000),
        sp.Rational(-33, 400),
        sp.Rational(3, 10),
        sp.Rational(1, 12),
        2,
        0,
        0,
    ]
    assert exact(-np.sqrt(0.5)) == -sp.sqrt(2) / 2
    assert float(exact(0.12345678901234567)) == 0.12345678901234567


@pytest.mark.parametrize("angle", [0.3, np.pi / 4, np.pi / 8, 2.5])
def test_rotations_are_orthonormal_to_the_last_digit(angle):
    R = mb.Rotation.from_angle_axis(angle, [0.0, 0.6, 0.8]).matrix
    rotation = exact_rotation(R)
    assert (rotation * rotation.T).applyfunc(sp.nsimplify) == sp.eye(3)
    assert np.abs(numeric(rotation, {}) - R).max() < 1e-15


@pytest.mark.slow
def test_the_panda_has_the_numbers_of_its_data_sheet():
    system = derive.from_robot(mb.load("panda"))
    q_1, q_2 = system.q[:2]
    assert not any(body.position.atoms(sp.Float) for body in system.bodies)
    joint_3 = system.body("link3").joint
    assert sp.expand_trig(joint_3[2] - sp.Rational(316, 1000) * sp.cos(q_2)) == sp.Rational(333, 1000)
    values = random_values(system, np.random.default_rng(0))
    q = np.array([values[x] for x in system.q])
    W_H = mb.load("panda").pose("link7", q)
    close(numeric(sp.Matrix(system.body("link7").rotation), values), W_H.rotation.matrix)
    assert q_1 in system.body("link7").position.free_symbols


@pytest.mark.slow
def test_the_panda_by_the_recursion():
    robot = mb.load("panda")
    agrees(robot, derive.from_robot(robot), ("recursive-newton-euler",))


# ---- joints ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", sampled(KINDS.values(), 2), ids=KINDS)
def test_every_kind_of_joint_moves_as_in_the_library(kind):
    robot = on(kind)
    agrees(robot, derive.from_robot(robot))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_of_joint_on_a_moving_body(kind):
    robot = on(kind, parent="turntable")
    agrees(robot, derive.from_robot(robot))


@pytest.mark.parametrize("velocity", sampled(["kindr", "left", "right", "mixed"], 4))
def test_a_floating_base_has_the_velocity_of_the_robot(velocity):
    b = Builder("base").body("base", mb.SpatialInertia(mass=2.0, com=[0.1, 0.0, 0.0], inertia=np.diag([0.1, 0.2, 0.3])))
    robot = Robot(b.model(floating=True, velocity=velocity))
    system = derive.from_robot(robot)
    assert [x.name for x in system.v] == ["v_x", "v_y", "v_z", "omega_x", "omega_y", "omega_z"]
    assert system.inputs == ()
    agrees(robot, system)


def test_joints_that_follow_others():
    b = Builder("gripper").body("left", inertia()).body("right", inertia(0.5))
    b.joint("close", Prismatic("x"), parent=None, child="left")
    b.joint("follow", Revolute("y"), parent="left", child="right", mimic=Mimic("close", -0.5, 0.1))
    robot = Robot(b.model())
    agrees(robot, derive.from_robot(robot), derive.applicable(derive.from_robot(robot)))


def test_a_robot_from_a_file(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(
        """<robot name="arm"><link name="base"/>
        <link name="rod"><inertial><origin xyz="0 0 0.25"/><mass value="1.2"/>
        <inertia ixx="0.02" iyy="0.02" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
        <origin xyz="0 0 0.333" rpy="1.57079632679 0 0"/></joint></robot>"""
    )
    robot = mb.load(str(path))
    system = derive.from_robot(robot)
    assert system.body("rod").joint == sp.Matrix([0, 0, sp.Rational(333, 1000)])
    agrees(robot, system, derive.applicable(system))


# ---- symbols ---------------------------------------------------------------------------------------------------------


def test_symbols_of_all_numbers_that_are_not_zero():
    system = derive.from_robot(mb.load("planar-arm"), "all")
    names = "I_xx1 I_xx2 I_xx3 I_yy1 I_yy2 I_yy3 I_zz1 I_zz2 I_zz3 c_z1 c_z2 c_z3 g l_1 l_2 l_3 m_1 m_2 m_3"
    assert [x.name for x in system.parameters] == names.split()
    assert {x.name: system.tree.values[x] for x in system.parameters}["c_z2"] == 0.5


def test_symbols_of_some_groups_and_their_signs():
    system = derive.from_robot(mb.load("double-pendulum"), ["lengths", "gravity"])
    assert [x.name for x in system.parameters] == ["g", "l_2"]
    l_2, g = derive.symbols("l_2 g")
    assert system.body("lower").joint.subs(dict.fromkeys(system.q, 0)) == sp.Matrix([0, 0, -l_2])
    assert system.gravity == sp.Matrix([0, 0, -g])


def test_the_values_of_symbols_give_the_robot_back():
    robot = mb.load("scara")
    symbolic, plain = derive.from_robot(robot, "all"), derive.from_robot(robot)
    close(numeric(symbolic.tree.inertias, symbolic.tree.values), robot.parameters())
    close(numeric(symbolic.tree.positions, symbolic.tree.values), robot.placements()[:, :3])
    assert plain.parameters == ()


def test_your_own_expressions():
    m, l, I = derive.symbols("m l I")
    own = {"pendulum": {"mass": m, "center": (0, 0, -l), "inertia": (I, I, 0)}}
    system = derive.from_robot(mb.load("cart-pendulum"), own, coordinates=("x", "phi"))
    assert [x.name for x in system.parameters] == ["I", "l", "m"]
    M = derive.equations(system).M
    phi = system.q[1]
    assert (M - sp.Matrix([[m + 1, m * l * sp.cos(phi)], [m * l * sp.cos(phi), I + m * l**2]])).expand().is_zero_matrix


@pytest.mark.parametrize(
    ("symbols", "message"),
    [
        ("mass", "expected 'all' or some of masses, centers, inertias, lengths, gravity, got 'mass'"),
        ({"cart": {"length": 1}}, "symbols of 'cart': expected some of mass, center, inertia, position, got 'length'"),
        ({"wheel": {}}, "cart-pendulum has no body 'wheel'; it has cart, pendulum"),
        ({"cart": {"center": (0, 0)}}, "center of cart: expected 3 expressions, got 2"),
    ],
)
def test_wrong_symbols_are_named(symbols, message):
    with pytest.raises(InputError, match=message):
        tree(mb.load("cart-pendulum"), symbols)


def test_wrong_names_and_robots():
    with pytest.raises(InputError, match="coordinates: cart-pendulum has 2, got 1 names"):
        derive.from_robot(mb.load("cart-pendulum"), coordinates=("x",))
    with pytest.raises(InputError, match=r"expected a robot, as mb\.load makes them, got str"):
        derive.from_robot("panda")
    with pytest.raises(InputError, match="forces"):
        derive.from_robot(mb.load("cart-pendulum"), forces="some")


# ---- what acts in the joints -----------------------------------------------------------------------------------------


def hinges(passive, kind=None):
    b = Builder("hinges").body("upper", inertia()).body("lower", inertia(0.5))
    b.joint("one", Revolute("y"), parent=None, child="upper", passive=passive)
    b.joint("two", kind or Prismatic("x"), parent="upper", child="lower", placement=[0.0, 0.0, 0.5], passive=passive)
    return Robot(b.model())


def test_armature_is_in_the_mass_matrix_of_every_method():
    robot = hinges(Passive(armature=0.7))
    system = derive.from_robot(robot)
    methods = derive.applicable(system)
    assert {"lagrange", *FAST} <= set(methods)
    agrees(robot, system, methods)


def test_armature_without_a_formula_is_refused():
    robot = hinges(Passive(armature=0.7), Spherical())
    with pytest.raises(InputError, match="the armature of the spherical joint 'two' has no formula here"):
        derive.from_robot(robot)


@pytest.mark.parametrize("friction", [0.0, 0.2])
def test_springs_dampers_and_friction_of_the_joints(friction):
    robot = hinges(Passive(damping=0.3, friction=friction, stiffness=4.0, rest=(0.1,)))
    assert derive.from_robot(robot).inputs == derive.from_robot(robot, passive=True).inputs
    system = derive.from_robot(robot, passive=True, forces="none")
    values = random_values(system, np.random.default_rng(2))
    q, v = (np.array([values[x] for x in part]) for part in (system.q, system.v))
    equations = derive.equations(system, "recursive-newton-euler")
    close(numeric(equations.tau - equations.g, values)[:, 0] + robot.gravity(q), robot.passive(q, v))


def test_springs_of_a_ball_joint_are_refused():
    with pytest.raises(InputError, match="the spring or damper of the joint 'two' has no formula here"):
        derive.from_robot(hinges(Passive(stiffness=1.0), Spherical()), passive=True)


def test_forces_along_the_velocities():
    body = mb.load("free-body-se3")
    assert len(derive.from_robot(body, forces="all").inputs) == 6
    assert derive.from_robot(body, forces="none").inputs == ()
    assert [x.name for x in derive.from_robot(mb.load("scara")).inputs] == ["tau_1", "tau_2", "tau_3", "tau_4"]


def test_a_system_without_a_tree_has_no_recursion():
    (x,), (m,) = derive.coordinates("x"), derive.symbols("m")
    bare = derive.System("mass", (x,), (derive.particle("mass", m, (x, 0, 0)),))
    with pytest.raises(InputError, match="needs the tree of joints of a robot"):
        derive.equations(bare, "recursive-newton-euler")


def test_rates_of_a_floating_base_are_short():
    """World axes for its linear velocity: R R^T is the identity."""
    drone = derive.from_robot(mb.load("quadrotor"))
    assert drone.q_dot[:3, 0] == sp.Matrix(drone.v[:3])


@pytest.mark.parametrize("angle", [0.2, 0.3, np.pi / 8])
def test_rotations_close_to_decimals_are_orthonormal_too(angle):
    """Also those whose decimals are so next to it that only exact numbers tell."""
    c, s = np.cos(angle), np.sin(angle)
    rotation = exact_rotation(np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]))
    assert (rotation * rotation.T).applyfunc(sp.expand) == sp.eye(3)
