"""Parameters of end effectors, their Jacobians for every parameterisation, and singular configurations."""

import numpy as np
import pytest
from hypothesis import assume, given

import multibody as mb
from multibody.algorithms import analytical_jacobian, kinematics
from multibody.errors import InputError, SingularityError
from multibody.geometry import rates

from ..laws.tools import mul, near
from ..model.trees import random_model, random_state
from ..surface import PARAMETERISATIONS, POSITIONS
from .states import State, rate, states


def state(seed=5):
    model = random_model(np.random.default_rng(seed), 4, floating=True)
    rng = np.random.default_rng(seed + 1)
    q, v = random_state(model, rng)
    return State(model, q, v, 0 * v, rng)


@pytest.mark.parametrize("rotation", PARAMETERISATIONS)
def test_rates_of_rotation_parameters(rotation):
    s = state()
    J = analytical_jacobian.analytical_jacobian(s.model, s.frame, s.q, rotation)
    chi = lambda q, _=None: analytical_jacobian.parameters(s.model, s.frame, q, rotation)
    assert J.shape == (len(chi(s.q)), s.model.nv)
    near(mul(J, s.v), rate(s, chi), 1e-6)


@pytest.mark.parametrize("position", POSITIONS)
def test_rates_of_position_parameters(position):
    s = state()
    J = analytical_jacobian.analytical_jacobian(s.model, s.frame, s.q, "quaternion", position)
    chi = lambda q, _=None: analytical_jacobian.parameters(s.model, s.frame, q, "quaternion", position)
    near(mul(J, s.v), rate(s, chi), 1e-8)


@given(states())
def test_parameters_give_the_pose_back(s):
    chi = analytical_jacobian.parameters(s.model, s.frame, s.q, "rotation-vector", "cylindrical")
    pose = kinematics.pose(s.model, s.frame, s.q)
    near(rates.position("cylindrical", chi[:3]), pose.position, 1e-12)
    near(rates.rotation("rotation-vector", chi[3:]).matrix, pose.rotation.matrix, 1e-11)


@given(states())
def test_geometric_jacobian_is_the_rates_times_the_analytical_one(s):
    """E J_A = J.  [RD 2.149-2.150]"""
    chi = analytical_jacobian.parameters(s.model, s.frame, s.q, "euler-zyx")
    assume(abs(np.cos(chi[4])) > 1e-3)
    J_A = analytical_jacobian.analytical_jacobian(s.model, s.frame, s.q, "euler-zyx")
    J = analytical_jacobian.jacobian(s.model, s.frame, s.q)
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
    assert analytical_jacobian.rank(model, tip, bent, plane) == 3
    assert analytical_jacobian.rank(model, tip, straight, plane) == 2
    assert analytical_jacobian.rank(model, tip, bent) == 3
    assert analytical_jacobian.rank(model, tip, np.stack([bent, straight]), plane).tolist() == [3, 2]
    assert analytical_jacobian.manipulability(model, tip, bent, plane) > 0.1
    assert analytical_jacobian.manipulability(model, tip, straight, plane) < 1e-12


def test_manipulability_is_the_root_of_the_determinant():
    robot = mb.load("panda")
    q = robot.random(np.random.default_rng(0), (5,))
    J = robot.jacobian(robot.frames[-1], q)
    expected = np.sqrt(np.linalg.det(J @ np.swapaxes(J, -1, -2)))
    near(robot.manipulability(robot.frames[-1], q), expected, 1e-10)
    values = robot.singular_values(robot.frames[-1], q, coordinates=[0, 1, 2])
    assert values.shape == (5, 3)
    assert (np.diff(values, axis=-1) <= 0).all()


def test_unknown_parameterisations():
    robot = mb.load("planar-arm")
    with pytest.raises(InputError, match=r"parameterisation of an orientation.*'quaternion'.*got 'quat'"):
        robot.analytical_jacobian(robot.frames[-1], robot.neutral(), rotation="quat")
    with pytest.raises(InputError, match=r"parameterisation of a position.*got 'polar'"):
        robot.end_effector(robot.frames[-1], robot.neutral(), position="polar")
