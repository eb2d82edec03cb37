"""Positions, rotations, constraints and rates that depend on the time t: hoops that turn, pivots that are driven."""

import re
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import multibody as mb
from multibody import derive
from multibody.derive.algebra.numpy_evaluation import numeric
from multibody.derive.methods.method_table import method_table
from multibody.derive.results.comparison import accelerations
from multibody.derive.system.generalized_forces import kinetic_energy
from multibody.derive.system.random_states import consistent_values, random_values
from multibody.derive.system.symbols import TIME
from multibody.errors import InputError
from multibody.model.builder import Builder
from multibody.model.joints import Prismatic, Revolute, Spherical
from multibody.robot import Robot

from .constrained_particles import acceleration, simulate

(t,) = derive.symbols("t")
m, M, l, R, g, A, w, Omega, rho, I_x, I_y, I_z = derive.symbols("m M l R g A w Omega rho I_x I_y I_z")
x, y, z, theta, psi = derive.coordinates("x y z theta psi")
DOWN = (0, 0, -g)
VALUES = {
    m: 0.7, M: 1.9, l: 0.6, R: 0.8, g: 9.81, A: 0.25, w: 3.1, Omega: 4.3, rho: 0.4, I_x: 0.31, I_y: 0.25, I_z: 0.17
}  # fmt: skip


def turned(now, *entries):
    """A vector on a turntable, in the world."""
    angle = VALUES[Omega] * now
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * entries[0] - s * entries[1], s * entries[0] + c * entries[1], entries[2]])


def bead():
    """A bead on a hoop that turns about the vertical."""
    position = derive.rotation_z(Omega * t) * sp.Matrix([R * sp.sin(theta), 0, -R * sp.cos(theta)])
    return derive.System("bead", (theta,), (derive.particle("bead", m, position),), gravity=DOWN)


def on_hoop(r, t):
    return np.array([r @ r - VALUES[R] ** 2, r @ turned(t, 0, 1, 0)])


def driven_pivot():
    """A pendulum whose pivot goes back and forth, and up and down."""
    position = (A * sp.cos(w * t) + l * sp.sin(theta), 0, A * sp.sin(2 * w * t) - l * sp.cos(theta))
    return derive.System("driven pivot", (theta,), (derive.particle("bob", m, position),), gravity=DOWN)


def on_driven_rod(r, t):
    phase = VALUES[w] * t
    rod = r - VALUES[A] * np.array([np.cos(phase), 0, np.sin(2 * phase)])
    return np.array([rod @ rod - VALUES[l] ** 2, r[1]])


def driven_cart():
    """A cart that is driven along x(t), and a pendulum on it."""
    pivot = sp.Matrix([A * sp.sin(w * t), 0, 0])
    bob = pivot + sp.Matrix([l * sp.sin(theta), 0, -l * sp.cos(theta)])
    bodies = (derive.particle("cart", M, pivot), derive.Body("bob", m, bob, parent="cart"))
    return derive.System("driven cart", (theta,), bodies, gravity=DOWN)


def on_driven_cart(r, t):
    rod = r[3:] - r[:3]
    return np.array([r[0] - VALUES[A] * np.sin(VALUES[w] * t), r[1], r[2], rod @ rod - VALUES[l] ** 2, r[4]])


def rotating_frame():
    """A particle on a turntable without friction, in the coordinates of the turntable."""
    position = derive.rotation_z(Omega * t) * sp.Matrix([x, y, 0])
    return derive.System("rotating frame", (x, y), (derive.particle("particle", m, position),), gravity=DOWN)


def on_table(r, t):
    return np.array([r[2] + 0 * t])


def gyroscope():
    """A rotor that spins about an arm, which swings about a horizontal axis on the rim of a turntable."""
    table, arm = derive.rotation_z(Omega * t), derive.rotation_y(theta)
    hinge = table * sp.Matrix([rho, 0, 0])
    center = hinge + table * arm * sp.Matrix([0, 0, -l])
    rotor = derive.Body("rotor", m, center, table * arm * derive.rotation_z(psi), sp.diag(I_x, I_y, I_z), joint=hinge)
    return derive.System("gyroscope", (theta, psi), (rotor,), gravity=DOWN)


