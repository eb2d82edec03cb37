"""Linearisation against finite differences and the robots' own derivatives; equilibria, exact and searched for."""

import re

import numpy as np
import pytest
import sympy as sp

import multibody as mb
from multibody import derive
from multibody.derive.algebra.numpy_evaluation import numeric
from multibody.derive.algebra.trigonometric_equations import solutions
from multibody.derive.results.comparison import accelerations
from multibody.errors import InputError

from .test_lagrange_multipliers import pendulum, skate, spherical_pendulum

M, m, l, g, k, c, F, I = derive.symbols("M m l g k c F I")
x, theta = derive.coordinates("x theta")
NUMBERS = {"M": 1.5, "m": 0.4, "l": 0.7, "g": 9.81, "k": 2.0, "c": 0.3}


def cart_pendulum(**options):
    bob = derive.particle("bob", m, (x + l * sp.sin(theta), 0, -l * sp.cos(theta)))
    loads = (derive.Spring(k, x), derive.Damper(c, x), derive.Force("cart", (F, 0, 0)))
    bodies = (derive.particle("cart", M, (x, 0, 0)), bob)
    return derive.System("cart-pendulum", (x, theta), bodies, gravity=(0, 0, -g), loads=loads, **options)


def double_pendulum(loads=()):
    a, b = derive.coordinates("a b")
    upper = sp.Matrix([l * sp.sin(a), 0, -l * sp.cos(a)])
    lower = upper + sp.Matrix([l * sp.sin(a + b), 0, -l * sp.cos(a + b)])
    bodies = (derive.particle("one", M, upper), derive.particle("two", m, lower))
    return derive.System("double pendulum", (a, b), bodies, gravity=(0, 0, -g), loads=loads)


# Linearisation


def test_cart_pendulum_upright_as_formulas():
    """With a particle, without spring and damper: the matrices of every textbook on control."""
    A, B = derive.equations(cart_pendulum()).linearise({theta: sp.pi, k: 0, c: 0})
    assert (
        (A - sp.Matrix([[0, 0, 1, 0], [0, 0, 0, 1], [0, m * g / M, 0, 0], [0, (M + m) * g / (M * l), 0, 0]]))
        .applyfunc(sp.simplify)
        .is_zero_matrix
    )
    assert (B - sp.Matrix([0, 0, 1 / M, 1 / (M * l)])).applyfunc(sp.simplify).is_zero_matrix


def differences(equations, at, n):
    """A and B by central differences of the forward dynamics."""
    system, step = equations.system, 1e-6
    function = accelerations(equations)
    base = {s: float(value) for s, value in at.items()}

    def rate(q, v, u):
        values = base | dict(zip(system.q, q, strict=True)) | dict(zip(system.v, v, strict=True))
        values |= dict(zip(system.inputs, u, strict=True))
        return np.concatenate([v, function(values)])

    q0 = np.array([base[s] for s in system.q])
    u0 = np.array([base[s] for s in system.inputs])
    columns = []
    for delta in np.eye(2 * n + len(u0)) * step:
        dq, dv, du = delta[:n], delta[n : 2 * n], delta[2 * n :]
        columns.append((rate(q0 + dq, dv, u0 + du) - rate(q0 - dq, -dv, u0 - du)) / (2 * step))
    both = np.array(columns).T
    return both[:, : 2 * n], both[:, 2 * n :]


def test_cart_pendulum_as_numbers():
    """At rest under a force that the spring holds, against finite differences."""
    equations = derive.equations(cart_pendulum())
    linear = equations.linearise(NUMBERS | {"theta": np.pi, "x": 0.5, "F": 1.0})
    assert isinstance(linear.A, np.ndarray)
    at = {s: NUMBERS.get(s.name, 0.0) for s in equations.system.parameters} | {theta: np.pi, x: 0.5, F: 1.0}
    A, B = differences(equations, at, 2)
    np.testing.assert_allclose(linear.A, A, atol=1e-7)
    np.testing.assert_allclose(linear.B, B, atol=1e-7)
    assert linear.states == ("x", "theta", "x_dot", "theta_dot")
    assert linear.inputs == (F,)


