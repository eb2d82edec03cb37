"""Rotation matrices, elementary rotations, Euler angles, angle and axis, as printed.  [RD §2.4.1-2.4.5]"""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation as Truth

import multibody as mb
from multibody.geometry import rates

from .truth import T, elementary, hat, mul, rotations, rows, same, unit

N = 60


@pytest.fixture
def rng():
    return np.random.default_rng(24)


def C_x(angle):
    c, s = np.cos(angle), np.sin(angle)
    return rows((1, 0, 0), (0, c, -s), (0, s, c))


def C_y(angle):
    c, s = np.cos(angle), np.sin(angle)
    return rows((c, 0, s), (0, 1, 0), (-s, 0, c))


def C_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return rows((c, -s, 0), (s, c, 0), (0, 0, 1))


ELEMENTARY = {"x": C_x, "y": C_y, "z": C_z}


def C_zyz(chi):
    (cz1, cy, cz2), (sz1, sy, sz2) = np.cos(chi).T, np.sin(chi).T
    return rows(
        (cy * cz1 * cz2 - sz1 * sz2, -cz2 * sz1 - cy * cz1 * sz2, cz1 * sy),
        (cz1 * sz2 + cy * cz2 * sz1, cz1 * cz2 - cy * sz1 * sz2, sy * sz1),
        (-cz2 * sy, sy * sz2, cy),
    )


def C_zxz(chi):
    (cz1, cx, cz2), (sz1, sx, sz2) = np.cos(chi).T, np.sin(chi).T
    return rows(
        (cz1 * cz2 - cx * sz1 * sz2, -cz1 * sz2 - cx * cz2 * sz1, sx * sz1),
        (cz2 * sz1 + cx * cz1 * sz2, cx * cz1 * cz2 - sz1 * sz2, -cz1 * sx),
        (sx * sz2, cz2 * sx, cx),
    )


def C_zyx(chi):
    (cz, cy, cx), (sz, sy, sx) = np.cos(chi).T, np.sin(chi).T
    return rows(
        (cy * cz, cz * sx * sy - cx * sz, sx * sz + cx * cz * sy),
        (cy * sz, cx * cz + sx * sy * sz, cx * sy * sz - cz * sx),
        (-sy, cy * sx, cx * cy),
    )


def C_xyz(chi):
    (cx, cy, cz), (sx, sy, sz) = np.cos(chi).T, np.sin(chi).T
    return rows(
        (cy * cz, -cy * sz, sy),
        (cx * sz + cz * sx * sy, cx * cz - sx * sy * sz, -cy * sx),
        (sx * sz - cx * cz * sy, cz * sx + cx * sy * sz, cx * cy),
    )


def chi_zyz(C):
    c13, c23, c31, c32, c33 = C[:, 0, 2], C[:, 1, 2], C[:, 2, 0], C[:, 2, 1], C[:, 2, 2]
    y = np.arctan2(np.sqrt(c13**2 + c23**2), c33)
    return np.stack([np.arctan2(c23, c13), y, np.arctan2(c32, -c31)], axis=-1)


def chi_zxz(C):
    c13, c23, c31, c32, c33 = C[:, 0, 2], C[:, 1, 2], C[:, 2, 0], C[:, 2, 1], C[:, 2, 2]
    x = np.arctan2(np.sqrt(c13**2 + c23**2), c33)
    return np.stack([np.arctan2(c13, -c23), x, np.arctan2(c31, c32)], axis=-1)


def chi_zyx(C):
    c11, c21, c31, c32, c33 = C[:, 0, 0], C[:, 1, 0], C[:, 2, 0], C[:, 2, 1], C[:, 2, 2]
    y = np.arctan2(-c31, np.sqrt(c32**2 + c33**2))
    return np.stack([np.arctan2(c21, c11), y, np.arctan2(c32, c33)], axis=-1)


def chi_xyz(C):
    c11, c12, c13, c23, c33 = C[:, 0, 0], C[:, 0, 1], C[:, 0, 2], C[:, 1, 2], C[:, 2, 2]
    y = np.arctan2(c13, np.sqrt(c11**2 + c12**2))
    return np.stack([np.arctan2(-c23, c33), y, np.arctan2(-c12, c11)], axis=-1)


