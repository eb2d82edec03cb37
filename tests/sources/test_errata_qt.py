"""docs/errata.md, Quick Tutorial: one test for each entry that a number can decide, named after it.

The printed form fails the check, the corrected one passes it.
"""

import numpy as np
import pytest

import multibody as mb

from .motions import Cloud, constant, random_motion, split
from .truth import T, differ, mul, same, vee

N = 12


@pytest.fixture
def rng():
    return np.random.default_rng(404)


@pytest.fixture
def spinning(rng):
    """R(t), ω, ω', I_0 and the torque of a cloud of particles around its centre of mass."""
    cloud = Cloud(rng)
    cloud.points -= np.average(cloud.points, axis=0, weights=cloud.masses)
    motion = random_motion(rng, (N,))
    R, _ = split(motion)
    W = R.rate @ R.T
    I_0 = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(cloud.masses, cloud.points, strict=True))
    arms = R.now @ cloud.points.T
    torque = np.cross(arms, cloud.masses * cloud.paths(motion).rate.rate.now, axis=-2).sum(-1)
    return cloud, motion, R, vee(W.now), vee(W.rate.now), I_0, torque


def test_qt1_torque_first_line(spinning):
    """[QT 23]: (I_c ω') is printed for the derivative of the whole product I_c ω."""
    _, _, R, w, w_dot, I_0, torque = spinning
    I_c = R @ constant(np.broadcast_to(I_0, (N, 3, 3))) @ R.T
    differ(mul(I_c.now, w_dot), torque)
    same(mul(I_c.now, w_dot) + mul(I_c.rate.now, w), torque, 1e-11)


def test_qt2_torque_second_line(spinning):
    """[QT 23]: (R I_0 R'^T) ω is printed for the derivative of the whole product R I_0 R^T, times ω."""
    _, _, R, w, w_dot, I_0, torque = spinning
    start = mul(R.now @ I_0 @ T(R.now), w_dot)
    half = R.now @ I_0 @ T(R.rate.now)
    differ(start + mul(half, w), torque)
    same(start + mul(half + T(half), w), torque, 1e-11)


def test_qt3_angular_velocity_first_line(rng):
    """[QT 49]: (R_p R_k') is printed for the derivative of the whole product R_p R_k."""
    R_p, R_k = split(random_motion(rng, (N,)))[0], split(random_motion(rng, (N,)))[0]
    R = R_p @ R_k
    w = R.rate.now @ T(R.now)
    differ(R_p.now @ R_k.rate.now @ T(R.now), w)
    same((R_p.rate.now @ R_k.now + R_p.now @ R_k.rate.now) @ T(R.now), w, 1e-12)


def test_qt4_one_mass_for_all_particles(spinning):
    """[QT 18-19]: μ without an index (it is μ_i in section 2) is right only for particles of one mass."""
    cloud, motion, *_ = spinning
    v = cloud.paths(motion).rate.now
    P = cloud.masses.sum() * split(motion)[1].rate.now[..., 0]
    differ((cloud.masses.mean() * v).sum(-1), P)
    same((cloud.masses * v).sum(-1), P, 1e-12)


def test_qt5_homogeneous_centre_of_mass(rng):
    """[QT 57]: W_k c_k needs a one below c_k; with a zero the translations are lost."""
    W, c = rng.normal(size=3), rng.normal(size=3)
    pose = mb.Pose(mb.Rotation.random(rng), W)
    differ(pose.matrix @ np.append(c, 0.0), np.append(pose @ c, 1.0))
    same(pose.matrix @ np.append(c, 1.0), np.append(pose @ c, 1.0))


def test_qt6_two_meanings_of_the_rotation_of_a_link(rng):
    """[QT §5.1]: R_k is the orientation of a link in the world, and a few lines on the rotation of its joint."""
    R_p, world = mb.Rotation.random(rng, (N,)), mb.Rotation.random(rng, (N,))
    differ((R_p @ world).matrix, world.matrix)  # R_k^0 = R_p^0 R_k, when R_k is the orientation in the world
    same((R_p @ (R_p.inverse() @ world)).matrix, world.matrix)


def test_qt8_kinetic_energy(spinning):
    """[QT 25]: the first factor of r_i^T r_i' has lost its dot; as printed it is not even always positive."""
    cloud, motion, *_ = spinning
    path, velocity = cloud.paths(motion).now, cloud.paths(motion).rate.now
    inertia = mb.SpatialInertia.from_matrix(cloud.inertia)
    R, o = split(motion)
    B_v = np.concatenate([mul(T(R.now), o.rate.now[..., 0]), vee((R.T @ R.rate).now)], axis=-1)
    truth = inertia.kinetic_energy(B_v)
    differ((0.5 * cloud.masses * path * velocity).sum(axis=(-2, -1))[:, None], truth[:, None])
    same((0.5 * cloud.masses * velocity * velocity).sum(axis=(-2, -1)), truth, 1e-12)
