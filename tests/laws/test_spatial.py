"""Twists, wrenches and inertias: invariance of power, change of frame, and a known motion of known particles.

The motion is analytic in time, so its first derivative is exact (a complex step); a second one is a difference.
"""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm

from multibody import InputError, Pose, Rotation, SpatialInertia, Twist, Wrench
from multibody.geometry import kirchhoff, operators, points, representations

from ..every_law import each_case
from ..surface import REPRESENTATIONS, homogeneous_matrices, particles, rotational_inertia
from .tools import T, difference, hat, mul, near, unhat, vectors

STEP = 1e-30
twists = vectors(6).map(Twist.from_vector)
wrenches = vectors(6).map(Wrench.from_vector)
poses = vectors(6).map(Pose.exp)
every_pair = each_case("source, target", list(product(REPRESENTATIONS, repeat=2)))


# ---- twists and wrenches ---------------------------------------------------------------------------------------------


@given(v=twists, u=twists, s=st.floats(-3, 3))
def test_twists_are_a_vector_space(v, u, s):
    near((v + u).vector, v.vector + u.vector)
    near((v - u).vector, v.vector - u.vector)
    near((s * v).vector, s * v.vector)
    near((v * s).vector, s * v.vector)
    near((-v).vector, -v.vector)
    near((v + Twist.zero()).vector, v.vector, 0.0)
    near(Twist(v.linear, v.angular).vector, v.vector, 0.0)


@given(A_H_B=poses, v=twists, f=wrenches)
def test_a_pose_moves_twists_by_Ad_and_wrenches_by_its_dual(A_H_B, v, f):
    """[MDN 27-29, 58-59, 64]"""
    near((A_H_B @ v).vector, A_H_B.adjoint @ v.vector)
    near((A_H_B @ f).vector, A_H_B.dual_adjoint @ f.vector)
    near((A_H_B @ v).hat(), A_H_B.matrix @ v.hat() @ A_H_B.inverse().matrix)


@given(A_H_B=poses, v=twists, f=wrenches)
def test_power_does_not_depend_on_the_frame(A_H_B, v, f):
    """[MDN 60]"""
    near((A_H_B @ v).power(A_H_B @ f), v.power(f), 1e-11)
    near(v.power(f), v.vector @ f.vector)


@given(A_H_B=poses, B_H_C=poses, v=twists, f=wrenches)
def test_moving_composes_and_has_an_inverse(A_H_B, B_H_C, v, f):
    for x in (v, f):
        near(((A_H_B @ B_H_C) @ x).vector, (A_H_B @ (B_H_C @ x)).vector, 1e-11)
        near((A_H_B.inverse() @ (A_H_B @ x)).vector, x.vector, 1e-11)


@given(v=twists, u=twists, f=wrenches)
def test_cross_products_are_ad_and_its_dual(v, u, f):
    """v × u = ad_v u = -u × v, and v ×* f = -ad_v^T f.  [MDN 38-40, 62, 65; From 8]"""
    near(v.cross(u).vector, v.ad() @ u.vector)
    near(v.cross(u).vector, -u.cross(v).vector)
    near(v.cross(v).vector, np.zeros(6))
    near(v.cross(u).hat(), v.hat() @ u.hat() - u.hat() @ v.hat())
    near(v.cross(f).vector, -v.ad().T @ f.vector)
    near(v.cross(f).vector, operators.ad_dual(v.vector) @ f.vector)
    near(v.cross(u).power(f), -u.power(v.cross(f)), 1e-11)


@given(A_H_B=poses, v=twists, u=twists, f=wrenches)
def test_poses_keep_cross_products(A_H_B, v, u, f):
    """X (v × u) = X v × X u, and the same for the dual.  [MDN 41, 63]"""
    near((A_H_B @ v.cross(u)).vector, (A_H_B @ v).cross(A_H_B @ u).vector, 1e-11)
    near((A_H_B @ v.cross(f)).vector, (A_H_B @ v).cross(A_H_B @ f).vector, 1e-11)


