"""Inverse kinematics: what it reaches, beside Pinocchio's forward kinematics, and what it promises of batches."""

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation as SciPy

import multibody as mb
from multibody.control import InverseKinematics
from multibody.model.layouts import PinocchioLayout

from ..oracles.robot_data import urdf


@pytest.fixture(scope="module")
def panda():
    return mb.load("panda")


@pytest.fixture(scope="module")
def solver(panda):
    return InverseKinematics(panda, "tool")


def bounds(robot):
    return robot.tree.lower, robot.tree.upper


def near_the_limits(robot, rng, count):
    """Configurations within 1 % of a limit in every joint."""
    lower, upper = bounds(robot)
    finite = np.isfinite(lower) & np.isfinite(upper)
    low, high = np.where(finite, lower, -np.pi), np.where(finite, upper, np.pi)
    inset = 0.01 * rng.random((count, robot.nq)) * (high - low)
    return np.where(rng.random((count, robot.nq)) < 0.5, low + inset, high - inset)


def pose_of(H, index):
    return mb.Pose(mb.Rotation.from_matrix(H.rotation.matrix[index]), H.position[index])


def errors(H, target):
    turn = SciPy.from_matrix(target.rotation.matrix @ np.swapaxes(H.rotation.matrix, -1, -2)).as_rotvec()
    return np.linalg.norm(target.position - H.position, axis=-1), np.linalg.norm(turn, axis=-1)


@pytest.mark.parametrize("where", ["anywhere", "near the limits"])
def test_every_reachable_pose_of_panda(panda, solver, where):
    rng = np.random.default_rng(2)
    q = panda.random(rng, (1000,)) if where == "anywhere" else near_the_limits(panda, rng, 1000)
    target = panda.pose("tool", q)
    answer = solver(target)
    position, rotation = errors(panda.pose("tool", answer.q), target)
    lower, upper = bounds(panda)
    assert answer.success.all()
    assert (position <= 1e-4).all()
    assert (rotation <= 1e-3).all()
    assert ((lower <= answer.q) & (answer.q <= upper)).all()
    np.testing.assert_allclose(answer.position_error, position, atol=1e-12)
    np.testing.assert_allclose(answer.rotation_error, rotation, atol=1e-9)


ARMS = [
    ("ur_description/urdf/ur5_robot.urdf", "tool0", ""),
    ("kinova_description/robots/kinova.urdf", "j2s6s200_end_effector", "j2s6s200_joint"),
    ("tiago_description/robots/tiago_no_hand.urdf", "arm_tool_link", "arm_"),
]


@pytest.mark.filterwarnings("ignore::multibody.RobotFileWarning")
@pytest.mark.parametrize(("path", "frame", "keep"), ARMS)
def test_arms_of_files_beside_pinocchio(path, frame, keep):
    """The poses are those that Pinocchio's forward kinematics gives for the answers."""
    whole = mb.load(urdf(path), mimic="independent")
    locked = {joint.name: 0.0 for joint in whole.joints if not joint.name.startswith(keep)}
    robot = whole.lock(locked) if locked else whole
    target = robot.pose(frame, robot.random(np.random.default_rng(0), (40,)))
    answer = InverseKinematics(robot, frame)(target)
    model = pin.buildModelFromUrdf(str(urdf(path)))
    layout, data, number = PinocchioLayout(whole.model, model), model.createData(), model.getFrameId(frame)
    assert answer.success.all()
    for k, q in enumerate(answer.q):
        full = whole.neutral()
        for joint in robot.joints:
            full[whole.tree.joint(joint.name).q] = q[joint.q]
        pin.framesForwardKinematics(model, data, layout.q_to(full))
        H = data.oMf[number]
        assert np.linalg.norm(H.translation - target.position[k]) <= 1.001e-4
        assert SciPy.from_matrix(H.rotation.T @ target.rotation.matrix[k]).magnitude() <= 1.001e-3


