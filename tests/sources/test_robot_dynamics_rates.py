"""Angular velocity and the rates of all parameters of a rotation, as printed, and an example.  [RD §2.5, 2.5.1]"""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation as Truth

import multibody as mb
from multibody.geometry import operators, quaternions, rates, so3

from .truth import T, angular_velocity, elementary, hat, mul, rate, rotations, rows, same, turning, unit, vee

N = 50


@pytest.fixture
def rng():
    return np.random.default_rng(25)


def C_euler(sequence, chi):
    first, second, third = (elementary(axis, chi[..., k]) for k, axis in enumerate(sequence))
    return first @ second @ third


def E_zyx(chi):
    (cz, cy, _), (sz, sy, _) = np.cos(chi).T, np.sin(chi).T
    E = rows((0, -sz, cy * cz), (0, cz, cy * sz), (1, 0, -sy))
    return E, rows((cz * sy / cy, sy * sz / cy, 1), (-sz, cz, 0), (cz / cy, sz / cy, 0))


def E_xyz(chi):
    (cx, cy, _), (sx, sy, _) = np.cos(chi).T, np.sin(chi).T
    E = rows((1, 0, sy), (0, cx, -cy * sx), (0, sx, cx * cy))
    return E, rows((1, sx * sy / cy, -cx * sy / cy), (0, cx, sx), (0, -sx / cy, cx / cy))


def E_zyz(chi):
    (cz, cy, _), (sz, sy, _) = np.cos(chi).T, np.sin(chi).T
    E = rows((0, -sz, cz * sy), (0, cz, sz * sy), (1, 0, cy))
    return E, rows((-cy * cz / sy, -cy * sz / sy, 1), (-sz, cz, 0), (cz / sy, sz / sy, 0))


def E_zxz(chi):
    (cz, cx, _), (sz, sx, _) = np.cos(chi).T, np.sin(chi).T
    E = rows((0, cz, sz * sx), (0, sz, -cz * sx), (1, 0, cx))
    return E, rows((-cx * sz / sx, cx * cz / sx, 1), (cz, sz, 0), (sz / sx, -cz / sx, 0))


EULER = {"zyx": E_zyx, "xyz": E_xyz, "zyz": E_zyz, "zxz": E_zxz}


def regular_angles(sequence, rng):
    """Angles at least 0.2 away from gimbal lock, on both sides of it."""
    chi = rng.uniform(-np.pi, np.pi, (N, 3))
    proper = sequence[0] == sequence[2]
    chi[:, 1] = rng.choice([-1, 1], N) * rng.uniform(0.2, np.pi / 2 - 0.2, N) + (np.pi / 2 if proper else 0)
    chi[::3, 1] += np.pi
    return chi


def H(xi):
    x0, x1, x2, x3 = np.moveaxis(xi, -1, 0)
    return rows((-x1, x0, -x3, x2), (-x2, x3, x0, -x1), (-x3, -x2, x1, x0))


def E_angle_axis(theta, n):
    s, c, n_hat = np.sin(theta)[:, None, None], np.cos(theta)[:, None, None], hat(n)
    E = np.concatenate([n[:, :, None], s * np.eye(3) + (1 - c) * n_hat], axis=-1)
    lower = -1 / 2 * s / (1 - c) * n_hat @ n_hat - 1 / 2 * n_hat
    return E, np.concatenate([n[:, None, :], lower], axis=-2)


def E_rotation_vector(phi):
    a, p = np.sqrt(np.sum(phi**2, axis=-1))[:, None, None], hat(phi)
    s, c = np.sin(a), np.cos(a)
    E = np.eye(3) + p * ((1 - c) / a**2) + p @ p * ((a - s) / a**3)
    return E, np.eye(3) - 1 / 2 * p + p @ p * (1 / a**2) * (1 - a / 2 * s / (1 - c))


def test_angular_velocity_as_a_limit(rng):
    """[RD 2.70]: the rotation vector from B(t) to B(t + ε), in A, over ε: its error falls like ε."""
    C = turning(rng, N)
    errors = []
    for eps in (1e-3, 1e-4):
        A_phi = Truth.from_matrix(C(eps) @ T(C(0.0))).as_rotvec()
        errors.append(np.abs(A_phi / eps - angular_velocity(C)).max())
        R = mb.Rotation.from_matrix
        same(R(C(0.0)).angular_velocity(R(C(eps)), eps, frame="A"), A_phi / eps, 1e-10)
    assert errors[0] < 1e-2
    assert errors[1] < 0.11 * errors[0]


def test_angular_velocity_of_the_inverse(rng):
    """[RD 2.71]: ω_AB = -ω_BA, in the same axes."""
    C = turning(rng, N)
    A_w_AB = angular_velocity(C)
    B_w_BA = angular_velocity(lambda t: T(C(t)))
    same(A_w_AB, -mul(C(0.0), B_w_BA))


