"""Jacobians of one body by partial derivatives, and the terms of its Lagrange equations, as printed.  [QT §4]"""

import pytest
import sympy as sp

from multibody.derive import Body, System, coordinates, rotation_x, rotation_y, rotation_z, symbols
from multibody.derive.algebra.normal_form import is_zero
from multibody.derive.system.generalized_forces import kinetic_energy
from multibody.derive.system.kinematics import along, point_jacobian, rotation_jacobian

x, y, a, b, c = coordinates("x y a b c")
m, l, A, B, C = symbols("m l A B C")


@pytest.fixture(scope="module")
def system():
    R = rotation_x(a) * rotation_y(b) * rotation_z(c)
    position = sp.Matrix([x, y, 0]) + R * sp.Matrix([0, l, 0])
    return System("body", (x, y, a, b, c), (Body("body", m, position, R, sp.diag(A, B, C)),))


@pytest.fixture(scope="module")
def parts(system):
    """J_v, J_ω along the axes of the world, and the inertia I_c there."""
    body = system.bodies[0]
    R = body.rotation
    return point_jacobian(system, body.position), R * rotation_jacobian(system, body), R * body.inertia * R.T


def zero(matrix):
    return all(is_zero(entry) for entry in sp.Matrix([matrix]))


def hat(w):
    return sp.Matrix([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def test_linear_jacobian(system, parts):
    """[QT 28]: its columns are the partial derivatives of the centre of mass."""
    J_v, _, _ = parts
    assert zero(J_v - sp.Matrix(system.bodies[0].position).jacobian(system.q))


def test_angular_jacobian(system, parts):
    """[QT 29-30]: [j_k] = ∂R/∂q_k R^T are the columns of J_ω, and [ω] = R' R^T."""
    _, J_w, _ = parts
    R = system.bodies[0].rotation
    for k, q in enumerate(system.q):
        assert zero(hat(J_w.col(k)) - sp.diff(R, q) * R.T)
    omega = J_w * sp.Matrix(system.v)
    assert zero(hat(omega) - along(system, R) * R.T)
    assert not zero(hat(omega) - R.T * along(system, R))


def test_kinetic_energy(system, parts):
    """[QT 32]: T = q'^T J^T M_c J q' / 2."""
    J_v, J_w, I_c = parts
    v = sp.Matrix(system.v)
    T = (v.T * (m * J_v.T * J_v + J_w.T * I_c * J_w) * v)[0] / 2
    assert is_zero(T - kinetic_energy(system))


def test_terms_of_lagranges_equations(system, parts):
    """[QT 37-43]: what the inertia that turns contributes, and why half of it goes away."""
    _, J_w, I_c = parts
    v = sp.Matrix(system.v)
    omega = J_w * v
    for k, q in enumerate(system.q):
        j = J_w.col(k)
        third = (j.T * along(system, I_c) * omega)[0]
        gyroscopic = (j.T * hat(omega) * I_c * omega)[0]
        assert is_zero(third - gyroscopic)  # [QT 37]
        fourth = (omega.T * sp.diff(I_c, q) * omega)[0] / 2
        assert is_zero(fourth + gyroscopic)  # [QT 38]
        fifth = ((along(system, j) - sp.diff(J_w, q) * v).T * I_c * omega)[0]
        assert is_zero(fifth + gyroscopic)  # [QT 43]
        for i in range(len(system.q)):
            z = sp.diff(j, system.q[i]) - sp.diff(J_w.col(i), q)
            assert zero(z - J_w.col(i).cross(j))  # [QT 42]
