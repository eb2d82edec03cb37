"""One motion of a floating robot in four representations: velocities, accelerations, forces, matrices."""

import numpy as np
import pytest

import multibody as mb
from multibody.model import base_velocity, configuration
from multibody.model.builder import Builder
from multibody.model.joints import Floating, Revolute

from ..laws.tools import T, difference, mul, near, unhat
from .trees import random_model, random_state

REPRESENTATIONS = ("left", "right", "mixed", "kindr")
PAIRS = [(a, b) for a in REPRESENTATIONS for b in REPRESENTATIONS]


@pytest.fixture
def rng():
    return np.random.default_rng(47)


@pytest.fixture(params=REPRESENTATIONS)
def model(request, rng):
    return random_model(rng, 4, floating=True, mimic=0.5, velocity=request.param)


def written(H, dH, representation):
    """The twist, by its definition, of a pose (4, 4) that changes at the rate dH.  [MDN 20, 25, 35; RD 2.261]"""
    inverse = np.linalg.inv(H)
    left, right = inverse @ dH, dH @ inverse
    spatial = unhat(right[..., :3, :3])
    match representation:
        case "left":
            return np.concatenate([left[..., :3, 3], unhat(left[..., :3, :3])], axis=-1)
        case "right":
            return np.concatenate([right[..., :3, 3], spatial], axis=-1)
        case "mixed":
            return np.concatenate([dH[..., :3, 3], spatial], axis=-1)
    return np.concatenate([dH[..., :3, 3], unhat(left[..., :3, :3])], axis=-1)


def curve(rng):
    """A smooth motion (t) of a pose, with its analytic matrices, and of q."""
    start = mb.Pose.random(rng)
    a, b = rng.uniform(-0.7, 0.7, (2, 6))

    def pose(t):
        return start @ mb.Pose.exp(np.sin(t) * a) @ mb.Pose.exp(np.cos(2 * t) * b)

    return pose


def state(model, pose, rng):
    """q(t) and v(t) of the robot whose base moves on a curve and whose joints stay."""
    q0, v0 = random_state(model, rng)

    def q(t):
        H = pose(t)
        return np.concatenate([H.position, H.rotation.quaternion, q0[7:]])

    def v(t, representation):
        H = lambda s: pose(s).matrix
        return np.concatenate([written(H(t), difference(H, t), representation), v0[6:]])

    return q, v


def test_all_representations_describe_one_motion(model, rng):
    """[MDN 76; Kindr §Coordinates; RD 2.261]"""
    q, v = state(model, curve(rng), rng)
    for t in (0.0, 0.6, 2.0):
        near(base_velocity.to_left(model.tree, q(t), v(t, model.velocity)), v(t, "left"), 1e-10)
        near(base_velocity.from_left(model.tree, q(t), v(t, "left")), v(t, model.velocity), 1e-10)


def test_steps_of_all_representations_start_alike(rng):
    """[MDN 77-79; RD §2.10.1]"""
    model = random_model(rng, 3, floating=True)
    q, left = random_state(model, rng)
    ends = []
    for representation in REPRESENTATIONS:
        robot = model.with_(velocity=representation)
        v = base_velocity.from_left(robot.tree, q, left)
        ends.append(difference(lambda t, robot=robot, v=v: configuration.integrate(robot.tree, q, t * v)))
    for end in ends[1:]:
        near(end, ends[0], 1e-10)


def test_accelerations_are_derivatives_of_velocities(model, rng):
    """[MDN 76; RD 2.261]"""
    q, v = state(model, curve(rng), rng)
    for t in (0.0, 0.6, 2.0):
        left = difference(lambda s: v(s, "left"), t, 1e-2)
        own = difference(lambda s: v(s, model.velocity), t, 1e-2)
        at, here = q(t), v(t, model.velocity)
        near(base_velocity.acceleration_to_left(model.tree, at, here, own), left, 1e-8)
        near(base_velocity.acceleration_from_left(model.tree, at, v(t, "left"), left), own, 1e-8)


def test_maps_are_inverse_of_each_other(model, rng):
    q, x = random_state(model, rng, (3,))
    there, back = base_velocity.to_left, base_velocity.from_left
    near(back(model.tree, q, there(model.tree, q, x)), x, 1e-14)
    near(base_velocity.force_from_left(model.tree, q, base_velocity.force_to_left(model.tree, q, x)), x, 1e-14)
    v = rng.standard_normal((3, model.nv))
    a = base_velocity.acceleration_to_left(model.tree, q, v, x)
    near(base_velocity.acceleration_from_left(model.tree, q, there(model.tree, q, v), a), x, 1e-13)