def test_angular_velocity_from_the_matrix(rng):
    """[RD 2.72-2.73]: [A_ω_AB]× = C' C^T, a skew-symmetric matrix."""
    a, C_0 = rng.normal(size=(N, 3)), rotations(rng, N)
    C = lambda t: expm(hat(a) * t) @ C_0
    x, y, z = a.T
    printed = rows((0, -z, y), (z, 0, -x), (-y, x, 0))
    same(rate(C) @ T(C_0), printed)
    same(operators.vee3(rate(C) @ T(C_0)), a)
    same(mul(rates.angular("matrix", C_0.reshape(N, 9)), rate(C).reshape(N, 9)), a)
    same(mul(rates.angular_inverse("matrix", C_0.reshape(N, 9)), a), rate(C).reshape(N, 9))


def test_angular_velocity_in_another_frame(rng):
    """[RD 2.74-2.75]: B_ω = C_BA A_ω, and C_BA [A_ω]× C_AB for its matrix."""
    C = turning(rng, N)
    C_AB, A_w, B_w = C(0.0), angular_velocity(C), vee(T(C(0.0)) @ rate(C))
    same(mul(T(C_AB), A_w), B_w)
    same(T(C_AB) @ hat(A_w) @ C_AB, hat(B_w))
    same(mb.Rotation.from_matrix(C_AB).inverse() @ A_w, B_w)
    same(mul(rates.angular("matrix", C_AB.reshape(N, 9), frame="B"), rate(C).reshape(N, 9)), B_w)


def test_angular_velocities_add(rng):
    """[RD 2.76]: D_ω_AC = D_ω_AB + D_ω_BC."""
    C_AB, C_BC, C_DA = turning(rng, N), turning(rng, N), rotations(rng, N)
    A_w_AC = angular_velocity(lambda t: C_AB(t) @ C_BC(t))
    D_w_AB, D_w_BC = mul(C_DA, angular_velocity(C_AB)), mul(C_DA @ C_AB(0.0), angular_velocity(C_BC))
    same(mul(C_DA, A_w_AC), D_w_AB + D_w_BC)


def test_example_2_5_1(rng):
    """[RD Ex. 2.5.1, RD 2.77-2.81]: the angular velocity of an elementary rotation about x."""
    a, a_dot = rng.uniform(-np.pi, np.pi, N), rng.normal(size=N)
    c, s = np.cos(a), np.sin(a)
    C_dot = rows((0, 0, 0), (0, -a_dot * s, -a_dot * c), (0, a_dot * c, -a_dot * s))
    C_AB = rows((1, 0, 0), (0, c, -s), (0, s, c))
    same(C_AB, Truth.from_euler("x", a[:, None]).as_matrix())
    same(C_dot, rate(lambda t: elementary("x", a + t * a_dot)))
    product = C_dot @ rows((1, 0, 0), (0, c, s), (0, -s, c))
    same(product, rows((0, 0, 0), (0, 0, -a_dot), (0, a_dot, 0)))
    w = np.stack([a_dot, 0 * a, 0 * a], axis=-1)
    same(operators.vee3(product), w)
    same(mul(rates.angular("matrix", C_AB.reshape(N, 9)), C_dot.reshape(N, 9)), w)


def test_axes_of_the_zyx_angles(rng):
    """[RD 2.83-2.86]: the three axes of rotation, seen in the fixed frame, are the columns of E."""
    z, y, _ = chi = rng.uniform(-np.pi, np.pi, (3, N))
    C_z = rows((np.cos(z), -np.sin(z), 0), (np.sin(z), np.cos(z), 0), (0, 0, 1))
    C_y = rows((np.cos(y), 0, np.sin(y)), (0, 1, 0), (-np.sin(y), 0, np.cos(y)))
    e_z = np.broadcast_to(np.eye(3) @ [0, 0, 1], (N, 3))
    e_y, e_x = C_z @ [0, 1, 0], C_z @ C_y @ [1, 0, 0]
    same(e_y, np.stack([-np.sin(z), np.cos(z), 0 * z], axis=-1))
    same(e_x, np.stack([np.cos(y) * np.cos(z), np.cos(y) * np.sin(z), -np.sin(y)], axis=-1))
    E = np.stack([e_z, e_y, e_x], axis=-1)
    same(E, E_zyx(chi.T)[0])
    same(np.linalg.det(E), -np.cos(y))
    same(rates.angular("euler-zyx", chi.T), E)


@pytest.mark.parametrize("sequence", EULER)
def test_rates_of_euler_angles(sequence, rng):
    """[RD 2.82, 2.86-2.93]: A_ω = E χ' for four sequences, and the printed inverses."""
    chi, chi_dot = regular_angles(sequence, rng), rng.normal(size=(N, 3))
    E, E_inverse = EULER[sequence](chi)
    A_w = angular_velocity(lambda t: C_euler(sequence, chi + t * chi_dot))
    same(mul(E, chi_dot), A_w)
    same(E_inverse, np.linalg.inv(E), 1e-12)
    same(mul(E_inverse, A_w), chi_dot, 1e-12)
    name = "euler-" + sequence
    same(rates.angular(name, chi), E)
    same(rates.angular_inverse(name, chi), E_inverse, 1e-12)
    same(rates.angular(name, chi.reshape(5, 10, 3)), E.reshape(5, 10, 3, 3))
    E_dot = rate(lambda t: EULER[sequence](chi + t * chi_dot)[0])
    same(rates.angular_dot(name, chi, chi_dot), E_dot)