def test_robot_as_its_own_derivatives():
    """Close to a pose that torques hold.  [RD 3.1]"""
    robot = mb.load("planar-arm")
    equations = derive.equations(derive.from_robot(robot))
    q = np.array([0.3, -0.7, 1.1])
    tau = robot.gravity(q)
    point = dict(zip((*equations.system.q, *equations.system.inputs), (*q, *tau), strict=True))
    A, B = equations.linearise(point)
    by_q, by_v, by_tau = robot.forward_dynamics_derivatives(q, np.zeros(3), tau)
    np.testing.assert_allclose(A[3:, :3], by_q, atol=1e-9)
    np.testing.assert_allclose(A[3:, 3:], by_v, atol=1e-9)
    np.testing.assert_allclose(B[3:], by_tau, atol=1e-9)
    np.testing.assert_allclose(A[:3], np.eye(3, 6, 3), atol=0)


def test_free_body_along_its_velocities():
    """A quaternion has three small rotations, as the robot's own derivatives: a body in a pose that forces hold."""
    robot = mb.load("free-body-se3")
    equations = derive.equations(derive.from_robot(robot, forces="all"))
    rng = np.random.default_rng(0)
    q = robot.random(rng)
    tau = robot.gravity(q)
    point = dict(zip((*equations.system.q, *equations.system.inputs), (*q, *tau), strict=True))
    linear = equations.linearise(point)
    by_q, _, by_tau = robot.forward_dynamics_derivatives(q, np.zeros(6), tau)
    assert linear.A.shape == (12, 12)
    np.testing.assert_allclose(linear.A[6:, :6], by_q, atol=1e-9)
    np.testing.assert_allclose(linear.B[6:], by_tau, atol=1e-9)


def test_spherical_pendulum_swings_as_two_pendulums():
    """With a quaternion and three velocities; with four rates and a constraint: the same frequencies."""
    frequencies = []
    for method in ("projected-newton-euler", "lagrange-multipliers"):
        equations = derive.equations(spherical_pendulum(), method)
        A, _ = equations.linearise({"m": 1, "l": 0.5, "g": 10, "A": 0.25, "B": 0.5, "C": 1})
        assert A.shape == (6, 6)
        frequencies.append(np.sort(np.abs(np.linalg.eigvals(A).imag)))
    expected = np.sqrt([5 / 0.75, 5 / 0.75, 5 / 0.5, 5 / 0.5])
    np.testing.assert_allclose(frequencies[0][2:], np.sort(expected), atol=1e-9)
    np.testing.assert_allclose(frequencies[0], frequencies[1], atol=1e-6)


def test_pendulum_with_a_multiplier():
    """The tension curves the motion: only with its derivative does the frequency come out."""
    equations = derive.equations(pendulum(), "lagrange-multipliers")
    (y,) = (s for s in equations.system.q if s.name == "z")
    linear = equations.linearise({y: -l})
    assert linear.states == ("x", "x_dot")
    assert (linear.A - sp.Matrix([[0, 1], [-g / l, 0]])).applyfunc(sp.simplify).is_zero_matrix
    numbers, _ = equations.linearise({"z": -0.5, "l": 0.5, "g": 10, "m": 2})
    np.testing.assert_allclose(numbers, [[0, 1], [-20, 0]], atol=1e-12)
    upright, _ = equations.linearise({"z": 0.5, "l": 0.5, "g": 10, "m": 2})
    np.testing.assert_allclose(upright, [[0, 1], [20, 0]], atol=1e-12)


def test_skate_has_more_positions_than_velocities():
    """A motion constraint leaves all positions and takes one velocity."""
    linear = derive.equations(skate()).linearise({"psi": 0.5, "m": 2, "I": 1})
    assert linear.A.shape == (5, 5)
    assert linear.N_q.shape == (3, 3)
    assert linear.N_v.shape == (3, 2)
    np.testing.assert_allclose(linear.N_v.T @ [-np.sin(0.5), np.cos(0.5), 0], 0, atol=1e-12)
    np.testing.assert_allclose(linear.A[:3, 3:], linear.N_v, atol=1e-12)


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ({"theta": 1}, "no equilibrium at x = 0, theta = 1, F = 0: the generalized forces (0, -g*l*m*sin(1)) are left"),
        ({**NUMBERS, "x": 1}, "no equilibrium at x = 1, theta = 0, F = 0: the generalized forces (-2, 0) are left"),
        (
            {"phi": 1},
            "at: cart-pendulum has no symbol 'phi'; there are x, theta, x_dot, theta_dot, F, M, c, g, k, l, m",
        ),
        ({"theta_dot": 1}, "at: expected an equilibrium, where velocities are zero, got a value of theta_dot"),
        ({"theta": "pi"}, "at, theta: expected an expression, got the text 'pi'"),
    ],
)
def test_what_is_no_equilibrium(at, message):
    with pytest.raises(InputError, match=re.escape(message)):
        derive.equations(cart_pendulum()).linearise(at)


