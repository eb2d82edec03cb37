"""One motion of a robot, its base's velocity written in four ways: results are related by their maps.  [MDN 75-76]"""

import numpy as np

from multibody.algorithms import centroidal, coriolis, crba, energy, jacobian, kinematics
from multibody.algorithms.change_of_velocity import equations_of_motion, transformed
from multibody.algorithms.rnea import rnea
from multibody.geometry.representations import REPRESENTATIONS
from multibody.model import base_velocity, configuration

from ..laws.tools import T, mul, near
from .covering import law
from .states import rate


def others(s):
    """The same robot in each representation, with v and a of the same motion, and B with v = B v_other."""
    left_v = base_velocity.to_left(s.tree, s.q, s.v)
    left_a = base_velocity.acceleration_to_left(s.tree, s.q, s.v, s.a)
    for name in REPRESENTATIONS:
        other = s.model.with_(velocity=name).tree
        v = base_velocity.from_left(other, s.q, left_v)
        a = base_velocity.acceleration_from_left(other, s.q, left_v, left_a)
        yield other, v, a, lambda q, name=name: change(s.model, q, name)


def change(model, q, name):
    """B(q), (..., nv, nv): v in the model's representation is B times v in another."""
    B = np.broadcast_to(np.eye(model.nv), (*q.shape[:-1], model.nv, model.nv)).copy()
    for joint in model.tree.bases:
        B[..., joint.v, joint.v] = base_velocity.between(joint, q, name, model.velocity)
    return B


@law(floating=True, pairs=False, passive=False)
def test_what_does_not_depend_on_the_representation(s):
    for other, v, a, _ in others(s):
        for name in ("left", "right", "mixed"):
            ours = kinematics.velocity(s.tree, s.frame, s.q, s.v, name)
            near(kinematics.velocity(other, s.frame, s.q, v, name), ours, 1e-10)
            ours = kinematics.acceleration(s.tree, s.frame, s.q, s.v, s.a, name)
            near(kinematics.acceleration(other, s.frame, s.q, v, a, name), ours, 1e-9)
        near(energy.kinetic_energy(other, s.q, v), energy.kinetic_energy(s.tree, s.q, s.v), 1e-10)
        near(energy.power(other, s.q, v, a), energy.power(s.tree, s.q, s.v, s.a), 1e-9)
        ours = centroidal.centroidal_momentum_rate(s.tree, s.q, s.v, s.a)
        near(centroidal.centroidal_momentum_rate(other, s.q, v, a), ours, 1e-9)


@law(floating=True, pairs=False, passive=False)
def test_matrices_and_forces_are_related_by_the_map(s):
    M, tau = crba.crba(s.tree, s.q), rnea(s.tree, s.q, s.v, s.a)
    J, A = jacobian.jacobian(s.tree, s.frame, s.q), centroidal.centroidal_momentum_matrix(s.tree, s.q)
    for other, v, a, map_of in others(s):
        B = map_of(s.q)
        near(mul(B, v), s.v, 1e-11)
        near(crba.crba(other, s.q), T(B) @ M @ B, 1e-9)
        near(rnea(other, s.q, v, a), mul(T(B), tau), 1e-9)
        near(coriolis.gravity(other, s.q), mul(T(B), coriolis.gravity(s.tree, s.q)), 1e-9)
        near(jacobian.jacobian(other, s.frame, s.q), J @ B, 1e-10)
        near(centroidal.centroidal_momentum_matrix(other, s.q), A @ B, 1e-9)


@law(floating=True, pairs=False, passive=False)
def test_transformed_equations_of_motion(s):
    """M and h of other velocities by Kindr's rule, and by the model with that base."""
    M, h = equations_of_motion(s.tree, s.q, s.v)
    for other, v, _, map_of in others(s):
        B_dot = rate(s, lambda q, _, map_of=map_of: map_of(q))
        M_other, h_other = transformed(M, h, map_of(s.q), B_dot, v)
        found = equations_of_motion(s.tree, s.q, v, base=other.velocity)
        near(M_other, found[0], 1e-9)
        near(h_other, found[1], 1e-7)


@law(floating=True, pairs=False)
def test_every_representation_integrates_its_own_velocity(s):
    """d/dt integrate(q, t v) moves the frame with the velocity of v, in each representation."""
    for other, v, _, _ in others(s):
        h = 1e-5
        ends = [kinematics.pose(other, s.frame, configuration.integrate(other, s.q, d * v)) for d in (-h, h)]
        rates = (ends[1].position - ends[0].position) / (2 * h)
        near(kinematics.velocity(s.tree, s.frame, s.q, s.v, "mixed")[:3], rates, 1e-7)
