"""What is wrong with a system is said in its own words, before SymPy stumbles over it."""

import re

import numpy as np
import pytest
import sympy as sp

import multibody as mb
from multibody import derive
from multibody.errors import InputError

m, l, g, k, I = derive.symbols("m l g k I")
x, y, theta = derive.coordinates("x y theta")
w, i, j, n = derive.coordinates("w i j n")
MASS = derive.particle("mass", m, (x, y, 0))


def system(q=(x, y), bodies=(MASS,), **options):
    return derive.System("test", q, bodies, **options)


def says(*parts):
    """Raised as InputError, with all parts in the message."""
    return pytest.raises(InputError, match="(?s)" + ".*".join(map(re.escape, parts)))


# Symbols and expressions


@pytest.mark.parametrize(
    "make",
    [
        lambda: derive.particle("mass", "m", (x, 0, 0)),
        lambda: derive.particle("mass", m, ("x", 0, 0)),
        lambda: derive.Body("body", m, (x, 0, 0), [["1", 0, 0], [0, 1, 0], [0, 0, 1]]),
        lambda: derive.Spring("k", x),
        lambda: derive.Damper(k, "x"),
        lambda: derive.Force("mass", ("F", 0, 0)),
        lambda: derive.Torque("mass", ("F", 0, 0)),
        lambda: derive.Actuator("mass", None, force=("F", 0, 0)),
        lambda: derive.Generalized(derive.rate(x), "F"),
        lambda: derive.Holonomic("wall", "x - 1"),
        lambda: derive.Motion("wall", "x_dot"),
        lambda: system(gravity=(0, 0, "-g")),
    ],
)
def test_text_instead_of_an_expression(make):
    with says("expected an expression, got the text", "make its symbols with derive.symbols"):
        make()


@pytest.mark.parametrize("mass", [None, [m], {"m": 1}, float("nan"), object()])
def test_what_is_no_expression(mass):
    with says("mass of mass: expected an expression, got"):
        derive.particle("mass", mass, (x, 0, 0))


@pytest.mark.parametrize("position", [(x, 0), x, "xyz", [[x, 0, 0, 0]]])
def test_a_vector_of_another_size(position):
    with says("position of mass: expected 3 expressions, got"):
        derive.particle("mass", m, position)


@pytest.mark.parametrize("rotation", [sp.eye(2), [1, 2, 3], "R", 1, [[1, 0], [0, 1, 0], [0, 0, 1]]])
def test_a_matrix_of_another_size(rotation):
    with says("rotation of body: expected 3 × 3 expressions, got"):
        derive.Body("body", m, (x, 0, 0), rotation)


def test_two_symbols_with_one_name():
    """SymPy tells symbols apart by their assumptions: both are printed as m."""
    other = derive.particle("other", sp.Symbol("m"), (0, y, 0))
    with says("two symbols are called m", "mass of other", "Symbol('m', real=True) and Symbol('m') differ"):
        system(bodies=(MASS, other))


def test_a_coordinate_with_other_assumptions():
    with says("two symbols are called x", "position of mass", "Symbol('x') and Symbol('x', real=True)"):
        system(q=(sp.Symbol("x"), y))


def test_time_with_other_assumptions():
    with says("two symbols are called t", "constraint wall"):
        system(restrictions=(derive.Holonomic("wall", x - sp.sin(sp.Symbol("t"))),))


@pytest.mark.parametrize("coordinate", ["x", 3, sp.Function("x")(sp.Symbol("t")), 2 * y])
def test_a_coordinate_that_is_no_symbol(coordinate):
    with says("expected a plain symbol for a coordinate or velocity, got", "derive.coordinates"):
        system(q=(coordinate,))


def test_a_coordinate_twice():
    with says("the symbols ['x'] are there twice"):
        system(q=(x, x))


def test_places_that_depend_on_velocities():
    with says("the position of mass depends on the velocities x_dot"):
        system(bodies=(derive.particle("mass", m, (derive.rate(x), y, 0)),))
    with says("the inertia of body depends on the accelerations x_ddot"):
        acceleration = derive.rate(derive.rate(x))
        system(bodies=(derive.Body("body", m, (x, y, 0), sp.eye(3), sp.diag(acceleration, 0, 0)),))


def test_a_quaternion_that_is_none():
    with says("expected four coordinates w, x, y, z for a unit quaternion, got (x, y)"):
        system(units=((x, y),))


