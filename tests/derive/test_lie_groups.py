"""Joints on Lie groups, by constant brackets: against the algorithms of robots, other methods, the library's groups."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import multibody as mb
from multibody.derive import (
    Body,
    System,
    applicable,
    coordinates,
    duindam,
    equations,
    from_robot,
    on_group,
    rate,
    symbols,
)
from multibody.derive.algebra.numpy_evaluation import numeric
from multibody.derive.methods.bodies_on_groups import S_series, ad, coriolis, derivatives
from multibody.derive.methods.boltzmann_hamel import weighted
from multibody.derive.methods.hamel_coefficients import brackets
from multibody.derive.methods.lie_groups import blocks, why_not
from multibody.derive.system.random_states import random_values
from multibody.geometry import groups
from multibody.model.joints import (
    Cylindrical,
    Floating,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Schoenflies,
    Spherical,
    Universal,
)

from ..sampling import sampled

CURVED = {
    "SO(3)": groups.SO3(),
    "SE(2)": groups.SE2(),
    "SE(3)": groups.SE3(),
    "X(x)": groups.Schoenflies("x"),
    "X(y)": groups.Schoenflies("y"),
    "X(z)": groups.Schoenflies("z"),
}
FLAT = {
    "R": groups.R1(),
    "R^2": groups.R2(),
    "R^3": groups.R3(),
    "SO(2)": groups.SO2(),
    "H": groups.Helical(0.35),
}
GROUPS = CURVED | FLAT


@pytest.fixture(params=GROUPS)
def group(request):
    return GROUPS[request.param]


def same(actual, expected, within=1e-12):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=within * (1 + np.abs(expected).max()))


def symmetric(n):
    return sp.Matrix(n, n, lambda i, j: sp.Symbol(f"M_{min(i, j)}{max(i, j)}", real=True))


# ---- trees -----------------------------------------------------------------------------------------------------------


def two_bodies(first, second=None, velocity="kindr"):
    """A body on one joint, and another on it."""
    second = second or Revolute("y")
    builder = mb.Builder("two bodies")
    builder.body("one", mb.SpatialInertia(mass=1.5, com=(0, 0.5, 0), inertia=np.diag([0.75, 0.25, 0.5])))
    builder.body("two", mb.SpatialInertia(mass=0.5, com=(0, 0, 0.25), inertia=np.diag([0.125, 0.25, 0.25])))
    builder.joint("first", first, parent=None, child="one")
    builder.joint("second", second, parent="one", child="two", placement=(0.25, 0, 0))
    return mb.Robot(replace(builder.model(), velocity=velocity))


TREES = {
    "spherical": (Spherical(), None),
    "planar": (Planar(), Helical("x", pitch=0.5)),
    "schoenflies": (Schoenflies("x"), Prismatic("y")),
    "cylindrical": (Cylindrical("z"), Planar()),
    "floating": (Floating(), None),
    "two floating": (Prismatic("z"), Floating()),
}


def against_the_robot(robot, system, dynamics):
    """M and the bias of the formulas and of the library's algorithms, at random states."""
    rng = np.random.default_rng(11)
    for _ in range(2):
        values = random_values(system, rng)
        q, v = ([values[x] for x in xs] for xs in (system.q, system.v))
        same(numeric(dynamics.M, values), robot.mass_matrix(q))
        same(numeric(dynamics.b + dynamics.g, values)[:, 0], robot.bias(q, v))


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow if n == "floating" else ()) for n in TREES])
def test_trees_of_joints(name):
    """[From 57, 105; MDN 83, §9]: block-diagonal S; against RNEA and CRBA, and Boltzmann–Hamel symbol by symbol."""
    robot = two_bodies(*TREES[name])
    system = from_robot(robot)
    dynamics = equations(system, "lie-groups")
    against_the_robot(robot, system, dynamics)
    hamel = equations(system, "boltzmann-hamel")
    assert sp.expand(dynamics.M - hamel.M).is_zero_matrix
    values = random_values(system, np.random.default_rng(12))
    same(numeric(dynamics.b, values), numeric(hamel.b, values))


