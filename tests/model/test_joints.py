"""Laws of every kind of joint, alone: motion, subspace, bias, steps, rates, batches, precision, kernels."""

import numpy as np
import pytest
from scipy.linalg import expm

import multibody as mb
from multibody.errors import InputError
from multibody.geometry import Pose, Rotation
from multibody.model.joints import (
    KINDS,
    Continuous,
    Cylindrical,
    Fixed,
    Floating,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Schoenflies,
    Spherical,
    Translational,
    Universal,
)
from multibody.model.joints._axes import unit_axis

from ..every_law import each_case
from ..laws.tools import difference, hat, mul, near, unhat
from .trees import MOVING, SAMPLES, random_kind

EVERY = each_case("kind", SAMPLES.values(), ids=SAMPLES.keys())
ROUND = (Continuous, Spherical, Planar, Schoenflies, Floating)
"""Kinds on which a whole turn leads back to where one was."""


@pytest.fixture
def rng():
    return np.random.default_rng(20)


def draw(kind, rng, batch=()):
    """Coordinates and velocities."""
    none = np.full(kind.nq, np.inf)
    return kind.random(rng, -none, none, batch), rng.uniform(-1, 1, (*batch, kind.nv))


def hat6(x):
    X = np.zeros((4, 4))
    X[:3, :3], X[:3, 3] = hat(x[3:]), x[:3]
    return X


def body_twist(path):
    """vee(H^-1 dH/dt) at t = 0."""
    X = np.linalg.inv(path(0.0)) @ difference(path)
    return np.concatenate([X[..., :3, 3], unhat(X[..., :3, :3])], axis=-1)


def angular(kind):
    """Which velocities are angles."""
    return np.array([rate == "rad" for rate in kind.rates], dtype=bool)


def test_there_is_a_sample_of_every_kind():
    assert {type(kind) for kind in SAMPLES.values()} == set(KINDS)
    assert {kind.name for kind in SAMPLES.values()} == {"fixed", *MOVING}
    assert {type(random_kind(np.random.default_rng(0), name)) for name in ("fixed", *MOVING)} == set(KINDS)


@EVERY
def test_sizes_and_units_fit(kind):
    assert len(kind.units) == kind.nq
    assert len(kind.rates) == kind.nv
    assert sum(group.dim for group in kind.groups) == kind.nv
    assert kind.neutral().shape == (kind.nq,)


# ---- motion ----------------------------------------------------------------------------------------------------------


@EVERY
def test_neutral_is_the_identity(kind):
    near(kind.pose(kind.neutral()).matrix, np.eye(4), 0.0)


@EVERY
def test_subspace_is_the_derivative_of_the_pose(kind, rng):
    """[From Def. 4.2; From 58; RD 2.130]"""
    for _ in range(4):
        q, v = draw(kind, rng)
        twist = body_twist(lambda t, q=q, v=v: kind.pose(kind.integrate(q, t * v)).matrix)
        near((kind.subspace(q) @ v).vector, twist, 1e-10)


@EVERY
def test_bias_is_the_derivative_of_the_subspace(kind, rng):
    for _ in range(4):
        q, v = draw(kind, rng)
        bias = kind.bias(q, v)
        rate = difference(lambda t, q=q, v=v: kind.subspace(kind.integrate(q, t * v)).matrix) @ v
        near(np.zeros(6) if bias is None else bias.vector, rate, 1e-10)
    assert (bias is None) == (not kind.held_by_parent)


@EVERY
def test_a_step_is_an_exponential_where_the_subspace_is_constant(kind, rng):
    """[From 59; MDN 77]"""
    if kind.held_by_parent:
        return
    for size in (1e-9, 1.0, 5.0):
        q, v = draw(kind, rng)
        step = expm(hat6(kind.subspace(q).matrix @ (size * v)))
        near(kind.pose(kind.integrate(q, size * v)).matrix, kind.pose(q).matrix @ step, 1e-12)


def test_universal_is_two_hinges_in_one_place(rng):
    q = rng.uniform(-3, 3, 2)
    first, second = (1.0, 2.0, -2.0), (0.3, -0.1, 1.0)
    two = Revolute(first).pose(q[:1]) @ Revolute(second).pose(q[1:])
    near(Universal(first, second).pose(q).matrix, two.matrix)