def rigid(r):
    """That three vectors are orthonormal."""
    axes = r.reshape(3, 3)
    return (axes @ axes.T - np.eye(3))[np.triu_indices(3)]


def on_turntable(r, t):
    """The centre of a body and its three axes, hinged at a point of its own third axis."""
    hinge = r[:3] + VALUES[l] * r[9:] - turned(t, VALUES[rho], 0, 0)
    return np.concatenate([hinge, [r[9:] @ turned(t, 0, 1, 0)], rigid(r[3:])])


def of_axes(*moments):
    """The masses that the axes of a body move with: T = Σ P_k e_k'·e_k' / 2, in place of the moments of inertia."""
    return np.repeat([sum(moments) / 2 - moment for moment in moments], 3)


def cartesian(system):
    """Where everything of a system is: the centres of particles; of bodies, the axes after it."""
    rows = [sp.Matrix(body.position) for body in system.bodies]
    rows += [sp.Matrix(body.rotation.T).reshape(9, 1) for body in system.bodies if body.turns]
    return sp.Matrix.vstack(*rows)


def arguments(kernel):
    """The names of the arguments of a kernel, as it shows them."""
    return tuple(re.findall(r"(\w+) \(", repr(kernel).partition("->")[0]))


@dataclass(frozen=True)
class Case:
    """A system, and the same without formulas."""

    make: Any
    constraint: Any
    masses: Any
    start: tuple[tuple[float, ...], tuple[float, ...]]

    @property
    def force(self):
        weight = np.zeros(len(self.masses))
        for k in range(0, len(weight) if len(weight) < 12 else 3, 3):
            weight[k + 2] = -VALUES[g] * self.masses[k]
        return weight

    def motion(self, system):
        """r(q, t) and r'(q, v, t) as functions of numbers, by SymPy's own derivatives."""
        r = cartesian(system).subs(VALUES)
        v = sp.diff(r, t) + r.jacobian(list(system.q)) * sp.Matrix(system.v)
        a = sp.diff(v, t) + v.jacobian(list(system.q)) * sp.Matrix(system.v)
        states = (list(system.q), list(system.v), t)
        J = sp.lambdify(states, r.jacobian(list(system.q)))
        functions = [sp.lambdify(states, part) for part in (r, v, a)]
        return [lambda *state, f=f: f(*state)[:, 0] for f in functions], J


CASES = {
    "bead": Case(bead, on_hoop, [0.7] * 3, ((0.9,), (-0.4,))),
    "driven pivot": Case(driven_pivot, on_driven_rod, [0.7] * 3, ((0.5,), (1.1,))),
    "driven cart": Case(driven_cart, on_driven_cart, [1.9] * 3 + [0.7] * 3, ((0.5,), (1.1,))),
    "rotating frame": Case(rotating_frame, on_table, [0.7] * 3, ((0.3, -0.2), (0.5, 0.4))),
    "gyroscope": Case(
        gyroscope, on_turntable, [0.7] * 3 + of_axes(0.31, 0.25, 0.17).tolist(), ((0.4, 0.2), (0.3, 2.0))
    ),
}


def methods():
    return [(name, method) for name, case in CASES.items() for method in derive.applicable(case.make())]


@pytest.mark.parametrize(("name", "method"), methods())
def test_accelerations_of_particles_that_know_no_formulas(name, method):
    case, system = CASES[name], CASES[name].make()
    (position, velocity, bias), jacobian = case.motion(system)
    solve = accelerations(derive.equations(system, method))
    rng = np.random.default_rng(3)
    for _ in range(5):
        q, v, now = rng.uniform(-1, 1, len(system.q)), rng.uniform(-2, 2, len(system.v)), rng.uniform(0, 2)
        r, r_dot = position(q, v, now), velocity(q, v, now)
        assert np.abs(case.constraint(r, now)).max() < 1e-12
        expected, _ = acceleration(case.constraint, case.masses, case.force, r, r_dot, now)
        values = random_values(system, rng) | VALUES | {t: now}
        values |= dict(zip((*system.q, *system.v), (*q, *v), strict=True))
        q_ddot = solve(values)
        np.testing.assert_allclose(jacobian(q, v, now) @ q_ddot + bias(q, v, now), expected, atol=2e-7)


