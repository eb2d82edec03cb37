"""Boltzmann–Hamel in any velocities: against Lagrange, projected Newton–Euler, multipliers and known equations."""

import numpy as np
import pytest
import sympy as sp

import multibody as mb
from multibody.derive import (
    Body,
    Damper,
    Force,
    Generalized,
    Spring,
    System,
    applicable,
    coordinates,
    equations,
    from_robot,
    gamma,
    on_group,
    rate,
    rotation_x,
    rotation_y,
    rotation_z,
    symbols,
    with_quasi_velocities,
)
from multibody.derive.algebra.numpy_evaluation import numeric
from multibody.derive.methods.hamel_coefficients import brackets
from multibody.derive.methods.quasi_velocities import inverse
from multibody.derive.system.kinematics import along
from multibody.derive.system.random_states import random_values
from multibody.geometry import groups

from .motion import motion, same

M, m, l, g, k, c, F, inertia = symbols("M m l g k c F Theta")
x, y, theta, phi = coordinates("x y theta phi")
u, r, w = symbols("u r w")


def cart_pendulum():
    R = rotation_y(-theta)
    cart = Body("cart", M, (x, 0, 0))
    place = sp.Matrix([x, 0, 0]) + R * sp.Matrix([0, 0, -l])
    pendulum = Body("pendulum", m, place, R, sp.diag(0, inertia, 0), parent="cart", joint=(x, 0, 0))
    loads = (Spring(k, x), Damper(c, x + theta), Force("cart", (F, 0, 0)), Generalized(rate(theta), sp.Symbol("tau")))
    return System("cart-pendulum", (x, theta), (cart, pendulum), gravity=(0, 0, -g), loads=loads)


def double_pendulum():
    R_1, R_2 = (rotation_x(angle) for angle in (theta, theta + phi))
    bar = sp.Matrix([0, 0, -l])
    upper = Body("upper", M, R_1 * bar / 2, R_1, sp.diag(inertia, 0, 0))
    lower = Body("lower", m, R_1 * bar + R_2 * bar / 2, R_2, sp.diag(inertia, 0, 0), parent="upper", joint=R_1 * bar)
    return System("double pendulum", (theta, phi), (upper, lower), gravity=(0, 0, -g))


# ---- γ ---------------------------------------------------------------------------------------------------------------


def euler_angles():
    """v = S q' of Euler angles z, y, x and the velocity along the axes of the body."""
    z, y, x = coordinates("psi chi xi")
    rows = [[-sp.sin(y), 0, 1], [sp.cos(y) * sp.sin(x), sp.cos(x), 0], [sp.cos(y) * sp.cos(x), -sp.sin(x), 0]]
    return (z, y, x), sp.Matrix(rows)


@pytest.mark.parametrize("seed", range(2))
def test_gamma_is_antisymmetric_and_turns_momentum_without_power(seed):
    """[From 46-47]: (γ_k)_ij = -(γ_i)_kj, so that v^T (Σ γ_k v_k) p = 0 for every v and p."""
    rng = np.random.default_rng(seed)
    q = coordinates("a b c")
    n = [int(x) for x in rng.integers(1, 4, 3)]
    S = sp.Matrix([[n[0], sp.sin(q[1]), 0], [0, 2, n[1] * sp.cos(q[0])], [n[2] * q[2], 0, 1]])
    at = {s: float(rng.uniform(-1, 1)) for s in q}
    gammas = np.stack([numeric(x, at) for x in gamma(S, q)])
    assert np.abs(gammas).max() > 1e-2
    same(gammas, -np.swapaxes(gammas, 0, 1))
    v, p = rng.normal(size=(2, 3))
    assert abs(np.einsum("kij,k,i,j", gammas, v, v, p)) < 1e-12


@pytest.mark.parametrize("seed", range(2))
def test_gamma_entry_by_entry(seed):
    """[From 46]: against the sum over l and m as it is printed, and the two parts that it comes from [From 42, 45]."""
    rng = np.random.default_rng(seed)
    q = coordinates("a b")
    S = sp.Matrix([[2 + sp.sin(q[1]), q[0] * q[1]], [sp.cos(q[0]), 3 + q[0] ** 2]])
    at, n = {s: float(rng.uniform(-1, 1)) for s in q}, range(2)
    d = np.stack([numeric(sp.diff(S, s), at) for s in q], axis=-1)
    Si = np.linalg.inv(numeric(S, at))
    for k_, gamma_k in enumerate(gamma(S, q)):
        printed = [
            [sum(Si[l_, i] * (d[j, l_, m_] - d[j, m_, l_]) * Si[m_, k_] for l_ in n for m_ in n) for j in n] for i in n
        ]
        same(numeric(gamma_k, at), np.array(printed))


