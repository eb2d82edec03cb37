"""Checks of session 3: floating base and contacts."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import multibody as mb

from .grading import WrongAnswerError, compare, exercise, is_close, numbers, rotations, skew

FEET = ["foot-lf", "foot-rf", "foot-lh", "foot-rh"]


def stances(count: int, seed: int) -> list[tuple[NDArray[Any], ...]]:
    """States of the quadruped on four feet: q, u, M, h, J_c and J_c' u."""
    robot, rng = mb.load("quadruped"), np.random.default_rng(seed)
    found = []
    for q in robot.random(rng, (count,)):
        u = rng.normal(size=robot.nv)
        what = [
            "mass_matrix",
            "bias",
            *(("jacobian", foot) for foot in FEET),
            *(("acceleration", foot) for foot in FEET),
        ]
        M, h, *rows = robot.evaluate(q, u, what, a=np.zeros(robot.nv)).values()
        J_c, Jdot_u = np.vstack([J[:3] for J in rows[:4]]), np.concatenate([a[:3] for a in rows[4:]])
        found.append((q, u, M, h, J_c, Jdot_u))
    return found


@exercise("3.1", "the linear velocity is in the world, the angular velocity in the base.")
def base_velocity(answer: Callable[..., Any]) -> None:
    rng = np.random.default_rng(15)
    for C in rotations(3, 15):
        v, omega = rng.normal(size=(2, 3))
        compare(
            numbers(answer(C, v, omega), 6),
            np.concatenate([C @ v, omega]),
            [
                (np.concatenate([v, omega]), "the linear velocity of u is in the axes of the world [RD 2.261]."),
                (
                    np.concatenate([C @ v, C @ omega]),
                    "the angular velocity of u is in the axes of the base [RD 2.261].",
                ),
                (np.concatenate([C.T @ v, omega]), "C_IB maps from B to I; its transpose maps the other way."),
                (np.concatenate([omega, C @ v]), "the linear velocity comes first [RD 2.261]."),
            ],
        )


@exercise("3.2", "base, rotation and joints all move the foot.")
def foot_jacobian(answer: Callable[..., Any]) -> None:
    robot = mb.load("quadruped")
    for q in robot.random(np.random.default_rng(16), (3,)):
        pose, right = robot.pose("trunk", q), robot.jacobian("foot-lf", q)[:3]
        C = pose.rotation.matrix
        r, J = C.T @ (robot.pose("foot-lf", q).position - pose.position), C.T @ right[:, 6:]
        compare(
            numbers(answer(C, r, J), 3, 18),
            right,
            [
                (
                    np.hstack([np.eye(3), C @ skew(r), C @ J]),
                    "ω × r = -r × ω: the second block has a minus [RD 2.264].",
                ),
                (
                    np.hstack([np.eye(3), -skew(r), J]),
                    "two blocks are still in the axes of the base: map them with C_IB.",
                ),
                (
                    np.hstack([np.eye(3), -C @ skew(r), J]),
                    "the columns of the joints are still in the axes of the base.",
                ),
                (np.hstack([np.eye(3), -skew(C @ r), C @ J]), "ω is in the axes of the base, so map it, too: C [r]×."),
            ],
        )


@exercise("3.3", "two feet leave one rotation of the trunk free; more feet work against each other.")
def contact_ranks(*stands: Any) -> None:
    right = {"one foot": (3, 0), "two feet": (5, 1), "three feet": (6, 3), "four feet": (6, 6)}
    for (name, expected), answer in zip(right.items(), stands, strict=True):
        base, internal = (int(x) for x in numbers(answer, 2))
        if (name, base) == ("two feet", 6):
            raise WrongAnswerError(
                "two feet: can the trunk turn about the line through both feet? Which contact prevents it?"
            )
        if base > 6:
            raise WrongAnswerError(f"{name}: the base has six directions, so it cannot have {base} constraints.")
        if base == expected[0] and internal == 3 * (list(right).index(name) + 1):
            raise WrongAnswerError(f"{name}: {internal} is the rank of J_c; subtract the base constraints.")
        if (base, internal) != expected:
            raise WrongAnswerError(f"{name}: {base} base and {internal} internal constraints are not right.")


