"""Motion constraints in the velocities: fewer equations instead of multipliers."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import multibody as mb
from multibody.derive import (
    Body,
    Damper,
    Force,
    Generalized,
    Holonomic,
    Motion,
    System,
    applicable,
    coordinates,
    equations,
    particle,
    rate,
    reduced,
    rotation_y,
    rotation_z,
    symbols,
    with_quasi_velocities,
)
from multibody.derive.algebra.numpy_evaluation import numeric
from multibody.derive.system.kinematics import along
from multibody.derive.system.random_states import random_values

from .motion import motion, same

m, l, g, k, c, F, inertia = symbols("m l g k c F Theta")
x, y, theta, phi = coordinates("x y theta phi")
u, r, w = symbols("u r w")


def sleigh(ahead=0):
    """A skate, or Chaplygin's sleigh with its centre of mass ahead of the blade, which does not move sideways."""
    R = rotation_z(phi)
    body = Body("sleigh", m, sp.Matrix([x, y, 0]) + R * sp.Matrix([ahead, 0, 0]), R, sp.diag(0, 0, inertia))
    edge = Motion("edge", -sp.sin(phi) * rate(x) + sp.cos(phi) * rate(y))
    return System("sleigh", (x, y, phi), (body,), gravity=(g, 0, 0), restrictions=(edge,))


FORWARD = ([[sp.cos(phi), sp.sin(phi), 0], [0, 0, 1]], (u, r))


def test_a_sleigh_without_multipliers():
    """[From 38]: m u' = m a r² and (Θ + m a²) r' = -m a u r, which are Chaplygin's."""
    equations = reduced(sleigh(l), *FORWARD)
    assert sp.diag(m, inertia + m * l**2) == equations.M
    assert sp.expand(equations.b - sp.Matrix([-m * l * r**2, m * l * u * r])).is_zero_matrix
    assert equations.J.rows == 0
    assert equations.system.v == (u, r)


def test_loads_may_depend_on_rates_that_are_no_velocities():
    """Drag against the rates of the place, along the blade and across it; a ship that slides, and one that does not."""
    drag = Force("sleigh", (-c * rate(x), -c * rate(y), 0))
    S = [[sp.cos(phi), sp.sin(phi), 0], [-sp.sin(phi), sp.cos(phi), 0], [0, 0, 1]]
    ship = replace(sleigh(), loads=(drag, Generalized(rate(phi), -k * rate(phi))))
    sliding = with_quasi_velocities(replace(ship, restrictions=()), S, (u, w, r))
    expected = {u: -c * u, w: -c * w, r: -k * r}
    made = [equations(sliding, method).tau for method in applicable(sliding)]
    made.append(equations(with_quasi_velocities(sliding, 2 * sp.eye(3), symbols("a b d"))).tau)
    halves = dict(zip(symbols("a b d"), (u, w, r), strict=True))
    made[-1] = 2 * made[-1].subs({name: 2 * value for name, value in halves.items()})
    made.append(sp.Matrix([*reduced(ship, *FORWARD).tau, -c * w]).permute_rows([0, 2, 1]))
    for tau in made:
        assert sp.simplify(sp.Matrix(tau) - sp.Matrix(list(expected.values()))).is_zero_matrix
    forces = equations(sliding).kernel("forces", dict.fromkeys(sliding.parameters, 1.0))  # with c and k as inputs
    at = np.array([0.3, 0.1, 0.7]), np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0])
    np.testing.assert_allclose(forces(*at), [-2, -4, -9], atol=1e-12)


def test_an_energy_restricted_too_early_is_wrong():
    """[From 38]: without the momentum across the blade, its turning is lost, and so are all Coriolis forces here."""
    system = reduced(sleigh(l), *FORWARD).system
    T = equations(system, "projected-newton-euler")
    restricted = sp.Matrix(system.v).T * T.M * sp.Matrix(system.v)
    naive = along(system, restricted.jacobian(list(system.v)).T) / 2
    assert naive.is_zero_matrix
    assert not T.b.is_zero_matrix


