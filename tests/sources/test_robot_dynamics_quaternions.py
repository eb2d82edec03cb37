"""Unit quaternions, as printed, and an example.  [RD §2.4.5]"""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation as Truth

import multibody as mb
from multibody.geometry import quaternions

from .truth import T, hat, mul, rotations, rows, same

N = 60


@pytest.fixture
def rng():
    return np.random.default_rng(245)


def units(rng, n=N):
    xi = rng.normal(size=(n, 4))
    return xi / np.linalg.norm(xi, axis=-1, keepdims=True)


def truth(xi):
    """SciPy's rotation, whose quaternions end with the scalar."""
    return Truth.from_quat(xi[..., [1, 2, 3, 0]])


def C_of(xi):
    x0, x1, x2, x3 = np.moveaxis(xi, -1, 0)
    return rows(
        (x0**2 + x1**2 - x2**2 - x3**2, 2 * x1 * x2 - 2 * x0 * x3, 2 * x0 * x2 + 2 * x1 * x3),
        (2 * x0 * x3 + 2 * x1 * x2, x0**2 - x1**2 + x2**2 - x3**2, 2 * x2 * x3 - 2 * x0 * x1),
        (2 * x1 * x3 - 2 * x0 * x2, 2 * x0 * x1 + 2 * x2 * x3, x0**2 - x1**2 - x2**2 + x3**2),
    )


def xi_of(C):
    sgn = lambda x: np.where(x >= 0, 1.0, -1.0)
    c11, c12, c13, c21, c22, c23, c31, c32, c33 = np.moveaxis(C.reshape(*C.shape[:-2], 9), -1, 0)
    return 0.5 * np.stack(
        [
            np.sqrt(c11 + c22 + c33 + 1),
            sgn(c32 - c23) * np.sqrt(c11 - c22 - c33 + 1),
            sgn(c13 - c31) * np.sqrt(c22 - c33 - c11 + 1),
            sgn(c21 - c12) * np.sqrt(c33 - c11 - c22 + 1),
        ],
        axis=-1,
    )


def conjugate(xi):
    return np.concatenate([xi[..., :1], -xi[..., 1:]], axis=-1)


def M_l(xi):
    x0, x1, x2, x3 = np.moveaxis(xi, -1, 0)
    return rows((x0, -x1, -x2, -x3), (x1, x0, -x3, x2), (x2, x3, x0, -x1), (x3, -x2, x1, x0))


def M_r(xi):
    x0, x1, x2, x3 = np.moveaxis(xi, -1, 0)
    return rows((x0, -x1, -x2, -x3), (x1, x0, x3, -x2), (x2, -x3, x0, x1), (x3, x2, -x1, x0))


def blocks(xi, sign):
    """The block form of both matrices: ξ_0 1 ± [ξ̌]× in the corner."""
    x0, v = xi[:, :1, None], xi[:, 1:]
    return np.block([[x0, -v[:, None, :]], [v[:, :, None], x0 * np.eye(3) + sign * hat(v)]])


def product(a, b):
    scalar = a[..., :1] * b[..., :1] - np.sum(a[..., 1:] * b[..., 1:], axis=-1, keepdims=True)
    return np.concatenate(
        [scalar, a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + mul(hat(a[..., 1:]), b[..., 1:])], -1
    )


def pure(r):
    return np.concatenate([np.zeros_like(r[..., :1]), r], axis=-1)


def up_to_sign(a, b, tolerance=1e-13):
    same(a * np.sign(np.sum(a * b, axis=-1, keepdims=True)), b, tolerance)


def test_quaternion_of_a_rotation_vector(rng):
    """[RD 2.51-2.53]: ξ_0 = cos(‖φ‖/2), ξ̌ = sin(‖φ‖/2) φ/‖φ‖, of unit length."""
    phi = rng.normal(size=(N, 3))
    theta = np.linalg.norm(phi, axis=-1, keepdims=True)
    xi = np.concatenate([np.cos(theta / 2), np.sin(theta / 2) * phi / theta], axis=-1)
    same(np.sum(xi**2, axis=-1), np.ones(N))
    same(C_of(xi), expm(hat(phi)))
    up_to_sign(mb.Rotation.from_rotation_vector(phi).quaternion, xi)
    up_to_sign(mb.Rotation.from_angle_axis(theta[:, 0], phi / theta).quaternion, xi)