def test_alone_as_in_any_batch(panda, solver):
    target = panda.pose("tool", near_the_limits(panda, np.random.default_rng(5), 70))
    whole = solver(target)
    assert whole.restarted.any()
    folded = solver(
        mb.Pose(mb.Rotation.from_matrix(target.rotation.matrix.reshape(7, 10, 3, 3)), target.position.reshape(7, 10, 3))
    )
    np.testing.assert_array_equal(folded.q.reshape(70, 7), whole.q)
    threaded = solver(target, threads=2)
    np.testing.assert_array_equal(threaded.q, whole.q)
    for k in range(70):
        alone = solver(pose_of(target, k))
        for name in ("q", "success", "position_error", "rotation_error", "rounds", "restarted"):
            np.testing.assert_array_equal(getattr(alone, name), getattr(whole, name)[k], err_msg=name)


def test_no_targets(solver):
    answer = solver(mb.Pose(mb.Rotation.identity((0,)), np.zeros((0, 3))))
    assert answer.q.shape == (0, 7)
    assert answer.success.shape == (0,)


def test_a_guess_that_solves_comes_back(panda, solver):
    answer = solver(panda.pose("tool", panda.home()), q0=panda.home())
    np.testing.assert_array_equal(answer.q, panda.home())
    assert answer.rounds == 0
    assert not answer.restarted


def test_guesses_outside_are_clipped(panda, solver):
    answer = solver(panda.pose("tool", panda.home()), q0=panda.home() + 10.0)
    lower, upper = bounds(panda)
    assert answer.success
    assert ((lower <= answer.q) & (answer.q <= upper)).all()


def test_a_target_that_is_no_number_fails_alone(panda, solver):
    target = panda.pose("tool", panda.random(np.random.default_rng(0), (20,)))
    position = target.position.copy()
    position[7, 1] = np.nan
    answer, clean = solver(mb.Pose(target.rotation, position)), solver(target)
    others = np.arange(20) != 7
    np.testing.assert_array_equal(answer.q[others], clean.q[others])
    assert not answer.success[7]
    assert np.isfinite(answer.q[7]).all()


def test_out_of_reach(panda, solver):
    """The nearest pose within limits, as SciPy's bounded least squares finds from many starts."""
    lower, upper = bounds(panda)
    rng = np.random.default_rng(3)
    H = panda.pose("tool", panda.random(rng, (3,)))
    far = mb.Pose(H.rotation, 1.5 * H.position / np.linalg.norm(H.position, axis=-1, keepdims=True))
    answer = solver(far)
    assert not answer.success.any()
    assert ((lower <= answer.q) & (answer.q <= upper)).all()
    for k in range(3):

        def off(q, k=k):
            here = panda.pose("tool", q)
            turn = SciPy.from_matrix(far.rotation.matrix[k] @ here.rotation.matrix.T).as_rotvec()
            return np.concatenate([far.position[k] - here.position, turn])

        starts = np.clip(panda.random(rng, (6,)), lower + 1e-6, upper - 1e-6)
        best = min(np.linalg.norm(least_squares(off, q, bounds=(lower, upper), max_nfev=80).fun) for q in starts)
        assert np.hypot(answer.position_error[k], answer.rotation_error[k]) <= 1.01 * best + 1e-3


def test_seeds_cap_the_search(panda):
    target = panda.pose("tool", near_the_limits(panda, np.random.default_rng(1), 200))
    none, all_of_them = InverseKinematics(panda, "tool", seeds=0)(target), InverseKinematics(panda, "tool")(target)
    assert 0 < none.success.sum() < all_of_them.success.sum() == 200
    assert none.rounds.max() < all_of_them.rounds.max()