@pytest.mark.parametrize("velocity", sampled(["kindr", "left", "mixed", "right"], 4))
def test_every_way_to_write_the_velocity_of_a_base(velocity):
    """[MDN §9; From 57]: SE(3) or R³ × SO(3), along the axes of the body or, with the opposite sign, of the world."""
    robot = mb.load("free-body-se3")
    robot = mb.Robot(replace(robot.model, velocity=velocity))
    system = from_robot(robot)
    dynamics = equations(system, "lie-groups")
    against_the_robot(robot, system, dynamics)
    assert [(type(g).__name__, side) for _, g, side in blocks(system)] == {
        "kindr": [("R3", 1), ("SO3", 1)],
        "left": [("SE3", 1)],
        "mixed": [("R3", 1), ("SO3", -1)],
        "right": [("SE3", -1)],
    }[velocity]


@pytest.mark.parametrize("velocity", ["kindr", "left", "mixed"])
def test_constant_brackets_are_those_of_the_fields(velocity):
    """[From 47, 57; MDN §9]: the structure constants of the groups, and the brackets of the columns of F."""
    model = replace(two_bodies(Floating()).model, velocity=velocity)
    system = from_robot(mb.Robot(model))
    p = sp.Matrix(symbols(" ".join(f"p_{k}" for k in range(7))))
    turning = sp.zeros(7)
    for first, g, side in blocks(system):
        last = first + g.dim
        turning[first:last, first:last] = coriolis(g, p[first:last, :], side)
    v = sp.Matrix(system.v)
    assert sp.expand(turning * v - weighted(brackets(system), v) * p).is_zero_matrix


def test_what_the_method_does_not_fit():
    """[From Def. 4.1]: a universal joint is no group; a system without a robot does not say what its joints are."""
    universal = from_robot(two_bodies(Universal()))
    assert "'first' is universal" in why_not(universal)
    assert "lie-groups" not in applicable(universal)
    assert "boltzmann-hamel" in applicable(universal)
    (x,), (m,) = coordinates("x"), symbols("m")
    oscillator = System("oscillator", (x,), (Body("mass", m, (x, 0, 0)),))
    with pytest.raises(mb.InputError, match="it needs the joints of a robot"):
        equations(oscillator, "lie-groups")


def test_the_derivation_tells_the_groups():
    system = from_robot(two_bodies(Planar(), Helical("x", pitch=0.5)))
    steps = equations(system, "lie-groups").steps
    assert "SE(2) × H" in steps[0].title
    assert dict(steps[1].results)["M(Q)"].shape == (4, 4)


# ---- one body --------------------------------------------------------------------------------------------------------


def test_one_body_on_each_group(group):
    """[From 48, 57, Prop. 3.1, Prop. 5.1; From Table 1; From Table 2]: C and τ are those of the library's group."""
    rng = np.random.default_rng(13)
    root = rng.normal(size=(group.dim, group.dim))
    M, (v, a) = root @ root.T + np.eye(group.dim), rng.normal(size=(2, group.dim))
    symbolic = symmetric(group.dim)
    dynamics = on_group(group, symbolic)
    values = {symbolic[i, j]: M[i, j] for i in range(group.dim) for j in range(group.dim)}
    values |= dict(zip(dynamics.v, v, strict=True)) | dict(zip(dynamics.a, a, strict=True))
    same(numeric(dynamics.C, values), group.C(M, v))
    same(numeric(dynamics.inertial, values)[:, 0], group.inverse_dynamics(M, v, a))
    same(numeric(ad(group, dynamics.v), values), group.ad(v))


def test_the_two_forms_of_the_theorem(group):
    """[From 107-109, Lemma 5.3, Prop. 5.1]: C v = -ad_v^T M v for any M, and C is skew and twice its first part."""
    M = symmetric(group.dim)
    dynamics = on_group(group, M)
    v = sp.Matrix(dynamics.v)
    assert sp.expand(dynamics.b + ad(group, dynamics.v).T * M * v).is_zero_matrix
    assert sp.expand(dynamics.C + dynamics.C.T).is_zero_matrix
    dS, p, n = derivatives(group), M * v, range(group.dim)
    first = sp.Matrix(group.dim, group.dim, lambda i, j: sum(dS[j][k, i] * p[k] for k in n))
    assert sp.expand(dynamics.C - 2 * first).is_zero_matrix


