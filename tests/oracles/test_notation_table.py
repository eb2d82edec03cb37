"""Each claim about Pinocchio and SciPy in the tables of docs/notation.md ("Other libraries"), as an assertion.

Plain formulas stand between the libraries wherever possible, so that a failure tells which side changed.
"""

import numpy as np
import pinocchio as pin
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation as SciPyRotation

import multibody as mb
from multibody.geometry import operators, so3

MASS, COM = 2.0, np.array([0.1, 0.2, -0.3])
INERTIA = np.array([[0.2, 0.01, 0.02], [0.01, 0.3, 0.03], [0.02, 0.03, 0.4]])
FRAMES = {"left": pin.LOCAL, "right": pin.WORLD, "mixed": pin.LOCAL_WORLD_ALIGNED}
STEP = 1e-5


@pytest.fixture
def rng():
    return np.random.default_rng(20)


def near(a, b, tolerance=1e-12):
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance)


def free_body():
    """One free body in Pinocchio, with a frame that is somewhere on it."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(joint, pin.Inertia(MASS, COM, INERTIA), pin.SE3.Identity())
    placement = pin.exp6(np.array([0.3, -0.2, 0.5, 0.4, 0.1, -0.6]))
    frame = model.addFrame(pin.Frame("frame", joint, 0, placement, pin.FrameType.OP_FRAME))
    return model, model.createData(), frame


def random_state(rng):
    """The pose of the base as ours, Pinocchio's q for it, and a left twist and its derivative."""
    A_H_B = mb.Pose.random(rng)
    return A_H_B, np.concatenate([A_H_B.position, A_H_B.rotation.xyzw]), *rng.standard_normal((2, 6))


# ---- rotations and six-vectors: Pinocchio ----------------------------------------------------------------------------


def test_pinocchio_quaternions_are_xyzw_but_for_the_constructor(rng):
    R = mb.Rotation.random(rng)
    q = pin.Quaternion(*R.quaternion)
    near(q.coeffs(), R.xyzw)
    near(q.toRotationMatrix(), R.matrix)
    near(pin.Quaternion(R.xyzw).toRotationMatrix(), R.matrix)


def test_pinocchio_motion_and_force_are_linear_first(rng):
    x = rng.standard_normal(6)
    near(np.concatenate([pin.Motion(x).linear, pin.Motion(x).angular]), x)
    near(np.concatenate([pin.Force(x).linear, pin.Force(x).angular]), x)


def test_pinocchio_rpy_is_extrinsic_xyz_as_in_urdf(rng):
    rpy = rng.uniform(-1, 1, 3)
    expected = mb.Rotation.from_euler("extrinsic-xyz", rpy).matrix
    near(pin.rpy.rpyToMatrix(*rpy), expected)
    near(mb.Rotation.from_euler("zyx", rpy[::-1]).matrix, expected)
    urdf = (
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous"><parent link="a"/>'
        f'<child link="b"/><origin rpy="{" ".join(map(repr, rpy.tolist()))}"/><axis xyz="1 0 0"/></joint></robot>'
    )
    near(pin.buildModelFromXML(urdf).jointPlacements[1].rotation, expected)


def test_pinocchio_exp6_and_log6_are_linear_first_as_pose(rng):
    v = rng.uniform(-1, 1, 6)
    near(pin.exp6(v).homogeneous, mb.Pose.exp(v).matrix)
    near(pin.log6(pin.exp6(v)).vector, mb.Pose.exp(v).log())


def test_pinocchio_jexp_is_the_right_jacobian(rng):
    phi, twist = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 6)
    near(pin.Jexp3(phi), so3.right_jacobian(phi))
    assert np.abs(pin.Jexp3(phi) - so3.left_jacobian(phi)).max() > 0.1
    g = mb.Pose.exp(twist).inverse()
    steps = STEP * np.eye(6)
    columns = [((g @ mb.Pose.exp(twist + s)).log() - (g @ mb.Pose.exp(twist - s)).log()) / (2 * STEP) for s in steps]
    near(pin.Jexp6(pin.Motion(twist)), np.stack(columns, axis=-1), 1e-8)


