"""Lagrange's equations of the first kind: pendulum, skate, quaternion.  [RD §3.4.5]"""

import numpy as np
import pytest
import sympy as sp

from multibody import derive
from multibody.derive.algebra.numpy_evaluation import numeric
from multibody.derive.results.comparison import accelerations
from multibody.derive.system.random_states import consistent_values, random_values
from multibody.errors import InputError

m, l, g, I, A, B, C, u = derive.symbols("m l g I A B C u")
x, z, psi = derive.coordinates("x z psi")


def pendulum():
    """A particle on a rod, in Cartesian coordinates."""
    rod = derive.Holonomic("rod", x**2 + z**2 - l**2)
    return derive.System(
        "pendulum", (x, z), (derive.particle("bob", m, (x, 0, z)),), gravity=(0, 0, -g), restrictions=(rod,)
    )


def skate(**options):
    """A body on ice that slides along itself and not across."""
    blade = derive.Motion("blade", -sp.sin(psi) * derive.rate(x) + sp.cos(psi) * derive.rate(z))
    body = derive.Body("skate", m, (x, z, 0), derive.rotation_z(psi), sp.diag(0, 0, I))
    return derive.System("skate", (x, z, psi), (body,), restrictions=(blade,), **options)


def spherical_pendulum(**options):
    q = w, i, j, k = derive.coordinates("q_w q_x q_y q_z")
    R = sp.Matrix(
        [
            [1 - 2 * (j * j + k * k), 2 * (i * j - w * k), 2 * (i * k + w * j)],
            [2 * (i * j + w * k), 1 - 2 * (i * i + k * k), 2 * (j * k - w * i)],
            [2 * (i * k - w * j), 2 * (j * k + w * i), 1 - 2 * (i * i + j * j)],
        ]
    )
    rates = sp.Matrix([[-i, -j, -k], [w, -k, j], [k, w, -i], [-j, i, w]]) / 2
    bob = derive.Body("bob", m, R * sp.Matrix([0, 0, -l]), R, sp.diag(A, B, C), joint=(0, 0, 0))
    v = derive.symbols("w_x w_y w_z")
    return derive.System("spherical pendulum", q, (bob,), v, rates, (0, 0, -g), units=(q,), **options)


def test_the_multiplier_of_a_rod_is_its_tension():
    """Force on the system: J^T λ points along the rod to the pivot, and hangs the bob.  [RD 3.37]"""
    equations = derive.equations(pendulum(), "lagrange-multipliers")
    (tension,) = equations.multipliers
    at_rest = dict.fromkeys((*equations.system.v, *equations.system.a, x), 0) | {z: -l}
    balance = equations.residual.subs(at_rest)
    assert sp.solve(balance[1], tension) == [-m * g / (2 * l)]
    assert sp.Matrix([[2 * x, 2 * z]]) == equations.J
    assert equations.drift == sp.Matrix([2 * derive.rate(x) ** 2 + 2 * derive.rate(z) ** 2])


def test_rd_has_the_multipliers_on_the_other_side():
    """[RD 3.35-3.37]: with λ_m = -λ and J_m = ours, the transpose of the printed 3.36, both are the same."""
    system = skate(loads=(derive.Force("skate", (u, 0, 0)),))
    equations = derive.equations(system, "lagrange-multipliers")
    values = consistent_values(system, np.random.default_rng(4))
    M, J, drift = (numeric(part, values) for part in (equations.M, equations.J, equations.drift))
    h = numeric(equations.b + equations.g - equations.tau, values)
    solved = np.linalg.solve(np.block([[M, -J.T], [J, np.zeros((1, 1))]]), -np.vstack([h, drift]))
    a, ours = solved[:3], solved[3:]
    np.testing.assert_allclose(M @ a + h + J.T @ (-ours), 0, atol=1e-12)
    assert J.shape == (1, 3)


def test_pendulum_as_in_its_angle():
    """q'' of the Cartesian coordinates follows from that of the angle."""
    q_ddot = accelerations(derive.equations(pendulum(), "lagrange-multipliers"))
    values = consistent_values(pendulum(), np.random.default_rng(5))
    length, angle = values[l], np.arctan2(values[x], -values[z])
    assert np.hypot(values[x], values[z]) == pytest.approx(length)
    rate = (values[derive.rate(x)] * np.cos(angle) + values[derive.rate(z)] * np.sin(angle)) / length
    turning = -values[g] / length * np.sin(angle)
    expected = length * np.array(
        [
            turning * np.cos(angle) - rate**2 * np.sin(angle),
            turning * np.sin(angle) + rate**2 * np.cos(angle),
        ]
    )
    np.testing.assert_allclose(q_ddot(values), expected, atol=1e-12)


def test_skate_turns_evenly_and_runs_on_circles():
    """Without forces ψ'' = 0, and the acceleration is v ψ' across the blade."""
    system = skate()
    values = consistent_values(system, np.random.default_rng(6))
    q_ddot = accelerations(derive.equations(system, "lagrange-multipliers"))(values)
    heading, turning = values[psi], values[derive.rate(psi)]
    speed = values[derive.rate(x)] * np.cos(heading) + values[derive.rate(z)] * np.sin(heading)
    expected = [-speed * turning * np.sin(heading), speed * turning * np.cos(heading), 0]
    np.testing.assert_allclose(q_ddot, expected, atol=1e-12)


@pytest.mark.parametrize("make", [pendulum, skate])
def test_agrees_with_the_projected_equations(make):
    agreement = derive.equations(make(), "lagrange-multipliers").equal(derive.equations(make()))
    assert agreement
    assert agreement.symbolic


@pytest.mark.slow
def test_quaternion_through_the_constraint_of_unit_length():
    """Four rates, inertia in three directions, one multiplier: the accelerations of three angular velocities."""
    w_x, w_y, _ = derive.symbols("w_x w_y w_z")
    loads = (
        derive.Generalized(w_y, u - 2 * w_x),
        derive.Torque("bob", (0, u, 1)),
        derive.Force("bob", (1, u, 0), point=(0, 0, 0)),
    )
    for system in (spherical_pendulum(), spherical_pendulum(loads=loads)):
        equations = derive.equations(system, "lagrange-multipliers")
        assert equations.M.shape == (4, 4)
        assert equations.J.shape == (1, 4)
        values = random_values(system, np.random.default_rng(0))
        assert np.linalg.matrix_rank(numeric(equations.M, values), tol=1e-9) == 3
        agreement = equations.equal(derive.equations(system))
        assert agreement.compared == "accelerations of the coordinates"
        assert agreement.numeric < 1e-12
    assert equations.system.inputs == (u,)


def test_motion_constraints_in_velocities_that_are_no_rates():
    """A bob that may not spin about its rod: w_z = 0."""
    _, _, w_z = derive.symbols("w_x w_y w_z")
    system = spherical_pendulum(restrictions=(derive.Motion("no spin", w_z),))
    equations = derive.equations(system, "lagrange-multipliers")
    assert equations.J.shape == (2, 4)
    assert equations.equal(derive.equations(system)).numeric < 1e-12


def test_rates_of_a_system_that_has_them_already():
    system = pendulum()
    assert derive.with_rates_as_velocities(system).v == system.v


def test_without_constraints_there_are_no_multipliers():
    free = derive.System("free", (x,), (derive.particle("mass", m, (x, 0, 0)),))
    assert "lagrange-multipliers" not in derive.applicable(free)
    with pytest.raises(InputError, match="there are no constraints, and no multipliers: take 'lagrange'"):
        derive.equations(free, "lagrange-multipliers")
