"""Centre of mass, momenta and the centroidal momentum matrix of random robots."""

import numpy as np
import pytest
from hypothesis import assume

import multibody as mb
from multibody.algorithms import centroidal, kinematics
from multibody.algorithms.rnea import rnea
from multibody.errors import InputError
from multibody.model import configuration
from multibody.model.builder import Builder
from multibody.model.joints import Revolute

from ..laws.tools import mul, near
from ..model.trees import random_model, random_state
from .covering import law
from .states import rate


def by_bodies(s, q, v):
    """Linear momentum, angular momentum about the world's origin, and Σ m c, from each body's own motion."""
    p, l, first = np.zeros(3), np.zeros(3), np.zeros(3)
    for body in s.model.bodies:
        pose = kinematics.pose(s.tree, body.name, q)
        c = pose @ body.inertia.com
        velocity = kinematics.point_velocity(s.tree, body.name, q, v, body.inertia.com)
        B_w = kinematics.velocity(s.tree, body.name, q, v, "left")[3:]
        m = body.inertia.mass
        p, first = p + m * velocity, first + m * c
        l = l + np.cross(c, m * velocity) + pose.rotation @ (body.inertia.inertia @ B_w)
    return p, l, first


@law()
def test_momenta_are_the_sums_over_the_bodies(s):
    assume(s.tree.mass > 0)
    p, l, first = by_bodies(s, s.q, s.v)
    c = first / s.tree.mass
    near(centroidal.center_of_mass(s.tree, s.q), c, 1e-12)
    near(centroidal.momentum(s.tree, s.q, s.v), np.concatenate([p, l]), 1e-10)
    near(centroidal.centroidal_momentum(s.tree, s.q, s.v), np.concatenate([p, l - np.cross(c, p)]), 1e-10)


@law()
def test_com_jacobian(s):
    assume(s.tree.mass > 0)
    J = centroidal.com_jacobian(s.tree, s.q)
    assert J.shape == (3, s.model.nv)
    near(mul(J, s.v), rate(s, lambda q, _: centroidal.center_of_mass(s.tree, q)), 1e-8)
    near(centroidal.com_velocity(s.tree, s.q, s.v), mul(J, s.v), 1e-12)


@law()
def test_centroidal_momentum_matrix(s):
    assume(s.tree.mass > 0)
    A = centroidal.centroidal_momentum_matrix(s.tree, s.q)
    near(mul(A, s.v), centroidal.centroidal_momentum(s.tree, s.q, s.v), 1e-10)
    near(A[:3], s.tree.mass * centroidal.com_jacobian(s.tree, s.q), 1e-10)
    A_dot = centroidal.centroidal_momentum_matrix_dot(s.tree, s.q, s.v)
    near(A_dot, rate(s, lambda q, _: centroidal.centroidal_momentum_matrix(s.tree, q)), 1e-7)


@law()
def test_rate_of_the_centroidal_momentum(s):
    assume(s.tree.mass > 0)
    found = centroidal.centroidal_momentum_rate(s.tree, s.q, s.v, s.a)
    near(found, rate(s, lambda q, v: centroidal.centroidal_momentum(s.tree, q, v)), 1e-7)
    A = centroidal.centroidal_momentum_matrix(s.tree, s.q)
    A_dot = centroidal.centroidal_momentum_matrix_dot(s.tree, s.q, s.v)
    near(found, mul(A, s.a) + mul(A_dot, s.v), 1e-9)


@law(floating=True, pairs=False)
def test_forces_on_a_free_base_change_the_momentum(s):
    """With the other joints' torques inside, outer forces are those on the base and gravity.  [RD 3.19-3.20]"""
    model = s.model.with_(velocity="mixed")
    base = model.tree.bases[0]
    tau = rnea(model.tree, s.q, s.v, s.a)
    at = kinematics.pose(model.tree, base.child, s.q).position - centroidal.center_of_mass(model.tree, s.q)
    f, torque = tau[:3], tau[3:6]
    outer = np.concatenate([f + model.tree.mass * np.array(model.gravity), torque + np.cross(at, f)])
    near(centroidal.centroidal_momentum_rate(model.tree, s.q, s.v, s.a), outer, 1e-9)


@law(floating=True, pairs=False)
def test_centroidal_inertia_is_that_of_the_robot_as_one_body(s):
    """A robot whose inner joints stand still moves as a rigid body."""
    base = s.tree.bases[0]
    v = np.zeros(s.model.nv)
    v[base.v] = s.rng.standard_normal(6)
    omega = kinematics.velocity(s.tree, base.child, s.q, v, "mixed")[3:]
    twist = np.concatenate([centroidal.com_velocity(s.tree, s.q, v), omega])
    I = centroidal.centroidal_inertia(s.tree, s.q)
    near(mul(I, twist), centroidal.centroidal_momentum(s.tree, s.q, v), 1e-9)


def test_momentum_of_a_free_robot_is_kept():
    """No gravity, no torques: 100 steps of Runge-Kutta keep momentum and energy."""
    model = random_model(np.random.default_rng(7), 3, floating=True, massless=0.0, passive=False)
    robot = mb.Robot(model.with_(gravity=(0.0, 0.0, 0.0)))
    q, v = random_state(model, np.random.default_rng(8))
    v = 0.3 * v
    start, energy = robot.momentum(q, v), robot.kinetic_energy(q, v)
    dt, still = 2e-3, np.zeros(model.nv)

    def slope(q, v):
        return robot.rate_matrix(q) @ v, robot.forward_dynamics(robot.normalize(q), v, still)

    for _ in range(100):
        k1 = slope(q, v)
        k2 = slope(q + dt / 2 * k1[0], v + dt / 2 * k1[1])
        k3 = slope(q + dt / 2 * k2[0], v + dt / 2 * k2[1])
        k4 = slope(q + dt * k3[0], v + dt * k3[1])
        q = robot.normalize(q + dt / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0]))
        v = v + dt / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
    near(robot.momentum(q, v), start, 1e-8)
    near(robot.kinetic_energy(q, v), energy, 1e-8)


def test_a_far_robot_has_the_same_momentum():
    model = random_model(np.random.default_rng(9), 3, floating=True)
    q, v = random_state(model, np.random.default_rng(10))
    far = q + np.r_[1e7, -1e7, 1e7, np.zeros(model.nq - 3)]
    for f in (centroidal.centroidal_momentum, centroidal.centroidal_momentum_matrix_dot):
        assert np.array_equal(f(model.tree, q, v), f(model.tree, far, v))


def test_a_robot_without_mass_has_no_centre():
    b = Builder("ghost")
    b.body("base").body("arm").joint("hinge", Revolute("z"), parent="base", child="arm")
    model = b.model()
    q, v = configuration.neutral(model.tree), np.zeros(1)
    for call in (
        lambda: centroidal.center_of_mass(model.tree, q),
        lambda: centroidal.com_jacobian(model.tree, q),
        lambda: centroidal.momentum(model.tree, q, v),
        lambda: centroidal.centroidal_momentum_matrix(model.tree, q),
        lambda: centroidal.centroidal_momentum_matrix_dot(model.tree, q, v),
        lambda: centroidal.centroidal_inertia(model.tree, q),
    ):
        with pytest.raises(InputError, match="ghost: no moving body has mass"):
            call()
