"""Checks of session 4: whole-body control."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import multibody as mb
from multibody import control

from .grading import WrongAnswerError, compare, exercise, is_close, numbers

FEET = ["foot-lf", "foot-rf", "foot-lh", "foot-rh"]


@exercise("4.1", "critical damping: k_d = 2 √k_p.")
def spring(answer: Callable[..., Any]) -> None:
    rng = np.random.default_rng(21)
    for k_p in (1.0, 100.0, 350.0):
        r_wanted, v_wanted, a_wanted, r, v = rng.normal(size=(5, 3))
        k_d = 2.0 * np.sqrt(k_p)
        result = numbers(answer(k_p, r_wanted, v_wanted, a_wanted, r, v), 3)
        pull, damp = k_p * (r_wanted - r), k_d * (v_wanted - v)
        slips = [
            (a_wanted - pull - damp, "the signs are wrong: this pushes away from the target."),
            (a_wanted + pull - k_d * v, "the damper acts on the velocity of the error: v_wanted is missing."),
            (pull + damp, "the acceleration of the target is missing."),
            (a_wanted + pull, "the damper is missing."),
        ]
        slips += [
            (a_wanted + pull + damp / 2.0, "this is k_d = √k_p, half of the critical damping [RD 3.80]."),
            (a_wanted + pull + 2.0 * k_p * (v_wanted - v), "k_d is 2 √k_p, not 2 k_p [RD 3.80]."),
        ]
        compare(result, a_wanted + pull + damp, slips)


def _solution(A: NDArray[Any], b: NDArray[Any], right: NDArray[Any], wanted: NDArray[Any]) -> bool:
    """Whether A x = b has the same solutions as another equation of full row rank."""
    both = np.linalg.matrix_rank(np.vstack([np.c_[A, b], np.c_[right, wanted]]), 1e-7)
    return bool(both == np.linalg.matrix_rank(A, 1e-7) == len(right))


@exercise("4.2", "M u_dot + h + J_c^T F_c - S^T τ = 0.")
def motion_equations(answer: Callable[..., Any]) -> None:
    rng = np.random.default_rng(22)
    M, h, J_c = rng.normal(size=(18, 18)), rng.normal(size=18), rng.normal(size=(12, 18))
    S = np.hstack([np.zeros((12, 6)), np.eye(12)])
    A, b = answer(M, h, J_c, S)
    A, b = numbers(A, 18, 42), numbers(b, 18)
    right = np.hstack([M, J_c.T, -S.T])
    if _solution(A, b, right, -h):
        return
    slips = [
        (np.hstack([M, J_c.T, -S.T]), h, "h moves to the right side, so b = -h."),
        (np.hstack([M, -J_c.T, -S.T]), -h, "F_c is the force on the ground: its sign is that of [RD 3.57]."),
        (np.hstack([M, J_c.T, S.T]), -h, "τ moves to the left side, so its block is -S^T."),
        (np.hstack([M, -S.T, J_c.T]), -h, "the order of the unknowns is acceleration, force, torque [RD 3.109]."),
    ]
    for matrix, vector, hint in slips:
        if _solution(A, b, matrix, vector):
            raise WrongAnswerError(hint)
    raise WrongAnswerError("this is not [RD 3.110]. Compare the three blocks, and b.")


@exercise("4.3", "the term J_dot u moves to the right side.")
def acceleration_task(answer: Callable[..., Any]) -> None:
    rng = np.random.default_rng(23)
    J, bias, wanted = rng.normal(size=(3, 18)), rng.normal(size=3), rng.normal(size=3)
    A, b = answer(J, bias, wanted)
    A, b = numbers(A, 3, 42), numbers(b, 3)
    zeros = np.zeros((3, 12))
    right = np.hstack([J, zeros, zeros])
    if _solution(A, b, right, wanted - bias):
        return
    for vector, hint in [
        (wanted, "b has no J_dot u: the point would accelerate by another vector [RD 3.81]."),
        (wanted + bias, "J_dot u moves to the right side, so it is subtracted [RD 3.111]."),
    ]:
        if _solution(A, b, right, vector):
            raise WrongAnswerError(hint)
    if np.abs(A[:, 18:]).max() > 0.0:
        raise WrongAnswerError("the columns of forces and torques are zero: J belongs to u_dot, the first 18 unknowns.")
    raise WrongAnswerError("this is not J u_dot = w_dot - J_dot u.")


@exercise("4.4", "three columns of F_c for each foot.")
def force_task(answer: Callable[..., Any]) -> None:
    for number in (0, 2, 3):
        force, columns = np.random.default_rng(number).normal(size=3), np.arange(18 + 3 * number, 21 + 3 * number)
        A, b = answer(number, force)
        A, b = numbers(A, 3, 42), numbers(b, 3)
        right = np.zeros((3, 42))
        right[:, columns] = np.eye(3)
        if _solution(A, b, right, force):
            continue
        used = np.flatnonzero(np.abs(A).max(axis=0) > 1e-12)
        if len(used) and used.max() < 18:
            raise WrongAnswerError("these columns belong to u_dot; those of the forces start at 18 [RD 3.109].")
        if not np.isin(used, columns).all():
            raise WrongAnswerError(f"foot {number}: the columns of its force are {columns[0]} to {columns[-1]}.")
        if np.linalg.matrix_rank(A) < 3:
            raise WrongAnswerError("all three components of the force are given, so A has rank 3.")
        raise WrongAnswerError("b is the desired force F, with the same sign.")


@exercise("4.5", "no level disturbs the levels above it.")
def solve(answer: Callable[..., Any]) -> None:
    rng = np.random.default_rng(24)
    levels = [(rng.normal(size=(rows, 9)), rng.normal(size=rows)) for rows in (3, 4, 5)]
    redundant = np.vstack([levels[0][0], levels[0][0][:1]]), np.append(levels[0][1], levels[0][1][0])
    for case in (levels[:1], levels[:2], levels, [redundant, *levels[1:]]):
        x = numbers(answer(case), 9)
        _, slacks = control.prioritised(case)
        for k, ((A, b), slack) in enumerate(zip(case, slacks, strict=True), 1):
            if np.linalg.norm(A @ x - b) > np.linalg.norm(slack) + 1e-6:
                stacked = np.linalg.pinv(np.vstack([A for A, _ in case])) @ np.concatenate([b for _, b in case])
                if is_close(x, stacked):
                    raise WrongAnswerError("this is one least-squares problem with all levels: no level has priority.")
                hint = "Is the sum so far subtracted from b_i, and does each N_i project on all levels above?"
                raise WrongAnswerError(f"level {k} of {len(case)} is not solved as well as possible. {hint}")


@exercise("4.6", "the centre of mass is above the three standing feet.")
def com_target(answer: Any) -> None:
    robot = mb.load("quadruped")
    place = numbers(answer, 2) if np.size(answer) == 2 else numbers(answer, 3)[:2]
    points = np.array([robot.pose(foot, robot.home()).position[:2] for foot in FEET])
    inside = _distance_inside(place, points[1:])
    if inside < 0.0:
        mirrored = _distance_inside(place * [1, -1], points[1:]) > 0.0 or _distance_inside(-place, points[1:]) > 0.0
        hint = " Is it on the wrong side? The left fore foot lifts." if mirrored else ""
        raise WrongAnswerError(f"it is {-1e3 * inside:.0f} mm outside the triangle of the other three feet.{hint}")
    if inside < 0.02:
        raise WrongAnswerError(f"it is only {1e3 * inside:.0f} mm inside the triangle; the margin is 20 mm.")


def _distance_inside(place: NDArray[Any], corners: NDArray[Any]) -> float:
    """The distance to the nearest edge of a triangle, negative outside."""
    center, distances = corners.mean(axis=0), []
    for k in range(3):
        along = corners[(k + 1) % 3] - corners[k]
        normal = np.array([-along[1], along[0]]) / np.linalg.norm(along)
        normal *= np.sign(normal @ (center - corners[k]))
        distances.append(float(normal @ (place - corners[k])))
    return min(distances)


@exercise("4.7", "the target starts and ends at rest.")
def rise(answer: Callable[..., Any]) -> None:
    for T in (0.5, 2.0):
        value = {t: numbers(answer(t * T, T), 3) for t in (-0.5, 0.0, 1.0, 1.5)}
        if abs(value[0.0][0]) > 1e-9 or abs(value[1.0][0] - 1.0) > 1e-9:
            raise WrongAnswerError("the value is 0 at t = 0 and 1 at t = T.")
        if abs(value[-0.5][0]) > 1e-9 or abs(value[1.5][0] - 1.0) > 1e-9:
            raise WrongAnswerError(
                "the value stays at 0 before t = 0 and at 1 after t = T: limit s to the range from 0 to 1."
            )
        for t in (0.2, 0.5, 0.7):
            step = 1e-5 * T
            before, here, after = (numbers(answer(t * T + dt, T), 3) for dt in (-step, 0.0, step))
            for k, name in enumerate(("velocity", "acceleration")):
                slope = (after[k] - before[k]) / (2 * step)
                if abs(slope * T - here[k + 1]) < 1e-4 and abs(T - 1.0) > 0.1 and abs(slope) > 1e-3:
                    raise WrongAnswerError(f"the {name} is the derivative by t, not by s: divide by T.")
                if abs(slope - here[k + 1]) > 1e-4 * max(1.0, abs(slope)):
                    raise WrongAnswerError(f"the {name} is not the derivative of the entry before it.")
        for t in (0.0, 1.0):
            inner = numbers(answer(T * (1e-6 if t == 0.0 else 1.0 - 1e-6), T), 3)
            if abs(inner[1]) * T > 1e-3:
                raise WrongAnswerError("the velocity jumps at the ends. It must be zero there.")


@exercise("4.8", "the foot was lifted, and the robot kept its balance.")
def lifted_foot(log: dict[str, NDArray[Any]]) -> None:
    robot = mb.load("quadruped")
    q = np.asarray(log["q"], float)
    height = robot.pose("foot-lf", q).position[:, 2]
    tilt = robot.pose("trunk", q).rotation.angle_to(mb.Rotation.identity())
    if np.max(tilt) > 0.2 or not np.isfinite(q).all():
        raise WrongAnswerError(
            "the robot tips over. Is the centre of mass above the standing feet before the foot lifts?"
        )
    if height.max() < 0.05:
        raise WrongAnswerError(f"the foot rises by {1e3 * height.max():.0f} mm only; 50 mm are needed.")
    if height[-1] > 0.005:
        raise WrongAnswerError("the foot is still in the air at the end.")
    for foot in FEET[1:]:
        place = robot.pose(foot, q).position
        slip = np.linalg.norm(place - place[0], axis=-1).max()
        if slip > 0.005:
            raise WrongAnswerError(f"{foot} slips by {1e3 * slip:.0f} mm.")