def test_rates_of_quaternions(rng):
    """[RD 2.82, 2.94-2.99]: ω = 2 H(ξ) ξ' and ξ' = H(ξ)^T ω / 2."""
    xi, A_w = unit(rng.normal(size=(N, 4))), rng.normal(size=(N, 3))
    same(np.concatenate([-xi[:, 1:, None], hat(xi[:, 1:]) + xi[:, :1, None] * np.eye(3)], axis=-1), H(xi), 0)
    C_0 = Truth.from_quat(xi[:, [1, 2, 3, 0]]).as_matrix()
    xi_dot = 1 / 2 * mul(T(H(xi)), A_w)
    same(np.einsum("ni,ni->n", xi, xi_dot), np.zeros(N))

    def C(t):  # [RD 2.54], which SciPy confirms elsewhere
        x0, v = (xi + t * xi_dot)[:, :1, None], (xi + t * xi_dot)[:, 1:]
        return (2 * x0**2 - 1) * np.eye(3) + 2 * x0 * hat(v) + 2 * v[:, :, None] * v[:, None, :]

    same(rate(C), hat(A_w) @ C_0)
    same(2 * mul(H(xi), xi_dot), A_w)
    same(2 * H(xi) @ (1 / 2 * T(H(xi))), np.broadcast_to(np.eye(3), (N, 3, 3)))
    same(quaternions.rate_matrix(xi), H(xi), 0)
    same(rates.angular("quaternion", xi), 2 * H(xi))
    same(rates.angular_inverse("quaternion", xi), T(H(xi)) / 2)
    same(rates.angular_dot("quaternion", xi, xi_dot), 2 * H(xi_dot))


def test_rates_of_angle_and_axis(rng):
    """[RD 2.82, 2.100-2.103]: for all angles but whole turns, with n' across n."""
    theta, n = rng.uniform(0.3, 2 * np.pi - 0.3, N) * rng.choice([-1, 1], N), unit(rng.normal(size=(N, 3)))
    theta_dot, n_dot = rng.normal(size=N), np.cross(n, rng.normal(size=(N, 3)))
    E, E_inverse = E_angle_axis(theta, n)

    def C(t):
        return expm(hat((theta + t * theta_dot)[:, None] * (n + t * n_dot)))

    A_w = angular_velocity(C)
    s, c = np.sin(theta)[:, None], np.cos(theta)[:, None]
    same(n * theta_dot[:, None] + n_dot * s + np.cross(n, n_dot) * (1 - c), A_w, 1e-12)
    chi_dot = np.concatenate([theta_dot[:, None], n_dot], axis=-1)
    same(mul(E, chi_dot), A_w, 1e-12)
    same(mul(E_inverse, A_w), chi_dot, 1e-11)
    same(E @ E_inverse, np.broadcast_to(np.eye(3), (N, 3, 3)), 1e-12)
    chi = np.concatenate([theta[:, None], n], axis=-1)
    same(rates.angular("angle-axis", chi), E, 1e-12)
    same(rates.angular_inverse("angle-axis", chi), E_inverse, 1e-12)
    E_dot = rate(lambda t: E_angle_axis(theta + t * theta_dot, n + t * n_dot)[0])
    same(rates.angular_dot("angle-axis", chi, chi_dot), E_dot, 1e-12)


def test_rates_of_rotation_vectors(rng):
    """[RD 2.82, 2.104-2.107]: for all lengths but whole turns."""
    length = rng.uniform(0.3, 2 * np.pi - 0.3, N)
    phi, phi_dot = length[:, None] * unit(rng.normal(size=(N, 3))), rng.normal(size=(N, 3))
    E, E_inverse = E_rotation_vector(phi)
    A_w = angular_velocity(lambda t: expm(hat(phi + t * phi_dot)))
    same(mul(E, phi_dot), A_w, 1e-12)
    same(mul(E_inverse, A_w), phi_dot, 1e-11)
    same(E @ E_inverse, np.broadcast_to(np.eye(3), (N, 3, 3)), 1e-12)
    same(so3.left_jacobian(phi), E, 1e-12)
    same(so3.left_jacobian_inverse(phi), E_inverse, 1e-11)
    same(rates.angular("rotation-vector", phi), E, 1e-12)
    same(rates.angular_inverse("rotation-vector", phi), E_inverse, 1e-11)
    E_dot = rate(lambda t: E_rotation_vector(phi + t * phi_dot)[0])
    same(rates.angular_dot("rotation-vector", phi, phi_dot), E_dot, 1e-11)
