"""Parameters of end effectors, their Jacobians for every parameterisation, and singular configurations."""

import numpy as np
import pytest
from hypothesis import assume

import multibody as mb
from multibody.algorithms import analytical_jacobian, kinematics, manipulability
from multibody.errors import InputError, SingularityError
from multibody.geometry import rates

from ..every_law import each_case
from ..laws.tools import mul, near
from ..model.trees import random_model, random_state
from ..surface import PARAMETERISATIONS, POSITIONS
from .covering import law
from .states import State, rate


def state(seed=5):
    model = random_model(np.random.default_rng(seed), 4, floating=True)
    rng = np.random.default_rng(seed + 1)
    q, v = random_state(model, rng)
    return State(model, q, v, 0 * v, rng)


@each_case("rotation", PARAMETERISATIONS)
def test_rates_of_rotation_parameters(rotation):
    s = state()
    J = analytical_jacobian.analytical_jacobian(s.tree, s.frame, s.q, rotation)
    chi = lambda q, _=None: analytical_jacobian.parameters(s.tree, s.frame, q, rotation)
    assert J.shape == (len(chi(s.q)), s.model.nv)
    near(mul(J, s.v), rate(s, chi), 1e-6)


@pytest.mark.parametrize("position", POSITIONS)
def test_rates_of_position_parameters(position):
    s = state()
    J = analytical_jacobian.analytical_jacobian(s.tree, s.frame, s.q, "quaternion", position)
    chi = lambda q, _=None: analytical_jacobian.parameters(s.tree, s.frame, q, "quaternion", position)
    near(mul(J, s.v), rate(s, chi), 1e-8)


@law()
def test_parameters_give_the_pose_back(s):
    chi = analytical_jacobian.parameters(s.tree, s.frame, s.q, "rotation-vector", "cylindrical")
    pose = kinematics.pose(s.tree, s.frame, s.q)
    near(rates.position("cylindrical", chi[:3]), pose.position, 1e-12)
    near(rates.rotation("rotation-vector", chi[3:]).matrix, pose.rotation.matrix, 1e-11)


@law()
def test_geometric_jacobian_is_the_rates_times_the_analytical_one(s):
    """E J_A = J.  [RD 2.149-2.150]"""
    chi = analytical_jacobian.parameters(s.tree, s.frame, s.q, "euler-zyx")
    assume(abs(np.cos(chi[4])) > 1e-3)
    J_A = analytical_jacobian.analytical_jacobian(s.tree, s.frame, s.q, "euler-zyx")
    J = analytical_jacobian.jacobian(s.tree, s.frame, s.q)
    near(rates.angular("euler-zyx", chi[3:], frame="A") @ J_A[3:], J[3:], 1e-9)
    near(J_A[:3], J[:3], 1e-12)


# ---- singular configurations -----------------------------------------------------------------------------------------


def test_gimbal_lock_is_told():
    robot = mb.load("zyx-wrist")
    tool, q = robot.frames[-1], np.array([0.3, np.pi / 2, 0.1])
    with pytest.raises(SingularityError, match="euler-zyx"):
        robot.analytical_jacobian(tool, q)
    with mb.eager(), pytest.raises(SingularityError, match="euler-zyx"):
        robot.analytical_jacobian(tool, q)


def test_rank_falls_where_the_arm_is_stretched():
    """[RD §2.9.1]: three parallel joints in a plane; stretched, the end cannot move along the arm."""
    model = mb.load("planar-arm").model
    tip, plane = model.frames[-1], (0, 2, 4)
    bent, straight = np.array([0.2, 0.7, 0.5]), np.array([0.2, 0.0, 0.0])
    assert manipulability.rank(model.tree, tip, bent, plane) == 3
    assert manipulability.rank(model.tree, tip, straight, plane) == 2
    assert manipulability.rank(model.tree, tip, bent) == 3
    assert manipulability.rank(model.tree, tip, np.stack([bent, straight]), plane).tolist() == [3, 2]
    assert manipulability.manipulability(model.tree, tip, bent, plane) > 0.1
    assert manipulability.manipulability(model.tree, tip, straight, plane) < 1e-12