def test_branches_of_closed_forms_as_seeds(panda):
    """The branch nearest to the first guess is a solution: nothing is left to iterate."""
    robot = mb.load("puma-560")
    q = robot.random(np.random.default_rng(0), (5,))
    target = robot.pose("tool", q)
    answer = InverseKinematics(robot, "tool", seeds="analytic")(target, q0=q + 0.01)
    np.testing.assert_allclose(answer.q, q, atol=1e-6)
    assert answer.success.all()
    assert (answer.rounds == 0).all()
    far = mb.Pose(target.rotation, target.position + 5.0)
    assert not InverseKinematics(robot, "tool", seeds="analytic")(far).success.any()
    with pytest.raises(mb.InputError, match="analytic"):
        InverseKinematics(robot, "tool", axes="xyz", seeds="analytic")
    with pytest.raises(mb.InputError, match="wrist"):
        InverseKinematics(panda, "tool", seeds="analytic")(panda.pose("tool", panda.home()))


def test_equal_seeds_give_equal_answers(panda, solver):
    target = panda.pose("tool", near_the_limits(panda, np.random.default_rng(1), 50))
    np.testing.assert_array_equal(solver(target, seed=3).q, InverseKinematics(panda, "tool")(target, seed=3).q)
    assert not np.array_equal(solver(target, seed=4).q, solver(target, seed=3).q)


def test_single_precision():
    robot = mb.load("panda").astype("float32")
    target = robot.pose("tool", near_the_limits(robot, np.random.default_rng(0), 200))
    answer = InverseKinematics(robot, "tool")(target)
    lower, upper = bounds(robot)
    assert answer.q.dtype == np.float32
    assert answer.success.mean() > 0.98
    assert ((lower <= answer.q) & (answer.q <= upper)).all()


def test_the_same_in_plain_numpy(panda, solver):
    target = panda.pose("tool", panda.random(np.random.default_rng(0), (3,)))
    compiled = solver(target)
    with mb.eager():
        plain = solver(target)
    np.testing.assert_allclose(plain.q, compiled.q, atol=1e-6)


# ---- what is wanted of a pose ----------------------------------------------------------------------------------------


def test_positions_alone(panda):
    target = panda.pose("tool", panda.random(np.random.default_rng(0), (50,)))
    turned = mb.Pose(mb.Rotation.random(np.random.default_rng(1), (50,)), target.position)
    answer = InverseKinematics(panda, "tool", axes="xyz")(turned)
    assert answer.success.all()
    np.testing.assert_array_less(errors(panda.pose("tool", answer.q), turned)[0], 1.001e-4)
    assert (answer.rotation_error == 0).all()


def test_some_coordinates_of_a_position(panda):
    target = mb.Pose(mb.Rotation.identity(), [0.3, 100.0, 0.5])
    answer = InverseKinematics(panda, "tool", axes="xz")(target)
    assert answer.success
    np.testing.assert_allclose(panda.pose("tool", answer.q).position[[0, 2]], [0.3, 0.5], atol=1e-4)


def test_a_rotation_alone(panda):
    target = mb.Pose(mb.Rotation.random(np.random.default_rng(1), (50,)), np.full((50, 3), 9.0))
    answer = InverseKinematics(panda, "tool", axes="rpy")(target)
    assert answer.success.all()
    assert (errors(panda.pose("tool", answer.q), target)[1] <= 1.001e-3).all()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_direction_of_an_axis(panda, axis):
    target = panda.pose("tool", panda.random(np.random.default_rng(axis), (50,)))
    spun = mb.Pose(target.rotation @ mb.Rotation.elementary("xyz"[axis], np.linspace(-3, 3, 50)), target.position)
    answer = InverseKinematics(panda, "tool", axes=f"xyz {'xyz'[axis]}-axis")(spun)
    H = panda.pose("tool", answer.q)
    cosine = np.sum(H.rotation.matrix[..., axis] * target.rotation.matrix[..., axis], axis=-1)
    assert answer.success.all()
    assert (np.arccos(np.clip(cosine, -1, 1)) <= 1.001e-3).all()
    assert (errors(H, target)[0] <= 1.001e-4).all()
    assert (errors(H, spun)[1] > 1e-2).any()  # the turn about the axis is free


