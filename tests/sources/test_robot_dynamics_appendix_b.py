"""The Matlab functions, transcribed line by line (indices start at one there).  [RD §B.1, B.2]"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation as Truth

import multibody as mb

from .truth import rotations, same

N = 40


def getRotationMatrixX(a):
    return np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])


def getRotationMatrixY(a):
    return np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])


def getRotationMatrixZ(a):
    return np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])


def mapEulerAnglesXYZToRotationMatrix(angles):
    x, y, z = angles
    return getRotationMatrixX(x) @ getRotationMatrixY(y) @ getRotationMatrixZ(z)


def mapEulerAnglesZXZToRotationMatrix(angles):
    z1, x, z2 = angles
    return getRotationMatrixZ(z1) @ getRotationMatrixX(x) @ getRotationMatrixZ(z2)


def mapEulerAnglesZYXToRotationMatrix(angles):
    z, y, x = angles
    return getRotationMatrixZ(z) @ getRotationMatrixY(y) @ getRotationMatrixX(x)


def mapEulerAnglesZYZToRotationMatrix(angles):
    z1, y, z2 = angles
    return getRotationMatrixZ(z1) @ getRotationMatrixY(y) @ getRotationMatrixZ(z2)


def one_based(C):
    return lambda i, j: C[i - 1, j - 1]


def getEulAngXYZFromRotationMatrix(C):
    C = one_based(C)
    x = np.atan2(-C(2, 3), C(3, 3))
    y = np.atan2(C(1, 3), np.sqrt(C(1, 1) ** 2 + C(1, 2) ** 2))
    z = np.atan2(-C(1, 2), C(1, 1))
    return np.array([x, y, z])


def getEulAngZXZFromRotationMatrix(C):
    C = one_based(C)
    z1 = np.atan2(C(1, 3), -C(2, 3))
    x = np.atan2(np.sqrt(C(1, 3) ** 2 + C(2, 3) ** 2), C(3, 3))
    z2 = np.atan2(C(3, 1), C(3, 2))
    return np.array([z1, x, z2])


def getEulAngZYXFromRotationMatrix(C):
    C = one_based(C)
    z = np.atan2(C(2, 1), C(1, 1))
    y = np.atan2(-C(3, 1), np.sqrt(C(3, 2) ** 2 + C(3, 3) ** 2))
    x = np.atan2(C(3, 2), C(3, 3))
    return np.array([z, y, x])


def getEulAngZYZFromRotationMatrix(C):
    C = one_based(C)
    z1 = np.atan2(C(2, 3), C(1, 3))
    x = np.atan2(np.sqrt(C(1, 3) ** 2 + C(2, 3) ** 2), C(3, 3))
    z2 = np.atan2(C(3, 2), -C(3, 1))
    return np.array([z1, x, z2])


FUNCTIONS = {
    "xyz": (mapEulerAnglesXYZToRotationMatrix, getEulAngXYZFromRotationMatrix),
    "zxz": (mapEulerAnglesZXZToRotationMatrix, getEulAngZXZFromRotationMatrix),
    "zyx": (mapEulerAnglesZYXToRotationMatrix, getEulAngZYXFromRotationMatrix),
    "zyz": (mapEulerAnglesZYZToRotationMatrix, getEulAngZYZFromRotationMatrix),
}


@pytest.fixture
def rng():
    return np.random.default_rng(93)


@pytest.mark.parametrize("sequence", FUNCTIONS)
def test_euler_angles_to_rotation_matrix(sequence, rng):
    """[RD §B.1]: four sequences about moving axes, i.e. in the opposite order about fixed ones."""
    to_matrix, _ = FUNCTIONS[sequence]
    angles = rng.uniform(-np.pi, np.pi, (N, 3))
    C = np.stack([to_matrix(a) for a in angles])
    same(C, Truth.from_euler(sequence.upper(), angles).as_matrix())
    same(C, Truth.from_euler(sequence[::-1], angles[:, ::-1]).as_matrix())
    same(mb.Rotation.from_euler(sequence, angles).matrix, C)
    same(mb.Rotation.from_euler("extrinsic-" + sequence[::-1], angles[:, ::-1]).matrix, C)


@pytest.mark.parametrize("sequence", FUNCTIONS)
def test_rotation_matrix_to_euler_angles(sequence, rng):
    """[RD §B.2]: four sequences, away from gimbal lock."""
    to_matrix, to_angles = FUNCTIONS[sequence]
    C = rotations(rng, N)
    angles = np.stack([to_angles(c) for c in C])
    same(angles, Truth.from_matrix(C).as_euler(sequence.upper()), 1e-11)
    same(np.stack([to_matrix(a) for a in angles]), C)
    same(mb.Rotation.from_matrix(C).euler(sequence), angles, 1e-12)