def test_the_series_of_S(group):
    """[From 29, 55]: up to φ³ the library's S; and for axes of the world that of -φ."""
    phi = symbols(" ".join(f"f_{k}" for k in range(group.dim)))
    at = dict(zip(phi, 1e-3 * np.random.default_rng(14).normal(size=group.dim), strict=True))
    x = np.array(list(at.values()))
    same(numeric(S_series(group, phi), at), group.S(x), 1e-8)
    same(numeric(S_series(group, phi, side=-1), at), group.S(-x), 1e-8)


# ---- Duindam and Stramigioli -----------------------------------------------------------------------------------------


def test_the_published_formula_in_closed_form(group):
    """[From 33, 35-37]: C = -ad_(Mv)^T."""
    M = symmetric(group.dim)
    dynamics = duindam(group, M)
    assert sp.expand(dynamics.C + ad(group, M * sp.Matrix(dynamics.v)).T).is_zero_matrix


def test_the_published_formula_has_the_wrong_sign_on_so3():
    """[From 33-37, 68]: for every inertia."""
    M = symmetric(3)
    assert sp.expand(duindam(groups.SO3(), M).b + on_group(groups.SO3(), M).b).is_zero_matrix


@pytest.mark.parametrize("name", CURVED)
def test_the_published_formula_differs(name):
    """[From 33, 35-37]: for a box with m = 1 and inertias 2, 3, 4, and therefore as formulas."""
    group = CURVED[name]
    wrong, right = duindam(group), on_group(group)
    assert sp.expand(wrong.b - right.b) != sp.zeros(group.dim, 1)
    box = dict(zip(symbols("m I_x I_y I_z"), (1.0, 2.0, 3.0, 4.0), strict=True))
    values = box | dict(zip(right.v, np.linspace(0.5, 1.5, group.dim), strict=True))
    assert np.abs(numeric(wrong.b - right.b, values)).max() > 0.1
    M = numeric(right.M, values)
    v, p = np.array([values[x] for x in right.v]), M @ np.array([values[x] for x in right.v])
    same(numeric(right.b, values)[:, 0], -group.ad(v).T @ p)  # Newton–Euler [From 11]
    assert np.abs(numeric(wrong.b, values)[:, 0] + group.ad(v).T @ p).max() > 0.1


def test_where_the_published_formula_is_right(group):
    """[From 33, §4.6]: where there are no Coriolis forces, and where momentum is a multiple of velocity."""
    (m,) = symbols("m")
    M = symmetric(group.dim) if group.abelian else m * sp.eye(group.dim)
    assert sp.expand(duindam(group, M).b - on_group(group, M).b).is_zero_matrix


def test_nowhere_else():
    """[From 33]: of all rigid bodies, it is right for those with m = I_x = I_y = I_z, on SO(3) for balls."""
    m, I_x, I_y, I_z = symbols("m I_x I_y I_z")
    for name, unknown, solution in (
        ("SO(3)", (I_x, I_y), {I_x: I_z, I_y: I_z}),
        ("SE(3)", (m, I_x, I_y), {m: I_z, I_x: I_z, I_y: I_z}),
        ("SE(2)", (m,), {m: I_z}),
        ("X(z)", (m,), {m: I_z}),
    ):
        group = CURVED[name]
        wrong, right = duindam(group), on_group(group)
        coefficients = [c for x in wrong.b - right.b for c in sp.Poly(x, *right.v).coeffs() if c]
        assert sp.solve(coefficients, unknown, dict=True) == [solution]


def test_rows_of_a_body_are_equations():
    (m,) = symbols("m")
    u, v, r = on_group(groups.SE2()).v
    assert on_group(groups.SE2()).rows[1] == sp.Eq(m * rate(v) + m * r * u, sp.Symbol("tau_v", real=True))