def test_an_axis_that_points_the_other_way(panda):
    """From exactly opposite, where the error has no direction of its own."""
    H = panda.pose("tool", panda.home())
    flipped = mb.Pose(H.rotation @ mb.Rotation.elementary("x", np.pi), H.position)
    answer = InverseKinematics(panda, "tool", axes="z-axis")(flipped, q0=panda.home())
    cosine = panda.pose("tool", answer.q).rotation.matrix[:, 2] @ flipped.rotation.matrix[:, 2]
    assert answer.success
    assert cosine > 1 - 1e-6


# ---- several frames, references, bases -------------------------------------------------------------------------------


def test_two_hands_at_once():
    robot = mb.load("humanoid")
    frames = ["left-hand", "right-hand"]
    q = robot.home() + np.concatenate([np.zeros(7), 0.2 * np.random.default_rng(0).normal(size=robot.nq - 7)])
    q = np.clip(q, *bounds(robot))
    targets = [robot.pose(name, q) for name in frames]
    answer = InverseKinematics(robot, frames, base="fixed")(targets, q0=robot.home())
    assert answer.success
    assert answer.position_error.shape == (2,)
    np.testing.assert_array_equal(answer.q[:7], robot.home()[:7])
    for name, target in zip(frames, targets, strict=True):
        position, rotation = errors(robot.pose(name, answer.q), target)
        assert position <= 1.001e-4
        assert rotation <= 1.001e-3


@pytest.mark.parametrize("velocity", ["kindr", "left", "right", "mixed"])
def test_a_free_base_moves(velocity):
    robot = mb.load("quadruped", velocity=velocity)
    target = mb.Pose(
        mb.Rotation.random(np.random.default_rng(0), (20,)), 5 * np.random.default_rng(1).normal(size=(20, 3))
    )
    answer = InverseKinematics(robot, "foot-lf")(target, q0=robot.home())
    assert answer.success.all()
    np.testing.assert_allclose(np.linalg.norm(answer.q[:, 3:7], axis=1), 1.0, atol=1e-12)
    position, rotation = errors(robot.pose("foot-lf", answer.q), target)
    assert (position <= 1.001e-4).all()
    assert (rotation <= 1.001e-3).all()


def test_a_target_in_a_moving_frame():
    robot = mb.load("quadruped")
    q = robot.home()
    q[7:] += 0.2
    target = robot.pose("foot-rh", q).inverse() @ robot.pose("foot-lf", q)
    answer = InverseKinematics(robot, "foot-lf", axes="xyz", reference="foot-rh")(target, q0=robot.home())
    there = robot.pose("foot-rh", answer.q).inverse() @ robot.pose("foot-lf", answer.q)
    assert answer.success
    np.testing.assert_allclose(there.position, target.position, atol=1.001e-4)


def test_a_posture_in_the_null_space(panda):
    target = panda.pose("tool", panda.home())
    posture = panda.home() + np.array([0.6, 0, -0.6, 0, 0, 0, 0])
    plain = InverseKinematics(panda, "tool")(target, q0=panda.home())
    leaning = InverseKinematics(panda, "tool", posture=posture)(target, q0=panda.home())
    assert leaning.success
    assert np.linalg.norm(leaning.q - posture) < 0.9 * np.linalg.norm(plain.q - posture)
    # what is left of the way to the posture is outside of the null space
    J = panda.jacobian("tool", leaning.q)
    N = np.eye(7) - np.linalg.pinv(J) @ J
    assert np.linalg.norm(N @ (posture - leaning.q)) < 1e-2


def test_joints_that_mimic_and_slide():
    robot = mb.load("scara")
    target = robot.pose("tool", robot.random(np.random.default_rng(0), (100,)))
    answer = InverseKinematics(robot, "tool")(target)
    assert answer.success.all()


# ---- paths -----------------------------------------------------------------------------------------------------------