@pytest.mark.parametrize("name", CASES)
def test_motion_of_particles_that_know_no_formulas(name):
    """The same trajectory, for a second, by a compiled kernel."""
    case, system = CASES[name], CASES[name].make()
    (position, velocity, _), _ = case.motion(system)
    rate = derive.equations(system).kernel("state_rate", {s.name: VALUES[s] for s in system.parameters})
    with_time = "t" in arguments(rate)
    (q, v), n, times = case.start, len(system.q), np.linspace(0, 1, 6)

    def flow(now, state):
        return np.concatenate(rate(state[:n], state[n:], *([now] if with_time else [])))

    run = solve_ivp(flow, (0, 1), np.concatenate([q, v]), "DOP853", times, rtol=1e-10, atol=1e-10)
    ours = [position(state[:n], state[n:], now) for state, now in zip(run.y.T, times, strict=True)]
    expected = simulate(case.constraint, case.masses, case.force, ours[0], velocity(q, v, 0.0), times)
    assert np.abs(expected - expected[0]).max() > 0.3
    np.testing.assert_allclose(ours, expected, atol=1e-6)


@pytest.mark.parametrize(("name", "method"), methods())
def test_all_methods_agree_as_formulas(name, method):
    system = CASES[name].make()
    agreement = derive.equations(system, method).equal(derive.equations(system))
    assert agreement
    assert agreement.symbolic


# As textbooks have them


@pytest.mark.parametrize("method", ["newton-euler", "lagrange", "projected-newton-euler", "boltzmann-hamel"])
def test_bead_on_a_turning_hoop(method):
    """θ'' = Ω² sin θ cos θ - g/R sin θ: the hoop keeps the bead up where cos θ = g / (R Ω²)."""
    equations = derive.equations(bead(), method)
    right = Omega**2 * sp.sin(theta) * sp.cos(theta) - g / R * sp.sin(theta)
    assert sp.simplify(equations.M[0] * right + equations.b[0] + equations.g[0]) == 0
    assert TIME not in equations.inertial.free_symbols
    A_0, _ = equations.linearise()
    assert sp.Matrix([[0, 1], [Omega**2 - g / R, 0]]) == A_0.expand()
    up = equations.equilibria(parameters={"m": 1, "R": 1, "g": 1, "Omega": 2})
    assert sorted(round(float(s[theta]), 6) for s in up) == pytest.approx(
        sorted([0, np.pi, np.arccos(0.25), -np.arccos(0.25)]), abs=1e-6
    )


def test_the_hoop_pushes_the_bead_sideways():
    """2 m Ω R θ' cos θ across the plane of the hoop, which does no virtual work, but work."""
    equations = derive.equations(bead(), "newton-euler")
    force, _ = equations.reactions["bead"]
    across = derive.rotation_z(Omega * t) * sp.Matrix([0, 1, 0])
    assert sp.simplify(force.dot(across) - 2 * m * Omega * R * derive.rate(theta) * sp.cos(theta)) == 0


def test_driven_pivot_by_hand():
    """l θ'' + (g + z'') sin θ + x'' cos θ = 0 for a pivot at (x, z)."""
    equations = derive.equations(driven_pivot(), "lagrange")
    a_x, a_z = (sp.diff(s, t, 2) for s in (A * sp.cos(w * t), A * sp.sin(2 * w * t)))
    right = -((g + a_z) * sp.sin(theta) + a_x * sp.cos(theta)) / l
    assert sp.simplify(equations.M[0] * right + equations.b[0] + equations.g[0]) == 0
    assert equations.g[0] == g * l * m * sp.sin(theta)


def test_a_pivot_on_an_unknown_path():
    """A function of time without a formula: its derivatives stay in the equations."""
    path = sp.Function("h")(t)
    bob = derive.particle("bob", m, (l * sp.sin(theta), 0, path - l * sp.cos(theta)))
    system = derive.System("pendulum", (theta,), (bob,), gravity=DOWN)
    for method in derive.applicable(system):
        equations = derive.equations(system, method)
        left = l**2 * m * derive.rate(derive.rate(theta)) + l * m * (g + path.diff(t, 2)) * sp.sin(theta)
        assert sp.expand(equations.inertial[0] - left) == 0
    with pytest.raises(InputError, match=r"h\(t\)"):
        equations.kernel("bias")


