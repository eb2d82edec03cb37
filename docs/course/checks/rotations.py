"""Checks of session 1: rotations."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import multibody as mb

from .grading import WrongAnswerError, compare, exercise, expect_answer, is_close, numbers, rotations, skew


@exercise("1.1", "C_z maps coordinates from B to A.")
def elementary_rotation(answer: Callable[[float], Any]) -> None:
    for angle in (0.3, -1.2, 2.0):
        right = mb.Rotation.elementary("z", angle).matrix
        compare(
            numbers(answer(angle), 3, 3),
            right,
            [
                (
                    right.T,
                    "this is the transpose, C_BA. The columns of C_AB are the axes of B, written in A [RD 2.22].",
                ),
                (mb.Rotation.elementary("z", np.deg2rad(angle)).matrix, "the angle is in rad, not in degrees."),
            ],
        )


@exercise("1.2", "the columns of C_IC are the axes of the camera, and the point is where the camera sees it.")
def camera(C_IC: Any, I_r_IP: Any) -> None:
    e_x, e_z = np.array([0.0, -1.0, 0.0]), np.array([0.6, 0.0, -0.8])
    right = np.stack([e_x, np.cross(e_z, e_x), e_z], axis=1)
    matrix = numbers(C_IC, 3, 3)
    if np.linalg.det(matrix) < -0.5:
        raise WrongAnswerError("the axes are left-handed (determinant -1): e_y = e_z × e_x.")
    compare(matrix, right, [(right.T, "this is the transpose: write the axes of the camera as columns [RD 2.22].")])
    r_IC, C_r = np.array([0.4, 0.0, 0.9]), np.array([0.05, -0.02, 0.4])
    compare(
        numbers(I_r_IP, 3),
        r_IC + right @ C_r,
        [
            (right @ C_r, "this is the vector from the camera to the cup. Add the position of the camera [RD 2.109]."),
            (r_IC + C_r, "the two vectors are written in different frames: rotate the second one first."),
            (r_IC + right.T @ C_r, "C_IC maps from C to I; its transpose maps the other way."),
        ],
    )


@exercise("1.3", "inner letters cancel: C_AB = C_AI C_IB.")
def relative_rotation(answer: Callable[..., Any]) -> None:
    for A, B in zip(rotations(3, 1), rotations(3, 2), strict=True):
        compare(
            numbers(answer(A, B), 3, 3),
            A.T @ B,
            [
                (A @ B, "C_IA C_IB: the inner letters A and I differ. Which matrix is C_AI?"),
                (B @ A.T, "C_IB C_IA^T turns A to B as seen from I. You need the coordinates of B in A [RD 2.31]."),
                (B.T @ A, "this is C_BA, the inverse."),
            ],
        )


@exercise("1.4", "the angles rebuild every matrix.")
def zyx_angles(answer: Callable[..., Any]) -> None:
    small = list(mb.Rotation.from_rotation_vector(0.2 * np.random.default_rng(3).normal(size=(3, 3))).matrix)
    for k, C in enumerate(small + rotations(8, 3)):
        angles = numbers(answer(C), 3)
        rebuild = [mb.Rotation.from_euler("zyx", each).matrix for each in (angles, angles[::-1], np.deg2rad(angles))]
        if is_close(rebuild[0], C):
            continue
        if is_close(rebuild[1], C):
            raise WrongAnswerError("the order is z, y, x: yaw first [RD 2.40].")
        if is_close(rebuild[2], C):
            raise WrongAnswerError("the angles are in degrees; use rad.")
        if is_close(rebuild[0].T, C):
            raise WrongAnswerError(
                "these are the angles of the transpose. Rows and columns of c_ij are exchanged [RD 2.42]."
            )
        if k >= len(small):
            raise WrongAnswerError(
                "small angles are right, larger ones are not: arctan loses the quadrant, arctan2 keeps it."
            )
        raise WrongAnswerError("the angles do not rebuild the matrix. Check the signs: c_31 = -sin y [RD 2.41].")


@exercise("1.5", "Rodrigues' formula, also at zero.")
def rodrigues(answer: Callable[..., Any]) -> None:
    rng = np.random.default_rng(4)
    for phi in [*rng.normal(size=(4, 3)), np.array([0.0, 0.0, np.pi]), np.zeros(3)]:
        right = mb.Rotation.from_rotation_vector(phi).matrix
        result = answer(phi)
        expect_answer(result)
        if not phi.any() and not np.isfinite(np.asarray(getattr(result, "matrix", result), float)).all():
            raise WrongAnswerError("at φ = 0 the axis φ/|φ| is 0/0. Return the identity there.")
        compare(
            numbers(result, 3, 3),
            right,
            [
                (right.T, "this is the transpose: the sign of sin θ is wrong [RD 2.48]."),
                (np.eye(3) + skew(phi), "this is the first order only; it is not orthogonal [RD 2.23]."),
            ],
        )


@exercise("1.6", "the real part comes first, and the order is that of the matrices.")
def quaternion_product(answer: Callable[..., Any]) -> None:
    rng = np.random.default_rng(5)

    def product(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        imaginary = a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
        return np.concatenate([[a[0] * b[0] - a[1:] @ b[1:]], imaginary])

    for _ in range(4):
        a, b = (each / np.linalg.norm(each) for each in rng.normal(size=(2, 4)))
        right, result = product(a, b), numbers(answer(a, b), 4)
        last = np.roll(product(np.roll(a, 1), np.roll(b, 1)), -1)
        compare(
            result if result @ right > 0 else -result,
            right,
            [
                (product(b, a), "the factors are exchanged: the cross product is ξ_AB × ξ_BC [RD 2.57]."),
                (last, "the real part comes first here: ξ = (ξ_0, ξ_1, ξ_2, ξ_3) [RD 2.51]."),
                (-last, "the real part comes first here: ξ = (ξ_0, ξ_1, ξ_2, ξ_3) [RD 2.51]."),
            ],
        )


@exercise("1.7", "the angular velocity of B in the axes of A.")
def angular_velocity(answer: Callable[..., Any]) -> None:
    dt = 1e-6
    for C, omega in zip(rotations(3, 6), np.random.default_rng(6).normal(size=(3, 3)), strict=True):
        after = mb.Rotation.from_rotation_vector(dt * omega).matrix @ C
        compare(
            numbers(answer(C, after, dt), 3),
            omega,
            [
                (C.T @ omega, "this is B_ω, in the axes of B. Multiply by the transpose on the right [RD 2.72]."),
                (-omega, "the sign is wrong. Where is ω_z in the skew matrix [RD 2.73]?"),
                (dt * omega, "this is the rotation in dt; divide it by dt."),
            ],
            tolerance=1e-4,
        )