@given(W=vectors(3), V=vectors(6))
def test_hats_and_vees_are_inverse(W, V):
    """[MDN 5-8; RD §1.2; Kindr §Operators]"""
    near(operators.vee3(operators.hat3(W)), W)
    near(operators.vee6(operators.hat6(V)), V)
    near(operators.hat3(W) @ V[:3], np.cross(W, V[:3]))
    near(operators.cross3(W, V[3:]), np.cross(W, V[3:]))


# ---- a motion --------------------------------------------------------------------------------------------------------


class Motion:
    """A_H_B(t) = exp(a^ t) H exp(b^ sin t), with its twists exact at every time."""

    def __init__(self, seed, batch=(6,)):
        rng = np.random.default_rng(seed)
        a, b = rng.uniform(-1, 1, (2, *batch, 6))
        self._a, self._b, self._H = self._hat(a), self._hat(b), homogeneous_matrices(rng, batch)

    @staticmethod
    def _hat(v):
        top = np.concatenate([hat(v[..., 3:]), v[..., :3, None]], axis=-1)
        return np.concatenate([top, 0 * top[..., :1, :]], axis=-2)

    def at(self, t):
        return expm(self._a * t) @ self._H @ expm(self._b * np.sin(t))

    def rate(self, t):
        return self.at(t + 1j * STEP).imag / STEP

    def pose(self, t=0.3):
        return Pose.from_matrix(self.at(t))

    def twist(self, representation, t=0.3):
        """By the definitions of the four representations.  [MDN 20-26, 35; Kindr §Coordinates]"""
        H, dH = self.at(t), self.rate(t)
        R, dR = H[..., :3, :3], dH[..., :3, :3]
        if representation in ("left", "right"):
            X = np.linalg.inv(H) @ dH if representation == "left" else dH @ np.linalg.inv(H)
            return np.concatenate([X[..., :3, 3], unhat(X[..., :3, :3])], axis=-1)
        W = dR @ T(R) if representation == "mixed" else T(R) @ dR
        return np.concatenate([dH[..., :3, 3], unhat(W)], axis=-1)

    def acceleration(self, representation, t=0.3):
        """The time derivative of that.  [MDN 44]"""
        return difference(lambda s: self.twist(representation, s), t)


@pytest.fixture(scope="module")
def motion():
    return Motion(1)


# ---- representations -------------------------------------------------------------------------------------------------


@every_pair
def test_twists_change_their_representation(motion, source, target):
    """[MDN 27-28, 33-35]"""
    H, twist = motion.pose(), motion.twist(source)
    near(representations.velocity(H, twist, source, target), motion.twist(target))
    near(mul(representations.transform(H, source, target), twist), motion.twist(target))


@every_pair
def test_accelerations_change_their_representation(motion, source, target):
    """[MDN 44-46, 52-55]"""
    found = representations.acceleration(
        motion.pose(), motion.twist(source), motion.acceleration(source), source, target
    )
    near(found, motion.acceleration(target), 1e-9)


@every_pair
def test_wrenches_change_their_representation_and_keep_their_power(motion, source, target):
    """[MDN 58-60]"""
    f = np.random.default_rng(2).uniform(-1, 1, (6, 6))
    found = representations.wrench(motion.pose(), f, source, target)
    power = np.sum(f * motion.twist(source), axis=-1)
    near(np.sum(found * motion.twist(target), axis=-1), power)
    near(representations.wrench(motion.pose(), found, target, source), f)
    near(mul(T(representations.transform(motion.pose(), source, target)), found), f)


def test_the_rate_of_the_transform_of_twists_and_wrenches(motion):
    """A_X_B' = A_X_B (B_v_AB ×), and A_Xf_B' = A_Xf_B (B_v_AB ×*).  [MDN 37, 42, 61, 66]"""
    B_v = motion.twist("left")
    rate = difference(lambda t: motion.pose(t).adjoint, 0.3)
    near(rate, motion.pose().adjoint @ operators.ad(B_v), 1e-9)
    rate = difference(lambda t: motion.pose(t).dual_adjoint, 0.3)
    near(rate, motion.pose().dual_adjoint @ operators.ad_dual(B_v), 1e-9)