def test_the_drive_of_a_cart():
    """The reaction at the cart is what drives it: m a of both, as the multiplier of the particles has it."""
    case, system = CASES["driven cart"], driven_cart()
    (position, velocity, _), _ = case.motion(system)
    equations = derive.equations(system, "newton-euler")
    q, v, now = np.array([0.5]), np.array([1.1]), 0.3
    r, r_dot = position(q, v, now), velocity(q, v, now)
    _, forces = acceleration(case.constraint, case.masses, case.force, r, r_dot, now)
    values = random_values(system, np.random.default_rng(0)) | VALUES
    values |= {theta: 0.5, derive.rate(theta): 1.1, t: now}
    values[system.a[0]] = float(accelerations(equations)(values)[0])
    drive, _ = equations.reactions["cart"]
    np.testing.assert_allclose(numeric(drive, values)[:, 0], forces[:3], atol=1e-6)


def test_rotating_frame_by_hand():
    """x'' = 2 Ω y' + Ω² x and y'' = -2 Ω x' + Ω² y; and in the world it is a straight line."""
    system = rotating_frame()
    u, v = system.v
    for method in derive.applicable(system):
        equations = derive.equations(system, method)
        assert m * sp.eye(2) == equations.M
        expected = -m * sp.Matrix([2 * Omega * v + Omega**2 * x, -2 * Omega * u + Omega**2 * y])
        assert (equations.b + equations.g - expected).expand().is_zero_matrix


def test_energy_in_a_rotating_frame():
    """T has a part without velocities and one that is linear in them."""
    u, v = rotating_frame().v
    expected = m * ((u - Omega * y) ** 2 + (v + Omega * x) ** 2) / 2
    assert sp.expand(kinetic_energy(rotating_frame()) - expected) == 0


# Constraints that move


def test_a_bead_in_the_coordinates_of_the_world():
    """Configuration constraints φ(q, t) = 0: J, drift and multipliers as those of the particle."""
    r = sp.Matrix([x, y, z])
    side = -sp.sin(Omega * t) * x + sp.cos(Omega * t) * y
    hoop = (derive.Holonomic("hoop", r.dot(r) - R**2), derive.Holonomic("plane", side))
    system = derive.System("bead", (x, y, z), (derive.particle("bead", m, r),), gravity=DOWN, restrictions=hoop)
    case = CASES["bead"]
    rng = np.random.default_rng(5)
    for method in derive.applicable(system):
        equations = derive.equations(system, method)
        multipliers = equations.kernel("multipliers", {s.name: VALUES[s] for s in system.parameters})
        values = consistent_values(replace(system, restrictions=tuple(_numbers(h) for h in hoop)), rng)
        values = random_values(system, rng) | values | VALUES
        place, speed, now = ([values[s] for s in part] for part in (system.q, system.v, (t,)))
        expected, force = acceleration(
            case.constraint, case.masses, case.force, np.array(place), np.array(speed), now[0]
        )
        np.testing.assert_allclose(accelerations(equations)(values), expected, atol=1e-6)
        np.testing.assert_allclose(multipliers(place, speed, np.zeros(3), now[0]), force, atol=1e-6)
    with pytest.raises(InputError, match="time t"):
        equations.linearise({"z": -R})
    with pytest.raises(InputError, match="time t"):
        equations.equilibria()


def _numbers(restriction):
    return derive.Holonomic(restriction.name, restriction.f.subs(VALUES))


def test_constraints_that_move_have_no_equilibria():
    mass = derive.particle("mass", m, (x, y, 0))
    moved = derive.Holonomic("wall", x - t)
    equations = derive.equations(derive.System("moved", (x, y), (mass,), restrictions=(moved,)))
    with pytest.raises(InputError, match="time t"):
        equations.equilibria()


def blade():
    """A skate without length whose blade is turned by a motor: it glides along Ω t."""
    held = derive.Motion("blade", -sp.sin(Omega * t) * derive.rate(x) + sp.cos(Omega * t) * derive.rate(y))
    return derive.System("blade", (x, y), (derive.particle("skate", m, (x, y, 0)),), restrictions=(held,))