def test_pinocchio_action_matrices_and_cross_products(rng):
    v, u, f = rng.standard_normal((3, 6))
    H = mb.Pose.random(rng)
    M = pin.SE3(H.matrix)
    near(M.toActionMatrix(), H.adjoint)
    near(M.toDualActionMatrix(), H.dual_adjoint)
    near(pin.Motion(v).cross(pin.Motion(u)).vector, operators.ad(v) @ u)
    near(pin.Motion(v).cross(pin.Force(f)).vector, operators.ad_dual(v) @ f)
    near(pin.Motion(v).cross(pin.Motion(u)).vector, mb.Twist.from_vector(v).cross(mb.Twist.from_vector(u)).vector)


def test_pinocchio_act_takes_points_as_our_pose(rng):
    H, B_p = mb.Pose.random(rng), rng.standard_normal(3)
    near(pin.SE3(H.matrix).act(B_p), H @ B_p)


# ---- the floating base: Pinocchio ------------------------------------------------------------------------------------


def test_pinocchio_free_flyer_has_position_then_xyzw(rng):
    model, data, _ = free_body()
    A_H_B, q, _, _ = random_state(rng)
    pin.forwardKinematics(model, data, q)
    near(data.oMi[1].homogeneous, A_H_B.matrix)
    near(pin.neutral(model), [0, 0, 0, 0, 0, 0, 1])


def test_pinocchio_free_flyer_velocity_is_the_left_twist(rng):
    model, data, _ = free_body()
    A_H_B, q, v, _ = random_state(rng)

    def pose(t):
        pin.forwardKinematics(model, data, pin.integrate(model, q, v * t))
        return data.oMi[1].homogeneous.copy()

    near(A_H_B.inverse().matrix @ (pose(STEP) - pose(-STEP)) / (2 * STEP), operators.hat6(v), 1e-8)
    near(pose(0.7), A_H_B.matrix @ expm(operators.hat6(0.7 * v)))  # the increment is multiplied on the right
    near(pose(0.7), A_H_B.integrate(v, 0.7, "left").matrix)


def test_pinocchio_continuous_joint_has_cosine_and_sine():
    assert pin.JointModelRUBX().nq == 2
    assert pin.JointModelRX().nq == 1


# ---- frames, velocities, accelerations: Pinocchio --------------------------------------------------------------------


def frame_at(t, model, data, frame, q, v, a):
    """At time t of a motion with left twist v + a t: the frame's pose, and its motions by representation."""
    pin.forwardKinematics(model, data, pin.integrate(model, q, v * t + a * t**2 / 2), v + a * t, a)
    pin.updateFramePlacements(model, data)
    getters = pin.getFrameVelocity, pin.getFrameAcceleration, pin.getFrameClassicalAcceleration
    motions = {name: [get(model, data, frame, f).vector.copy() for get in getters] for name, f in FRAMES.items()}
    return mb.Pose.from_matrix(data.oMf[frame].homogeneous), motions


@pytest.mark.parametrize("target", FRAMES)
def test_pinocchio_reference_frames_are_left_right_and_mixed(rng, target):
    A_H_F, motions = frame_at(0.0, *free_body(), *random_state(rng)[1:])
    left = motions["left"][0]
    near(motions[target][0], mb.geometry.representations.velocity(A_H_F, left, "left", target))


@pytest.mark.parametrize("name", FRAMES)
def test_pinocchio_acceleration_is_intrinsic_and_the_classical_one_is_apparent_in_mixed(rng, name):
    body, state = free_body(), random_state(rng)[1:]
    A_H_F, now = frame_at(0.0, *body, *state)
    (_, later), (_, before) = frame_at(STEP, *body, *state), frame_at(-STEP, *body, *state)
    _, acceleration, classical = now[name]
    apparent = (later[name][0] - before[name][0]) / (2 * STEP)
    if name == "mixed":
        near(classical, apparent, 1e-7)
        v, o = now["mixed"][0], np.zeros(3)
        v_of_axes = np.concatenate([v[:3], o])  # the frame F[A] moves with F's origin and does not turn
        near(acceleration, mb.geometry.representations.intrinsic(apparent, v_of_axes, v), 1e-7)
        assert np.abs(acceleration - apparent).max() > 0.1
    else:
        near(acceleration, apparent, 1e-7)
    near(apparent, mb.geometry.representations.acceleration(A_H_F, *now["left"][:2], "left", name), 1e-7)


