"""Each claim about MuJoCo in the tables of docs/notation.md ("Other libraries"), as an assertion.

Formulas stand between the libraries wherever possible, so that a failure tells which side changed.
"""

import mujoco
import numpy as np
import pytest

import multibody as mb
from multibody.geometry import representations

MASS, COM = 2.0, np.array([0.1, 0.2, -0.3])
BODY = (
    '<body name="body"><freejoint/><inertial pos="0.1 0.2 -0.3" mass="2" fullinertia="0.2 0.3 0.4 0.01 0.02 0.03"/>'
    '<site name="site" pos="0.3 -0.1 0.2" euler="20 30 40"/></body>'
)
STEP = 1e-6


@pytest.fixture
def rng():
    return np.random.default_rng(21)


def near(a, b, tolerance=1e-12):
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance)


def world(inside: str):
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{inside}</worldbody></mujoco>")
    return model, mujoco.MjData(model)


def moving(rng):
    """A free body in MuJoCo in a random state, and its pose and the parts of its velocity as the table says."""
    model, data = world(BODY)
    A_H_B, v = mb.Pose.random(rng), rng.standard_normal(6)
    data.qpos[:] = [*A_H_B.position, *A_H_B.rotation.quaternion]
    data.qvel[:] = v
    mujoco.mj_forward(model, data)
    return model, data, A_H_B, v


def test_quaternions_are_wxyz_and_the_base_is_position_then_quaternion(rng):
    _, data, A_H_B, _ = moving(rng)
    near(data.body("body").xmat.reshape(3, 3), A_H_B.rotation.matrix)
    near(data.body("body").xpos, A_H_B.position)


def test_the_base_moves_by_linear_in_the_world_and_angular_in_the_body(rng):
    model, data, A_H_B, v = moving(rng)
    q = data.qpos.copy()
    mujoco.mj_integratePos(model, q, v, 0.3)
    near(q[:3], A_H_B.position + 0.3 * v[:3])
    turned = A_H_B.rotation @ mb.Rotation.from_rotation_vector(0.3 * v[3:])  # on the right: in the axes of the body
    near(np.abs(q[3:]), np.abs(turned.quaternion))
    quaternion = A_H_B.rotation.quaternion.copy()
    mujoco.mju_quatIntegrate(quaternion, v[3:], 0.3)
    near(quaternion, q[3:])
    back = np.zeros(6)
    mujoco.mj_differentiatePos(model, back, 0.3, data.qpos, q)
    near(back, v)


def test_object_velocities_are_mixed_and_angular_first(rng):
    model, data, A_H_B, v = moving(rng)
    twist = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, 1, twist, 0)
    near(np.roll(twist, 3), representations.velocity(A_H_B, v, "kindr", "mixed"))
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, 1, twist, 1)
    near(np.roll(twist, 3), representations.velocity(A_H_B, v, "kindr", "left"))
    near(data.cvel[1][:3], A_H_B.rotation @ v[3:])


def test_jacobians_are_mixed_in_two_halves(rng):
    model, data, _, v = moving(rng)
    jacp, jacr = np.zeros((3, 6)), np.zeros((3, 6))
    mujoco.mj_jacSite(model, data, jacp, jacr, 0)
    twist = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_SITE, 0, twist, 0)
    near(np.concatenate([jacr @ v, jacp @ v]), twist)


def test_object_accelerations_are_apparent_mixed_minus_gravity_angular_first(rng):
    model, data, _, v = moving(rng)
    mujoco.mj_rnePostConstraint(model, data)
    given = np.zeros(6)
    mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_SITE, 0, given, 0)

    def twist(t):
        other = mujoco.MjData(model)
        other.qpos[:] = data.qpos
        mujoco.mj_integratePos(model, other.qpos, v + data.qacc * t / 2, t)
        other.qvel[:] = v + data.qacc * t
        mujoco.mj_forward(model, other)
        out = np.zeros(6)
        mujoco.mj_objectVelocity(model, other, mujoco.mjtObj.mjOBJ_SITE, 0, out, 0)
        return out

    apparent = (twist(STEP) - twist(-STEP)) / (2 * STEP)
    near(given, apparent - [0, 0, 0, *model.opt.gravity], 1e-7)


def test_bias_holds_gravity_which_is_981_downward(rng):
    model, data, A_H_B, _ = moving(rng)
    near(model.opt.gravity, [0, 0, -9.81])
    data.qvel[:] = 0
    mujoco.mj_forward(model, data)
    arm = np.cross(A_H_B.rotation @ COM, [0, 0, 9.81 * MASS])
    near(data.qfrc_bias, [0, 0, 9.81 * MASS, *(A_H_B.rotation.inverse() @ arm)])


def test_applied_wrenches_are_force_first_along_the_world_at_the_centre_of_mass(rng):
    model, data, A_H_B, _ = moving(rng)
    force, torque = rng.standard_normal((2, 3))
    before = data.qfrc_bias + np.zeros(6)
    data.xfrc_applied[1] = [*force, *torque]
    mujoco.mj_forward(model, data)
    M = np.zeros((6, 6))
    mujoco.mj_fullM(model, data, M)
    moment = torque + np.cross(A_H_B.rotation @ COM, force)
    near(M @ data.qacc + before, [*force, *(A_H_B.rotation.inverse() @ moment)], 1e-11)


def test_passive_forces_are_part_of_the_dynamics_and_armature_of_the_mass_matrix():
    joint = '<joint axis="1 0 0" damping="5" armature="0.7"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    model, data = world(f"<body>{joint}</body>")
    data.qvel[:] = 1.0
    mujoco.mj_forward(model, data)
    near(data.qfrc_passive, [-5.0])
    near(data.qacc, [-5.0 / 1.7])


def test_total_mass_counts_bodies_fixed_to_the_world():
    fixed = '<body><inertial pos="0 0 0" mass="5" diaginertia="1 1 1"/></body>'
    model, _ = world(BODY + fixed)
    assert mujoco.mj_getTotalmass(model) == pytest.approx(7.0)
    assert mb.load(f"<mujoco><worldbody>{BODY}{fixed}</worldbody></mujoco>").mass == pytest.approx(2.0)


@pytest.mark.parametrize(("sequence", "ours"), [("zyx", "zyx"), ("ZYX", "extrinsic-zyx"), (None, "xyz")])
def test_lower_case_sequences_are_intrinsic_and_the_default_is_xyz_in_degrees(sequence, ours):
    option = f'<compiler eulerseq="{sequence}"/>' if sequence else ""
    text = f'<mujoco>{option}<worldbody><body euler="20 30 40"><geom size="1"/></body></worldbody></mujoco>'
    model = mujoco.MjModel.from_xml_string(text)
    near(model.body_quat[1], mb.Rotation.from_euler(ours, np.deg2rad([20, 30, 40])).quaternion)
