"""The named systems: all methods agree with each other, and with the library's recursive algorithms."""

import numpy as np
import pytest
import sympy as sp

from multibody import derive
from multibody.algorithms import crba, rnea
from multibody.derive.algebra.numpy_evaluation import numeric
from multibody.derive.results.comparison import accelerations, equal
from multibody.derive.system.from_robot import placed
from multibody.derive.system.kinematics import gradient
from multibody.derive.system.random_states import consistent_values, random_values
from multibody.derive.systems import SYSTEMS, system
from multibody.errors import InputError

from ..sampling import sampled

LARGE = ("branching-hinges",)
QUICK = [name for name in SYSTEMS if name not in LARGE]
CONSTRAINED = ("rolling-disc", "skate")
HAND_WRITTEN = ("spring-cart-pendulum", "double-mass-pendulum", "spherical-pendulum", "rolling-disc", "skate")
STATES = 2
CLOSE = 1e-12


def algorithms(system, values):
    """M, b and g of the library, at the values of the symbols; springs with gravity, as in `Equations`."""
    tree = system.tree
    inertias, positions, gravity = (numeric(x, values) for x in (tree.inertias, tree.positions, tree.gravity))
    walked = tree.robot.tree.with_values(inertias, positions=positions, gravity=gravity[:, 0])
    q, v = (np.array([values[x] for x in part]) for part in (system.q, system.v))
    rest = np.zeros_like(v)
    energy = sum((load.energy for load in system.loads if isinstance(load, derive.Spring)), sp.Integer(0))
    springs = numeric(gradient(system, energy).T, values)[:, 0]
    b, g = rnea.rnea(walked, q, v, rest, gravity=False), rnea.rnea(walked, q, rest, rest) + springs
    return crba.crba(walked, q), b, g


def close(actual, expected):
    return np.abs(actual - expected).max() <= CLOSE * max(np.abs(expected).max(), 1.0)


def agrees_with_algorithms(system, equations):
    rng = np.random.default_rng(7)
    for _ in range(STATES):
        values = random_values(system, rng)
        for mine, theirs in zip((equations.M, equations.b, equations.g), algorithms(system, values), strict=True):
            assert close(numeric(mine, values).reshape(theirs.shape), theirs), equations.method


@pytest.mark.parametrize("name", sampled(QUICK))
def test_all_methods_agree_with_each_other_and_with_rnea_and_crba(name):
    example = system(name)
    assert example.name == name
    names = derive.applicable(example)
    assert {"projected-newton-euler", "recursive-newton-euler"} <= set(names)
    if name == "free-body-se3":  # multipliers for the quaternion take seconds: in the slow test
        names = tuple(n for n in names if n != "lagrange-multipliers")
    first = derive.equations(example, "projected-newton-euler")
    for method in names:
        equations = derive.equations(example, method)
        assert equal(first, equations, symbolic=False).numeric <= CLOSE, method
        if equations.system.v == example.v:
            agrees_with_algorithms(example, equations)


@pytest.mark.slow
def test_a_free_body_by_lagrange_with_multipliers():
    body = system("free-body-se3")
    first, second = (derive.equations(body, m) for m in ("projected-newton-euler", "lagrange-multipliers"))
    assert equal(first, second, symbolic=False).numeric <= CLOSE


@pytest.mark.parametrize(
    "method",
    [
        "recursive-newton-euler",
        *(
            pytest.param(method, marks=pytest.mark.slow)
            for method in ("projected-newton-euler", "newton-euler", "lagrange", "boltzmann-hamel")
        ),
    ],
)
def test_the_branching_figure_agrees_with_rnea_and_crba(method):
    figure = system("branching-hinges")
    agrees_with_algorithms(figure, derive.equations(figure, method))


@pytest.mark.parametrize("name", CONSTRAINED)
def test_constrained_accelerations_are_those_of_the_library_with_multipliers(name):
    """M v' + b + g = J^T λ and J v' + J' v = 0, with M, b and g of the library.  [RD 3.35-3.37]"""
    example = system(name)
    equations = derive.equations(example, "projected-newton-euler")
    values = consistent_values(example, np.random.default_rng(3))
    M, b, g = algorithms(example, values)
    J, drift = numeric(equations.J, values), numeric(equations.drift, values)[:, 0]
    v = np.array([values[x] for x in example.v])
    assert np.abs(J @ v).max() < CLOSE
    whole = np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]])
    solution = np.linalg.solve(whole, -np.concatenate([b + g, drift]))
    assert close(accelerations(equations)(values), solution[: len(v)])