def test_names_of_bodies():
    with says("two bodies are called 'mass'"):
        system(bodies=(MASS, MASS))
    with says("'mass' has the parent 'cart', which must come before it"):
        system(bodies=(derive.particle("mass", m, (x, y, 0), parent="cart"),))
    with says("no body 'cart'", "there are ['mass']"):
        system(loads=(derive.Force("cart", (1, 0, 0)),))
    with says("theta_dot is not a velocity; there are (x_dot, y_dot)"):
        system(loads=(derive.Generalized(derive.rate(theta), 1),))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"q": x}, "expected q in a list, got x"),
        ({"bodies": MASS}, "expected bodies in a list"),
        ({"bodies": (3,)}, "expected bodies as derive makes them, got 3"),
        ({"loads": derive.Spring(k, x)}, "expected loads in a list"),
        ({"loads": ("spring",)}, "expected loads as derive makes them, got 'spring'"),
        ({"restrictions": (x - y,)}, "expected restrictions as derive makes them, got x - y"),
        ({"loads": (derive.Generalized("x_dot", 1),)}, "'x_dot' is not a velocity"),
    ],
)
def test_parts_that_are_something_else(options, said):
    with says(said):
        system(**options)


def test_a_load_that_depends_on_accelerations():
    acceleration = derive.rate(derive.rate(x))
    with says("the force depends on the accelerations x_ddot"):
        system(loads=(derive.Force("mass", (-k * acceleration, 0, 0)),))


@pytest.mark.parametrize("mass", [m * sp.I, sp.oo, 2 + sp.I])
def test_what_is_not_real(mass):
    with says("mass of mass: expected an expression, got"):
        derive.particle("mass", mass, (x, 0, 0))


# Masses, inertias and rotations


@pytest.mark.parametrize("mass", [0, -1, -0.5, sp.Integer(0)])
def test_a_mass_that_is_not_positive(mass):
    with says("mass of mass: expected a particle with a positive mass, got"):
        derive.particle("mass", mass, (x, 0, 0))


def test_a_body_may_have_inertia_without_mass_but_no_negative_mass():
    assert derive.Body("rotor", 0, (0, 0, 0), sp.eye(3), sp.eye(3)).mass == 0
    with says("mass of rotor: expected a body with a positive mass, got -1"):
        derive.Body("rotor", -1, (0, 0, 0), sp.eye(3), sp.eye(3))


def test_an_inertia_that_is_not_symmetric():
    with says("inertia of body: expected a symmetric matrix, got [[I, 1, 0], [0, I, 0], [0, 0, I]]"):
        derive.Body("body", m, (x, 0, 0), sp.eye(3), [[I, 1, 0], [0, I, 0], [0, 0, I]])


def test_an_inertia_that_is_symmetric_after_a_second_look():
    inertia = [[I, sp.sin(1) ** 2 + sp.cos(1) ** 2, 0], [1, I, 0], [0, 0, I]]
    assert derive.Body("body", m, (x, 0, 0), sp.eye(3), inertia).turns


@pytest.mark.parametrize(
    "inertia", [sp.diag(1, -1, 1), sp.Matrix([[1, 2, 0], [2, 1, 0], [0, 0, 1]]), sp.diag(I, -2, I)]
)
def test_an_inertia_that_is_not_positive(inertia):
    with says("inertia of body: expected positive moments of inertia, got"):
        derive.Body("body", m, (x, 0, 0), sp.eye(3), inertia)


def test_an_inertia_without_a_rotation():
    with says("body: an inertia needs a rotation: a body without one is a particle"):
        derive.Body("body", m, (x, 0, 0), inertia=sp.eye(3))


@pytest.mark.parametrize("method", ["lagrange", "newton-euler", "projected-newton-euler"])
def test_a_rotation_that_is_not_orthogonal(method):
    R = sp.Matrix([[sp.cos(theta), sp.sin(theta), 0], [sp.sin(theta), sp.cos(theta), 0], [0, 0, 1]])
    body = derive.Body("body", m, (x, y, 0), R, sp.eye(3))
    with says("the rotation of body is not orthogonal: its R^T R is"):
        derive.equations(system(q=(x, y, theta), bodies=(body,)), method)


def test_a_rotation_that_mirrors():
    body = derive.Body("body", m, (x, y, 0), derive.rotation_z(theta) * sp.diag(1, 1, -1), sp.eye(3))
    with says("the rotation of body mirrors: its determinant is -1"):
        derive.equations(system(q=(x, y, theta), bodies=(body,)))


