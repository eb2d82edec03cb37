"""Operators, positions and linear velocities, as printed.  [RD §1.2, 2.2.1, 2.3.1]"""

import numpy as np
import pytest

from multibody.geometry import operators, rates

from .truth import mul, rate, rows, same

N = 40


@pytest.fixture
def rng():
    return np.random.default_rng(21)


def r_cartesian(chi):
    x, y, z = np.moveaxis(chi, -1, 0)
    e_x, e_y, e_z = np.eye(3)
    return x[..., None] * e_x + y[..., None] * e_y + z[..., None] * e_z


def r_cylindrical(chi):
    rho, theta, z = np.moveaxis(chi, -1, 0)
    return np.stack([rho * np.cos(theta), rho * np.sin(theta), z], axis=-1)


def r_spherical(chi):
    r, theta, phi = np.moveaxis(chi, -1, 0)
    return np.stack([r * np.cos(theta) * np.sin(phi), r * np.sin(theta) * np.sin(phi), r * np.cos(phi)], axis=-1)


def E_cylindrical(chi):
    rho, theta, _ = np.moveaxis(chi, -1, 0)
    c, s = np.cos(theta), np.sin(theta)
    return rows((c, -rho * s, 0), (s, rho * c, 0), (0, 0, 1))


def E_cylindrical_inverse(chi):
    rho, theta, _ = np.moveaxis(chi, -1, 0)
    c, s = np.cos(theta), np.sin(theta)
    return rows((c, s, 0), (-s / rho, c / rho, 0), (0, 0, 1))


def E_spherical(chi):
    r, theta, phi = np.moveaxis(chi, -1, 0)
    ct, st, cp, sp = np.cos(theta), np.sin(theta), np.cos(phi), np.sin(phi)
    return rows((ct * sp, -r * sp * st, r * cp * ct), (sp * st, r * ct * sp, r * cp * st), (cp, 0, -r * sp))


def E_spherical_inverse(chi):
    r, theta, phi = np.moveaxis(chi, -1, 0)
    ct, st, cp, sp = np.cos(theta), np.sin(theta), np.cos(phi), np.sin(phi)
    return rows((ct * sp, sp * st, cp), (-st / (r * sp), ct / (r * sp), 0), (cp * ct / r, cp * st / r, -sp / r))


def samples(name, rng):
    if name == "cartesian":
        return rng.normal(size=(N, 3))
    if name == "cylindrical":
        return np.stack([rng.uniform(0.2, 3, N), rng.uniform(-np.pi, np.pi, N), rng.normal(size=N)], axis=-1)
    return np.stack([rng.uniform(0.2, 3, N), rng.uniform(-np.pi, np.pi, N), rng.uniform(0.2, np.pi - 0.2, N)], axis=-1)


POSITION = {"cartesian": r_cartesian, "cylindrical": r_cylindrical, "spherical": r_spherical}
MAPS = {"cylindrical": (E_cylindrical, E_cylindrical_inverse), "spherical": (E_spherical, E_spherical_inverse)}


def test_cross_product_and_skew_matrix(rng):
    """[RD §1.2]: a × b = [a]× b, with the matrix printed there, and its inverse."""
    a, b = rng.normal(size=(2, N, 3))
    a1, a2, a3 = a.T
    skew = rows((0, -a3, a2), (a3, 0, -a1), (-a2, a1, 0))
    same(mul(skew, b), np.cross(a, b))
    same(operators.hat3(a), skew, 0)
    same(operators.vee3(skew), a, 0)
    same(operators.cross3(a, b), np.cross(a, b))


def test_euclidean_norm(rng):
    """[RD §1.2]: ‖a‖ = sqrt(a^T a) = sqrt(a_1² + ... + a_n²)."""
    a = rng.normal(size=(N, 7))
    same(np.sqrt((a * a).sum(axis=-1)), np.linalg.norm(a, axis=-1))
    same([np.sqrt(row.T @ row) for row in a], np.linalg.norm(a, axis=-1))