def test_gamma_from_brackets_is_gamma_from_S():
    """[From 46-47; MDN §9]: [X_i, X_k] = Σ_j (γ_k)_ij X_j, for Euler angles; and they are constant."""
    q, S = euler_angles()
    body = System("body", q, (Body("body", m, (0, 0, 0), sp.eye(3), sp.eye(3)),))
    turned = with_quasi_velocities(body, S, symbols("p q r"))
    assert gamma(S, q) == brackets(turned)
    structure = groups.SO3().structure
    for k_, gamma_k in enumerate(brackets(turned)):
        assert gamma_k == sp.Matrix(3, 3, lambda i, j, k_=k_: int(structure[j, i, k_]))


def test_rows_that_are_gradients_have_no_gamma():
    """[From 46]: velocities that are rates of other coordinates, f(q)' ."""
    q = coordinates("a b")
    S = sp.Matrix([q[0] + q[1] ** 2, sp.sin(q[0]) + 3 * q[1]]).jacobian(q)
    assert all(x.is_zero_matrix for x in gamma(S, q))
    S[0, 1] += q[0]
    assert not all(x.is_zero_matrix for x in gamma(S, q))


def test_unit_quaternions_have_brackets_without_an_S():
    """[MDN §9]: more coordinates than velocities; the brackets are those of SO(3), and on the sphere alone."""
    system = from_robot(mb.load("free-body-so3"))
    structure = groups.SO3().structure
    for k_, gamma_k in enumerate(brackets(system)):
        assert gamma_k == sp.Matrix(3, 3, lambda i, j, k_=k_: int(structure[j, i, k_]))


def test_inverse_of_blocks():
    a, b = coordinates("a b")
    S = sp.Matrix([[0, 2, 0, 0], [sp.cos(a), 0, -sp.sin(a), 0], [sp.sin(a), 0, sp.cos(a), 0], [0, 0, 0, 1 + b**2]])
    assert inverse(S) * S != sp.zeros(4)
    assert sp.simplify(inverse(S) * S) == sp.eye(4)
    assert inverse(S)[0, 1] == sp.cos(a)


# ---- the equations ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [cart_pendulum, double_pendulum])
def test_rates_of_coordinates_give_lagranges_equations(make):
    """[From 12, 27]: S = 1 is Lagrange's equation, symbol by symbol."""
    system = make()
    hamel, lagrange = (equations(system, method) for method in ("boltzmann-hamel", "lagrange"))
    assert (hamel.M, hamel.b, hamel.g, hamel.tau) == (lagrange.M, lagrange.b, lagrange.g, lagrange.tau)


def random_S(q, rng):
    """Some invertible matrix: a constant one between two with a row added to the other, by waves of the coordinates."""
    a, b = (
        sp.Rational(int(n), 2) * f(q[j])
        for n, f, j in zip(rng.integers(1, 4, 2), (sp.sin, sp.cos), (1, 0), strict=True)
    )
    constant = sp.Matrix([[2, int(rng.integers(-2, 3))], [0, int(rng.integers(1, 4))]])
    return sp.Matrix([[1, a], [0, 1]]) * constant * sp.Matrix([[1, 0], [b, 1]])


@pytest.mark.parametrize(("make", "seed"), [(cart_pendulum, 0), (double_pendulum, 1)])
def test_any_velocities_give_the_motion_of_lagrange(make, seed):
    """[From 12, 26-27, 38, §2.2, Prop. 2.1]: q'' is the same, though M, b, g and τ are not."""
    rng = np.random.default_rng(seed)
    system = make()
    S = random_S(system.q, rng)
    hamel = equations(with_quasi_velocities(system, S, (u, w)), "boltzmann-hamel")
    projected = equations(hamel.system, "projected-newton-euler")
    lagrange = equations(system, "lagrange")
    for _ in range(3):
        values = random_values(hamel.system, rng)
        same(motion(hamel, values), motion(lagrange, values))
        for part in ("M", "b", "g", "tau"):
            same(numeric(getattr(hamel, part), values), numeric(getattr(projected, part), values))
        same(numeric(sp.Matrix([u, w]) - S * sp.Matrix(hamel.system.q_dot), values), np.zeros((2, 1)))
    assert hamel.M != lagrange.M