def test_cylindrical_is_a_slider_and_a_hinge(rng):
    q = rng.uniform(-3, 3, 2)
    near(
        Cylindrical((1, 2, 3)).pose(q).matrix,
        (Prismatic((1, 2, 3)).pose(q[:1]) @ Revolute((1, 2, 3)).pose(q[1:])).matrix,
    )


def test_frames_of_the_child_lie_on_the_joint_until_it_moves(rng):
    """A random rotation of a ball joint is the rotation of its quaternion.  [From §4.1]"""
    q = draw(Spherical(), rng)[0]
    near(Spherical().pose(q).rotation.matrix, Rotation.from_quaternion(q).matrix, 1e-15)
    assert Fixed().pose(np.zeros(0)) == Pose.identity()


def test_schoenflies_is_a_slide_and_a_hinge(rng):
    """[From §4.4]"""
    q = rng.uniform(-2, 2, 4)
    for axis in "xyz":
        two = Translational().pose(q[:3]) @ Revolute(axis).pose(q[3:])
        near(Schoenflies(axis).pose(q).matrix, two.matrix, 1e-15)


def test_velocities_of_a_planar_joint_are_those_of_the_child(rng):
    """The rate of the position is turned by the angle.  [From §4.3]"""
    q, v = draw(Planar(), rng)
    c, s = np.cos(q[2]), np.sin(q[2])
    near(mul(Planar().rate_matrix(q), v), [c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]], 1e-15)


# ---- integrate and difference ----------------------------------------------------------------------------------------


@EVERY
@each_case("size", [0.0, 1e-300, 1e-12, 1e-7, 1e-3, 1.0, 3.0, np.pi - 1e-7, np.pi - 1e-13])
def test_difference_finds_the_step(kind, rng, size):
    q, v = draw(kind, rng)
    turn = np.linalg.norm(v[angular(kind)]) if angular(kind).any() else 1.0
    step = v / turn * size
    near(kind.difference(q, kind.integrate(q, step)), step, 2e-14 if size < 1 else 1e-11)


@EVERY
def test_difference_leads_there_the_shortest_way(kind, rng):
    q0, _ = draw(kind, rng, (50,))
    q1, _ = draw(kind, rng, (50,))
    way = kind.difference(q0, q1)
    near(kind.pose(kind.integrate(q0, way)).matrix, kind.pose(q1).matrix, 1e-12)
    if isinstance(kind, ROUND):
        assert np.all(np.linalg.norm(way[:, angular(kind)], axis=-1) <= np.pi * (1 + 1e-15))


@EVERY
def test_large_steps_end_where_they_should(kind, rng):
    """Round joints forget whole turns, the others count them."""
    q, v = draw(kind, rng)
    step = 40 * v
    end = kind.integrate(q, step)
    back = kind.difference(q, end)
    near(kind.pose(kind.integrate(q, back)).matrix, kind.pose(end).matrix, 1e-11)
    if isinstance(kind, ROUND):
        assert np.linalg.norm(back[angular(kind)]) <= np.pi
    else:
        near(back, step, 1e-14)


@EVERY
def test_no_step_and_no_difference(kind, rng):
    q, _ = draw(kind, rng)
    near(kind.integrate(q, np.zeros(kind.nv)), q, 0.0)
    near(kind.difference(q, q), np.zeros(kind.nv), 1e-15)


@EVERY
def test_steps_along_one_velocity_add_up(kind, rng):
    q, v = draw(kind, rng)
    near(
        kind.pose(kind.integrate(kind.integrate(q, 0.3 * v), 0.7 * v)).matrix,
        kind.pose(kind.integrate(q, v)).matrix,
        1e-14,
    )


@EVERY
def test_quaternions_stay_unit(kind, rng):
    if kind.quaternion is None:
        return
    q, v = draw(kind, rng, (8,))
    for _ in range(1000):
        q = kind.integrate(q, v * 0.7)
    near(np.linalg.norm(q[..., kind.quaternion], axis=-1), np.ones(8), 2e-13)


def test_a_quaternion_and_its_opposite_are_the_same_place(rng):
    q0, q1 = draw(Spherical(), rng)[0], draw(Spherical(), rng)[0]
    near(Spherical().difference(q0, q1), Spherical().difference(-q0, q1), 1e-15)
    f0, f1 = draw(Floating(), rng)[0], draw(Floating(), rng)[0]
    opposite = np.concatenate([f0[:3], -f0[3:]])
    near(Floating().difference(f0, f1), Floating().difference(opposite, f1), 1e-14)


# ---- rates of the coordinates ----------------------------------------------------------------------------------------


