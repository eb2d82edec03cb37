"""Jacobians of frames and points, their rates and Hessians, between frames and in any frame, on random robots."""

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms import hessian, jacobian, kinematics
from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.model import base_velocity

from ..laws.tools import mul, near
from .covering import law
from .states import PLACES, REPRESENTATIONS, STEP, along_each, rate, twist


@law()
def test_jacobian_times_velocity_is_the_twist(s):
    for frame in s.some_frames:
        for name in REPRESENTATIONS:
            J = jacobian.jacobian(s.tree, frame, s.q, name)
            assert J.shape == (6, s.model.nv)
            near(mul(J, s.v), kinematics.velocity(s.tree, frame, s.q, s.v, name), 1e-10)


@law()
def test_jacobian_dot_is_the_rate_of_the_jacobian(s):
    for frame in s.some_frames:
        for name in REPRESENTATIONS:
            found = jacobian.jacobian_dot(s.tree, frame, s.q, s.v, name)
            expected = rate(s, lambda q, _, f=frame, name=name: jacobian.jacobian(s.tree, f, q, name))
            near(found, expected, 1e-8)
            J = jacobian.jacobian(s.tree, frame, s.q, name)
            a = kinematics.acceleration(s.tree, frame, s.q, s.v, s.a, name)
            near(mul(J, s.a) + mul(found, s.v), a, 1e-9)


@law()
def test_hessian_is_the_derivative_of_the_jacobian(s):
    for name in REPRESENTATIONS:
        H = hessian.hessian(s.tree, s.frame, s.q, name)
        assert H.shape == (s.model.nv, 6, s.model.nv)
        near(H, along_each(s.model, lambda q, name=name: jacobian.jacobian(s.tree, s.frame, q, name), s.q), 1e-8)


@law()
@pytest.mark.slow
def test_jacobian_dot_from_the_hessian(s):
    """[Kindr 17]"""
    for name in REPRESENTATIONS:
        H = hessian.hessian(s.tree, s.frame, s.q, name)
        direct = jacobian.jacobian_dot(s.tree, s.frame, s.q, s.v, name)
        near(hessian.jacobian_dot_from_hessian(H, s.v), direct, 1e-10)


@law()
def test_point_jacobian(s):
    r = s.rng.standard_normal(3)
    J = jacobian.point_jacobian(s.tree, s.frame, s.q, r)
    near(mul(J, s.v), kinematics.point_velocity(s.tree, s.frame, s.q, s.v, r), 1e-10)


@law()
def test_relative_twist_is_that_of_the_relative_pose(s):
    """[MDN 32-33]"""
    F, E = s.frame, s.some_frames[1]

    def relative(q):
        return kinematics.pose(s.tree, E, q).inverse() @ kinematics.pose(s.tree, F, q)

    H, H_dot = relative(s.q).matrix, rate(s, lambda q, _: relative(q).matrix)
    for name in REPRESENTATIONS:
        J = jacobian.relative_jacobian(s.tree, F, E, s.q, representation=name)
        near(mul(J, s.v), twist(H, H_dot, name), 1e-8)
    assert not jacobian.relative_jacobian(s.tree, F, F, s.q).any()


@law()
def test_relative_difference_is_that_of_the_velocities(s):
    """[RD 2.153-2.154]"""
    F, E = s.frame, s.some_frames[1]
    J = jacobian.relative_jacobian(s.tree, F, E, s.q, kind="difference")
    velocities = [kinematics.velocity(s.tree, frame, s.q, s.v, "mixed") for frame in (F, E)]
    near(mul(J, s.v), velocities[0] - velocities[1], 1e-10)


def test_the_two_relative_jacobians_differ():
    robot = mb.load("planar-arm")
    q = np.array([0.3, 0.5, -0.4])
    F, E = robot.frames[-1], robot.bodies[0].name
    twist_of, difference = (robot.relative_jacobian(F, E, q, kind=kind) for kind in ("twist", "difference"))
    near(twist_of[:, 0], np.zeros(6), 1e-12)  # the first joint moves both as one body
    assert np.abs(difference[:3, 0]).max() > 0.1


@law()
def test_jacobian_in_any_frame(s):
    """[MDN 71-76]"""
    F = s.frame
    pose = kinematics.pose(s.tree, F, s.q)
    near(jacobian.jacobian_in(s.tree, F, s.q, written_in=F), jacobian.jacobian(s.tree, F, s.q, "left"), 1e-10)
    right = jacobian.jacobian(s.tree, F, s.q, "right")
    near(jacobian.jacobian_in(s.tree, F, s.q, written_in=Pose.identity()), right, 1e-12)
    D = Pose.random(s.rng)
    near(jacobian.jacobian_in(s.tree, F, s.q, written_in=D), D.inverse().adjoint @ right, 1e-10)
    at_F = Pose(mb.Rotation.identity(), pose.position)
    near(
        jacobian.jacobian_in(s.tree, F, s.q, written_in=at_F),
        jacobian.jacobian(s.tree, F, s.q, "mixed"),
        1e-10,
    )


@law(floating=True, pairs=False)
def test_jacobian_for_other_base_velocities(s):
    for base in base_velocity.representations.REPRESENTATIONS:
        other = s.model.with_(velocity=base).tree
        v = base_velocity.from_left(other, s.q, base_velocity.to_left(s.tree, s.q, s.v))
        J = jacobian.jacobian_in(s.tree, s.frame, s.q, written_in=Pose.identity(), base=base)
        near(mul(J, v), kinematics.velocity(s.tree, s.frame, s.q, s.v, "right"), 1e-10)


@law()
def test_velocity_of_a_contact_frame_that_moves_on_its_link(s):
    """[MDN 81-82]"""
    start, F_v_FC = Pose.random(s.rng), s.rng.standard_normal(6)

    def contact(q, _):
        t = np.array([0.0]) if q.ndim == 1 else STEP * PLACES
        return (kinematics.pose(s.tree, s.frame, q) @ start @ Pose.exp(t[:, None] * F_v_FC)).matrix

    found = jacobian.moving_contact_velocity(s.tree, s.frame, s.q, s.v, start, F_v_FC)
    near(found, twist(contact(s.q, s.v)[0], rate(s, contact), "left"), 1e-8)


def test_a_far_robot_loses_no_digits():
    """A Jacobian is written about the base, so nothing large cancels when the robot is far from the origin."""
    robot = mb.load("quadruped")
    frame, q = robot.frames[-1], robot.home()
    near_J, near_H = robot.jacobian(frame, q), robot.hessian(frame, q)
    q[:3] += 1e8
    assert np.array_equal(robot.jacobian(frame, q), near_J)
    assert np.array_equal(robot.hessian(frame, q), near_H)


@pytest.mark.parametrize("call", [
    lambda m, q: jacobian.jacobian(m, m.frames[0], q, "body"),
    lambda m, q: jacobian.jacobian_dot(m, m.frames[0], q, q, "kindr"),
    lambda m, q: hessian.hessian(m, m.frames[0], q, "world"),
    lambda m, q: jacobian.relative_jacobian(m, m.frames[0], m.frames[1], q, representation="world"),
])  # fmt: skip
def test_unknown_representations_are_refused(call):
    model = mb.load("planar-arm").model
    with pytest.raises(InputError, match="'left', 'right', 'mixed'"):
        call(model, np.zeros(3))


def test_unknown_kind_of_relative_jacobian():
    model = mb.load("planar-arm").model
    with pytest.raises(InputError, match="'twist', 'difference'"):
        jacobian.relative_jacobian(model.tree, model.frames[0], model.frames[1], np.zeros(3), kind="both")