def test_a_twist_and_its_accelerations_in_a_third_moving_frame(motion):
    """C_v_AB, its time derivative, and the intrinsic acceleration C_X_A d/dt A_v_AB.  [MDN 32-33, 45, 47-51, 56]"""
    other = Motion(3)  # A_H_C(t)
    C_H_B = lambda t: other.pose(t).inverse() @ motion.pose(t)
    C_v_AB = lambda t: representations.in_frame(C_H_B(t), motion.twist("left", t))
    near(C_v_AB(0.3), mul(other.pose().inverse().adjoint, motion.twist("right")))

    apparent = difference(C_v_AB, 0.3)
    B_v_CB = motion.twist("left") - mul(C_H_B(0.3).inverse().adjoint, other.twist("left"))
    found = representations.apparent_in_frame(C_H_B(0.3), B_v_CB, motion.twist("left"), motion.acceleration("left"))
    near(found, apparent, 1e-9)

    intrinsic = mul(other.pose().inverse().adjoint, motion.acceleration("right"))
    C_v_AC = other.twist("left")
    near(representations.intrinsic(apparent, C_v_AC, C_v_AB(0.3)), intrinsic, 1e-9)
    near(representations.apparent(intrinsic, C_v_AC, C_v_AB(0.3)), apparent, 1e-9)


def test_points_of_a_moving_body(motion):
    """v_P and a_P of a point fixed to B, and of one that moves in B.  [RD 2.115-2.122; Kindr §Linear Velocity]"""
    B_r = np.array([0.3, -0.5, 0.7])
    place = lambda t: motion.pose(t) @ B_r
    v, a = motion.twist("mixed"), motion.acceleration("mixed")
    A_r = motion.pose().rotation @ B_r
    near(points.velocity(v[:, :3], v[:, 3:], A_r), difference(place, 0.3), 1e-9)
    second = difference(lambda t: points.velocity(motion.twist("mixed", t)[:, :3], motion.twist("mixed", t)[:, 3:],
                                                  motion.pose(t).rotation @ B_r), 0.3)  # fmt: skip
    near(points.acceleration(a[:, :3], v[:, 3:], a[:, 3:], A_r), second, 1e-9)

    moving = lambda t: B_r * np.cos(t)
    B_r_dot, B_v = -B_r * np.sin(0.3), motion.twist("left")
    R = motion.pose().rotation
    near(
        R @ points.derivative(moving(0.3), B_r_dot, B_v[:, 3:]),
        difference(lambda t: motion.pose(t).rotation @ moving(t), 0.3),
        1e-9,
    )
    near(
        R @ points.velocity_of_moving_point(B_v[:, :3], moving(0.3), B_r_dot, B_v[:, 3:]),
        difference(lambda t: motion.pose(t) @ moving(t), 0.3),
        1e-9,
    )


# ---- inertia ---------------------------------------------------------------------------------------------------------


class Body:
    """Particles fixed in B, and the inertia that the library makes of them."""

    def __init__(self, seed, batch=(6,)):
        self.masses, self.places = particles(np.random.default_rng(seed), batch)
        mass = self.masses.sum(-1)
        com = np.einsum("...n,...ni->...i", self.masses, self.places) / mass[..., None]
        about_com = rotational_inertia(self.masses, self.places - com[..., None, :])
        self.inertia = SpatialInertia(mass=mass, com=com, inertia=about_com)

    def momentum(self, motion, t):
        """Linear momentum and angular momentum about the origin of A, in A: a sum over particles."""
        H, dH = motion.at(t), motion.rate(t)
        r = self.places @ T(H[..., :3, :3]) + H[..., None, :3, 3]
        p = self.masses[..., None] * (self.places @ T(dH[..., :3, :3]) + dH[..., None, :3, 3])
        return np.concatenate([p.sum(-2), np.cross(r, p).sum(-2)], axis=-1)


@pytest.fixture(scope="module")
def body():
    return Body(4)