def test_a_point_off_the_constraints():
    with pytest.raises(InputError, match=re.escape("the constraint 'rod' does not hold there: -l**2 is left")):
        derive.equations(pendulum()).linearise()
    with pytest.raises(InputError, match="unit length"):
        derive.equations(spherical_pendulum()).linearise({"q_w": 1, "q_x": 1})


def test_time_has_no_equilibrium():
    t = sp.Symbol("t", real=True)
    driven = derive.equations(cart_pendulum(restrictions=(derive.Motion("driven", derive.rate(x) - sp.sin(t)),)))
    pushed = derive.System("pushed", (x,), (derive.particle("mass", m, (x, 0, 0)),), loads=(derive.Spring(k, x - t),))
    with pytest.raises(InputError, match="does not hold there"):
        driven.linearise({t.name: 1} if t.name in driven.system.parameters else {})
    with pytest.raises(InputError, match="depend on the time t"):
        derive.equations(pushed).linearise()
    with pytest.raises(InputError, match="depend on the time t"):
        derive.equations(pushed).equilibria()


# Equilibria


def balanced(equations, solution, values):
    values = {
        s: values.get(s.name, 0.0) for s in (*equations.system.parameters, *equations.system.inputs)
    } | dict.fromkeys((*equations.system.q, *equations.system.v), 0.0)
    values |= {
        s: float(sp.sympify(v).subs({p: values[p] for p in equations.system.parameters})) for s, v in solution.items()
    }
    return np.abs(numeric(equations.b + equations.g - equations.tau, values)).max() < 1e-9


def test_double_pendulum_rests_in_four_ways():
    equations = derive.equations(double_pendulum())
    a, b = equations.system.q
    equilibria = equations.equilibria()
    assert len(equilibria) == 4
    assert {(s[a], s[b]) for s in equilibria} == {(0, 0), (0, sp.pi), (sp.pi, 0), (sp.pi, sp.pi)}
    assert all(balanced(equations, solution, NUMBERS) for solution in equilibria)


def test_equilibria_under_a_force():
    """Exact, with symbols; where the force is too large, none."""
    a, b = derive.coordinates("a b")
    equations = derive.equations(double_pendulum((derive.Generalized(derive.rate(a), F),)))
    equilibria = equations.equilibria({"F": 1})
    assert len(equilibria) == 4
    assert all(sp.simplify(sp.sin(s[a]) - 1 / (g * l * (M + m))) == 0 for s in equilibria)
    assert all(sp.simplify(sp.sin(s[a] + s[b])) == 0 for s in equilibria)
    numbers = {"g": 10, "l": 1, "M": 1, "m": 1}
    assert equations.equilibria({"F": 30}, numbers) == ()
    assert len(equations.equilibria({"F": 20}, numbers)) == 2


def test_a_spring_and_a_polynomial():
    """An oscillator with two wells: x = ±1 and the ridge between them."""
    well = derive.System("well", (x,), (derive.particle("mass", m, (x, 0, 0)),), loads=(derive.Spring(k, x**2, 1),))
    assert {s[x] for s in derive.equations(well).equilibria()} == {-1, 0, 1}
    assert [s[x] for s in derive.equations(cart_pendulum()).equilibria({"F": F})] == [F / k, F / k]


def test_a_coordinate_that_does_not_matter_is_left_out():
    rail = derive.System("rail", (x, theta), cart_pendulum().bodies, gravity=(0, 0, -g))
    assert derive.equations(rail).equilibria() == ({theta: 0}, {theta: sp.pi})
    free = derive.System("free", (x,), (derive.particle("mass", m, (x, 0, 0)),))
    assert derive.equations(free).equilibria() == ({},)


def test_sine_and_cosine_of_one_angle():
    """A pendulum on a slope: gravity with two components."""
    bob = derive.particle("bob", m, (l * sp.sin(theta), 0, -l * sp.cos(theta)))
    slope = derive.equations(derive.System("slope", (theta,), (bob,), gravity=(3, 0, -4)))
    angles = sorted(float(s[theta]) for s in slope.equilibria())
    np.testing.assert_allclose(angles, [np.arctan2(3, 4) - np.pi, np.arctan2(3, 4)])