@pytest.mark.parametrize("name", POSITION)
def test_position_from_its_parameters(name, rng):
    """[RD 2.3-2.8]: Cartesian, cylindrical and spherical coordinates (azimuth θ, polar angle φ)."""
    chi = samples(name, rng)
    r = POSITION[name](chi)
    if name == "cylindrical":
        same(np.hypot(r[:, 0], r[:, 1]), chi[:, 0])
        same(np.arctan2(r[:, 1], r[:, 0]), chi[:, 1])
    if name == "spherical":
        same(np.linalg.norm(r, axis=-1), chi[:, 0])
        same(np.arctan2(r[:, 1], r[:, 0]), chi[:, 1])
        same(np.arccos(r[:, 2] / chi[:, 0]), chi[:, 2], 1e-12)
    if name == "cartesian":
        same(r, chi, 0)
    same(rates.position(name, chi), r)
    same(rates.position_inverse(name, r), chi)
    same(rates.position(name, chi.reshape(5, 8, 3)), r.reshape(5, 8, 3))


@pytest.mark.parametrize("name", POSITION)
def test_velocity_is_linear_in_the_rates(name, rng):
    """[RD 2.9-2.11]: r' = E_P(χ) χ' and χ' = E_P^-1(χ) r', against the derivative of the position."""
    chi, chi_dot = samples(name, rng), rng.normal(size=(N, 3))
    r_dot = rate(lambda t: POSITION[name](chi + t * chi_dot))
    same(mul(rates.linear(name, chi), chi_dot), r_dot)
    same(mul(rates.linear_inverse(name, chi), r_dot), chi_dot, 1e-12)


def test_cartesian_map_is_the_identity(rng):
    """[RD 2.12]: E_Pc = E_Pc^-1 = 1."""
    chi = samples("cartesian", rng)
    same(rates.linear("cartesian", chi), np.broadcast_to(np.eye(3), (N, 3, 3)), 0)
    same(rates.linear_inverse("cartesian", chi), np.broadcast_to(np.eye(3), (N, 3, 3)), 0)


def test_cylindrical_velocity(rng):
    """[RD 2.13]: the velocity in cylindrical coordinates, component by component."""
    chi, chi_dot = samples("cylindrical", rng), rng.normal(size=(N, 3))
    (rho, theta, _), (rho_dot, theta_dot, z_dot) = chi.T, chi_dot.T
    c, s = np.cos(theta), np.sin(theta)
    printed = np.stack([rho_dot * c - rho * theta_dot * s, rho_dot * s + rho * theta_dot * c, z_dot], axis=-1)
    same(printed, rate(lambda t: r_cylindrical(chi + t * chi_dot)))
    same(mul(rates.linear("cylindrical", chi), chi_dot), printed)


def test_cylindrical_rates(rng):
    """[RD 2.14]: the cylindrical rates from the velocity, component by component and as a matrix."""
    chi, chi_dot = samples("cylindrical", rng), rng.normal(size=(N, 3))
    (rho, theta, _), (x_dot, y_dot, z_dot) = chi.T, rate(lambda t: r_cylindrical(chi + t * chi_dot)).T
    c, s = np.cos(theta), np.sin(theta)
    printed = np.stack([x_dot * c + y_dot * s, -x_dot * s / rho + y_dot * c / rho, z_dot], axis=-1)
    same(printed, chi_dot, 1e-12)
    same(mul(E_cylindrical_inverse(chi), np.stack([x_dot, y_dot, z_dot], axis=-1)), printed)
    same(rates.linear_inverse("cylindrical", chi), E_cylindrical_inverse(chi))


@pytest.mark.parametrize("name", MAPS)
def test_curvilinear_maps(name, rng):
    """[RD 2.14-2.17]: E_P is the Jacobian of the position, and the printed inverse is its inverse."""
    E, E_inverse = MAPS[name]
    chi = samples(name, rng)
    jacobian = np.stack([rate(lambda t, e=e: POSITION[name](chi + t * e)) for e in np.eye(3)], axis=-1)
    same(E(chi), jacobian)
    same(E_inverse(chi), np.linalg.inv(jacobian), 1e-12)
    same(rates.linear(name, chi), E(chi))
    same(rates.linear_inverse(name, chi), E_inverse(chi))
    same(rates.linear(name, chi.reshape(2, 20, 3)), E(chi).reshape(2, 20, 3, 3))
    chi_dot = rng.normal(size=(N, 3))
    same(rates.linear_dot(name, chi, chi_dot), rate(lambda t: E(chi + t * chi_dot)))