def test_the_inertia_is_that_of_its_particles(body, motion):
    """Matrix, momentum and kinetic energy.  [MDN 67-69; RD 3.15-3.20; QT 18-21; From 60]"""
    I, B_v = body.inertia, motion.twist("left")
    maps = np.concatenate(
        [np.broadcast_to(np.eye(3), (6, 6, 3, 3)), -hat(body.places)], axis=-1
    )  # v_particle = map B_v
    near(I.matrix, np.einsum("bn,bnij,bnik->bjk", body.masses, maps, maps))
    near(I.about_origin, rotational_inertia(body.masses, body.places))
    near(I.momentum(B_v), mul(I.matrix, B_v))
    near((I @ Twist.from_vector(B_v)).vector, I.momentum(B_v))
    near((motion.pose() @ (I @ Twist.from_vector(B_v))).vector, body.momentum(motion, 0.3))
    speeds = np.einsum("bnij,bj->bni", maps, B_v)
    near(I.kinetic_energy(B_v), np.einsum("bn,bni,bni->b", body.masses, speeds, speeds) / 2)


def test_inertia_in_another_frame(body, motion):
    """A_M = A_Xf_B B_M B_X_A, and momentum moves as a wrench.  [MDN 68; QT 21]"""
    A_H_B, I = motion.pose(), body.inertia
    near((A_H_B @ I).matrix, A_H_B.dual_adjoint @ I.matrix @ A_H_B.inverse().adjoint)
    near(I.transformed(A_H_B).matrix, (A_H_B @ I).matrix, 0.0)
    B_v = Twist.from_vector(motion.twist("left"))
    near(((A_H_B @ I) @ (A_H_B @ B_v)).vector, (A_H_B @ (I @ B_v)).vector)
    near((A_H_B @ I).kinetic_energy((A_H_B @ B_v).vector), I.kinetic_energy(B_v.vector))


def test_two_bodies_as_one(body):
    """The sum of matrices, of parameters, and of particles."""
    other = Body(5)
    both = body.inertia + other.inertia
    near(both.matrix, body.inertia.matrix + other.inertia.matrix)
    near(both.parameters(), body.inertia.parameters() + other.inertia.parameters())
    near((other.inertia + body.inertia).matrix, both.matrix)
    nothing = SpatialInertia(mass=0.0, com=np.ones(3), inertia=np.zeros((3, 3)))
    near((body.inertia + nothing).matrix, body.inertia.matrix)
    near((nothing + nothing).matrix, np.zeros((6, 6)))


