"""Equations as native kernels, against the library's algorithms and against SymPy's own functions."""

import numpy as np
import pytest
import sympy as sp

import multibody as mb
from multibody import derive
from multibody.derive.algebra.numpy_evaluation import numeric
from multibody.derive.system.random_states import random_values

x, theta = derive.coordinates("x theta")
VALUES = {"M": 1.5, "m": 0.3, "l": 0.6, "g": 9.81, "k": 2.0, "c": 0.1}


def cart_pendulum() -> derive.System:
    M, m, l, g, k, c, F = derive.symbols("M m l g k c F")
    return derive.System(
        "cart-pendulum",
        (x, theta),
        (
            derive.particle("cart", M, (x, 0, 0)),
            derive.particle("bob", m, (x + l * sp.sin(theta), 0, -l * sp.cos(theta))),
        ),
        gravity=(0, 0, -g),
        loads=(derive.Spring(k, x), derive.Damper(c, x), derive.Force("cart", (F, 0, 0))),
    )


def test_one_degree_of_freedom() -> None:
    m, l, g, F = derive.symbols("m l g F")
    bob = derive.particle("bob", m, (l * sp.sin(theta), 0, -l * sp.cos(theta)))
    loads = (derive.Generalized(derive.rate(theta), F),)
    equations = derive.equations(derive.System("pendulum", (theta,), (bob,), gravity=(0, 0, -g), loads=loads))
    values = {"m": 2.0, "l": 0.5, "g": 9.81}
    angle, force = np.array([[0.3], [0.4]]), np.array([[1.0], [0.0]])
    expected = (force - 9.81 * np.sin(angle)) / 0.5
    assert equations.kernel("mass_matrix", values)(angle).shape[-2:] == (1, 1)
    np.testing.assert_allclose(equations.kernel("forward_dynamics", values)(angle, [0.0], force), expected)
    np.testing.assert_allclose(equations.kernel("state_rate", values)(angle, [0.0], force)[1], expected)


def pendulum_in_the_plane() -> derive.System:
    """A particle on a circle: a configuration constraint instead of an angle."""
    z, m, g, l = derive.symbols("z m g l")
    circle = derive.Holonomic("rod", (x**2 + z**2 - l**2) / 2)
    return derive.System(
        "pendulum", (x, z), (derive.particle("bob", m, (x, 0, z)),), gravity=(0, 0, -g), restrictions=(circle,)
    )


@pytest.fixture(scope="module")
def equations() -> derive.Equations:
    return derive.equations(cart_pendulum())


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(1)


@pytest.mark.parametrize("name", ["planar-arm", "scara", "double-pendulum", "cart-pendulum"])
def test_kernels_agree_with_the_algorithms(name: str, rng: np.random.Generator) -> None:
    """[RD 3.1]"""
    robot = mb.load(name)
    equations = derive.equations(derive.from_robot(robot))
    q, v, a = robot.random(rng, (20,)), rng.normal(size=(20, robot.nv)), rng.normal(size=(20, robot.nv))
    for quantity, state in (
        ("mass_matrix", (q,)),
        ("bias", (q, v)),
        ("inverse_dynamics", (q, v, a)),
        ("forward_dynamics", (q, v, a)),
    ):
        expected = getattr(robot, quantity)(*state)
        np.testing.assert_allclose(equations.kernel(quantity)(*state), expected, rtol=1e-10, atol=1e-10)


def test_parameters_as_an_argument_and_as_values_are_the_same(
    equations: derive.Equations, rng: np.random.Generator
) -> None:
    q, v, a = rng.normal(size=(3, 7, 2))
    parameters = np.array([VALUES[symbol.name] for symbol in equations.system.parameters])
    fixed, free = equations.kernel("inverse_dynamics", VALUES), equations.kernel("inverse_dynamics")
    assert [argument.name for argument in free.signature.inputs] == ["q", "v", "a", "parameters"]
    np.testing.assert_allclose(fixed(q, v, a), free(q, v, a, parameters), rtol=1e-14)
    some = equations.kernel("inverse_dynamics", {name: x for name, x in VALUES.items() if name != "m"})
    np.testing.assert_allclose(some(q, v, a, [VALUES["m"]]), fixed(q, v, a), rtol=1e-14)


def test_kernels_agree_with_functions_of_sympy(equations: derive.Equations) -> None:
    """[RD 3.1, 3.53]"""
    system = equations.system
    values = random_values(system, np.random.default_rng(3))
    q, v, u, p = (
        np.array([values[s] for s in part]) for part in (system.q, system.v, system.inputs, system.parameters)
    )
    q_dot, v_dot = equations.kernel("state_rate")(q, v, u, p)
    M, rest = numeric(equations.M, values), numeric(equations.tau - equations.b - equations.g, values)[:, 0]
    np.testing.assert_allclose(v_dot, np.linalg.solve(M, rest), rtol=1e-12)
    np.testing.assert_allclose(q_dot, v)
    np.testing.assert_allclose(equations.kernel("forces")(q, v, u, p), numeric(equations.tau, values)[:, 0], rtol=1e-14)