def test_a_line_is_followed_without_jumps(panda, solver):
    """A step above five times that of the damped pseudo-inverse is a jump; there is none unless it says `restarted`."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        a, b = (panda.pose("tool", panda.random(rng)) for _ in range(2))
        q, jumps = solver(a).q, 0
        for t in np.linspace(0, 1, 200)[1:]:
            target = mb.Pose(a.rotation.interpolate(b.rotation, t), (1 - t) * a.position + t * b.position)
            answer = solver(target, q0=q)
            H, J = panda.pose("tool", q), panda.jacobian("tool", q)
            turn = SciPy.from_matrix(target.rotation.matrix @ H.rotation.matrix.T).as_rotvec()
            e = np.concatenate([target.position - H.position, turn])
            d = J.T @ np.linalg.solve(J @ J.T + 1e-4 * np.eye(6), e)
            moved = np.abs(answer.q - q).max()
            jumps += bool(not answer.restarted and moved > 5 * np.abs(d).max() + 1e-3)
            q = answer.q
        assert jumps == 0


# ---- the door of the robot, and what is refused ----------------------------------------------------------------------


def test_the_method_of_the_robot(panda, solver):
    target = panda.pose("tool", panda.random(np.random.default_rng(0), (20,)))
    np.testing.assert_array_equal(panda.inverse_kinematics("tool", target).q, solver(target).q)
    loose = panda.inverse_kinematics("tool", target, position_tolerance=1e-2, rotation_tolerance=1e-1)
    assert loose.rounds.sum() < solver(target).rounds.sum()
    assert panda.inverse_kinematics(["tool"], [target]).position_error.shape == (20, 1)


BAD = {
    "frame": (lambda r: InverseKinematics(r, "gripper9"), "gripper9"),
    "no robot": (lambda r: InverseKinematics(r.model, "tool"), "Robot"),
    "tolerance": (lambda r: InverseKinematics(r, "tool", position_tolerance=-1.0), "position_tolerance"),
    "tolerance that is no number": (lambda r: InverseKinematics(r, "tool", rotation_tolerance=np.nan), "rotation_tol"),
    "axes": (lambda r: InverseKinematics(r, "tool", axes="xyq"), "axes.*xyq"),
    "axes twice": (lambda r: InverseKinematics(r, "tool", axes="xyzrpy z-axis"), "axes"),
    "axes for others": (lambda r: InverseKinematics(r, "tool", axes=["xyz", "xyz"]), "axes"),
    "base": (lambda r: InverseKinematics(r, "tool", base="floating"), "base"),
    "seeds": (lambda r: InverseKinematics(r, "tool", seeds=-1), "seeds"),
    "no frames": (lambda r: InverseKinematics(r, []), "frame"),
    "reference": (lambda r: InverseKinematics(r, "tool", reference="hand7"), "hand7"),
    "reference on the same body": (lambda r: InverseKinematics(r, "tool", reference="tool"), "reference"),
    "target": (lambda r: InverseKinematics(r, "tool")(np.eye(4)), "target.*Pose"),
    "position alone": (lambda r: InverseKinematics(r, "tool")([0.4, 0.0, 0.4]), "with axes='xyz'"),
    "swapped": (lambda r: r.inverse_kinematics(r.pose("tool", r.home()), "tool"), "frame first, and the target second"),
    "option": (
        lambda r: r.inverse_kinematics("tool", r.pose("tool", r.home()), max_iterations=9),
        "'max_iterations'; there are position_tolerance, .*seeds",
    ),
    "targets": (lambda r: InverseKinematics(r, ["tool", "link5"])(r.pose("tool", r.home())), "target.*2 poses"),
    "q0": (lambda r: InverseKinematics(r, "tool")(r.pose("tool", r.home()), q0=np.zeros(3)), "q0"),
    "NaN in q0": (lambda r: InverseKinematics(r, "tool")(r.pose("tool", r.home()), q0=np.full(7, np.nan)), "q0.*nan"),
    "batches": (
        lambda r: InverseKinematics(r, "tool")(
            r.pose("tool", r.random(np.random.default_rng(0), (3,))), q0=np.zeros((2, 7))
        ),
        "broadcast",
    ),
    "seed": (
        lambda r: InverseKinematics(r, "tool")(r.pose("tool", r.random(np.random.default_rng(0), (3,))), seed=0.5),
        "seed",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(panda, case):
    call, words = BAD[case]
    with pytest.raises(mb.InputError, match=words):
        call(panda)