def test_matrix_of_a_quaternion(rng):
    """[RD 2.54]: two forms with the skew matrix and the matrix itself."""
    xi = units(rng)
    x0, v = xi[:, :1, None], xi[:, 1:]
    same(np.eye(3) + 2 * x0 * hat(v) + 2 * hat(v) @ hat(v), truth(xi).as_matrix())
    same((2 * x0**2 - 1) * np.eye(3) + 2 * x0 * hat(v) + 2 * v[:, :, None] * v[:, None, :], truth(xi).as_matrix())
    same(C_of(xi), truth(xi).as_matrix())
    same(quaternions.to_matrix(xi), C_of(xi))
    same(mb.Rotation.from_quaternion(xi).matrix, C_of(xi))
    same(quaternions.to_matrix(xi.reshape(4, 15, 4)), C_of(xi).reshape(4, 15, 3, 3))


def test_quaternion_of_a_matrix(rng):
    """[RD 2.55]: the quaternion of a matrix, for angles below π."""
    C = rotations(rng, N)
    xi = xi_of(C)
    up_to_sign(xi, truth(xi).as_quat()[:, [3, 0, 1, 2]], 1e-9)
    same(C_of(xi), C, 1e-9)  # the difference of like numbers under the roots costs half of the digits at worst
    same(mb.Rotation.from_matrix(C).quaternion, xi, 1e-9)
    up_to_sign(quaternions.from_matrix(C), xi, 1e-9)


def test_inverse(rng):
    """[RD 2.56]: the inverse is the conjugate, and belongs to C^T."""
    xi = units(rng)
    same(C_of(conjugate(xi)), T(C_of(xi)))
    same(product(xi, conjugate(xi)), np.broadcast_to([1.0, 0, 0, 0], (N, 4)))
    same(quaternions.conjugate(xi), conjugate(xi), 0)


def test_product(rng):
    """[RD 2.57-2.61]: ξ_AC = ξ_AB ⊗ ξ_BC: as scalars and vectors, by the left and by the right matrix."""
    a, b = units(rng), units(rng)
    c = product(a, b)
    same(C_of(c), C_of(a) @ C_of(b))
    up_to_sign(c, (truth(a) * truth(b)).as_quat()[:, [3, 0, 1, 2]])
    same(mul(M_l(a), b), c)
    same(mul(M_r(b), a), c)
    same(blocks(a, 1), M_l(a), 0)
    same(blocks(b, -1), M_r(b), 0)
    same(quaternions.multiply(a, b), c)
    same(quaternions.left_matrix(a), M_l(a), 0)
    same(quaternions.right_matrix(b), M_r(b), 0)
    same(quaternions.multiply(a.reshape(5, 12, 4), b.reshape(5, 12, 4)), c.reshape(5, 12, 4))


def test_rotation_of_a_vector(rng):
    """[RD 2.62-2.64]: p(A_r) = ξ_AB ⊗ p(B_r) ⊗ ξ_AB^-1, also by the two matrices."""
    xi, B_r = units(rng), rng.normal(size=(N, 3))
    A_r = truth(xi).apply(B_r)
    same(product(product(xi, pure(B_r)), conjugate(xi)), pure(A_r))
    same(mul(M_l(xi) @ M_r(conjugate(xi)), pure(B_r)), pure(A_r))
    same(quaternions.pure(B_r), pure(B_r), 0)
    same(quaternions.rotate(xi, B_r), A_r)


def test_example_2_4_1():
    """[RD Ex. 2.4.1, RD 2.65-2.69]: a vector seen from a frame that is turned by π/3 about x."""
    theta, n = np.pi / 3, np.array([1.0, 0, 0])
    xi_AB = np.concatenate([[np.cos(theta / 2)], np.sin(theta / 2) * n])
    same(xi_AB, np.array([np.sqrt(3), 1, 0, 0]) / 2, 1e-15)
    xi_BA = conjugate(xi_AB)
    same(xi_BA, np.array([np.sqrt(3), -1, 0, 0]) / 2, 1e-15)
    s3 = np.sqrt(3)
    left = np.array([[s3, 1, 0, 0], [-1, s3, 0, 0], [0, 0, s3, 1], [0, 0, -1, s3]]) / 2
    right = np.array([[s3, -1, 0, 0], [1, s3, 0, 0], [0, 0, s3, 1], [0, 0, -1, s3]]) / 2
    same(M_l(xi_BA), left, 1e-15)
    same(M_r(conjugate(xi_BA)), right, 1e-15)
    same(left @ right @ [0, 0, 1, 0], [0, 0, 1 / 2, -s3 / 2], 1e-15)

    A_R_B = mb.Rotation.from_angle_axis(theta, n)
    same(A_R_B.quaternion, xi_AB, 1e-15)
    same(quaternions.left_matrix(A_R_B.inverse().quaternion), left, 1e-15)
    same(quaternions.right_matrix(A_R_B.quaternion), right, 1e-15)
    same(A_R_B.inverse() @ [0.0, 1, 0], [0, 1 / 2, -s3 / 2], 1e-15)
    same(quaternions.rotate(xi_BA, [0.0, 1, 0]), [0, 1 / 2, -s3 / 2], 1e-15)
