"""Laws of configurations of whole robots: steps, differences, rates, checks, batches, kernels, MuJoCo."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import multibody as mb
from multibody.errors import InputError
from multibody.geometry import Rotation, rates
from multibody.model import check_configuration, configuration
from multibody.model.builder import Builder
from multibody.model.joints import Fixed, Revolute, Spherical

from ..laws.tools import difference, near, unhat
from ..sampling import sampled
from .trees import models, random_model, random_state, world_poses

REPRESENTATIONS = ("kindr", "left", "right", "mixed")
seeds = st.integers(0, 2**32 - 1)


@pytest.fixture
def rng():
    return np.random.default_rng(31)


@pytest.fixture(params=REPRESENTATIONS)
def floater(request, rng):
    """A floating robot with every kind of joint below it."""
    return random_model(rng, 14, floating=True, mimic=0.5, velocity=request.param)


# ---- steps -----------------------------------------------------------------------------------------------------------


@given(models(), seeds)
def test_difference_and_integrate_are_inverse(model, seed):
    """[MDN 77-79; From 59]"""
    rng = np.random.default_rng(seed)
    q, v = random_state(model, rng)
    v = v / np.maximum(1, np.abs(v) / 1.8)  # no turn of more than π
    near(configuration.integrate(model.tree, q, np.zeros(model.nv)), q, 0.0)
    near(configuration.difference(model.tree, q, configuration.integrate(model.tree, q, v)), v, 1e-12)
    q1 = configuration.random(model.tree, rng)
    way = configuration.difference(model.tree, q, q1)
    for one, other in zip(
        world_poses(model, configuration.integrate(model.tree, q, way)), world_poses(model, q1), strict=True
    ):
        near(one.matrix, other.matrix, 1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_large_trees_obey_the_same_laws(seed):
    rng = np.random.default_rng(seed)
    options = {"floating": seed % 2 == 0, "mimic": 0.3, "velocity": REPRESENTATIONS[seed % 4]}
    model = random_model(rng, 60, **options, chain=seed % 5 == 0)
    q, v = random_state(model, rng)
    v = 0.5 * v / np.abs(v).max()
    end = configuration.integrate(model.tree, q, v)
    near(configuration.difference(model.tree, q, end), v, 1e-12)
    F = configuration.rate_matrix(model.tree, q)
    near(F @ v, difference(lambda t: configuration.integrate(model.tree, q, t * v)), 1e-10)
    near(configuration.rate_inverse(model.tree, q) @ F, np.eye(model.nv), 1e-12)
    left = model.with_(velocity="left")
    for one, other in zip(world_poses(left, end), world_poses(model, end), strict=True):
        near(one.matrix, other.matrix, 0.0)


@given(models(), seeds)
def test_rates_are_the_derivative_of_a_step(model, seed):
    """[Kindr §Coordinates, §Coordinate Rates; RD 2.261-2.262; RD §2.10, §2.10.1; MDN 78-79]"""
    q, v = random_state(model, np.random.default_rng(seed))
    F, back = configuration.rate_matrix(model.tree, q), configuration.rate_inverse(model.tree, q)
    assert F.shape == (model.nq, model.nv)
    near(F @ v, difference(lambda t: configuration.integrate(model.tree, q, t * v)), 1e-10)
    near(back @ F, np.eye(model.nv), 1e-13)


@given(models(), seeds)
def test_subspaces_in_a_tree_are_derivatives_of_poses(model, seed):
    """Mimic joints move with the coordinate that they follow.  [RD 2.130; RD §2.8, §2.8.1]"""
    model = model.with_(velocity="left")
    q, v = random_state(model, np.random.default_rng(seed))
    path = lambda t: configuration.integrate(model.tree, q, t * v)
    for body in model.bodies:
        joint = body.joint
        H = lambda t, joint=joint: joint.pose(path(t)).matrix
        X = np.linalg.inv(H(0.0)) @ difference(H)
        twist = np.concatenate([X[:3, 3], unhat(X[:3, :3])])
        S = joint.subspace(q)
        near((S @ v[joint.v]).vector, twist, 1e-9)
        near(joint.rates(v), v[joint.v] * (joint.mimic.ratio if joint.mimic else 1.0), 0.0)
        rate = difference(lambda t, joint=joint: joint.subspace(path(t)).matrix) @ v[joint.v]
        bias = joint.bias(q, v)
        near(np.zeros(6) if bias is None else bias.vector, rate, 1e-9)


def test_a_base_moves_apart_or_on_a_screw(floater, rng):
    """Kindr and mixed keep a straight line for the origin; left and right move on SE(3)."""
    q, v = random_state(floater, rng)
    base = floater.tree.bases[0]
    H0 = base.pose(q)
    H1 = base.pose(configuration.integrate(floater.tree, q, v))
    x = v[base.v]
    turn = Rotation.exp(x[3:])
    match floater.velocity:
        case "left":
            expected = (H0 @ mb.Pose.exp(x)).matrix
        case "right":
            expected = (mb.Pose.exp(x) @ H0).matrix
        case "kindr":
            expected = mb.Pose(H0.rotation @ turn, H0.position + x[:3]).matrix
        case "mixed":
            expected = mb.Pose(turn @ H0.rotation, H0.position + x[:3]).matrix
    near(H1.matrix, expected, 1e-14)


@pytest.mark.parametrize("velocity", REPRESENTATIONS)
@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-7, 1e-3, 1.0, np.pi - 1e-7, np.pi - 1e-13])
def test_a_base_can_turn_by_any_angle(velocity, angle, rng):
    model = random_model(rng, 0, floating=True, velocity=velocity)
    q, v = random_state(model, rng)
    v[3:] *= angle / np.linalg.norm(v[3:])
    near(configuration.difference(model.tree, q, configuration.integrate(model.tree, q, v)), v, 1e-11)


@pytest.mark.parametrize("velocity", sampled(REPRESENTATIONS, 2))
def test_a_thousand_steps_keep_quaternions_unit(velocity, rng):
    model = random_model(rng, 1, kinds=("spherical",), floating=True, velocity=velocity)
    q, v = random_state(model, rng, (5,))
    for _ in range(1000):
        q = configuration.integrate(model.tree, q, v * 0.1)
    near(configuration.normalize(model.tree, q), q, 1e-12)


def test_mujoco_integrates_a_base_alike(rng):
    """Its layout is that of Kindr: positions in the world, angular velocity in the body."""
    mujoco = pytest.importorskip("mujoco")
    peer = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><freejoint/><geom size='0.1'/><body pos='1 0 0'><joint type='ball'/>"
        "<geom size='0.1'/><body pos='1 0 0'><joint axis='0 1 0'/><geom size='0.1'/></body></body></body></worldbody>"
        "</mujoco>"
    )
    b = Builder("three").body("a").body("b").body("c")
    b.joint("ball", Spherical(), parent="a", child="b").joint("hinge", Revolute("y"), parent="b", child="c")
    model = b.model(floating=True)
    assert (model.nq, model.nv) == (peer.nq, peer.nv)
    q, v = random_state(model, rng)
    theirs = q.copy()
    mujoco.mj_integratePos(peer, theirs, v, 0.7)
    near(configuration.integrate(model.tree, q, 0.7 * v), theirs, 1e-14)
    way = np.zeros(peer.nv)
    q1 = configuration.random(model.tree, rng)
    mujoco.mj_differentiatePos(peer, way, 1.0, q, q1)
    near(configuration.difference(model.tree, q, q1), way, 1e-13)


# ---- interpolate and normalize ---------------------------------------------------------------------------------------


def test_interpolation_has_its_ends_and_one_speed(floater, rng):
    q0, q1 = configuration.random(floater.tree, rng, (2,))
    t = np.linspace(0, 1, 6)
    q = configuration.interpolate(floater.tree, q0, q1, t)
    assert q.shape == (6, floater.nq)
    near(q[0], q0, 1e-14)
    near(np.abs(configuration.difference(floater.tree, q[-1], q1)), np.zeros(floater.nv), 1e-12)
    steps = configuration.difference(floater.tree, q[:-1], q[1:])
    near(steps, np.broadcast_to(configuration.difference(floater.tree, q0, q1) / 5, steps.shape), 1e-12)
    near(configuration.interpolate(floater.tree, q0, q1, 0.4), q[2], 1e-14)


def test_normalize_changes_lengths_alone(floater, rng):
    q = configuration.random(floater.tree, rng, (3,))
    stretched = q.copy()
    for joint in floater.joints:
        if joint.kind.quaternion is not None:
            stretched[:, joint.q][:, joint.kind.quaternion] *= rng.uniform(0.2, 4, (3, 1))
    assert np.abs(stretched - q).max() > 0.1
    near(configuration.normalize(floater.tree, stretched), q, 1e-15)


# ---- neutral, random, check ------------------------------------------------------------------------------------------


@given(models(), seeds)
def test_neutral_and_random_are_configurations(model, seed):
    q = configuration.random(model.tree, np.random.default_rng(seed), (20,))
    assert q.shape == (20, model.nq)
    check_configuration.check(model.tree, q)
    neutral = configuration.neutral(model.tree)
    check_configuration.check(model.tree, neutral, limits=False)
    for joint in model.joints:
        if joint.mimic is None:
            near(joint.kind.pose(neutral[joint.q]).matrix, np.eye(4), 0.0)


def test_random_is_repeatable_and_spreads(rng):
    model = random_model(rng, 8, limits=1.0, kinds=("revolute", "prismatic"))
    one, two = (configuration.random(model.tree, np.random.default_rng(5), (1000,)) for _ in range(2))
    assert np.array_equal(one, two)
    near(one.min(axis=0), model.tree.lower, 0.05)
    near(one.max(axis=0), model.tree.upper, 0.05)


def test_random_wants_a_generator_and_a_batch(floater):
    with pytest.raises(InputError, match=r"rng: expected a numpy\.random\.Generator, got int"):
        configuration.random(floater.tree, 3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="batch: expected a number of samples or a tuple of lengths"):
        configuration.random(floater.tree, np.random.default_rng(0), 3.0)  # type: ignore[arg-type]
    assert configuration.random(floater.tree, np.random.default_rng(0), 3).shape == (3, floater.nq)


# ---- parameters of the base ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["euler-zyx", "euler-xyz", "rotation-vector", "angle-axis", "matrix"])
def test_rates_of_a_base_in_other_parameters(floater, rng, base):
    """[RD 2.262]"""
    q, v = random_state(floater, rng)
    joint = floater.tree.bases[0]

    def parameters(t):
        qt = configuration.integrate(floater.tree, q, t * v)
        chi = rates.parameters(base, joint.pose(qt).rotation)
        return np.concatenate([qt[:3], chi, qt[7:]])

    F = configuration.rate_matrix(floater.tree, q, base)
    near(F @ v, difference(parameters), 1e-9)
    near(configuration.rate_inverse(floater.tree, q, base) @ F, np.eye(floater.nv), 1e-12)


# ---- batches, precision, kernels -------------------------------------------------------------------------------------


def everything(model, q, v, q1):
    return (
        configuration.integrate(model.tree, q, v),
        configuration.difference(model.tree, q, q1),
        configuration.interpolate(model.tree, q, q1, 0.3),
        configuration.normalize(model.tree, q),
        configuration.rate_matrix(model.tree, q),
        configuration.rate_inverse(model.tree, q),
    )


@pytest.mark.parametrize("batch", [(2, 3), (0,)])
def test_a_batch_is_its_samples(floater, rng, batch):
    (q, v), q1 = random_state(floater, rng, batch), configuration.random(floater.tree, rng, batch)
    whole = everything(floater, q, v, q1)
    assert all(x.shape[: len(batch)] == batch for x in whole)
    for index in np.ndindex(batch):
        for one, other in zip(whole, everything(floater, q[index], v[index], q1[index]), strict=True):
            near(one[index], other, 1e-14)


def test_batches_broadcast(floater, rng):
    q, v = configuration.random(floater.tree, rng), rng.standard_normal((4, floater.nv))
    near(configuration.integrate(floater.tree, q, v)[3], configuration.integrate(floater.tree, q, v[3]), 1e-15)
    many = configuration.random(floater.tree, rng, (3, 1))
    near(
        configuration.difference(floater.tree, q, many)[1, 0],
        configuration.difference(floater.tree, q, many[1, 0]),
        1e-14,
    )


def test_single_precision_stays_single_and_is_near(floater, rng):
    (q, v), q1 = random_state(floater, rng, (3,)), configuration.random(floater.tree, rng, (3,))
    single = (x.astype(np.float32) for x in (q, v, q1))
    for one, other in zip(everything(floater, *single), everything(floater, q, v, q1), strict=True):
        assert one.dtype == np.float32
        near(one, other, 1e-4)


def test_nan_touches_its_sample_alone(floater, rng):
    (q, v), q1 = random_state(floater, rng, (3,)), configuration.random(floater.tree, rng, (3,))
    clean = everything(floater, q, v, q1)
    q[1] = np.nan
    dirty = everything(floater, q, v, q1)
    for one, other in zip(dirty, clean, strict=True):
        near(one[[0, 2]], other[[0, 2]], 0.0)
    assert np.isnan(dirty[0][1]).all()


def test_a_kernel_gives_the_same_numbers(floater, rng):
    kernel = mb.compile(lambda q, v, q1: everything(floater, q, v, q1), floater.nq, floater.nv, floater.nq)
    (q, v), q1 = random_state(floater, rng, (5,)), configuration.random(floater.tree, rng, (5,))
    for one, other in zip(kernel(q, v, q1), everything(floater, q, v, q1), strict=True):
        near(one, other, 1e-13)


def test_a_robot_that_cannot_move_has_an_empty_configuration(rng):
    model = Builder("table").body("top").body("leg").joint("weld", Fixed(), parent="top", child="leg").model()
    assert (model.nq, model.nv) == (0, 0)
    nothing = configuration.neutral(model.tree)
    assert nothing.shape == (0,)
    assert configuration.random(model.tree, rng, (4,)).shape == (4, 0)
    for x in everything(model, np.zeros((4, 0)), np.zeros((4, 0)), np.zeros((4, 0))):
        assert x.shape[0] == 4
        assert x.size == 0
    assert configuration.rate_matrix(model.tree, nothing).shape == (0, 0)