def rolling_disc():
    """An upright disc of radius l on a plane, heading φ, turned by θ."""
    R = rotation_z(phi) * rotation_y(theta)
    body = Body("disc", m, (x, y, l), R, sp.diag(k, inertia, k))
    rolls = (
        Motion("along x", rate(x) - l * sp.cos(phi) * rate(theta)),
        Motion("along y", rate(y) - l * sp.sin(phi) * rate(theta)),
    )
    tau_1, tau_2 = symbols("tau_1 tau_2")
    loads = (Generalized(rate(theta), tau_1), Generalized(rate(phi), tau_2), Force("disc", (F, 0, 0)), Damper(c, theta))
    return System("disc", (x, y, phi, theta), (body,), gravity=(g, 0, 0), loads=loads, restrictions=rolls)


@pytest.mark.parametrize(
    ("system", "S", "free"),
    [
        (sleigh(), *FORWARD),
        (sleigh(l), *FORWARD),
        (sleigh(l), [[1, 0, 0], [0, 0, 2]], (u, r)),
        (rolling_disc(), [[0, 0, 1, 0], [0, 0, 0, 1]], (r, w)),
        (rolling_disc(), [[0, 0, 1, 0], [sp.cos(phi), sp.sin(phi), 0, 0]], (r, w)),
    ],
    ids=["skate", "sleigh", "sleigh, along x", "disc", "disc, another velocity"],
)
def test_fewer_equations_instead_of_multipliers(system, S, free):
    """[From 38; RD 3.37]: the motion is that with multipliers, and the equations those of projected Newton–Euler."""
    dynamics = reduced(system, S, free)
    whole = equations(system, "projected-newton-euler")
    hamel = equations(system, "boltzmann-hamel")
    projected = equations(dynamics.system, "projected-newton-euler")
    rng = np.random.default_rng(9)
    for _ in range(3):
        values = random_values(dynamics.system, rng)
        values |= {s: values.get(s, 0.7) for s in (*system.parameters, *system.inputs)}
        same(motion(dynamics, values), motion(whole, values))
        same(motion(dynamics, values), motion(hamel, values))
        for part in ("M", "b", "g", "tau"):
            same(numeric(getattr(dynamics, part), values), numeric(getattr(projected, part), values))


def test_a_configuration_constraint_can_be_taken_out_too():
    """[From 38]: a pendulum in x and z, as one equation in the velocity along its circle."""
    z = sp.Symbol("z", real=True)
    bob = System(
        "pendulum",
        (x, z),
        (particle("bob", m, (x, 0, z)),),
        gravity=(0, 0, -g),
        restrictions=(Holonomic("rod", (x**2 + z**2 - l**2) / 2),),
    )
    dynamics = reduced(bob, [[-z, x]], (w,))
    whole = equations(bob, "projected-newton-euler")
    values = random_values(dynamics.system, np.random.default_rng(10)) | {
        l: 1.3,
        x: 1.3 * np.sin(0.4),
        z: -1.3 * np.cos(0.4),
    }
    q_dot = numeric(dynamics.system.q_dot, values)[:, 0]
    values |= {rate(x): float(q_dot[0]), rate(z): float(q_dot[1])}
    same(motion(dynamics, values), motion(whole, values))


def test_velocities_that_hold_constraints_have_no_brackets():
    """[MDN §9]: to roll and to turn, in turn, moves a skate sideways."""
    system = reduced(sleigh(), *FORWARD).system
    assert "boltzmann-hamel" not in applicable(system)
    assert "projected-newton-euler" in applicable(system)
    with pytest.raises(mb.InputError, match=r"along u and r in turn leads where no velocity leads at once.*`reduced`"):
        equations(system, "boltzmann-hamel")


@pytest.mark.parametrize(
    ("system", "S", "message"),
    [
        (replace(sleigh(), restrictions=()), [[1, 0]], "expected constraints that do not move with time"),
        (sleigh(), [[1, 0, 0]], "expected 2 × 3 expressions and 2 velocities, for 3 velocities and 1 constraints"),
        (sleigh(), [[-sp.sin(phi), sp.cos(phi), 0], [0, 0, 1]], "row 3 of S makes nu_1 = 1 u"),
    ],
)
def test_what_cannot_be_reduced(system, S, message):
    with pytest.raises(mb.InputError, match=message):
        reduced(system, S, (u, r))