def test_power_is_the_same_in_all_representations(model, rng):
    """[MDN 58-60]"""
    q, v = random_state(model, rng, (3,))
    tau = rng.standard_normal((3, model.nv))
    left = np.sum(base_velocity.to_left(model.tree, q, v) * base_velocity.force_to_left(model.tree, q, tau), axis=-1)
    near(left, np.sum(v * tau, axis=-1), 1e-13)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_matrices_between_representations(source, target, rng):
    """[MDN 76]"""
    model = random_model(rng, 2, floating=True)
    q, left = random_state(model, rng, (3,))
    base = model.tree.bases[0]
    there = base_velocity.from_left(model.with_(velocity=source).tree, q, left)[..., base.v]
    expected = base_velocity.from_left(model.with_(velocity=target).tree, q, left)[..., base.v]
    near(mul(base_velocity.between(base, q, source, target), there), expected, 1e-13)
    near(base_velocity.change(base, q[..., base.q], there, source, target), expected, 1e-13)


def test_columns_take_the_velocities_of_the_robot(model, rng):
    """A Jacobian times the velocity is the same twist, whatever the representation.  [MDN 75-76]"""
    q, v = random_state(model, rng, (2,))
    J = rng.standard_normal((2, 5, model.nv))
    left = base_velocity.to_left(model.tree, q, v)
    near(mul(base_velocity.columns_from_left(model.tree, q, J), v), mul(J, left), 1e-13)
    mass = J.transpose(0, 2, 1) @ J
    own = base_velocity.columns_from_left(model.tree, q, T(base_velocity.columns_from_left(model.tree, q, mass)))
    near(np.einsum("bi,bij,bj->b", v, own, v), np.einsum("bi,bij,bj->b", left, mass, left), 1e-11)


def test_joints_keep_their_velocities(model, rng):
    q, v = random_state(model, rng)
    assert np.array_equal(base_velocity.to_left(model.tree, q, v)[6:], v[6:])
    assert np.array_equal(base_velocity.force_to_left(model.tree, q, v)[6:], v[6:])


def test_a_fixed_robot_has_nothing_to_change(rng):
    model = random_model(rng, 3)
    q, v = random_state(model, rng)
    for change in (base_velocity.to_left, base_velocity.from_left, base_velocity.force_to_left):
        assert np.array_equal(change(model.tree, q, v), v)
    J = rng.standard_normal((6, model.nv))
    assert np.array_equal(base_velocity.columns_from_left(model.tree, q, J), J)


def test_two_bases_change_both_and_inner_floating_joints_stay(rng):
    b = Builder("pair").body("one").body("two").body("arm").body("free")
    b.joint("first", Floating(), parent=None, child="one").joint("hinge", Revolute("y"), parent="one", child="arm")
    b.joint("second", Floating(), parent=None, child="two").joint("inner", Floating(), parent="arm", child="free")
    model = b.model(velocity="mixed")
    assert [joint.name for joint in model.tree.bases] == ["first", "second"]
    q, v = random_state(model, rng)
    left = base_velocity.to_left(model.tree, q, v)
    for base in model.tree.bases:
        expected = base_velocity.between(base, q, "mixed", "left") @ v[base.v]
        near(left[base.v], expected, 1e-14)
        assert np.abs(left[base.v] - v[base.v]).max() > 0.1
    for name in ("hinge", "inner"):
        joint = model.joint(name)
        assert np.array_equal(left[joint.v], v[joint.v])
    near(
        configuration.rate_matrix(model.tree, q) @ v,
        difference(lambda t: configuration.integrate(model.tree, q, t * v)),
        1e-10,
    )


@pytest.mark.parametrize("batch", [(2, 3), (0,)])
def test_batches_broadcast(model, rng, batch):
    q = configuration.random(model.tree, rng)
    v = rng.standard_normal((*batch, model.nv))
    found = base_velocity.to_left(model.tree, q, v)
    assert found.shape == v.shape
    for index in np.ndindex(batch):
        near(found[index], base_velocity.to_left(model.tree, q, v[index]), 1e-15)


def test_a_kernel_gives_the_same_numbers(model, rng):
    def everything(q, v, a):
        return (
            base_velocity.to_left(model.tree, q, v),
            base_velocity.from_left(model.tree, q, v),
            base_velocity.acceleration_to_left(model.tree, q, v, a),
            base_velocity.acceleration_from_left(model.tree, q, v, a),
            base_velocity.force_to_left(model.tree, q, a),
            base_velocity.force_from_left(model.tree, q, a),
            base_velocity.columns_from_left(model.tree, q, v[..., None, :] * a[..., :, None]),
        )

    kernel = mb.compile(everything, model.nq, model.nv, model.nv)
    (q, v), a = random_state(model, rng, (5,)), rng.standard_normal((5, model.nv))
    for one, other in zip(kernel(q, v, a), everything(q, v, a), strict=True):
        near(one, other, 1e-13)


def test_single_precision_stays_single(model, rng):
    q, v = (x.astype(np.float32) for x in random_state(model, rng))
    assert base_velocity.to_left(model.tree, q, v).dtype == np.float32
    assert base_velocity.columns_from_left(model.tree, q, v[None] * v[:, None]).dtype == np.float32
