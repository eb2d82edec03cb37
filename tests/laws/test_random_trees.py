"""The laws of dynamics on random robots: every kind of joint, fixed and floating, in all base representations.

The robots have branches, coupled joints, links without inertia of their own, drives with armature, any gravity.
"""

import numpy as np
from hypothesis import assume, given

from multibody.algorithms import coriolis, crba, energy, forward_dynamics, regressor, rnea
from multibody.algorithms.aba import aba
from multibody.model import base_velocity
from multibody.textbook.projected_newton_euler import projected_newton_euler

from ..algorithms.covering import law
from ..algorithms.states import rate, states
from .tools import T, mul, near


def solvable(s):
    """A tree whose mass matrix can be inverted with ten digits to spare: coupled joints can cancel each other."""
    return s.model.nv == 0 or np.linalg.cond(crba.crba(s.tree, s.q)) < 1e7


@law()
def test_inverse_dynamics_undoes_forward_dynamics(s):
    assume(solvable(s))
    tau = s.rng.standard_normal(s.model.nv)
    ways = [forward_dynamics.forward_dynamics, forward_dynamics.by_factors]
    if not any(joint.mimic for joint in s.model.joints):
        ways.append(aba)
    for way in ways:
        a = way(s.tree, s.q, s.v, tau)
        near(rnea.rnea(s.tree, s.q, s.v, a), tau, 1e-8)


@law()
def test_forward_dynamics_undoes_inverse_dynamics_under_wrenches(s):
    assume(solvable(s))
    wrenches = {frame: s.rng.standard_normal(6) for frame in s.some_frames}
    tau = rnea.rnea(s.tree, s.q, s.v, s.a, wrenches)
    near(forward_dynamics.forward_dynamics(s.tree, s.q, s.v, tau, wrenches), s.a, 1e-7)
    if not any(joint.mimic for joint in s.model.joints):
        near(aba(s.tree, s.q, s.v, tau, wrenches), s.a, 1e-7)


@given(states(kinds=("revolute", "prismatic", "spherical", "universal"), chain=True, most=9))
def test_long_chains_go_through_the_articulated_bodies(s):
    assume(solvable(s))
    near(
        forward_dynamics.forward_dynamics(s.tree, s.q, s.v, s.a),
        forward_dynamics.by_factors(s.tree, s.q, s.v, s.a),
        1e-7,
    )


@law()
def test_mass_matrix_is_symmetric_and_positive(s):
    M = crba.crba(s.tree, s.q)
    assert np.array_equal(M, T(M))
    assert (np.linalg.eigvalsh(M) > -1e-12).all()
    assume(solvable(s))
    np.linalg.cholesky(M)


@law()
def test_mass_matrix_from_unit_accelerations(s):
    one = np.eye(s.model.nv)
    columns = rnea.rnea(s.tree, s.q, s.v, one) - rnea.rnea(s.tree, s.q, s.v, 0 * one)
    near(crba.crba(s.tree, s.q), T(columns), 1e-10)


@law()
def test_equations_of_motion_are_linear_in_the_acceleration(s):
    tau = rnea.rnea(s.tree, s.q, s.v, s.a)
    near(mul(crba.crba(s.tree, s.q), s.a) + coriolis.bias(s.tree, s.q, s.v), tau, 1e-10)
    near(coriolis.gravity(s.tree, s.q), coriolis.bias(s.tree, s.q, 0 * s.v), 1e-12)


@law()
def test_coriolis_matrix(s):
    """C v + g = h, and M' - 2 C is skew-symmetric.  [From Prop. 3.1]"""
    C = coriolis.coriolis(s.tree, s.q, s.v)
    near(mul(C, s.v) + coriolis.gravity(s.tree, s.q), coriolis.bias(s.tree, s.q, s.v), 1e-10)
    M_dot = rate(s, lambda q, _: crba.crba(s.tree, q))
    near(M_dot - C, T(C), 1e-7)


@law()
def test_kinetic_energy_is_half_the_square_in_the_mass_matrix(s):
    near(energy.kinetic_energy(s.tree, s.q, s.v), s.v @ crba.crba(s.tree, s.q) @ s.v / 2, 1e-11)
    if solvable(s):  # the factors divide by diagonal entries
        left = base_velocity.to_left(s.tree, s.q, s.v)
        square = forward_dynamics.factors(s.tree, s.q).quadratic(left)
        near(square / 2, energy.kinetic_energy(s.tree, s.q, s.v), 1e-9)


@law()
def test_power_is_the_rate_of_the_energy(s):
    """[RD 3.54]"""

    def total(q, v):
        return energy.kinetic_energy(s.tree, q, v) + energy.potential_energy(s.tree, q)

    near(energy.power(s.tree, s.q, s.v, s.a), rate(s, total), 1e-7)


@law()
def test_gravity_is_the_gradient_of_the_potential_energy(s):
    """[RD 3.32]"""
    near(s.v @ coriolis.gravity(s.tree, s.q), rate(s, lambda q, _: energy.potential_energy(s.tree, q)), 1e-8)


@law()
def test_projected_newton_euler_equals_the_recursions(s):
    """[RD 3.43-3.48]"""
    found = projected_newton_euler(s.tree, s.q, s.v)
    near(found.M, crba.crba(s.tree, s.q), 1e-10)
    near(found.g, coriolis.gravity(s.tree, s.q), 1e-10)
    near(found.b + found.g, coriolis.bias(s.tree, s.q, s.v), 1e-10)


@law()
def test_inverse_dynamics_is_linear_in_the_parameters(s):
    Y = regressor.regressor(s.tree, s.q, s.v, s.a)
    assert Y.shape == (s.model.nv, 10 * len(s.model.bodies))
    tau = Y @ regressor.parameters(s.tree).ravel() + s.model.armature * s.a
    near(tau, rnea.rnea(s.tree, s.q, s.v, s.a), 1e-10)


@law()
def test_joint_wrenches_project_to_the_torques(s):
    """[QT 72-73]"""
    wrenches = {frame: s.rng.standard_normal(6) for frame in s.some_frames}
    for given_wrenches in (None, wrenches):
        through = rnea.joint_wrenches(s.tree, s.q, s.v, s.a, given_wrenches)
        assert through.shape == (len(s.model.bodies), 6)
        left = np.zeros(s.model.nv)
        for body, f in zip(s.model.bodies, through, strict=True):
            left[body.joint.v] += body.joint.subspace(s.q).matrix.T @ f
        tau = rnea.rnea(s.tree, s.q, s.v, s.a, given_wrenches)
        near(base_velocity.force_from_left(s.tree, s.q, left) + s.model.armature * s.a, tau, 1e-9)