def test_velocities_that_are_divided_by_coordinates():
    """[From 27]: an S whose inverse has a denominator that stays."""
    system = cart_pendulum()
    hamel = equations(with_quasi_velocities(system, [[2 + sp.sin(theta), 0], [x, 3]], (u, w)), "boltzmann-hamel")
    values = random_values(hamel.system, np.random.default_rng(5))
    same(motion(hamel, values), motion(equations(system, "lagrange"), values))


def test_the_two_forms_of_the_proposition():
    """[From 26-27, Prop. 2.1]: with S' and ∂(S q')/∂q, and with γ."""
    system = cart_pendulum()
    S = random_S(system.q, np.random.default_rng(3))
    hamel = equations(with_quasi_velocities(system, S, (u, w)), "boltzmann-hamel")
    values = random_values(hamel.system, np.random.default_rng(4))
    q_dot = sp.Matrix([rate(s) for s in system.q])
    S_dot = sum((sp.diff(S, s) * rate(s) for s in system.q), sp.zeros(2))
    swept = (S * q_dot).jacobian(list(system.q))
    v = sp.Matrix(hamel.system.v)
    T = (v.T * hamel.M * v)[0] / 2
    along_q = sp.Matrix([sp.diff(T, s) for s in system.q])
    F_T = np.linalg.inv(numeric(S, values)).T
    turning = F_T @ numeric((S_dot - swept).T, values)
    M_dot = numeric(along(hamel.system, hamel.M), values)
    p = numeric(hamel.M * v, values)
    same(M_dot @ numeric(v, values) - F_T @ numeric(along_q, values) + turning @ p, numeric(hamel.b, values))


def test_kinetic_energy_changes_by_power_alone():
    """[From 27]: v^T b = v^T M' v / 2."""
    hamel = equations(with_quasi_velocities(double_pendulum(), [[1, sp.cos(phi)], [0, 2]], (u, w)), "boltzmann-hamel")
    values = random_values(hamel.system, np.random.default_rng(6))
    v = numeric(sp.Matrix(hamel.system.v), values)
    M_dot = numeric(along(hamel.system, hamel.M), values)
    same(v.T @ numeric(hamel.b, values), v.T @ M_dot @ v / 2)


def test_euler_angles_give_eulers_equations():
    """[From 2-4, 12, 27]: in velocities along the axes of the body, the angles and their singularity are gone."""
    q, S = euler_angles()
    R = rotation_z(q[0]) * rotation_y(q[1]) * rotation_x(q[2])
    I_x, I_y, I_z = symbols("I_x I_y I_z")
    body = System(
        "body", q, (Body("body", m, R * sp.Matrix([0, 0, l]), R, sp.diag(I_x, I_y, I_z)),), gravity=(0, 0, -g)
    )
    p = symbols("p q r")
    top = equations(with_quasi_velocities(body, S, p), "boltzmann-hamel")
    printed = on_group(groups.SO3(), sp.diag(I_x + m * l**2, I_y + m * l**2, I_z))
    assert top.M == printed.M
    assert sp.expand(top.b - printed.b).is_zero_matrix
    values = random_values(top.system, np.random.default_rng(7))
    same(motion(top, values), motion(equations(body, "lagrange"), values))


def test_a_free_body_in_euler_angles_gives_kirchhoffs_equations():
    """[From 9-10, 27, 76]: position and Euler angles as coordinates, the twist of the body as velocity."""
    angles, E = euler_angles()
    R = rotation_z(angles[0]) * rotation_y(angles[1]) * rotation_x(angles[2])
    place = coordinates("x y z")
    I_x, I_y, I_z = symbols("I_x I_y I_z")
    body = System("body", (*place, *angles), (Body("body", m, place, R, sp.diag(I_x, I_y, I_z)),))
    free = equations(with_quasi_velocities(body, sp.diag(R.T, E), symbols("u v w p q r")), "boltzmann-hamel")
    printed = on_group(groups.SE3())
    assert free.M == printed.M
    assert sp.expand(free.b - printed.b).is_zero_matrix