@exercise("3.4", "the task is met, and the feet stand still.")
def support_consistent(answer: Callable[..., Any]) -> None:
    robot, rng = mb.load("quadruped"), np.random.default_rng(17)
    for q, _, _, _, J_c, _ in stances(3, 17):
        J_t, w = robot.jacobian("trunk", q), rng.normal(size=6)
        u = numbers(answer(J_c, J_t, w), robot.nv)
        if np.abs(J_c @ u).max() > 1e-6:
            raise WrongAnswerError(
                "the feet move: J_c u is not zero. Use the projector N_c of the contacts [RD 2.276]."
            )
        if not is_close(J_t @ u, w):
            raise WrongAnswerError(
                "the feet stand still, but the task is not met. Project J_t before its inverse: (J_t N_c)⁺."
            )


@exercise("3.5", "this is the force on the ground.")
def contact_force(answer: Callable[..., Any]) -> None:
    rng = np.random.default_rng(18)
    for _, _, M, h, J, Jdot_u in stances(3, 18):
        S_T_tau = np.concatenate([np.zeros(6), 5.0 * rng.normal(size=12)])
        Lambda, free = np.linalg.inv(J @ np.linalg.solve(M, J.T)), J @ np.linalg.solve(M, S_T_tau - h)
        compare(
            numbers(answer(M, h, J, Jdot_u, S_T_tau), 12),
            Lambda @ (free + Jdot_u),
            [
                (-Lambda @ (free + Jdot_u), "this is the force on the robot. F_c acts on the ground [RD 3.57]."),
                (Lambda @ free, "the term with the rate of the Jacobian is missing [RD 3.62]."),
                (Lambda @ (free - Jdot_u), "the rate of the Jacobian has the wrong sign [RD 3.62]."),
            ],
            tolerance=1e-5,
        )


@exercise("3.6", "with these torques the robot has the desired acceleration.")
def standing_torque(answer: Callable[..., Any]) -> None:
    S = np.hstack([np.zeros((12, 6)), np.eye(12)])
    for _, _, M, h, J, _ in stances(2, 19):
        N_c = np.eye(18) - np.linalg.pinv(J) @ J
        u_dot = N_c @ np.random.default_rng(19).normal(size=18)
        for desired in (np.zeros(18), u_dot):
            tau = numbers(answer(M, h, J, S, desired), 12)
            needed = M @ desired + h
            scale = max(1.0, np.abs(needed).max())
            if np.abs(N_c @ (needed - S.T @ tau)).max() > 1e-6 * scale:
                if np.abs(tau - S @ needed).max() < 1e-9 * scale:
                    raise WrongAnswerError(
                        "these are the torques of a robot in the air: the ground carries nothing [RD 3.65]."
                    )
                if np.abs(N_c @ (needed + S.T @ tau)).max() < 1e-6 * scale:
                    raise WrongAnswerError("the sign is wrong: the torques push the robot down.")
                raise WrongAnswerError(
                    "the robot would not accelerate as desired. Is N_c transposed, in both places [RD 3.100]?"
                )


@exercise("3.7", "the feet stop, and the law of momentum holds.")
def after_impact(answer: Callable[..., Any]) -> None:
    for _, u, M, _, J, _ in stances(3, 20):
        impulse = np.linalg.solve(J @ np.linalg.solve(M, J.T), J @ u)
        jump = np.linalg.solve(M, J.T @ impulse)
        compare(
            numbers(answer(M, J, u), 18),
            u - jump,
            [
                (
                    u - np.linalg.pinv(J) @ J @ u,
                    "the feet stop, but momentum is not conserved: N_c contains M [RD 3.63].",
                ),
                (u + jump, "the impulse has the wrong sign: the feet are faster than before."),
                (u - 2.0 * jump, "this is a rebound without loss; the feet should stop [RD 3.70]."),
                (-jump, "this is the jump; add the velocity before the impact [RD 3.69]."),
            ],
            tolerance=1e-5,
        )