@EVERY
def test_rate_matrix_is_the_derivative_of_a_step(kind, rng):
    """[Kindr §Coordinate Rates, §Quaternion Rates; MDN 78]"""
    for _ in range(3):
        q, v = draw(kind, rng)
        near(kind.rate_matrix(q) @ v, difference(lambda t, q=q, v=v: kind.integrate(q, t * v)), 1e-10)
        near(kind.rate_inverse(q) @ kind.rate_matrix(q), np.eye(kind.nv), 1e-14)


# ---- random ----------------------------------------------------------------------------------------------------------


@EVERY
def test_random_stays_within_limits_on_both_sides_or_one(kind, rng):
    lower, upper = np.full(kind.nq, 0.2), np.full(kind.nq, 0.9)
    none = np.full(kind.nq, np.inf)
    free = np.ones(kind.nq, dtype=bool)
    if kind.quaternion is not None:
        free[kind.quaternion] = False
    for low, high in ((lower, upper), (lower + 5, none), (-none, upper - 5), (-none, none)):
        q = kind.random(rng, low, high, (200,))
        assert q.shape == (200, kind.nq)
        assert np.isfinite(q).all()
        assert np.all((q >= low) | ~free)
        assert np.all((q <= high) | ~free)
        if free.any():
            assert np.ptp(q[:, free], axis=0).min() > 0.4
        if kind.quaternion is not None:
            near(np.linalg.norm(q[:, kind.quaternion], axis=-1), np.ones(200), 1e-15)


# ---- batches, precision, bad numbers ---------------------------------------------------------------------------------


def results(kind, q, dv, q1):
    """All that a kind computes, as a list of arrays with the batch in front."""
    batch = np.broadcast_shapes(q.shape[:-1], dv.shape[:-1], q1.shape[:-1])
    pose, S, bias = kind.pose(q), kind.subspace(q).matrix, kind.bias(q, dv)
    parts = [
        (pose.rotation.matrix, 2),
        (pose.position, 1),
        (S, 2),
        (kind.integrate(q, dv), 1),
        (kind.difference(q, q1), 1),
        (kind.rate_matrix(q), 2),
        (kind.rate_inverse(q), 2),
    ]
    if bias is not None:
        parts.append((bias.vector, 1))
    return [np.broadcast_to(x, (*batch, *x.shape[x.ndim - core :])) for x, core in parts]


@EVERY
@each_case("batch", [(2, 3), (0,), (1,)])
def test_a_batch_is_its_samples(kind, rng, batch):
    (q, v), (q1, _) = draw(kind, rng, batch), draw(kind, rng, batch)
    all_of_them = results(kind, q, v, q1)
    for index in np.ndindex(batch):
        for whole, single in zip(all_of_them, results(kind, q[index], v[index], q1[index]), strict=True):
            near(whole[index], single, 1e-15)
    assert all(x.shape[: len(batch)] == batch for x in all_of_them)


@EVERY
def test_batches_broadcast(kind, rng):
    q, (_, v) = draw(kind, rng)[0], draw(kind, rng, (4,))
    q1 = draw(kind, rng, (3, 1))[0]
    near(kind.integrate(q, v)[2], kind.integrate(q, v[2]), 1e-15)
    near(kind.difference(q, q1)[1, 0], kind.difference(q, q1[1, 0]), 1e-15)


@EVERY
def test_memory_order_does_not_matter_and_arguments_stay(kind, rng):
    (q, v), (q1, _) = draw(kind, rng, (5,)), draw(kind, rng, (5,))
    loose = [np.repeat(x, 2, axis=-1)[::-1][::-1, ::2] for x in (q, v, q1)]
    kept = [x.copy() for x in loose]
    for result, other in zip(results(kind, *loose), results(kind, q, v, q1), strict=True):
        near(result, other, 1e-15)
    for x, before in zip(loose, kept, strict=True):
        assert x.flags.writeable
        assert np.array_equal(x, before)


@EVERY
def test_single_precision_stays_single_and_is_near(kind, rng):
    (q, v), (q1, _) = draw(kind, rng, (5,)), draw(kind, rng, (5,))
    single = [x.astype(np.float32) for x in (q, v, q1)]
    for result, other in zip(results(kind, *single), results(kind, q, v, q1), strict=True):
        if kind.nq:
            assert result.dtype == np.float32
        near(result, other, 2e-5)