def test_a_quaternion_that_nobody_named():
    R = sp.Matrix([[1 - 2 * n**2, -2 * w * n, 0], [2 * w * n, 1 - 2 * n**2, 0], [0, 0, 1]])
    body = derive.Body("body", m, (x, y, 0), R, sp.eye(3))
    with says("the rotation of body is not orthogonal", "A quaternion in it must be named in `units`"):
        derive.equations(system(q=(x, y, w, n), bodies=(body,)))


# The mass matrix


@pytest.mark.parametrize("method", ["lagrange", "newton-euler", "projected-newton-euler", "lagrange-particles"])
def test_a_coordinate_that_the_energies_do_not_depend_on(method):
    with says(
        "no body with mass moves with theta_dot, and the energies do not depend on it. Leave that coordinate out"
    ):
        derive.equations(system(q=(x, y, theta)), method)


def test_a_massless_body():
    rod = derive.Body("rod", 0, (0, 0, 0), derive.rotation_z(theta))
    with says("no body with mass moves with theta_dot", "Without mass and inertia: rod"):
        derive.equations(system(q=(x, y, theta), bodies=(MASS, rod)))


def test_coordinates_that_depend_on_each_other():
    mass = derive.particle("mass", m, (x + 2 * y, 0, 0))
    with says("the mass matrix is singular: no body with mass moves with the velocities", "x_dot", "y_dot together"):
        derive.equations(system(bodies=(mass,)))


def test_a_pendulum_without_inertia_about_its_rod():
    """A particle on a rod that turns about itself."""
    R = derive.rotation_x(theta) * derive.rotation_z(x)
    bob = derive.particle("bob", m, R * sp.Matrix([0, 0, -l]))
    with says("no body with mass moves with x_dot"):
        derive.equations(system(q=(theta, x), bodies=(bob,)))


def test_a_mass_that_becomes_negative():
    with says("the mass matrix is not positive definite, with the eigenvalue", "look for negative masses"):
        derive.equations(system(bodies=(derive.particle("mass", m - 2, (x, y, 0)),)))


# Constraints


def test_constraints_that_contradict_each_other():
    walls = (derive.Holonomic("left", x), derive.Holonomic("right", x - 1))
    with says("the constraint 'right', x - 1 = 0, cannot hold together with 'left', x = 0"):
        derive.equations(system(restrictions=walls))


def test_constraints_that_contradict_each_other_with_symbols():
    walls = (derive.Holonomic("left", x), derive.Holonomic("right", x - l))
    with says("the constraint 'right', -l + x = 0, contradicts those before it: 'left', x = 0"):
        derive.equations(system(restrictions=walls))


def test_a_constraint_that_cannot_hold():
    with says("the constraint 'circle', x**2 + y**2 + 1 = 0, cannot hold"):
        derive.equations(system(restrictions=(derive.Holonomic("circle", x**2 + y**2 + 1),)))
    with says("nowhere: the constraint 1 = 0 cannot hold"):
        derive.equations(system(restrictions=(derive.Holonomic("nowhere", 1),)))


def test_constraints_that_follow_from_others():
    twice = (derive.Holonomic("line", x - y), derive.Holonomic("again", 2 * y - 2 * x))
    with says("the constraint 'again', -2*x + 2*y = 0, is redundant: it follows", "'line', x - y = 0. Leave it out"):
        derive.equations(system(restrictions=twice))
    moving = (derive.Holonomic("line", x - y), derive.Motion("again", derive.rate(x) - derive.rate(y)))
    with says("the constraint 'again'", "is redundant"):
        derive.equations(system(restrictions=moving))


def test_motion_constraints_that_contradict_each_other():
    moving = (derive.Motion("still", derive.rate(x)), derive.Motion("driven", derive.rate(x) - 1))
    with says("the constraint 'driven', x_dot - 1 = 0, contradicts those before it: 'still', x_dot = 0"):
        derive.equations(system(restrictions=moving))


def test_a_constraint_that_restricts_nothing():
    with says("nothing: the constraint 0 = 0 restricts nothing"):
        derive.equations(system(restrictions=(derive.Holonomic("nothing", 0),)))


def test_a_constraint_without_a_force():
    with says("the gradient of the constraint 'square' is zero where it holds", "changes its sign"):
        derive.equations(system(restrictions=(derive.Holonomic("square", x**2),)))


def test_a_constraint_that_is_not_linear_in_the_velocities():
    speed = derive.Motion("speed", derive.rate(x) ** 2 + derive.rate(y) ** 2 - 1)
    with says("speed: expected a sum that is linear in the velocities (x_dot, y_dot), got x_dot**2 + y_dot**2 - 1"):
        derive.equations(system(restrictions=(speed,)))