@pytest.mark.parametrize("method", derive.applicable(blade()))
def test_a_blade_that_is_turned(method):
    """a = Ω × v: the blade turns the velocity, and leaves its length."""
    equations = derive.equations(blade(), method)
    values = consistent_values(blade(), np.random.default_rng(2))
    u, v = (values[s] for s in blade().v)
    assert abs(u * np.sin(values[Omega] * values[t]) - v * np.cos(values[Omega] * values[t])) < 1e-12
    np.testing.assert_allclose(accelerations(equations)(values), values[Omega] * np.array([-v, u]), atol=1e-12)


def test_a_blade_that_is_turned_in_one_velocity():
    """Its speed along the blade does not change."""
    (s,) = derive.symbols("s")
    equations = derive.reduced(blade(), [[sp.cos(Omega * t), sp.sin(Omega * t)]], (s,))
    assert sp.Matrix([[m]]) == equations.M
    assert (equations.b + equations.g).is_zero_matrix
    pushed = replace(blade(), restrictions=(derive.Motion("belt", derive.rate(x) - sp.sin(t)),))
    with pytest.raises(InputError, match="do not move with time"):
        derive.reduced(pushed, [[0, 1]], (s,))


# Quasi-velocities


def test_velocities_along_axes_that_turn():
    """v = S(t) q': the velocity of a falling particle along turning axes, with Ω × v as a force."""
    u, v = derive.symbols("u v")
    plain = derive.System("plain", (x, y), (derive.particle("mass", m, (x, y, 0)),), gravity=(0, -g, 0))
    turning = derive.rotation_z(Omega * t)[:2, :2].T
    system = derive.with_quasi_velocities(plain, turning, (u, v))
    for method in derive.applicable(system):
        equations = derive.equations(system, method)
        assert (equations.b - m * Omega * sp.Matrix([-v, u])).expand().is_zero_matrix
        assert equations.equal(derive.equations(plain))


def test_quasi_velocities_of_a_system_that_moves_with_time():
    """A particle in a rotating frame, in velocities that mix rates, with coefficients in q and t."""
    u, v = derive.symbols("u v")
    S = [[2 + sp.sin(w * t), x], [0, 1 + t**2]]
    system = derive.with_quasi_velocities(rotating_frame(), S, (u, v))
    expected = derive.equations(rotating_frame())
    for method in derive.applicable(system):
        assert derive.equations(system, method).equal(expected, symbolic=False)


@pytest.mark.slow
def test_a_quaternion_with_angular_velocities_along_axes_that_turn():
    """More coordinates than velocities, rates in time, and a pivot that is driven."""
    pendulum = derive.systems.system("spherical-pendulum")
    (bob,) = pendulum.bodies
    path = sp.Matrix([A * sp.cos(w * t), 0, A * sp.sqrt(t)])
    driven = replace(pendulum, bodies=(replace(bob, position=bob.position + path, joint=path),))
    system = derive.with_quasi_velocities(driven, derive.rotation_z(Omega * t), derive.symbols("u v n"))
    expected = derive.equations(driven)
    for method in ("newton-euler", "lagrange-multipliers", "projected-newton-euler", "boltzmann-hamel"):
        assert derive.equations(system, method).equal(expected, symbolic=False)


def test_a_turned_blade_within_the_rates():
    """q' = F(t) s along a blade that is turned: brackets lead out of it, projections do not."""
    (s,) = derive.symbols("s")
    rates = sp.Matrix([sp.cos(Omega * t), sp.sin(Omega * t)])
    system = replace(blade(), v=(s,), rates=rates, restrictions=())
    assert derive.applicable(system) == ("newton-euler", "projected-newton-euler")
    with pytest.raises(InputError, match="changes with the time t"):
        derive.equations(system, "boltzmann-hamel")
    values = random_values(system, np.random.default_rng(1))
    u, v = (values[derive.rate(place)] for place in (x, y))
    for method in derive.applicable(system):
        q_ddot = accelerations(derive.equations(system, method))(values)
        np.testing.assert_allclose(q_ddot, values[Omega] * np.array([-v, u]), atol=1e-12)