def test_springs_on_angles_are_searched_for():
    """k θ = -m g l sin θ has many solutions for a weak spring, of which the box shows some."""
    bob = derive.particle("bob", m, (l * sp.sin(theta), 0, -l * sp.cos(theta)))
    loads = (derive.Spring(k, theta),)
    soft = derive.equations(derive.System("soft", (theta,), (bob,), gravity=(0, 0, -g), loads=loads))
    with pytest.raises(InputError, match="there is no exact solution, and numbers are missing for g, k, l, m"):
        soft.equilibria()
    numbers = {"g": 10, "l": 1, "m": 1, "k": 1}
    angles = [s[theta] for s in soft.equilibria(parameters=numbers, box={"theta": (-10, 10)})]
    grid = np.linspace(-10, 10, 20000)
    assert len(angles) == np.count_nonzero(np.diff(np.sign(grid + 10 * np.sin(grid)))) == 5
    np.testing.assert_allclose(np.array(angles) + 10 * np.sin(angles), 0, atol=1e-9)
    assert soft.equilibria(parameters=numbers) == ({theta: 0.0},)
    with pytest.raises(InputError, match="box: expected a lower and a higher value of theta"):
        soft.equilibria(parameters=numbers, box={"theta": (1, -1)})


def spring_pendulum():
    """A bob on a spring with the rest length l, in polar coordinates."""
    r, phi = derive.coordinates("r phi")
    bob = derive.particle("bob", m, (r * sp.sin(phi), 0, -r * sp.cos(phi)))
    return derive.System("spring pendulum", (r, phi), (bob,), gravity=(0, 0, -g), loads=(derive.Spring(k, r, l),))


def test_a_spring_pendulum_rests_in_four_ways():
    """Below and above the pivot, and at the pivot where the spring can push: SymPy's `solve` returns them, too."""
    equations = derive.equations(spring_pendulum())
    r, phi = equations.system.q

    def places(solutions, values):
        made = [(s[r].subs(values), s[phi].subs(values)) for s in solutions]
        return sorted((float(a), round(float(sp.Mod(b, 2 * sp.pi)), 9)) for a, b in made)

    equilibria = equations.equilibria()
    values = {m: 2, k: 30, l: sp.Rational(1, 2), g: 10}
    np.testing.assert_allclose(
        places(equilibria, values), places(sp.solve(list(equations.g), [r, phi], dict=True), values), atol=1e-9
    )
    assert all(balanced(equations, s, {"m": 2, "k": 30, "l": 0.5, "g": 10}) for s in equilibria)
    numbers = {"m": 2, "k": 300, "l": 0.5, "g": 10}  # a spring that is too stiff to let the bob hang at its pivot
    assert [s[r] for s in equations.equilibria(parameters=numbers)] == [sp.Rational(17, 30), sp.Rational(13, 30)]


def test_factors_and_substitution_solve_what_no_linear_system_does():
    a, b = derive.coordinates("a b")
    assert solutions([a * b, a * (b - 1)], [a, b]) == [{a: 0}]
    assert solutions([a * sp.sin(b), sp.cos(b)], [a, b]) == [{b: sp.pi / 2, a: 0}, {b: -sp.pi / 2, a: 0}]
    assert solutions([sp.sin(a) * sp.cos(b) + sp.exp(a)], [a, b]) is None


def test_equilibria_on_constraints():
    """A bob on a rod, in Cartesian coordinates: below and above."""
    equilibria = derive.equations(pendulum()).equilibria(parameters={"l": 0.5, "m": 1, "g": 10})
    np.testing.assert_allclose([list(s.values()) for s in equilibria], [[0, -0.5], [0, 0.5]], atol=1e-9)


def test_equilibria_with_a_quaternion():
    """The spin about the rod is free: one below and one above stand for all."""
    equations = derive.equations(spherical_pendulum())
    equilibria = equations.equilibria(parameters={"l": 0.5, "m": 1, "g": 10, "A": 1, "B": 1, "C": 1})
    heights = sorted(
        1 - 2 * (s["x"] ** 2 + s["y"] ** 2) for s in ({k.name[-1]: v for k, v in f.items()} for f in equilibria)
    )
    np.testing.assert_allclose(heights, [-1, 1], atol=1e-9)


def test_a_constraint_that_asks_for_motion_has_no_equilibrium():
    driven = cart_pendulum(restrictions=(derive.Motion("driven", derive.rate(x) - 1),))
    assert derive.equations(driven).equilibria(parameters=NUMBERS) == ()