def test_a_configuration_constraint_with_velocities():
    with says("the constraint wall depends on the velocities x_dot: a constraint on velocities is a derive.Motion"):
        system(restrictions=(derive.Holonomic("wall", derive.rate(x)),))
    with says("the constraint wall depends on the accelerations x_ddot"):
        system(restrictions=(derive.Motion("wall", derive.rate(derive.rate(x))),))


def test_good_constraints_pass():
    """A loop that only some lengths close, a constraint that moves with time, a rod."""
    t = sp.Symbol("t", real=True)
    rod = derive.Holonomic("rod", x**2 + y**2 - l**2)
    crank = derive.Holonomic("crank", x - sp.sin(t))
    far = derive.Holonomic("far", (x - 2 * l) ** 2 + y**2 - k**2)
    for restrictions in ((rod,), (crank,), (rod, far)):
        assert derive.equations(system(restrictions=restrictions)).J.rows == len(restrictions)


def test_multipliers_are_no_symbols_of_the_system():
    mass = derive.particle("mass", derive.symbols("lambda_1")[0], (x, y, 0))
    equations = derive.equations(system(bodies=(mass,), restrictions=(derive.Holonomic("line", x - y),)))
    assert [symbol.name for symbol in equations.multipliers] == ["mu_1"]


# Methods


@pytest.mark.parametrize("system", [None, "cart-pendulum", 3])
def test_what_is_no_system(system):
    with says("expected a derive.System, got", "derive.systems.system makes one from a name"):
        derive.equations(system)
    with says("expected a derive.System, got"):
        derive.applicable(system)


def test_quasi_velocities_that_are_no_symbols():
    with says("expected a plain symbol for a coordinate or velocity, got 'a'"):
        derive.with_quasi_velocities(system(), [[1, 0], [0, 1]], ["a", "b"])
    with says("S of test: expected a matrix of expressions, got 'S'"):
        derive.with_quasi_velocities(system(), "S", derive.symbols("a b"))


# Values


def test_values_that_are_not_by_name():
    equations = derive.equations(system())
    with says("at: expected values by name, such as {'m': 1}, got [1]"):
        equations.linearise([1])
    with says("inputs: expected values by name"):
        equations.equilibria([1])
    with says("expected equations, as derive.equations makes them of a system, got None"):
        equations.equal(None)


def test_a_mass_that_is_zero_where_it_is_linear():
    for values in ({"m": 0}, {"m": 0, "k": 1}):
        with says("test: the mass matrix is singular there: look for masses, lengths and inertias that are zero"):
            derive.equations(system(loads=(derive.Spring(k, x),))).linearise(values)


# Robots


@pytest.mark.parametrize(
    ("symbols", "said"),
    [
        (None, "symbols: expected 'all', some of masses"),
        (3, "symbols: expected 'all', some of masses"),
        ({"link1": 3}, "symbols of 'link1': expected values of mass, center, inertia, position by name, got 3"),
        ({"link1": {"mass": "m"}}, "mass of link1: expected an expression, got the text 'm'"),
        ({"link1": {"inertia": 5}}, "inertia of link1: expected 3 × 3 expressions, got 5"),
    ],
)
def test_symbols_of_a_robot(symbols, said):
    with says(said):
        derive.from_robot(mb.load("planar-arm"), symbols)


def test_a_coordinate_with_the_name_of_a_number():
    with says("planar-arm: g, m_1 would be a coordinate or velocity and a number of the robot"):
        derive.from_robot(mb.load("planar-arm"), "all", coordinates=("g", "m_1", "b"))


def test_methods_that_do_not_exist_or_do_not_fit():
    with says("no method 'newton': there are newton-euler, lagrange, lagrange-multipliers, projected-newton-euler"):
        derive.equations(system(), "newton")
    with says("test: the method 'lagrange' does not fit: constraints need multipliers, as in 'lagrange-multipliers'"):
        derive.equations(system(restrictions=(derive.Holonomic("line", x - y),)), "lagrange")


def test_numbers_of_numpy_are_expressions():
    body = derive.Body("body", np.float64(2.0), np.array([0.0, 1.0, 2.0]) + 0, derive.rotation_z(theta), np.eye(3))
    assert sp.Matrix([[1]]) == derive.equations(derive.System("wheel", (theta,), (body,))).M