def test_the_disc_rolls_at_the_angular_rate_that_a_textbook_gives():
    """Upright and straight, its kinetic energy is that of m + I_a/r² at the speed x'; down a slope it falls alike."""
    disc = system("rolling-disc")
    equations = derive.equations(disc, "projected-newton-euler")
    x, y, psi, theta, phi = disc.q
    upright = {x: 0, y: 0, psi: 0, theta: 0, phi: 0}
    M = equations.M.subs(upright)
    r, m, I_a = derive.symbols("r m I_a")
    along = sp.Matrix([r, 0, 0, 0, 1])  # rolling by one radian
    assert (equations.J.subs(upright) * along).is_zero_matrix
    assert sp.expand((along.T * M * along)[0]) == sp.expand(m * r**2 + I_a)


def test_the_skate_is_not_pushed_along_its_blade():
    """λ is across: J has no entry along (cos θ, sin θ)."""
    equations = derive.equations(system("skate"), "recursive-newton-euler")
    theta = equations.system.q[2]
    along = sp.Matrix([sp.cos(theta), sp.sin(theta), 0])
    assert sp.simplify((equations.J * along)[0]) == 0


@pytest.mark.parametrize("name", HAND_WRITTEN)
def test_positions_by_hand_are_those_of_the_tree(name):
    example = system(name)
    of_tree = {body.name: body for body in placed(example.tree, example.q)}
    values = random_values(example, np.random.default_rng(1))
    for body in example.bodies:
        own = of_tree["disc" if name == "rolling-disc" else body.name]
        assert close(numeric(sp.Matrix(body.position), values), numeric(sp.Matrix(own.position), values))
        if body.turns:
            assert close(numeric(sp.Matrix(body.rotation), values), numeric(sp.Matrix(own.rotation), values))
            assert body.inertia == own.inertia
        assert body.mass == own.mass


def test_the_cart_pendulum_has_the_mass_matrix_of_the_text():
    """With a mass on a light rod.  [RD Ex. 3.3.1]"""
    M, m, l, g, k, phi, x, phi_dot = derive.symbols("M m l g k phi x phi_dot")
    coupling = m * l * sp.cos(phi)
    for method in derive.applicable(system("spring-cart-pendulum")):
        equations = derive.equations(system("spring-cart-pendulum"), method)
        assert (equations.M - sp.Matrix([[M + m, coupling], [coupling, m * l**2]])).expand().is_zero_matrix, method
        assert (equations.b - sp.Matrix([-m * l * sp.sin(phi) * phi_dot**2, 0])).expand().is_zero_matrix, method
        assert (equations.g - sp.Matrix([k * x, m * g * l * sp.sin(phi)])).expand().is_zero_matrix, method


def test_a_free_body_on_so3_has_eulers_equations():
    """I w' + w × I w = τ.  [RD 3.24; From 9-10]"""
    I, w = sp.diag(*derive.symbols("I_x I_y I_z")), sp.Matrix(derive.symbols("omega_x omega_y omega_z"))
    equations = derive.equations(system("free-body-so3"), "recursive-newton-euler")
    assert equations.M == I
    assert (equations.b - w.cross(I * w)).expand().is_zero_matrix


def test_the_branching_figure_has_the_tree_of_the_text():
    """D of the figure: the parents of its links, with joints of 2, 3, 1 and 1 degrees of freedom.  [QT 64, §5.1]"""
    figure = system("branching-hinges")
    links = {f"link{k}": k - 1 for k in range(1, 5)}
    D = np.eye(4)
    parents = {body.name: body.parent for body in figure.bodies}
    freedoms = dict.fromkeys(links, 0)
    sizes = {b.name: b.joint.nv for b in figure.tree.robot.bodies}
    for name in links:
        at, freedoms[name] = parents[name], sizes[name]
        while at is not None and at not in links:
            at, freedoms[name] = parents[at], freedoms[name] + sizes[at]
        if at is not None:
            D[links[name], links[at]] = -1
    assert D.tolist() == [[1, 0, 0, 0], [-1, 1, 0, 0], [0, -1, 1, 0], [0, -1, 0, 1]]
    assert list(freedoms.values()) == [2, 3, 1, 1]
    assert len(figure.v) == 7


def test_every_system_has_a_title():
    for name, entry in SYSTEMS.items():
        assert entry.title, name


def test_an_unknown_system_is_named():
    with pytest.raises(InputError, match="no system 'pendulum': did you mean 'cart-pendulum' or"):
        system("pendulum")