def test_parameters_and_matrix_there_and_back(body):
    I = body.inertia
    for other in (SpatialInertia.from_parameters(I.parameters()), SpatialInertia.from_matrix(I.matrix)):
        near(other.mass, I.mass)
        near(other.com, I.com)
        near(other.inertia, I.inertia)
    J = I.about_origin
    order = [J[:, i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]
    near(I.parameters(), np.stack([I.mass, *(I.mass[:, None] * I.com).T, *order], axis=-1))


@pytest.mark.parametrize("make", ["parameters", "matrix"])
def test_a_body_without_mass_comes_back_from_its_parameters(make):
    """A frame without a body is all zeros, and a massless rotor has an inertia alone."""
    for J in (np.zeros((3, 3)), np.diag([0.1, 0.2, 0.2])):
        I = SpatialInertia(mass=0.0, com=np.zeros(3), inertia=J)
        back = (
            SpatialInertia.from_parameters(I.parameters())
            if make == "parameters"
            else SpatialInertia.from_matrix(I.matrix)
        )
        near(back.matrix, I.matrix)


def test_float32_inertias_survive_a_change_of_frame_and_both_ways_back(body, motion):
    narrow = lambda x: np.asarray(x, np.float32)
    I = SpatialInertia(
        mass=narrow(body.inertia.mass), com=narrow(body.inertia.com), inertia=narrow(body.inertia.inertia)
    )
    moved = Pose.from_matrix(narrow(motion.at(0.3))) @ I
    near(SpatialInertia(mass=moved.mass, com=moved.com, inertia=moved.inertia).matrix, moved.matrix, 1e-6)
    near(SpatialInertia.from_matrix(moved.matrix).matrix, moved.matrix, 1e-5)
    near(SpatialInertia.from_parameters(moved.parameters()).matrix, moved.matrix, 1e-5)
    assert moved.problems() == ()


def test_newton_euler_is_the_rate_of_the_momentum(body, motion):
    """The wrench, in A, is the time derivative of the momentum of the particles.  [From 5, 7, 11, 76; RD 3.22-3.25]"""
    B_v, B_a = motion.twist("left"), motion.acceleration("left")
    B_f = body.inertia.newton_euler(B_v, B_a)
    rate = difference(lambda t: body.momentum(motion, t), 0.3)
    near((motion.pose() @ Wrench.from_vector(B_f)).vector, rate, 1e-9)
    near(body.inertia.acceleration(B_v, B_f), B_a)
    p = body.inertia.momentum(B_v)
    near(kirchhoff(B_v, p, body.inertia.momentum(B_a)), B_f)


def test_newton_euler_at_the_centre_of_mass(body, motion):
    """m a and Θ Ψ + Ω × Θ Ω are the same wrench, moved to the centre of mass.  [RD 3.18-3.25; QT 22-24]"""
    B_v, B_a, I = motion.twist("left"), motion.acceleration("left"), body.inertia
    w, psi = B_v[:, 3:], B_a[:, 3:]
    a_B = B_a[:, :3] + np.cross(w, B_v[:, :3])  # of the origin, along the axes of B
    a_com = a_B + np.cross(psi, I.com) + np.cross(w, np.cross(w, I.com))
    force, torque = I.newton_euler_at_com(w, a_com, psi)
    G_H_B = Pose(Rotation.identity(), -I.com)
    near(np.concatenate([force, torque], axis=-1), (G_H_B @ Wrench.from_vector(I.newton_euler(B_v, B_a))).vector)


BAD = {
    "the mass must be positive, and is -1 kg": {"mass": -1.0},
    "the mass must be positive, and is 0 kg": {"mass": 0.0},
    "positive definite, but has the principal moment -0.2": {"inertia": np.diag([0.3, 0.3, -0.2])},
    "positive definite, but has the principal moment 0 ": {"inertia": np.diag([0.3, 0.3, 0.0])},
    "triangle inequality), but one does by 0.5 kg": {"inertia": np.diag([0.2, 0.3, 1.0])},
    "a number is not finite": {"com": np.array([0.0, np.nan, 0.0])},
}


@each_case("reason", BAD)
def test_an_inertia_that_no_body_has_says_why(reason):
    good = {"mass": 1.0, "com": np.zeros(3), "inertia": np.diag([0.3, 0.3, 0.3])}
    assert SpatialInertia(**good).problems() == ()
    assert SpatialInertia(**good).check() == SpatialInertia(**good)
    bad = SpatialInertia(**(good | BAD[reason]))
    assert any(reason in problem for problem in bad.problems())
    with pytest.raises(InputError) as error:
        bad.check()
    assert reason in str(error.value)


def test_flat_and_thin_bodies_are_bodies_in_every_frame():
    """A plate is at the limit of the triangle inequality: rounding must not make it impossible."""
    for J in (np.diag([0.1, 0.2, 0.3]), np.diag([1e-6, 1.0, 1.0])):
        for dtype in (np.float64, np.float32):
            A_H_B = Pose.from_matrix(homogeneous_matrices(np.random.default_rng(6), (50,)).astype(dtype))
            plate = SpatialInertia(mass=np.ones((), dtype), com=np.zeros(3, dtype), inertia=J.astype(dtype))
            assert (A_H_B @ plate).problems() == ()


def test_problems_of_a_batch_name_the_sample(body):
    parameters = body.inertia.parameters().reshape(2, 3, 10)
    parameters[1, 2] *= -1
    problems = SpatialInertia.from_parameters(parameters).problems()
    assert problems
    assert all("(sample 1, 2)" in problem for problem in problems)
    with pytest.raises(InputError, match=r"\(sample 1, 2\)"):
        SpatialInertia.from_parameters(parameters).check()