# ---- dynamics: Pinocchio ---------------------------------------------------------------------------------------------


def test_pinocchio_nle_holds_gravity_with_our_sign(rng):
    model, data, _ = free_body()
    A_H_B, q, v, a = random_state(rng)
    near(model.gravity.vector, [0, 0, -9.81, 0, 0, 0])
    M = pin.crba(model, data, q)
    near(pin.rnea(model, data, q, v, a), M @ a + pin.nle(model, data, q, v))
    near(pin.nle(model, data, q, 0 * v), pin.computeGeneralizedGravity(model, data, q))
    B_g = A_H_B.rotation.inverse() @ [0.0, 0.0, -9.81]
    near(pin.computeGeneralizedGravity(model, data, q), -MASS * np.concatenate([B_g, np.cross(COM, B_g)]))


def test_pinocchio_fext_is_in_the_joint_frame_and_on_the_robot(rng):
    model, data, _ = free_body()
    _, q, v, a = random_state(rng)
    B_f = rng.standard_normal(6)
    forces = pin.StdVec_Force()
    forces.append(pin.Force.Zero())
    forces.append(pin.Force(B_f))
    near(pin.rnea(model, data, q, v, a, forces), pin.rnea(model, data, q, v, a) - B_f)


def pendulum():
    inertial = '<inertial><mass value="{}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    return pin.buildModelFromXML(
        f'<robot name="r"><link name="a">{inertial.format(5)}</link><link name="b">{inertial.format(2)}</link>'
        '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
    )


def test_pinocchio_has_armature_in_the_mass_matrix_and_no_damping_in_rnea():
    model, zero, one = pendulum(), np.zeros(1), np.ones(1)
    model.armature[:], model.damping[:] = 0.7, 5.0
    data = model.createData()
    near(pin.crba(model, data, zero), [[1.7]])
    near(pin.rnea(model, data, zero, one, zero), [0.0])


def test_pinocchio_leaves_bodies_fixed_to_the_world_out_of_the_total_mass():
    near(pin.computeTotalMass(pendulum()), 2.0)


def test_pinocchio_inertia_is_about_the_centre_of_mass_and_its_parameters_have_our_order():
    theirs = pin.Inertia(MASS, COM, INERTIA)
    ours = mb.SpatialInertia(mass=MASS, com=COM, inertia=INERTIA)
    near(theirs.matrix(), ours.matrix)
    near(theirs.toDynamicParameters(), ours.parameters())


# ---- SciPy -----------------------------------------------------------------------------------------------------------


def test_scipy_quaternions_are_xyzw_unless_scalar_first(rng):
    R = mb.Rotation.random(rng)
    theirs = SciPyRotation.from_matrix(R.matrix)
    near(theirs.as_quat(canonical=True), R.xyzw)
    near(theirs.as_quat(canonical=True, scalar_first=True), R.quaternion)


@pytest.mark.parametrize("sequence", ["zyx", "xyz", "zxz", "yzx"])
def test_scipy_upper_case_is_our_lower_case(rng, sequence):
    angles = rng.uniform(-1, 1, 3)
    near(
        SciPyRotation.from_euler(sequence.upper(), angles).as_matrix(), mb.Rotation.from_euler(sequence, angles).matrix
    )
    extrinsic = mb.Rotation.from_euler("extrinsic-" + sequence, angles)
    near(SciPyRotation.from_euler(sequence, angles).as_matrix(), extrinsic.matrix)
    R = mb.Rotation.random(rng, (100,))
    near(SciPyRotation.from_matrix(R.matrix).as_euler(sequence.upper()), R.euler(sequence), 1e-9)


def test_scipy_rotation_vectors_are_ours(rng):
    phi = rng.uniform(-1, 1, 3)
    near(SciPyRotation.from_rotvec(phi).as_matrix(), mb.Rotation.from_rotation_vector(phi).matrix)


def test_scipy_rigid_transforms_are_angular_first(rng):
    pytest.importorskip("scipy", minversion="1.16")
    from scipy.spatial.transform import RigidTransform

    v = rng.uniform(-1, 1, 6)
    near(RigidTransform.from_exp_coords(np.roll(v, 3)).as_matrix(), mb.Pose.exp(v).matrix)