EULER = {"zyz": (C_zyz, chi_zyz), "zxz": (C_zxz, chi_zxz), "zyx": (C_zyx, chi_zyx), "xyz": (C_xyz, chi_xyz)}


def angle_axis_matrix(theta, n):
    c, s = np.cos(theta), np.sin(theta)
    x, y, z = np.moveaxis(n, -1, 0)
    return rows(
        (x**2 * (1 - c) + c, x * y * (1 - c) - z * s, x * z * (1 - c) + y * s),
        (x * y * (1 - c) + z * s, y**2 * (1 - c) + c, y * z * (1 - c) - x * s),
        (x * z * (1 - c) - y * s, y * z * (1 - c) + x * s, z**2 * (1 - c) + c),
    )


def test_rotation_matrix_maps_coordinates(rng):
    """[RD 2.18-2.22, 2.24]: the columns of C_AB are the axes of B seen in A; A_r = C_AB B_r."""
    C_AB, B_r = rotations(rng, N), rng.normal(size=(N, 3))
    e_x, e_y, e_z = (C_AB[:, :, k] for k in range(3))
    printed = e_x * B_r[:, :1] + e_y * B_r[:, 1:2] + e_z * B_r[:, 2:]
    same(printed, Truth.from_matrix(C_AB).apply(B_r))
    same(mb.Rotation.from_matrix(C_AB) @ B_r, printed)
    same(mb.Rotation.from_matrix(C_AB.reshape(6, 10, 3, 3)) @ B_r.reshape(6, 10, 3), printed.reshape(6, 10, 3))


def test_rotation_matrix_is_orthogonal(rng):
    """[RD 2.23]: C^T C = 1, so that C_BA = C_AB^-1 = C_AB^T."""
    C = mb.Rotation.random(rng, (N,))
    identity = np.broadcast_to(np.eye(3), (N, 3, 3))
    same(T(C.matrix) @ C.matrix, identity)
    same(np.linalg.det(C.matrix), np.ones(N))
    same(C.inverse().matrix, np.linalg.inv(C.matrix))
    same(C.inverse().matrix, T(C.matrix), 0)


def test_active_and_passive_rotation(rng):
    """[RD 2.24-2.25]: the same numbers turn a vector in one frame, or give one vector in another frame."""
    theta, A_u = rng.uniform(-np.pi, np.pi, N), rng.normal(size=(N, 3))
    n = unit(rng.normal(size=(N, 3)))
    A_v = Truth.from_rotvec(theta[:, None] * n).apply(A_u)
    same(np.einsum("ni,ni->n", A_v, n), np.einsum("ni,ni->n", A_u, n))
    R = mb.Rotation.from_angle_axis(theta, n)
    same(R @ A_u, A_v)
    same(R.inverse() @ A_v, A_u)


@pytest.mark.parametrize("axis", "xyz")
def test_elementary_rotations(axis, rng):
    """[RD 2.26-2.28]: the three elementary rotations."""
    angle = rng.uniform(-4, 4, N)
    printed = ELEMENTARY[axis](angle)
    same(printed, Truth.from_euler(axis, angle[:, None]).as_matrix())
    same(printed, expm(hat(angle[:, None] * np.eye(3)["xyz".index(axis)])))
    same(elementary(axis, angle), printed, 0)  # what the tests of this folder use
    same(mb.Rotation.elementary(axis, angle).matrix, printed)
    same(mb.Rotation.elementary(axis, angle.reshape(3, 20)).matrix, printed.reshape(3, 20, 3, 3))


def test_composition(rng):
    """[RD 2.29-2.31]: A_u = C_AB (C_BC C_u) = C_AC C_u with C_AC = C_AB C_BC."""
    C_AB, C_BC, C_u = rotations(rng, N), rotations(rng, N), rng.normal(size=(N, 3))
    C_AC = C_AB @ C_BC
    same(mul(C_AB, mul(C_BC, C_u)), mul(C_AC, C_u))
    same((Truth.from_matrix(C_AB) * Truth.from_matrix(C_BC)).as_matrix(), C_AC)
    composed = mb.Rotation.from_matrix(C_AB) @ mb.Rotation.from_matrix(C_BC)
    same(composed.matrix, C_AC)
    same(composed @ C_u, mul(C_AC, C_u))