# Robots whose joints are moved


def inertia(mass):
    return mb.SpatialInertia(mass=mass, com=[0.1, -0.2, 0.05], inertia=mass * np.diag([0.5, 0.6, 0.4]))


def crane(kind, slides):
    """A boom that turns, and a load on a joint of some kind that a trolley moves along it, if it slides."""
    b = Builder("crane").body("boom", inertia(0.5)).body("load", inertia(1.2))
    b.joint("slew", Revolute("y"), parent=None, child="boom")
    parent = "boom"
    if slides:
        b.body("trolley").joint("trolley", Prismatic("x"), parent="boom", child="trolley")
        parent = "trolley"
    b.joint("hook", kind, parent=parent, child="load")
    return Robot(b.model())


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        (Revolute("z"), "lagrange"),
        (Revolute("z"), "newton-euler"),
        (Revolute("z"), "lie-groups"),
        (Spherical(), "projected-newton-euler"),
        *(
            pytest.param(Spherical(), method, marks=pytest.mark.slow)
            for method in ("newton-euler", "boltzmann-hamel", "lie-groups")
        ),
    ],
)
def test_a_trolley_that_is_driven(kind, method):
    """As the robot that has a joint for the trolley, with that joint moved: by its recursive Newton–Euler."""
    path = A * sp.cos(w * t)
    driven, robot = derive.from_robot(crane(kind, False), {"load": {"position": (path, 0, 0)}}), crane(kind, True)
    equations = derive.equations(driven, method)
    values = random_values(driven, np.random.default_rng(4))
    slide = [float(sp.diff(path, t, k).subs(values)) for k in range(3)]
    q, v = ([values[s] for s in part] for part in (driven.q, driven.v))
    q, v = np.insert(q, 1, slide[0]), np.insert(v, 1, slide[1])
    rest = np.insert(np.zeros(len(driven.v)), 1, slide[2])
    others = np.arange(robot.nv) != 1
    bias = robot.inverse_dynamics(q, v, rest)[others]
    np.testing.assert_allclose(numeric(equations.b + equations.g, values)[:, 0], bias, atol=1e-12)
    np.testing.assert_allclose(numeric(equations.M, values), robot.mass_matrix(q)[np.ix_(others, others)], atol=1e-12)


def test_the_recursion_knows_no_joints_that_move():
    driven = derive.from_robot(crane(Revolute("y"), False), {"load": {"position": (A * sp.cos(w * t), 0, 0)}})
    assert "recursive-newton-euler" not in derive.applicable(driven)
    with pytest.raises(InputError, match="the places of load depend on the time t: take 'projected-newton-euler'"):
        derive.equations(driven, "recursive-newton-euler")
    with mock.patch("multibody.derive.methods.method_table.RUNS", 1):
        entry = method_table(driven, ["projected-newton-euler"])[0]
    assert entry.from_algorithms is None


def test_gravity_that_changes_with_time():
    """It has no rate in the equations: the recursion takes it, too."""
    shaken = derive.from_robot(crane(Revolute("y"), False), gravity=(0, 0, -9 + A * sp.cos(w * t)))
    expected = derive.equations(shaken)
    for method in ("recursive-newton-euler", "lagrange", "newton-euler", "lie-groups"):
        assert derive.equations(shaken, method).equal(expected)


# Loads


def test_springs_and_dampers_whose_ends_move():
    """A damper works against the whole rate of its length: that of its end is part of it."""
    c, k = derive.symbols("c k")
    end = A * sp.sin(w * t)
    loads = (derive.Spring(k, x - end), derive.Damper(c, x - end))
    system = derive.System("shaker", (x,), (derive.particle("mass", m, (x, 0, 0)),), loads=loads)
    for method in derive.applicable(system):
        equations = derive.equations(system, method)
        force = -k * (x - end) - c * (derive.rate(x) - sp.diff(end, t))
        assert sp.expand(equations.tau[0] - equations.b[0] - equations.g[0] - force) == 0


# Kernels, pages, and what is refused


