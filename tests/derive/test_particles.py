"""Lagrange's equations of particles, from virtual work to M and C.  [QT §2]"""

import numpy as np
import pytest
import sympy as sp

from multibody import derive
from multibody.derive.algebra.numpy_evaluation import numeric
from multibody.derive.system.kinematics import along, point_jacobian
from multibody.derive.system.random_states import random_values
from multibody.errors import InputError

m, n, l, g, k = derive.symbols("m n l g k")
a, b, c = derive.coordinates("a b c")


def double_pendulum():
    upper = sp.Matrix([l * sp.sin(a), 0, -l * sp.cos(a)])
    lower = upper + sp.Matrix([k * sp.sin(b), 0, -k * sp.cos(b)])
    bodies = (derive.particle("one", m, upper), derive.particle("two", n, lower, parent="one"))
    return derive.System("double pendulum", (a, b), bodies, gravity=(0, 0, -g))


def test_identities_of_virtual_work():
    """[QT 5-9, 11]: both sides of each are equal, for every particle."""
    equations = derive.equations(double_pendulum(), "lagrange-particles")
    for step in equations.steps[:2]:
        zeros = {name: x for name, x in step.results if name.startswith("(")}
        assert list(zeros) == [r"(5)\;", r"(7)\;", r"(8)\;", r"(11)\;"]
        assert all(x.is_zero_matrix for x in zeros.values())
        assert not dict(step.results)[f"J_{{\\mathrm{{{step.title.split()[3].rstrip(':')}}}}}"].is_zero_matrix


def test_mass_matrix_and_coriolis_term():
    """[QT 13-17]: as Lagrange's equations from the energies."""
    system = double_pendulum()
    equations = derive.equations(system, "lagrange-particles")
    agreement = equations.equal(derive.equations(system, "lagrange"))
    assert agreement
    assert agreement.symbolic
    coupling = n * l * k * sp.cos(a - b)
    assert sp.Matrix([[(m + n) * l**2, coupling], [coupling, n * k**2]]) == equations.M
    assert equations.b[0] == n * l * k * derive.rate(b) ** 2 * sp.sin(a - b)


def test_the_tensor_product_is_not_the_rate_of_the_mass_matrix():
    """The note after [QT 17]: column j of ∂M/∂q q' is ∂M/∂q_j q', of M' it is Σ_k ∂M_j/∂q_k q'_k."""
    system = double_pendulum()
    equations = derive.equations(system, "lagrange-particles")
    q_dot = sp.Matrix(system.v)
    tensor = sp.Matrix.hstack(*(sp.diff(equations.M, x) * q_dot for x in system.q))
    rate = along(system, equations.M)
    values = random_values(system, np.random.default_rng(1))
    assert np.abs(numeric(tensor - rate, values)).max() > 0.01
    np.testing.assert_allclose(numeric(rate * q_dot - tensor.T * q_dot / 2 - equations.b, values), 0, atol=1e-12)


def test_qt22_one_particle_alone():
    """[QT 4, 12, 13] as printed, for each particle, miss the forces of guides. Their sum over all is right."""
    system = double_pendulum()
    equations = derive.equations(system, "lagrange")
    values = random_values(system, np.random.default_rng(2))
    a_now = np.linalg.solve(numeric(equations.M, values), -numeric(equations.b + equations.g, values)[:, 0])
    values |= dict(zip(system.a, a_now, strict=True))
    left = []
    for body in system.bodies:
        J, v, v_dot = point_jacobian(system, body.position), sp.Matrix(system.v), sp.Matrix(system.a)
        inertial = body.mass * J.T * (J * v_dot + along(system, J) * v)
        left.append(numeric(inertial - J.T * body.mass * system.gravity, values)[:, 0])
    assert all(np.abs(forces).max() > 0.01 for forces in left)
    np.testing.assert_allclose(sum(left), 0, atol=1e-12)


def test_a_rigid_body_made_of_particles():
    """[QT 16, 19]: Σ μ J^T J of six particles is the mass matrix of the body that they make."""
    R = derive.rotation_z(b) * derive.rotation_x(c)
    centre = sp.Matrix([a, 0, sp.cos(b)])
    axes = [sp.Matrix([l, 0, 0]), sp.Matrix([0, k, 0]), sp.Matrix([0, 0, 2 * k])]
    places = [sign * axis for axis in axes for sign in (1, -1)]
    cloud = derive.System(
        "cloud",
        (a, b, c),
        [derive.particle(f"p{i}", m, centre + R * place) for i, place in enumerate(places)],
        gravity=(0, 0, -g),
    )
    inertia = sum((m * (r.dot(r) * sp.eye(3) - r * r.T) for r in places), sp.zeros(3))
    body = derive.Body("body", 6 * m, centre, R, inertia)
    rigid = derive.System("body", (a, b, c), (body,), gravity=(0, 0, -g))
    agreement = derive.equations(cloud, "lagrange-particles").equal(derive.equations(rigid))
    assert agreement
    assert agreement.symbolic


def test_generalized_forces_of_forces_on_particles():
    """[QT 3]: Q = Σ J_i^T f_i."""
    (u,) = derive.symbols("u")
    system = double_pendulum()
    pushed = derive.System("pushed", system.q, system.bodies, loads=(derive.Force("two", (u, 0, 0)),))
    tau = derive.equations(pushed, "lagrange-particles").tau
    assert tau == sp.Matrix([l * u * sp.cos(a), k * u * sp.cos(b)])


def test_where_it_does_not_fit():
    body = derive.Body("wheel", m, (a, 0, 0), derive.rotation_z(b), sp.diag(1, 1, k))
    with pytest.raises(InputError, match="it is for particles, and wheel can turn"):
        derive.equations(derive.System("wheel", (a, b), (body,)), "lagrange-particles")
    system = double_pendulum()
    tied = derive.System("tied", system.q, system.bodies, restrictions=(derive.Holonomic("tie", a - b),))
    with pytest.raises(InputError, match="it is for independent coordinates"):
        derive.equations(tied, "lagrange-particles")
