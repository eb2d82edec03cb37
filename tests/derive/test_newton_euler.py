"""Newton–Euler for free-cut bodies, with the forces in their joints.  [RD §3.3; QT 24]"""

import numpy as np
import pytest
import sympy as sp

import multibody as mb
from multibody import derive
from multibody.derive.algebra.numpy_evaluation import numeric
from multibody.derive.system.kinematics import material_jacobian, rotation_jacobian
from multibody.derive.system.random_states import random_values

M, m, l, g, k, c, F, I, u = derive.symbols("M m l g k c F I u")
x, theta = derive.coordinates("x theta")


def cart_pendulum(**options):
    R = derive.rotation_y(-theta)
    hinge = sp.Matrix([x, 0, 0])
    cart = derive.Body("cart", M, hinge)
    bob = derive.Body("bob", m, hinge + R * sp.Matrix([0, 0, -l]), R, sp.diag(0, I, 0), parent="cart", joint=hinge)
    return derive.System("cart-pendulum", (x, theta), (cart, bob), gravity=(0, 0, -g), **options)


def double_pendulum(**options):
    a, b = derive.coordinates("a b")
    R, S = derive.rotation_y(a), derive.rotation_y(a) * derive.rotation_x(b)
    down = sp.Matrix([0, 0, -l])
    upper = derive.Body("one", M, R * down, R, sp.diag(I, 2 * I, I), joint=(0, 0, 0))
    lower = derive.Body("two", m, 2 * R * down + S * down, S, sp.diag(I, I, k), parent="one", joint=2 * R * down)
    return derive.System("spatial pendulum", (a, b), (upper, lower), gravity=(0, 0, -g), **options)


def test_cart_pendulum_by_hand():
    """[RD Ex. 3.3.1; RD 3.34]: cart M, bob m with inertia I, l below the hinge, spring k and damper c to a wall."""
    loads = (derive.Spring(k, x), derive.Damper(c, x), derive.Force("cart", (F, 0, 0)))
    equations = derive.equations(cart_pendulum(loads=loads), "newton-euler")
    assert sp.Matrix([[M + m, m * l * sp.cos(theta)], [m * l * sp.cos(theta), I + m * l**2]]) == equations.M
    assert equations.b == sp.Matrix([-m * l * derive.rate(theta) ** 2 * sp.sin(theta), 0])
    assert equations.g == sp.Matrix([k * x, m * g * l * sp.sin(theta)])
    assert equations.tau == sp.Matrix([F - c * derive.rate(x), 0])


def test_forces_in_the_joints_of_the_cart_pendulum_by_hand():
    """[RD 3.24-3.25]: the hinge carries the bob along and across its rod, the rail carries all weight."""
    equations = derive.equations(cart_pendulum(), "newton-euler")
    a, w, psi = derive.rate(derive.rate(x)), derive.rate(theta), derive.rate(derive.rate(theta))
    force, torque = equations.reactions["bob"]
    across = m * (a * sp.cos(theta) + l * psi + g * sp.sin(theta))
    along = m * (-a * sp.sin(theta) + l * w**2 + g * sp.cos(theta))
    assert (force - sp.Matrix([across, 0, along])).expand().is_zero_matrix
    assert sp.expand(torque[1] + I * psi + l * across) == 0
    rail, _ = equations.reactions["cart"]
    push = (M + m) * a + m * l * (psi * sp.cos(theta) - w**2 * sp.sin(theta))
    weight = (M + m) * g + m * l * (psi * sp.sin(theta) + w**2 * sp.cos(theta))
    assert (rail - sp.Matrix([push, 0, weight])).expand().is_zero_matrix


def test_the_equations_of_each_body_hold_with_the_forces_found():
    """Six equations for a body and three for a particle, with named unknowns.  [RD 3.19-3.25]"""
    for system, count in ((cart_pendulum(), 9), (double_pendulum(), 12)):
        equations = derive.equations(system, "newton-euler")
        balances = []
        for step in equations.steps[: len(system.bodies)]:
            results = [expression for _, expression in step.results]
            balances += [*(results[0] - results[1]), *(results[2] - results[3] if len(results) == 4 else ())]
        assert len(balances) == count
        unknown = {}
        for body in system.bodies:
            for letter, values in zip("FT", equations.reactions[body.name], strict=True):
                unknown |= {f"{letter}_{{{body.name},{axis}}}": values[i] for i, axis in enumerate("xyz")}
        names = {s.name for e in balances for s in e.free_symbols}
        assert len([name for name in names if name in unknown]) >= 8
        values = random_values(system, np.random.default_rng(1))
        for equation in balances:
            solved = equation.subs({s: unknown[s.name] for s in equation.free_symbols if s.name in unknown})
            assert abs(numeric(solved, values)) < 1e-12


