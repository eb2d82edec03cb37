"""Inverse kinematics: positions as targets, seeds without new kernels, and solutions that follow their first guess."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import multibody as mb
from multibody.control import InverseKinematics

PANDA, ARM = mb.load("panda"), mb.load("planar-arm")


def test_a_new_seed_makes_no_kernel():
    solver = InverseKinematics(PANDA, "tool")
    targets = PANDA.pose("tool", PANDA.random(np.random.default_rng(0), (60,)))
    answers = [solver(targets, seed=seed) for seed in (0, 1)]
    kernels = set(solver._kernels)
    answers += [solver(targets, seed=seed) for seed in (2, 3)]
    assert set(solver._kernels) == kernels
    assert all(answer.success.all() for answer in answers)
    assert not all((answer.q == answers[0].q).all() for answer in answers[1:])  # the seed counts
    assert_array_equal(solver(targets, seed=1).q, answers[1].q)


def test_positions_are_targets_where_no_rotation_is_wanted():
    solver = InverseKinematics(PANDA, "tool", axes="xyz")
    q = PANDA.random(np.random.default_rng(0), (5, 2))
    pose = PANDA.pose("tool", q)
    answer, same = solver(pose.position), solver(pose)
    assert answer.success.all()
    assert answer.q.shape == (5, 2, 7)
    for name in ("q", "success", "position_error", "rotation_error", "rounds", "restarted"):
        assert_array_equal(getattr(answer, name), getattr(same, name), err_msg=name)
    reached = PANDA.pose("tool", answer.q)
    assert (np.linalg.norm(reached.position - pose.position, axis=-1) < 1e-4).all()
    one = PANDA.inverse_kinematics("tool", pose.position[1, 1].tolist(), axes="xyz")
    assert_array_equal(one.q, answer.q[1, 1])
    plane = ARM.inverse_kinematics("tool", ARM.pose("tool", [0.4, 0.5, 0.6]).position, axes="xz")
    assert plane.success


def test_a_list_takes_positions_and_poses():
    dog = mb.load("quadruped")
    home = dog.home()
    solver = InverseKinematics(dog, ["foot-lf", "trunk"], axes=["xyz", "xyzrpy"])
    answer = solver([dog.pose("foot-lf", home).position, dog.pose("trunk", home)], q0=home)
    assert answer.success


@pytest.mark.parametrize("target", [np.zeros(3), [0.3, 0.0, 0.5], np.eye(4), mb.Rotation.identity(), "up"])
def test_positions_alone_are_refused_where_a_rotation_is_wanted(target):
    with pytest.raises(mb.InputError, match=r"target: expected a Pose, got .*\(\.\.\., 3\).*axes='xyz'"):
        InverseKinematics(PANDA, "tool")(target)


def test_positions_of_a_wrong_shape_are_refused():
    with pytest.raises(mb.InputError, match="target: expected"):
        InverseKinematics(PANDA, "tool", axes="xyz")(np.eye(4))


def unreachable(offset=5.0):
    home = PANDA.pose("tool", PANDA.home())
    return mb.Pose(home.rotation, home.position + np.array([offset, 0.0, 0.0]))


def test_nothing_is_restarted_without_seeds():
    target = unreachable()
    answers = [InverseKinematics(PANDA, "tool", seeds=0)(target)]
    answers.append(InverseKinematics(PANDA, "tool", seeds=0)(mb.Pose(mb.Rotation.identity((9,)), np.full((9, 3), 2.0))))
    for answer in answers:
        assert not answer.success.any()
        assert not answer.restarted.any()
    assert InverseKinematics(PANDA, "tool")(target).restarted


def test_follow_stays_on_the_branch_of_its_first_guess():
    """The tool turns by more than its wrist can: the free solver jumps to another branch, follow stays at a limit."""
    home = PANDA.home()
    start = PANDA.pose("tool", home)
    free, follow = InverseKinematics(PANDA, "tool"), InverseKinematics(PANDA, "tool", follow=True)
    after, steps = {free: home, follow: home}, {free: [], follow: []}
    for angle in np.linspace(0.0, 7.0, 100):
        target = mb.Pose(start.rotation @ mb.Rotation.from_rotation_vector([0.0, 0.0, angle]), start.position)
        for solver, q in list(after.items()):
            answer = solver(target, q)
            steps[solver].append(np.abs(answer.q - q).max())
            after[solver] = answer.q
            assert not (answer.restarted and solver is follow)
    assert max(steps[free]) > 1.0
    assert max(steps[follow]) < 0.3
    inside = mb.Pose(start.rotation, start.position + np.array([0.05, 0.0, 0.0]))
    assert follow(inside, home).success
    assert_allclose(PANDA.pose("tool", follow(inside, home).q).position, inside.position, atol=1e-4)


def test_follow_reaches_a_whole_path():
    """A path of tool poses by the robot's own motion: each answer is near the last one and solves."""
    a, b = PANDA.home(), PANDA.home() + np.array([0.6, -0.3, 0.4, 0.5, -0.4, 0.3, 0.8])
    follow = InverseKinematics(PANDA, "tool", follow=True)
    q = a
    for share in np.linspace(0.0, 1.0, 50):
        answer = follow(PANDA.pose("tool", a + share * (b - a)), q)
        assert answer.success
        assert np.abs(answer.q - q).max() < 0.1
        q = answer.q


def test_follow_of_a_batch_is_that_of_each_sample():
    rng = np.random.default_rng(1)
    q = PANDA.random(rng, (12,))
    targets = PANDA.pose("tool", PANDA.integrate(q, 0.3 * rng.standard_normal((12, 7))))
    R, p = targets.rotation.matrix.copy(), targets.position.copy()
    p[3], p[4] = np.nan, 9.0
    targets = mb.Pose._from_arrays(R, p)
    follow = InverseKinematics(PANDA, "tool", follow=True)
    whole = follow(targets, q)
    assert not whole.restarted.any()
    assert_array_equal(whole.q[3], np.clip(q[3], PANDA.tree.lower, PANDA.tree.upper))
    for k in range(12):
        alone = follow(mb.Pose._from_arrays(R[k], p[k]), q[k])
        for name in ("q", "success", "position_error", "rotation_error", "rounds", "restarted"):
            assert_array_equal(getattr(alone, name), getattr(whole, name)[k], err_msg=name)


def test_follow_needs_a_first_guess_and_no_seeds():
    with pytest.raises(mb.InputError, match="q0: expected the configuration that follow=True"):
        InverseKinematics(PANDA, "tool", follow=True)(unreachable())
    for seeds in (0, 5, "analytic"):
        with pytest.raises(mb.InputError, match="seeds: expected None with follow=True"):
            InverseKinematics(PANDA, "tool", follow=True, seeds=seeds)
    with pytest.raises(mb.InputError, match="follow: expected"):
        InverseKinematics(PANDA, "tool", follow="yes")