def spherical_pendulum():
    """A rod on a ball joint: its quaternion, and the velocity along its own axes."""
    q = coordinates("q_w q_x q_y q_z")
    a, b, c_, d = q
    R = sp.Matrix(
        [
            [1 - 2 * (c_**2 + d**2), 2 * (b * c_ - a * d), 2 * (b * d + a * c_)],
            [2 * (b * c_ + a * d), 1 - 2 * (b**2 + d**2), 2 * (c_ * d - a * b)],
            [2 * (b * d - a * c_), 2 * (c_ * d + a * b), 1 - 2 * (b**2 + c_**2)],
        ]
    )
    rates = sp.Matrix([[-b, -c_, -d], [a, -d, c_], [d, a, -b], [-c_, b, a]]) / 2
    rod = Body("rod", m, R * sp.Matrix([0, 0, -l]), R, sp.diag(inertia, inertia, k))
    return System("spherical pendulum", q, (rod,), symbols("p q r"), rates, (0, 0, -g), units=(q,))


def test_a_quaternion_joint():
    """[From 27, 38; MDN §9]: redundant coordinates, equal to projected Newton–Euler symbol by symbol."""
    system = spherical_pendulum()
    hamel, projected = (equations(system, method) for method in ("boltzmann-hamel", "projected-newton-euler"))
    assert (hamel.M, hamel.b, hamel.g) == (projected.M, projected.b, projected.g)
    _, q, r_ = system.v
    assert sp.expand(hamel.b[0] - (k - inertia - m * l**2) * q * r_) == 0
    assert "lagrange" not in applicable(system)


def test_other_velocities_of_a_quaternion_joint():
    """[From 12, 27]: S takes the velocities that a system has, rates of coordinates or not, to others."""
    system = spherical_pendulum()
    turned = with_quasi_velocities(system, [[1, 0, 0], [0, 1, 1], [0, -1, 1]], symbols("a b c"))
    hamel, before = (equations(s, "boltzmann-hamel") for s in (turned, system))
    values = random_values(turned, np.random.default_rng(8))
    u_of_v = dict(zip(system.v, sp.Matrix([[2, 0, 0], [0, 1, -1], [0, 1, 1]]) / 2 * sp.Matrix(turned.v), strict=True))
    values |= {old: float(numeric(new, values)) for old, new in u_of_v.items()}
    same(motion(hamel, values), motion(before, values))


def test_the_derivation_tells_its_quantities():
    """[From 12, 13, 26, 46]: S, γ, ∂L/∂v and S^-T ∂L/∂q are steps to read."""
    q, S = euler_angles()
    body = System(
        "body", q, (Body("body", m, (0, 0, 0), rotation_z(q[0]) * rotation_y(q[1]) * rotation_x(q[2]), sp.eye(3)),)
    )
    dynamics = equations(with_quasi_velocities(body, S, symbols("p q r")), "boltzmann-hamel")
    named = {name: value for step in dynamics.steps for name, value in step.results}
    assert named["S"] == S
    assert sp.simplify(named["S^{-1} = F"] * S) == sp.eye(3)
    assert named[r"\gamma_{p}"] == gamma(S, q)[0]
    assert named[r"\frac{\partial L}{\partial v}"] == sp.Matrix(dynamics.system.v)
    assert {"From 12", "From 46-47"} <= {step.tag for step in dynamics.steps}
    assert dynamics.method == "boltzmann-hamel"


# ---- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("S", "message"),
    [
        ([[1, x], [2, 2 * x]], r"S cannot be inverted, so that u, w do not tell the rates: row 2 of S makes w = 2 u"),
        ([[1, 0], [0, 0]], r"row 2 of S is zero"),
        ([[0, 0], [0, 1]], r"row 1 of S is zero"),
        ([[sp.sin(theta), x], [x * sp.sin(theta), x**2]], r"row 2 of S, of w, is a combination of the rows of u"),
        ([[1, 2, 3]], r"expected 2 × 2 expressions and 2 velocities, one for each of x_dot, theta_dot, got 1 × 3"),
        ([[1, rate(theta)], [0, 1]], r"expected expressions in the coordinates, got theta_dot in it"),
    ],
)
def test_an_S_that_is_no_change_of_velocities(S, message):
    with pytest.raises(mb.InputError, match=message):
        with_quasi_velocities(cart_pendulum(), S, (u, w))


def test_the_name_of_a_rate_stays_with_that_rate():
    system = cart_pendulum()
    with pytest.raises(mb.InputError, match="x_dot is the rate of a coordinate"):
        with_quasi_velocities(system, [[1, 1], [0, 1]], (rate(x), w))
    kept = with_quasi_velocities(system, [[1, 0], [x, 2]], (rate(x), w))
    assert kept.q_dot[0] == rate(x)


def test_gamma_needs_a_square_S():
    with pytest.raises(mb.InputError, match="expected 2 × 2 expressions for the coordinates x, y"):
        gamma([[1, 0, 0]], (x, y))
