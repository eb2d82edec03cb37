"""Euler angles: all twelve sequences, intrinsic ("zyx") or extrinsic ("extrinsic-xyz").

The intrinsic sequence ijk is A_R_B = R_i(θ1) R_j(θ2) R_k(θ3): first about i, then about the new j, then about the
newest k. The formulas are those of one even sequence (xyz, and zxz); an odd one is its mirror image, in which all
sines, here marked by `sign`, change theirs. `l` is the axis that a proper sequence iji leaves out.
"""

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry._arrays import cross_sign, matrix, vector

SEQUENCES = tuple(i + j + k for i, j, k in product("xyz", repeat=3) if i != j and j != k)
EXTRINSIC = "extrinsic-"
PREFIX = "euler-"
"""Names of parameterisations have it before the sequence; both forms are accepted everywhere."""


class Sequence(NamedTuple):
    """The axes of an intrinsic sequence as numbers, and how it relates to the even ones."""

    i: int
    j: int
    k: int
    l: int
    sign: int
    proper: bool
    extrinsic: bool


def parse(name: str) -> Sequence:
    """The sequence of that name, "zyx" or "euler-zyx"; extrinsic ones are intrinsic in reverse order."""
    text = name.removeprefix(PREFIX) if isinstance(name, str) else name
    extrinsic = isinstance(text, str) and text.startswith(EXTRINSIC)
    letters = text.removeprefix(EXTRINSIC)[:: -1 if extrinsic else 1] if isinstance(text, str) else text
    if letters not in SEQUENCES:
        hint = ""
        if isinstance(name, str) and name.lower() in SEQUENCES:
            hint = f"; SciPy's intrinsic {name!r} is {name.lower()!r} here"
        raise InputError(
            f"Euler sequence: expected one of {', '.join(SEQUENCES)}, or 'extrinsic-' before it, got {name!r}{hint}"
        )
    i, j, k = ("xyz".index(axis) for axis in letters)
    l = 3 - i - j
    return Sequence(i, j, k, l, cross_sign(i, j), proper=i == k, extrinsic=extrinsic)


