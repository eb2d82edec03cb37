"""One name is one machine: a system with the name of an embedded robot has its dynamics."""

import numpy as np
import pytest
import sympy as sp

import multibody as mb
from multibody import derive
from multibody.derive.algebra.numpy_evaluation import numeric
from multibody.derive.systems import SYSTEMS, system
from multibody.model import robots

SHARED = [name for name in SYSTEMS if name in robots.names()]


def robot_of(name):
    if name.startswith("free-body"):  # which From has without gravity, and with velocities along the axes of the body
        return mb.load(name, gravity=(0.0, 0.0, 0.0), velocity="left")
    return mb.load(name)


def values_of(symbolic, robot):
    """What the symbols of a system are in a robot: each stands for one of its numbers, or for minus one."""
    values = {}
    for numbers, body in zip(symbolic.tree.bodies, robot.bodies, strict=True):
        pairs = [(numbers.mass, body.inertia.mass)]
        pairs += zip(numbers.center, body.inertia.com, strict=True)
        pairs += zip(numbers.inertia, body.inertia.inertia.ravel(), strict=True)
        pairs += zip(numbers.position, body.joint.placement.position, strict=True)
        pairs += zip(symbolic.tree.gravity, robot.model.gravity, strict=True)
        for expression, number in pairs:
            sign, symbol = sp.sympify(expression).as_coeff_Mul()
            if symbol.is_Symbol:
                assert np.isclose(values.setdefault(symbol, float(number / sign)), float(number / sign)), symbol
    return values


def test_names_are_shared():
    assert {"cart-pendulum", "double-pendulum", "scara", "free-body-se3"} <= set(SHARED)


@pytest.mark.parametrize("name", SHARED)
def test_a_system_is_the_robot_of_its_name(name):
    symbolic, robot = system(name), robot_of(name)
    equations = derive.equations(symbolic, "recursive-newton-euler")
    values = values_of(symbolic, robot)
    assert set(symbolic.parameters) <= set(values)
    rng = np.random.default_rng(5)
    with mb.eager():
        for _ in range(2):
            q, v = robot.random(rng), rng.normal(size=robot.nv)
            at = (
                values | dict(zip(symbolic.q, q.tolist(), strict=True)) | dict(zip(symbolic.v, v.tolist(), strict=True))
            )
            gravity = robot.gravity(q)
            expected = {"M": robot.mass_matrix(q), "b": robot.bias(q, v) - gravity, "g": gravity}
            for part, array in expected.items():
                mine = numeric(getattr(equations, part), at).reshape(array.shape)
                np.testing.assert_allclose(mine, array, rtol=1e-12, atol=1e-12, err_msg=part)


def test_a_system_that_is_no_robot_has_a_name_of_its_own():
    spring, masses = derive.equations(system("spring-cart-pendulum")), derive.equations(system("double-mass-pendulum"))
    assert sp.Symbol("k", real=True) in spring.g.free_symbols
    assert not {"spring-cart-pendulum", "double-mass-pendulum", "branching-hinges"} & set(robots.names())
    assert masses.M[1, 1] == sp.Symbol("l_2", real=True) ** 2 * sp.Symbol("m_2", real=True)