def test_manipulability_is_the_root_of_the_determinant():
    robot = mb.load("panda")
    q = robot.random(np.random.default_rng(0), (5,))
    J = robot.jacobian(robot.frames[-1], q)
    expected = np.sqrt(np.linalg.det(J @ np.swapaxes(J, -1, -2)))
    near(robot.manipulability(robot.frames[-1], q), expected, 1e-10)
    values = robot.singular_values(robot.frames[-1], q, coordinates=[0, 1, 2])
    assert values.shape == (5, 3)
    assert (np.diff(values, axis=-1) <= 0).all()


def test_manipulability_of_a_robot_with_fewer_velocities_than_coordinates():
    """det(J J^T) is zero everywhere; the product of the singular values that there are is not."""
    robot = mb.load("planar-arm")
    q = np.array([0.2, 0.7, 0.5])
    J = robot.jacobian("tool", q)
    near(robot.manipulability("tool", q), np.sqrt(np.linalg.det(J.T @ J)), 1e-12)
    assert robot.manipulability("tool", q) > 0.1
    assert robot.singular_values("tool", q).shape == (3,)


def test_rank_on_the_face():
    robot = mb.load("planar-arm")
    plane, q = (0, 2, 4), np.array([[0.2, 0.7, 0.5], [0.2, 0.0, 0.0], [0.2, 1e-4, 0.0]])
    for each in (robot, robot.astype("float32")):
        assert each.rank("tool", q[:2], plane).tolist() == [3, 2]
    assert robot.rank("tool", q, plane).tolist() == [3, 2, 3]
    assert robot.rank("tool", q, plane, tolerance=1e-3).tolist() == [3, 2, 2]
    for bad in (-1.0, 1.0, "small", np.nan):
        with pytest.raises(InputError, match="tolerance: expected a number from 0 to less than 1"):
            robot.rank("tool", q, plane, tolerance=bad)


def test_singular_values_of_what_is_no_number():
    """In one sample, and not an error for all."""
    robot = mb.load("planar-arm")
    q = np.array([[0.2, 0.7, 0.5], [np.nan, 0.0, 0.0]])
    values = robot.singular_values("tool", q)
    assert np.isnan(values[1]).all()
    near(values[0], robot.singular_values("tool", q[0]), 1e-15)
    assert np.isnan(robot.manipulability("tool", q[1]))
    assert robot.rank("tool", q).tolist() == [3, 0]


# ---- operational space -----------------------------------------------------------------------------------------------


def test_operational_space_of_a_scara():
    """[RD 2.135-2.136, Ex. 2.8.4]: x, y, z and the turn about the vertical; as many coordinates as joints."""
    robot = mb.load("scara")
    tool, rng = robot.frames[-1], np.random.default_rng(0)
    q, v = robot.random(rng, (5,)), rng.standard_normal((5, 4))
    where = [0, 1, 2, 3]
    chi = robot.end_effector(tool, q, coordinates=where)
    pose = robot.pose(tool, q)
    near(chi[..., :3], pose.position, 1e-13)
    near(
        np.stack([np.cos(chi[..., 3]), np.sin(chi[..., 3])]),
        np.moveaxis(pose.rotation.matrix[..., :2, 0], -1, 0),
        1e-12,
    )
    J = robot.analytical_jacobian(tool, q, coordinates=where)
    assert J.shape == (5, 4, 4)
    step = 1e-6
    ahead, back = (robot.end_effector(tool, robot.integrate(q, s * step * v), coordinates=where) for s in (1, -1))
    near(mul(J, v), (ahead - back) / (2 * step), 1e-8)
    near(J, robot.analytical_jacobian(tool, q)[..., :4, :], 1e-12)
    assert (np.abs(np.linalg.det(J)) > 1e-6).all()
    near(robot.kernel("end_effector", tool, coordinates=where)(q), chi, 1e-13)
    near(
        robot.evaluate(q, None, [("end_effector", tool, {"coordinates": (3, 0)})]).popitem()[1], chi[..., [3, 0]], 1e-13
    )
    with mb.eager():
        near(robot.end_effector(tool, q, coordinates=np.array(where)), chi, 1e-13)