def test_a_batch_is_bit_by_bit_what_single_calls_are(equations: derive.Equations, rng: np.random.Generator) -> None:
    kernel = equations.kernel("forward_dynamics", VALUES)
    q, v, tau = rng.normal(size=(3, 37, 2))
    assert (kernel(q, v, tau) == np.stack([kernel(*state) for state in zip(q, v, tau, strict=True)])).all()
    assert kernel(q.reshape(1, 37, 2), v[0], tau[0]).shape == (1, 37, 2)


def test_float32(equations: derive.Equations, rng: np.random.Generator) -> None:
    q, v, tau = rng.normal(size=(3, 9, 2))
    single = equations.kernel("forward_dynamics", VALUES, dtype=np.float32)(q, v, tau)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, equations.kernel("forward_dynamics", VALUES)(q, v, tau), rtol=2e-4, atol=1e-4)


def test_eager_is_the_same(equations: derive.Equations, rng: np.random.Generator) -> None:
    q, v, u = rng.normal(size=(5, 2)), rng.normal(size=(5, 2)), rng.normal(size=(5, 1))
    kernel = equations.kernel("state_rate", VALUES)
    compiled = kernel(q, v, u)
    with mb.eager():
        plain = kernel(q, v, u)
    for a, b in zip(compiled, plain, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_constrained_motion_keeps_its_constraint() -> None:
    """M v' = τ - h + J^T λ, J v' + J' v = 0; a pendulum's rod pulls with m g cos(angle) + m l w².  [RD 3.36-3.37]"""
    m, g, l, angle, w = 0.7, 9.81, 1.2, 0.4, 1.3
    equations = derive.equations(pendulum_in_the_plane())
    values = {"m": m, "g": g, "l": l}
    q = l * np.array([np.sin(angle), -np.cos(angle)])
    v = l * w * np.array([np.cos(angle), np.sin(angle)])
    v_dot = equations.kernel("forward_dynamics", values)(q, v, np.zeros(2))
    tangent = v_dot @ [np.cos(angle), np.sin(angle)]
    np.testing.assert_allclose(tangent, -g * np.sin(angle), rtol=1e-12)
    np.testing.assert_allclose(v_dot @ q, -v @ v, rtol=1e-12)
    (force,) = equations.kernel("multipliers", values)(q, v, np.zeros(2)) * l
    np.testing.assert_allclose(-force, m * g * np.cos(angle) + m * l * w**2, rtol=1e-12)
    np.testing.assert_allclose(equations.kernel("state_rate", values)(q, v)[1], v_dot)


def test_derivatives_of_a_kernel(equations: derive.Equations, rng: np.random.Generator) -> None:
    kernel = equations.kernel("state_rate", VALUES)
    state = rng.normal(size=2), rng.normal(size=2), rng.normal(size=1)
    jacobian = mb.jacobian(lambda q, v, u: kernel(q, v, u)[1], 0)(*state)
    for k, e in enumerate(np.eye(2) * 1e-6):
        slope = (kernel(state[0] + e, *state[1:])[1] - kernel(state[0] - e, *state[1:])[1]) / 2e-6
        np.testing.assert_allclose(jacobian[:, k], slope, rtol=1e-6, atol=1e-7)


def test_quaternions_must_have_unit_length() -> None:
    robot = mb.load("free-body-so3")
    equations = derive.equations(derive.from_robot(robot))
    with pytest.raises(mb.InputError, match="unit quaternion"):
        equations.kernel("mass_matrix")(2 * robot.neutral())


def test_c_code(equations: derive.Equations) -> None:
    source = equations.kernel("forward_dynamics", VALUES).to_c().source
    assert "void forward_dynamics(" in source
    assert "sin(" in source


def test_operations_are_those_of_the_kernel(equations: derive.Equations) -> None:
    assert equations.ops == sum(equations.kernel("inverse_dynamics").ops.values()) > 10


def test_what_cannot_be_compiled_is_explained(equations: derive.Equations) -> None:
    with pytest.raises(mb.InputError, match="no kernel of 'torque': there are mass_matrix, bias"):
        equations.kernel("torque")
    with pytest.raises(mb.InputError, match="has no symbol 'mass'; there are M, c, g, k, l, m"):
        equations.kernel("bias", {"mass": 1.0})
    with pytest.raises(mb.InputError, match="no multipliers"):
        equations.kernel("multipliers")