@EVERY
def test_nan_touches_its_sample_alone(kind, rng):
    if not kind.nq:
        return
    (q, v), (q1, _) = draw(kind, rng, (4,)), draw(kind, rng, (4,))
    clean = results(kind, q, v, q1)
    q[2] = v[2] = q1[2] = np.nan
    dirty = results(kind, q, v, q1)
    for a, b in zip(clean, dirty, strict=True):
        near(np.delete(b, 2, axis=0), np.delete(a, 2, axis=0), 0.0)
    integrate, difference_ = dirty[3], dirty[4]
    assert np.isnan(integrate[2]).all()
    assert np.isnan(difference_[2]).all()


def test_a_kernel_gives_the_same_numbers(rng):
    kinds = [kind for kind in SAMPLES.values() if kind.nq]
    arguments = []
    for kind in kinds:
        (q, v), (q1, _) = draw(kind, rng, (6,)), draw(kind, rng, (6,))
        v[0] = 0.0
        q1[1] = q[1]
        arguments.append((q, v, q1))
    shapes = [x.shape[1:] for triple in arguments for x in triple]
    kernel = mb.compile(lambda *x: [results(kind, *x[3 * k : 3 * k + 3]) for k, kind in enumerate(kinds)], *shapes)
    computed = kernel(*(x for triple in arguments for x in triple))
    for kind, triple, found in zip(kinds, arguments, computed, strict=True):
        for result, other in zip(found, results(kind, *triple), strict=True):
            near(result, other, 1e-14)


# ---- axes and arguments ----------------------------------------------------------------------------------------------


def test_axes_are_kept_as_unit_vectors(rng):
    assert Revolute("-y").axis == (0.0, -1.0, 0.0)
    assert Revolute([0, 0, 5]) == Revolute("z")
    assert Revolute((0.0, -0.0, 1.0)) == Revolute("z")
    assert hash(Revolute([0, 0, 5])) == hash(Revolute("z"))
    assert Revolute("z") != Continuous("z")
    for _ in range(500):
        axis = unit_axis(rng.standard_normal(3) * 10 ** rng.uniform(-20, 20))
        assert abs(np.linalg.norm(axis) - 1) < 1e-15
        assert unit_axis(axis) == axis


def test_a_negative_letter_is_the_opposite_axis():
    q = np.array([0.4])
    near(Revolute("-y").pose(q).matrix, Revolute((0, -3.0, 0)).pose(q).matrix, 1e-15)
    near(Revolute("-y").pose(q).matrix, Revolute("y").pose(-q).matrix, 1e-15)


def test_axes_of_the_frame_keep_exact_zeros():
    R = Revolute("x").pose(np.array([0.7])).rotation.matrix
    assert (R[0] == [1, 0, 0]).all()
    assert (R[:, 0] == [1, 0, 0]).all()


@each_case(
    "make, says",
    [
        (lambda: Revolute("w"), "axis: expected one of x, y, z, -x, -y, -z or three numbers, got 'w'"),
        (lambda: Prismatic((0, 0, 0)), "axis: expected three finite numbers that are not all zero, got (0, 0, 0)"),
        (lambda: Prismatic((0, 1)), "axis: expected three finite numbers"),
        (lambda: Continuous((0, 1, np.nan)), "axis: expected three finite numbers"),
        (lambda: Cylindrical((0, 1, np.inf)), "axis: expected three finite numbers"),
        (lambda: Revolute(3.0), "axis: expected three numbers, got 3.0"),
        (lambda: Revolute(("a", "b", "c")), "axis: expected three numbers"),
        (lambda: Helical("z", pitch=np.inf), "pitch: expected a finite number of m/rad, got inf"),
        (lambda: Helical("z", pitch="1"), "pitch: expected a finite number of m/rad, got '1'"),
        (lambda: Universal("z", (0, 0, -2)), "universal joint: expected two axes that are not parallel, got 'z' and"),
        (lambda: Universal("z", "q"), "second axis: expected one of"),
        (lambda: Schoenflies("-x"), "axis of a Schoenflies joint: expected one of 'x', 'y', 'z', got '-x'"),
    ],
)
def test_wrong_arguments_are_told(make, says):
    with pytest.raises(InputError) as error:
        make()
    assert says in str(error.value)


def test_a_screw_without_pitch_is_a_hinge(rng):
    q = rng.uniform(-3, 3, 1)
    near(Helical("y", pitch=0.0).pose(q).matrix, Revolute("y").pose(q).matrix, 0.0)