@pytest.mark.parametrize("sequence", EULER)
def test_matrix_from_euler_angles(sequence, rng):
    """[RD 2.32-2.33, 2.36-2.37, 2.40-2.41, 2.43-2.44]: the product of three elementary rotations, multiplied out."""
    chi = rng.uniform(-np.pi, np.pi, (N, 3))
    printed = EULER[sequence][0](chi)
    first, second, third = (ELEMENTARY[axis](angle) for axis, angle in zip(sequence, chi.T, strict=True))
    same(printed, first @ second @ third)
    same(printed, Truth.from_euler(sequence.upper(), chi).as_matrix())
    same(mb.Rotation.from_euler(sequence, chi).matrix, printed)
    same(rates.rotation("euler-" + sequence, chi).matrix, printed)


@pytest.mark.parametrize("sequence", EULER)
def test_euler_angles_from_matrix(sequence, rng):
    """[RD 2.34-2.35, 2.38-2.39, 2.42, 2.45]: the inverse problem, away from the singularity."""
    C = rotations(rng, N)
    printed = EULER[sequence][1](C)
    same(printed, Truth.from_matrix(C).as_euler(sequence.upper()), 1e-11)
    same(EULER[sequence][0](printed), C)
    same(mb.Rotation.from_matrix(C).euler(sequence), printed, 1e-12)
    same(rates.parameters("euler-" + sequence, mb.Rotation.from_matrix(C)), printed, 1e-12)


def test_matrix_from_angle_and_axis(rng):
    """[RD 2.46-2.48]: the matrix of an angle and an axis, and of the rotation vector φ = θ n."""
    theta, n = rng.uniform(-7, 7, N), unit(rng.normal(size=(N, 3)))
    printed = angle_axis_matrix(theta, n)
    phi = theta[:, None] * n
    same(printed, expm(hat(phi)))
    same(printed, Truth.from_rotvec(phi).as_matrix())
    same(mb.Rotation.from_angle_axis(theta, n).matrix, printed)
    same(mb.Rotation.from_rotation_vector(phi).matrix, printed)
    same(rates.rotation("angle-axis", np.concatenate([theta[:, None], n], axis=-1)).matrix, printed)


def test_rotation_vectors_do_not_add(rng):
    """[RD 2.47]: the composition of two rotations is not that of the summed rotation vectors, unless they commute."""
    a, b = rng.normal(size=(2, N, 3))
    R = mb.Rotation.from_rotation_vector
    assert np.all(np.abs((R(a) @ R(b)).matrix - R(a + b).matrix).max(axis=(-1, -2)) > 1e-3)
    same((R(a) @ R(-2 * a)).matrix, R(-a).matrix)


def test_angle_and_axis_from_matrix(rng):
    """[RD 2.49-2.50]: angle and axis of a matrix, for angles well inside (0, π)."""
    theta, n = rng.uniform(0.3, np.pi - 0.3, N), unit(rng.normal(size=(N, 3)))
    C = Truth.from_rotvec(theta[:, None] * n).as_matrix()
    angle = np.arccos((C[:, 0, 0] + C[:, 1, 1] + C[:, 2, 2] - 1) / 2)
    differences = np.stack([C[:, 2, 1] - C[:, 1, 2], C[:, 0, 2] - C[:, 2, 0], C[:, 1, 0] - C[:, 0, 1]], axis=-1)
    axis = 1 / (2 * np.sin(angle))[:, None] * differences
    same(angle, theta, 1e-14)
    same(axis, n, 1e-14)
    library_angle, library_axis = mb.Rotation.from_matrix(C).angle_axis
    same(library_angle, angle, 1e-14)
    same(library_axis, axis, 1e-14)
    same(mb.Rotation.from_matrix(C).rotation_vector, angle[:, None] * axis, 1e-14)


def test_fixed_and_moving_axes(rng):
    """[RD §2.4.5]: successive rotations about moving axes are those about fixed axes in the opposite order."""
    x, y, z = rng.uniform(-np.pi, np.pi, (3, N))
    intrinsic = mb.Rotation.from_euler("zyx", np.stack([z, y, x], axis=-1))
    same(mb.Rotation.from_euler("extrinsic-xyz", np.stack([x, y, z], axis=-1)).matrix, intrinsic.matrix)
    same(Truth.from_euler("xyz", np.stack([x, y, z], axis=-1)).as_matrix(), C_zyx(np.stack([z, y, x], axis=-1)))