def test_reactions_do_no_work_along_what_the_joints_allow():
    """[RD 3.12]: along each velocity the joints transmit what acts along coordinates, and no more."""
    a, _ = derive.coordinates("a b")
    loads = (
        derive.Spring(k, a),
        derive.Generalized(derive.rate(a), u),
        derive.Actuator("two", "one", torque=(0, F, 0)),
        derive.Force("two", (1, 2, F), point=(1, 0, sp.cos(a))),
    )
    system = double_pendulum(loads=loads)
    equations = derive.equations(system, "newton-euler")
    values = random_values(system, np.random.default_rng(2))
    h = numeric(equations.b + equations.g - equations.tau, values)[:, 0]
    v_dot = -np.linalg.solve(numeric(equations.M, values), h)
    values |= dict(zip(system.a, v_dot, strict=True))
    work = np.zeros(2)
    for body in system.bodies:
        J_P, J_R = material_jacobian(system, body, body.joint), body.rotation * rotation_jacobian(system, body)
        if body.parent is not None:
            parent = system.body(body.parent)
            J_P = J_P - material_jacobian(system, parent, body.joint)
            J_R = J_R - parent.rotation * rotation_jacobian(system, parent)
        force, torque = (numeric(body.rotation * part, values)[:, 0] for part in equations.reactions[body.name])
        work += numeric(J_P, values).T @ force + numeric(J_R, values).T @ torque
    np.testing.assert_allclose(work, [values[u] - values[k] * values[a], 0], atol=1e-12)


@pytest.mark.parametrize("name", ["planar-arm", "zyx-wrist", "cart-pendulum", "scara"])
def test_forces_in_the_joints_robot_controllers(name):
    """As `joint_wrenches`, given about the body's origin: away from the joint, where it slides.  [QT 72-73]"""
    robot = mb.load(name)
    system = derive.from_robot(robot)
    equations = derive.equations(system, "newton-euler")
    values = random_values(system, np.random.default_rng(3))
    q, v, a = (np.array([values[s] for s in symbols]) for symbols in (system.q, system.v, system.a))
    expected = robot.joint_wrenches(q, v, a)
    for body, wrench in zip(system.bodies, expected, strict=True):
        force, torque = (numeric(part, values)[:, 0] for part in equations.reactions[body.name])
        pose = robot.pose(body.name, q)
        arm = pose.rotation.matrix.T @ (numeric(body.joint, values)[:, 0] - pose.position)
        np.testing.assert_allclose(force, wrench[:3], atol=1e-11)
        np.testing.assert_allclose(torque + np.cross(arm, force), wrench[3:], atol=1e-11)
    np.testing.assert_allclose(numeric(equations.M, values), robot.mass_matrix(q), atol=1e-12)
    np.testing.assert_allclose(numeric(equations.b + equations.g, values)[:, 0], robot.bias(q, v), atol=1e-11)


def test_a_bead_pushes_on_the_world_across_its_wire():
    """A particle without a parent is held by the world: the wire pushes across itself."""
    bead = derive.particle("bead", m, (l * sp.sin(theta), 0, -l * sp.cos(theta)))
    equations = derive.equations(derive.System("bead", (theta,), (bead,), gravity=(0, 0, -g)), "newton-euler")
    force, torque = equations.reactions["bead"]
    assert torque.is_zero_matrix
    inward = sp.Matrix([-sp.sin(theta), 0, sp.cos(theta)])
    w, psi = derive.rate(theta), derive.rate(derive.rate(theta))
    assert sp.simplify(force.dot(inward) - m * (g * sp.cos(theta) + l * w**2)) == 0
    tangent = sp.Matrix([sp.cos(theta), 0, sp.sin(theta)])
    assert sp.simplify(force.dot(tangent).subs(psi, -g / l * sp.sin(theta))) == 0


def test_a_particle_on_a_rod_gives_the_joint_of_the_rod_a_torque():
    """The force acts at the particle, and is given about the joint: with a torque that the rod transmits."""
    position = (l * sp.cos(theta), l * sp.sin(theta), 0)
    arm = derive.Body("arm", M, (0, 0, 0), derive.rotation_z(theta), sp.diag(0, 0, I))
    tip = derive.Body("tip", m, position, parent="arm", joint=(0, 0, 0))
    system = derive.System("crank", (theta,), (arm, tip))
    equations = derive.equations(system, "newton-euler")
    assert equations.M[0] == I + m * l**2
    psi = derive.rate(derive.rate(theta))
    assert sp.simplify(equations.reactions["tip"][1][2] - m * l**2 * psi) == 0
    assert sp.simplify(equations.reactions["arm"][1][2] - (I + m * l**2) * psi) == 0
    values = random_values(system, np.random.default_rng(0))
    results = [expression for _, expression in equations.steps[0].results]
    names = {
        f"{n}_{{{b},{a}}}": equations.reactions[b][i][j]
        for i, n in enumerate("FT")
        for b in ("arm", "tip")
        for j, a in enumerate("xyz")
    }
    torque = results[3].subs({s: names[s.name] for s in results[3].free_symbols if s.name in names})
    np.testing.assert_allclose(numeric(results[2] - torque, values), 0, atol=1e-12)


def test_actuators_and_constraints_as_in_the_projected_equations():
    a, b = derive.coordinates("a b")
    loads = (derive.Actuator("two", "one", force=(u, 0, 1), torque=(0, F, 0), point=(1, 0, a), reaction=(1, 0, a)),)
    closed = derive.Holonomic("coupled", a - sp.sin(b))
    for system in (double_pendulum(loads=loads), double_pendulum(loads=loads, restrictions=(closed,))):
        assert derive.equations(system, "newton-euler").equal(derive.equations(system))