def test_coordinates_that_are_wrong():
    robot = mb.load("scara")
    tool, q = robot.frames[-1], np.zeros(4)
    for method in (robot.end_effector, robot.analytical_jacobian):
        for bad in ([6], [-1], []):
            with pytest.raises(InputError, match="coordinates: expected some of 0 to 5, got"):
                method(tool, q, coordinates=bad)
        for bad in (3, ["x"], [0.5]):
            with pytest.raises(InputError, match="coordinates: expected a list of integers"):
                method(tool, q, coordinates=bad)
    mask = [True, False, True, False, True, False]
    for bad in (3, None, "01", [6], [-1], [], [1.0], ["x"], [[0, 1]], [None], mask, np.array(mask), np.array(3)):
        for method in (robot.singular_values, robot.manipulability, robot.rank):
            with pytest.raises(InputError, match="coordinates: expected some of 0 to 5, got"):
                method(tool, q, bad)
    for good in ((0, 2), np.array([0, 2]), range(0, 4, 2)):
        near(robot.singular_values(tool, q, good), robot.singular_values(tool, q, [0, 2]), 0)
    assert robot.end_effector(tool, q, "quaternion", coordinates=[6]).shape == (1,)


# ---- damping ---------------------------------------------------------------------------------------------------------


def test_damping_in_gimbal_lock():
    """The damped inverse of E times the geometric Jacobian; far from the lock and with little damping, that without."""
    robot = mb.load("zyx-wrist")
    q = np.array([[0.3, np.pi / 2, 0.1], [0.3, 0.4, 0.1]])
    found = robot.analytical_jacobian("tool", q, damping=0.1)
    chi = robot.end_effector("tool", q)
    for k in range(2):
        E = rates.angular_inverse("euler-zyx", chi[k, 3:], "A", damping=0.1)
        near(found[k, 3:], E @ robot.jacobian("tool", q[k])[3:], 1e-10)
    near(robot.analytical_jacobian("tool", q[1], damping=1e-6), robot.analytical_jacobian("tool", q[1]), 1e-9)
    each = robot.analytical_jacobian("tool", q, damping=[0.1, 1e-6])
    near(each, np.stack([found[0], robot.analytical_jacobian("tool", q[1], damping=1e-6)]), 1e-12)
    near(robot.kernel("analytical_jacobian", "tool", optional="damping")(q, [0.1]), found, 1e-12)
    out = np.zeros_like(found)
    assert robot.analytical_jacobian("tool", q, damping=0.1, out=out, threads=2) is out
    near(out, found, 1e-12)
    near(robot.analytical_jacobian("tool", q, coordinates=[5, 3], damping=0.1), found[:, [5, 3]], 1e-12)
    with mb.eager():
        near(robot.analytical_jacobian("tool", q, damping=0.1), found, 1e-12)
    near(analytical_jacobian.analytical_jacobian(robot.tree, "tool", q, damping=0.1), found, 1e-12)


def test_damping_on_the_axis_of_cylindrical_coordinates():
    robot = mb.load("double-pendulum")
    hanging, tip = np.zeros(2), robot.frames[-1]
    with pytest.raises(SingularityError, match=r"rho = 0.*damping="):
        robot.analytical_jacobian(tip, hanging, position="cylindrical")
    assert np.isfinite(robot.analytical_jacobian(tip, hanging, position="cylindrical", damping=0.05)).all()


def test_damping_that_is_wrong():
    robot = mb.load("zyx-wrist")
    q = np.zeros((2, 3))
    for bad in (0.0, -1.0, np.nan):
        with pytest.raises(InputError, match="damping: expected a positive number"):
            robot.analytical_jacobian("tool", q, damping=bad)
    with pytest.raises(InputError, match=r"damping \(sample 1\): expected a positive number, got 0.0"):
        robot.analytical_jacobian("tool", q, damping=[1.0, 0.0])
    with pytest.raises(InputError, match="damping"):
        robot.analytical_jacobian("tool", q, damping="much")
    with pytest.raises(InputError, match="no frame is named"):
        robot.analytical_jacobian("tol", q, damping=0.1)
    with pytest.raises(InputError, match="do not broadcast"):
        robot.analytical_jacobian("tool", q, damping=[0.1, 0.2, 0.3])
    with pytest.raises(InputError, match="q needs the shape"):
        robot.analytical_jacobian("tool", np.zeros(4), damping=0.1)


def test_unknown_parameterisations():
    robot = mb.load("planar-arm")
    with pytest.raises(InputError, match=r"parameterisation of an orientation.*'quaternion'.*got 'quat'"):
        robot.analytical_jacobian(robot.frames[-1], robot.neutral(), rotation="quat")
    with pytest.raises(InputError, match=r"parameterisation of a position.*got 'polar'"):
        robot.end_effector(robot.frames[-1], robot.neutral(), position="polar")
