"""Checks of session 2: Jacobians, redundancy and inverse kinematics."""

from collections.abc import Callable
from typing import Any

import numpy as np

import multibody as mb
from multibody import control

from .grading import WrongAnswerError, compare, exercise, is_close, numbers, rotations


@exercise("2.1", "the angles of the links add up along the arm.")
def planar_position(answer: Callable[..., Any]) -> None:
    arm = mb.load("planar-arm")
    for q in np.random.default_rng(7).uniform(-2.0, 2.0, (4, 3)):
        right, sums = arm.pose("tool", q).position[[0, 2]], np.cumsum(q)
        compare(
            numbers(answer(q), 2),
            right,
            [
                (right - [0.0, 1.0], "the post is missing: l_0 lifts the first joint."),
                (
                    [np.sin(q).sum(), 1.0 + np.cos(q).sum()],
                    "the second link turns with the first: its angle is q_1 + q_2.",
                ),
                (
                    [np.cos(sums).sum(), 1.0 + np.sin(sums).sum()],
                    "sine and cosine are exchanged: at q = 0 the arm is up.",
                ),
            ],
        )


@exercise("2.2", "lever arms and axes are those of [RD 2.165].")
def geometric_jacobian(answer: Callable[..., Any]) -> None:
    robot = mb.load("panda")
    for q in robot.random(np.random.default_rng(8), (3,)):
        links = [robot.pose(joint.child, q) for joint in robot.joints]
        axes = np.array([link.rotation.matrix[:, 2] for link in links])
        origins, end = np.array([link.position for link in links]), robot.pose("tool", q).position
        linear = np.cross(axes, end - origins).T
        compare(
            numbers(answer(axes, origins, end), 6, 7),
            robot.jacobian("tool", q),
            [
                (
                    np.vstack([-linear, axes.T]),
                    "the linear part has the wrong sign: it is n × r, and r points to the end.",
                ),
                (np.vstack([axes.T, linear]), "the linear part comes first [RD 2.151]."),
                (
                    np.vstack([np.cross(axes, end).T, axes.T]),
                    "the lever arm starts at the joint, not at the world's origin.",
                ),
                (
                    np.vstack([np.cross(axes, origins).T, axes.T]),
                    "the lever arm leads from the joint to the end-effector.",
                ),
            ],
        )


@exercise("2.3", "λ = 0 is the pseudo-inverse, and damping bounds the result near a singularity.")
def damped_inverse(answer: Callable[..., Any]) -> None:
    rng = np.random.default_rng(9)
    for J, damping in [(rng.normal(size=(6, 7)), 0.3), (rng.normal(size=(2, 3)), 0.0), (np.diag([1.0, 1e-3]), 0.05)]:
        compare(
            numbers(answer(J, damping), *J.T.shape),
            mb.control.pseudo_inverse(J, damping=damping),
            [
                (mb.control.pseudo_inverse(J, damping=np.sqrt(damping)), "λ is squared in [RD 2.207]."),
                (mb.control.pseudo_inverse(J), "this is the pseudo-inverse without damping."),
            ],
        )


@exercise("2.4", "the hand moves at w, and the joints follow qd_0 as far as that permits.")
def redundant_velocity(answer: Callable[..., Any]) -> None:
    rng = np.random.default_rng(10)
    for _ in range(3):
        J, w, free = rng.normal(size=(6, 7)), rng.normal(size=6), rng.normal(size=7)
        inverse = np.linalg.pinv(J)
        compare(
            numbers(answer(J, w, free), 7),
            inverse @ w + free - inverse @ J @ free,
            [
                (inverse @ w + free, "the projector N is missing: qd_0 moves the hand [RD 2.210]."),
                (inverse @ w, "the null-space motion is missing [RD 2.210]."),
                (inverse @ w + inverse @ J @ free, "this is J⁺J; the projector is 1 - J⁺J [RD 2.212]."),
            ],
        )


@exercise("2.5", "task 1 is met, and task 2 as well as task 1 permits.")
def two_tasks(answer: Callable[..., Any]) -> None:
    rng = np.random.default_rng(11)
    J = mb.load("planar-arm").jacobian("tool", [np.pi / 6, np.pi / 3, np.pi / 3])[[0, 2]]
    cases = [(J, np.ones(2), np.eye(3)[:2], np.zeros(2))]
    cases += [(rng.normal(size=(3, 7)), rng.normal(size=3), rng.normal(size=(5, 7)), rng.normal(size=5))]
    for J_1, w_1, J_2, w_2 in cases:
        v = numbers(answer(J_1, w_1, J_2, w_2), J_1.shape[1])
        if not is_close(J_1 @ v, w_1):
            stacked = np.linalg.pinv(np.vstack([J_1, J_2])) @ np.concatenate([w_1, w_2])
            if is_close(v, stacked):
                raise WrongAnswerError("this solves both tasks with the same priority [RD 2.214]; task 1 is not met.")
            raise WrongAnswerError("task 1 is not met: task 2 disturbs it. Where is the projector N_1 [RD 2.219]?")
        _, slacks = control.prioritised([(J_1, w_1), (J_2, w_2)])
        if np.linalg.norm(J_2 @ v - w_2) > np.linalg.norm(slacks[1]) + 1e-6:
            raise WrongAnswerError(
                "task 1 is met, but task 2 could be met better. Task 1 already moves it: subtract J_2 J_1⁺ w_1."
            )


@exercise("2.6", "the shortest turn from A to B, in the axes of the world.")
def rotation_error(answer: Callable[..., Any]) -> None:
    for A, B in zip(rotations(3, 12), rotations(3, 13), strict=True):
        right = mb.Rotation.from_matrix(B @ A.T).rotation_vector
        compare(
            numbers(answer(A, B), 3),
            right,
            [
                (A.T @ right, "this is the error in the axes of A [RD 2.250]. Map it to the world, or use [RD 2.251]."),
                (-right, "this turns from the target to the current orientation."),
                (-A.T @ right, "this is the inverse turn, in the axes of A."),
            ],
        )


@exercise("2.7", "all targets are reached.")
def inverse_kinematics(answer: Callable[..., Any]) -> None:
    robot = mb.load("panda")
    home, rng = robot.home(), np.random.default_rng(14)
    for q in home + rng.uniform(-0.5, 0.5, (5, 7)):
        target = robot.pose("tool", q)
        pose = robot.pose("tool", numbers(answer(target.position, target.rotation.matrix, home.copy()), 7))
        offset, turn = np.linalg.norm(pose.position - target.position), float(pose.rotation.angle_to(target.rotation))
        if offset > 1e-4 and turn > 1e-3:
            raise WrongAnswerError(
                f"position and orientation are off by {offset:.2g} m and {turn:.2g} rad. Is the sign of the error "
                "right, are there enough iterations, and is the rotation error in the axes of the Jacobian?"
            )
        if turn > 1e-3:
            raise WrongAnswerError(f"the position is reached, but the orientation is off by {turn:.2g} rad.")
        if offset > 1e-4:
            raise WrongAnswerError(f"the orientation is reached, but the position is off by {offset:.2g} m.")