def test_kernels_take_the_time_where_it_matters():
    """After the state and the inputs, before the parameters; in a batch, and in C."""
    equations = derive.equations(driven_pivot())
    bias = equations.kernel("bias")
    assert arguments(bias) == ("q", "v", "t", "parameters")
    assert arguments(equations.kernel("mass_matrix")) == ("q", "parameters")
    parameters = [VALUES[s] for s in equations.system.parameters]
    angles, times = np.linspace(-1, 1, 9)[:, None], np.linspace(0, 3, 9)
    expected = [
        float((equations.b + equations.g)[0].subs({**VALUES, theta: a, derive.rate(theta): 0.5, t: s}))
        for a, s in zip(angles[:, 0], times, strict=True)
    ]
    np.testing.assert_allclose(bias(angles, [0.5], times, parameters)[:, 0], expected, atol=1e-12)
    assert "const double *v, const double *t, const double *parameters" in bias.to_c()[0]
    assert "t" not in arguments(derive.equations(bead()).kernel("state_rate"))


def test_linear_equations_of_what_depends_on_time():
    equations = derive.equations(driven_pivot())
    for analyse in (equations.linearise, equations.equilibria):
        with pytest.raises(InputError, match="depend on the time t"):
            analyse()
    shrinking = derive.particle("mass", m, (x * (1 + t), 0, 0))
    with pytest.raises(InputError, match="depend on the time t"):
        derive.equations(derive.System("zoom", (x,), (shrinking,))).linearise()


@pytest.mark.parametrize("method", derive.applicable(rotating_frame()))
def test_steps_say_what_a_given_motion_adds(method):
    """No rule of a page claims b = M' q' - ∂T/∂q where momentum has a part without velocities."""
    equations = derive.equations(rotating_frame(), method)
    still = derive.equations(replace(rotating_frame(), bodies=(derive.particle("particle", m, (x, y, 0)),)), method)
    term = {"newton-euler": r"\Omega x + 2 \dot{y}", "projected-newton-euler": r"\dot v_0"}.get(method, r"\dot m_0")
    assert term in equations.latex(steps=True)
    assert term not in still.latex(steps=True)


def test_pages_name_the_time():
    (k,) = derive.symbols("k")
    rod = derive.Holonomic("rod", x**2 + y**2 - (k + t**2) ** 2)
    equations = derive.equations(
        derive.System("winch", (x, y), (derive.particle("load", M, (x, y, 0)),), restrictions=(rod,))
    )
    page = equations.unicode(steps=True)
    assert "time t" in page
    assert "J(q) q̈ + J̇ q̇ + ȧ₀ = 0" in page
    assert "time t" not in derive.equations(bead()).unicode()
    stretched = derive.System("zoom", (x,), (derive.particle("load", M, (x * (1 + t), 0, 0)),))
    assert "M(q, t) = [ M (t + 1)² ]" in derive.equations(stretched).unicode()


@pytest.mark.parametrize("method", derive.applicable(driven_pivot()))
def test_rules_of_a_page_give_its_results(method):
    """The b of the last step is the b of the equations."""
    equations = derive.equations(driven_pivot(), method)
    assert dict(equations.steps[-1].results)["b"] == equations.b


def test_identities_of_virtual_work_with_time():
    """[QT 5-9, 11] hold where positions depend on time, too."""
    for step in derive.equations(driven_pivot(), "lagrange-particles").steps[:1]:
        zeros = [value for name, value in step.results if name.startswith("(")]
        assert len(zeros) == 4
        assert all(value.is_zero_matrix for value in zeros)


def test_masses_that_change_are_refused():
    """Whether what leaves a body takes momentum with it is not for a formula to guess."""
    with pytest.raises(InputError, match="the mass of rocket depends on the time t"):
        derive.System("rocket", (x,), (derive.particle("rocket", m - t, (x, 0, 0)),))
    turning = derive.Body("wheel", m, (x, 0, 0), derive.rotation_z(theta), sp.diag(1, 1, 1 + t**2))
    with pytest.raises(InputError, match="the inertia of wheel depends on the time t"):
        derive.System("wheel", (x, theta), (turning,))


def test_time_is_no_coordinate():
    with pytest.raises(InputError, match="t is the time"):
        derive.System("clock", (t,), (derive.particle("hand", m, (t, 0, 0)),))