def intrinsic_order(sequence: Sequence, angles: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The three angles in the order of the intrinsic sequence."""
    theta1, theta2, theta3 = angles[..., 0], angles[..., 1], angles[..., 2]
    return (theta3, theta2, theta1) if sequence.extrinsic else (theta1, theta2, theta3)


def to_matrix(sequence: Sequence, angles: NDArray[Any]) -> NDArray[Any]:
    """The rotation matrix of (..., 3) angles.  [RD 2.33, 2.37, 2.41, 2.44; RD §B.1; Kindr §Euler ZYX, §Euler XYZ]"""
    i, j, _, l, sign, proper, _ = sequence
    theta1, theta2, theta3 = intrinsic_order(sequence, angles)
    c1, c2, c3 = np.cos(theta1), np.cos(theta2), np.cos(theta3)
    s1, s2, s3 = sign * np.sin(theta1), sign * np.sin(theta2), sign * np.sin(theta3)
    R: list[list[Any]] = [[None] * 3 for _ in range(3)]
    if proper:
        R[i][i], R[i][j], R[i][l] = c2, s2 * s3, s2 * c3
        R[j][i], R[j][j], R[j][l] = s2 * s1, c1 * c3 - c2 * s1 * s3, -c1 * s3 - c2 * c3 * s1
        R[l][i], R[l][j], R[l][l] = -s2 * c1, c3 * s1 + c2 * c1 * s3, c2 * c1 * c3 - s1 * s3
    else:
        R[i][i], R[i][j], R[i][l] = c2 * c3, -c2 * s3, s2
        R[j][i], R[j][j], R[j][l] = c1 * s3 + c3 * s1 * s2, c1 * c3 - s1 * s2 * s3, -c2 * s1
        R[l][i], R[l][j], R[l][l] = s1 * s3 - c1 * c3 * s2, c3 * s1 + c1 * s2 * s3, c1 * c2
    return matrix(R)


def from_matrix(sequence: Sequence, R: NDArray[Any]) -> NDArray[Any]:
    """The (..., 3) angles of a rotation matrix.  [RD 2.35, 2.39, 2.42, 2.45; RD §B.2; Kindr §Euler ZYX, §Euler XYZ]

    The first and last angle lie in [-π, π], the middle one in [-π/2, π/2], or [0, π] in a proper sequence. The first
    is read off R R_k(θ3)^T, so that the three together give R also where the printed formulas divide by zero; in
    gimbal lock, where only a sum or difference of the outer two is defined, the last one is zero.
    """
    i, j, _, l, sign, proper, extrinsic = sequence
    r = [[R[..., a, b] for b in range(3)] for a in range(3)]
    if proper:
        sine, cosine = r[i][j], sign * r[i][l]  # of θ3, times sin θ2
    else:
        sine, cosine = -sign * r[i][j], r[i][i]  # of θ3, times cos θ2
    length = np.sqrt(sine * sine + cosine * cosine)  # of |ρ|, see `gimbal_lock_distance`
    locked = length < 8 * np.finfo(R.dtype).eps
    length_safe = np.where(locked, 1.0, length)
    s3, c3 = np.where(locked, 0.0, sine / length_safe), np.where(locked, 1.0, cosine / length_safe)
    theta3 = np.arctan2(s3, c3)
    if proper:
        theta2 = np.arctan2(length, r[i][i])
        theta1 = np.arctan2(sign * c3 * r[l][j] - s3 * r[l][l], c3 * r[j][j] - sign * s3 * r[j][l])
    else:
        theta2 = np.arctan2(sign * r[i][l], length)
        theta1 = np.arctan2(sign * c3 * r[l][j] + s3 * r[l][i], c3 * r[j][j] + sign * s3 * r[j][i])
    return vector(theta3, theta2, theta1) if extrinsic else vector(theta1, theta2, theta3)


def axes(sequence: Sequence, angles: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The three axes of rotation in frame A, (..., 3) each, in the order of the intrinsic sequence.

    [RD 2.83-2.86, 2.88, 2.90, 2.92; Kindr 2-5; QT 52]
    """
    i, j, _, l, sign, _, _ = sequence
    theta1, _, _ = intrinsic_order(sequence, angles)
    zero = np.zeros_like(theta1)
    first, second = [zero] * 3, [zero] * 3
    first[i] = zero + 1.0
    second[j], second[l] = np.cos(theta1), sign * np.sin(theta1)
    sigma, rho, p = last_axis(sequence, angles)
    return vector(*first), vector(*second), sigma[..., None] * vector(*first) + rho[..., None] * p


def last_axis(sequence: Sequence, angles: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """σ, ρ and p with third axis = σ e_i + ρ p; p is a unit vector across the first two axes; ρ = 0 is gimbal lock."""
    _, j, _, l, sign, proper, _ = sequence
    theta1, theta2, _ = intrinsic_order(sequence, angles)
    p = [np.zeros_like(theta1)] * 3
    if proper:
        p[j], p[l] = np.sin(theta1), -sign * np.cos(theta1)
        return np.cos(theta2), np.sin(theta2), vector(*p)
    p[j], p[l] = -sign * np.sin(theta1), np.cos(theta1)
    return sign * np.sin(theta2), np.cos(theta2), vector(*p)


def gimbal_lock_distance(sequence: Sequence, angles: NDArray[Any]) -> NDArray[Any]:
    """(...): |ρ|, the sine between the first and the last axis, which is zero in gimbal lock."""
    return np.abs(last_axis(sequence, angles)[1])


def reversed_sequence(sequence: Sequence) -> Sequence:
    """The sequence kji, which with the angles negated and reversed gives the inverse rotation."""
    i, j, k, _, _, proper, extrinsic = sequence
    return Sequence(k, j, i, 3 - k - j, cross_sign(k, j), proper, extrinsic)
