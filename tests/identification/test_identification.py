"""Base parameters, beside counts that are known, and identification of robots whose parameters are known."""

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize

import multibody as mb
from multibody import identification
from multibody.algorithms import regressor
from multibody.geometry import log_cholesky
from multibody.identification import base_parameters, identify
from multibody.model.joints import Revolute

from ..every_law import each_case
from ..laws.tools import near
from ..model.trees import random_model

ARM = mb.load("planar-arm").model
PANDA = mb.load("panda").model


def data(model, count, noise=0.0, seed=0):
    """Random states, and torques with normal noise."""
    rng = np.random.default_rng(seed)
    robot = mb.Robot(model)
    q, v, a = robot.random(rng, (count,)), *rng.standard_normal((2, count, model.nv))
    with mb.eager():
        tau = robot.inverse_dynamics(q, v, a)
    return q, v, a, tau + noise * rng.standard_normal(tau.shape)


def wrong(model, seed=1, size=0.3):
    """Parameters of other bodies: those of the model, each stretched, sheared and moved by a part of its size."""
    C = np.linalg.cholesky(log_cholesky.pseudo_inertia(regressor.parameters(model.tree)))
    C = C @ (np.eye(4) + np.random.default_rng(seed).uniform(-size, size, C.shape))
    J = C @ np.swapaxes(C, 1, 2)
    xx, yy, zz = (J[:, k, k] for k in range(3))
    moments = (yy + zz, -J[:, 0, 1], xx + zz, -J[:, 0, 2], -J[:, 1, 2], xx + yy)
    return np.stack([J[:, 3, 3], *J[:, :3, 3].T, *moments], axis=-1)


# ---- base parameters -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("free-body-se3", 10),
        ("double-pendulum", 6),  # 3 for each parallel hinge: m cx, m cz, I
        ("planar-arm", 9),
        ("cart-pendulum", 4),
        ("puma-560", 36),  # without rotors: Mayeda, Yoshida and Osuka 1990
        ("panda", 43),  # Gaz, Cognetti, Oliva, Robuffo Giordano and De Luca 2019
        ("quadruped", 10 + 7 * 12),  # a free base, and 7 for each hinge: Ayusawa, Venture and Nakamura 2014
    ],
)
def test_counts_that_are_known(name, count):
    assert base_parameters(mb.load(name).model.tree).count == count


def test_without_gravity_the_first_hinge_tells_less():
    """Its body's centre of mass is felt through gravity alone."""
    flat = mb.load("planar-arm").change(gravity=(0.0, 0.0, 0.0)).model
    assert base_parameters(flat.tree).count == 9 - 2


@pytest.mark.parametrize("seed", range(6))
def test_the_count_is_the_rank_and_the_combination_reproduces_the_torques(seed):
    model = random_model(np.random.default_rng(seed), 3, floating=seed % 2 == 0, mimic=0.5)
    base = base_parameters(model.tree)
    q, v, a, _ = data(model, 60, seed=seed + 10)
    Y = regressor.regressor(model.tree, q, v, a)
    flat = Y.reshape(-1, Y.shape[-1])
    triangular = scipy.linalg.qr(flat, mode="r", pivoting=True)[0]
    pivots = np.abs(np.diag(triangular))
    assert base.count == (pivots > 1e-9 * pivots[0]).sum()
    pi = np.random.default_rng(seed).standard_normal(Y.shape[-1])
    near(Y[..., base.indices] @ (base.combination @ pi), Y @ pi, 1e-8)
    near(base.combination[:, base.indices], np.eye(base.count))


def tilted():
    """Hinges that are parallel but for 3e-8 and 2e-9 of a turn: coefficients that small are true."""
    b = mb.Builder("tilted")
    for k, angle in enumerate((0.0, 3e-8, 2e-9, 0.4)):
        b.body(f"link{k}", mb.SpatialInertia(mass=1.0, com=[0.1, 0.2, 0.3], inertia=np.diag([0.1, 0.2, 0.25])))
        placement = mb.Pose(mb.Rotation.from_rotation_vector([angle, 0.0, 0.0]), [0.3, 0.0, 0.1])
        b.joint(f"hinge{k}", Revolute("z"), parent=f"link{k - 1}" if k else None, child=f"link{k}", placement=placement)
    return b.model()


@pytest.mark.parametrize(
    ("model", "tolerance"), [(PANDA, 1e-3), (PANDA, 1e-9), (tilted(), 1e-9)], ids=["coarse", "panda", "tilted"]
)
def test_no_true_coefficient_is_lost(model, tolerance):
    """The combination keeps the torques of each parameter alone, whatever counts as dependent."""
    base = base_parameters(model.tree, tolerance=tolerance)
    q, v, a, _ = data(model, 60, seed=3)
    Y = regressor.regressor(model.tree, q, v, a)
    Y = Y.reshape(-1, Y.shape[-1])
    assert np.abs(Y[:, base.indices] @ base.combination - Y).max() < 1e-9 * np.abs(Y).max()


def test_rounding_leaves_no_coefficients():
    """Of parallel hinges: bodies out of the plane do not mix, and zeros are zeros."""
    combination = base_parameters(ARM.tree).combination
    assert np.abs(combination[combination != 0]).min() > 1e-3
    assert (combination == 0).mean() > 0.5


def test_names_are_those_of_the_columns():
    base = base_parameters(ARM.tree)
    assert base.names[0] == "m cx of link1"
    assert base.indices[0] == 1
    assert len(base.names) == base.count == len(base.combination)


def test_other_states_tell_the_same_count():
    assert {base_parameters(PANDA.tree, seed=seed, samples=100).count for seed in range(3)} == {43}


@pytest.mark.parametrize(("name", "needed"), [("planar-arm", 10), ("panda", 10), ("quadruped", 8)])
def test_too_few_samples_are_refused(name, needed):
    """As many equations as parameters tell the count; fewer would be the count themselves."""
    model = mb.load(name).model
    assert base_parameters(model.tree, samples=needed).count == base_parameters(model.tree).count
    n = 10 * len(model.bodies)
    for few in (1, needed - 1):
        equations = f"{few * model.nv} equations for {n} parameters"
        message = f"{name}: expected at least {needed} samples, got {few}, which give {equations}"
        with pytest.raises(mb.InputError, match=message):
            base_parameters(model.tree, samples=few)


@pytest.mark.parametrize(("seed", "few", "enough"), [(8, 6, 10), (110, 10, 40), (99, 3, 5)])
def test_samples_that_only_seem_enough_are_refused(seed, few, enough):
    """Equations can outnumber parameters and still say too little of bodies that one velocity moves."""
    rng = np.random.default_rng(seed)
    model = random_model(rng, int(rng.integers(1, 7)), floating=seed % 2 == 1, mimic=0.3 * (seed % 3))
    with pytest.raises(mb.InputError, match=f"{few} samples do not determine all combinations"):
        base_parameters(model.tree, samples=few)
    assert base_parameters(model.tree, samples=enough).count == base_parameters(model.tree).count


def test_a_robot_without_bodies_has_none():
    stone = mb.Builder("stone").body("stone").model()
    assert base_parameters(stone.tree).count == 0


# ---- identification --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("consistent", [False, True])
@pytest.mark.parametrize("model", [ARM, PANDA], ids=["arm", "panda"])
def test_clean_data_give_the_base_parameters(model, consistent):
    found = identify(model.tree, *data(model, 200), prior=wrong(model), consistent=consistent, regularization=1e-14)
    base = base_parameters(model.tree)
    truth = base.combination @ regressor.parameters(model.tree).ravel()
    near(base.combination @ found.parameters.ravel(), truth, 1e-5)
    assert found.residual < 1e-5
    q, v, a, tau = data(model, 50, seed=9)
    near((regressor.regressor(model.tree, q, v, a) @ found.parameters.ravel()) + model.armature * a, tau, 1e-5)


def test_armature_is_not_taken_for_inertia():
    model = random_model(np.random.default_rng(3), 3, kinds=("revolute",))
    assert (model.armature > 0).all()
    found = identify(model.tree, *data(model, 100))
    near(found.parameters, regressor.parameters(model.tree), 1e-7)


def test_least_squares_is_that_of_scipy():
    """Without regularisation: the least norm of what is added to the prior."""
    q, v, a, tau = data(ARM, 80, noise=0.5)
    prior = wrong(ARM)
    found = identify(ARM.tree, q, v, a, tau, prior=prior, regularization=0.0)
    Y = regressor.regressor(ARM.tree, q, v, a).reshape(-1, prior.size)
    t = (tau - ARM.armature * a).ravel()
    expected = prior.ravel() + scipy.linalg.lstsq(Y, t - Y @ prior.ravel())[0]
    near(found.parameters.ravel(), expected, 1e-9)
    near(found.residual, np.sqrt(np.mean((Y @ expected - t) ** 2)), 1e-9)


def test_what_the_motion_does_not_show_stays_at_the_prior():
    """The mass of the first link, which only turns about its hinge."""
    prior = wrong(ARM)
    moved = np.abs(identify(ARM.tree, *data(ARM, 80), prior=prior, regularization=1e-9).parameters - prior)
    assert moved[0, 0] < 1e-6
    assert moved[0, 1:].max() > 1e-3


def test_noise_makes_bodies_that_cannot_be_unless_they_must():
    args = data(PANDA, 100, noise=2.0)
    free = identify(PANDA.tree, *args, regularization=0.0)
    kept = identify(PANDA.tree, *args, consistent=True, regularization=1e-6)
    assert not free.physical.all()
    assert kept.physical.all()
    log_cholesky.from_parameters(kept.parameters)  # raises for what no body can have
    assert free.residual <= kept.residual < 1.1 * free.residual
    base = base_parameters(PANDA.tree).combination
    truth = base @ regressor.parameters(PANDA.tree).ravel()
    errors = [np.linalg.norm(base @ found.parameters.ravel() - truth) for found in (free, kept)]
    assert errors[1] < errors[0], "knowing what can exist helps"


def test_the_consistent_answer_is_the_least_of_its_function():
    """Beside SciPy's minimiser, which works on log-Cholesky parameters and is told nothing else."""
    model = mb.load("double-pendulum").model
    prior, weight = wrong(model), 1e-3
    q, v, a, tau = data(model, 30, noise=1.0)
    Y = regressor.regressor(model.tree, q, v, a).reshape(-1, prior.size)
    t = (tau - model.armature * a).ravel()
    J0 = log_cholesky.pseudo_inertia(prior)

    def cost(pi):
        ratio = np.linalg.solve(J0, log_cholesky.pseudo_inertia(pi))
        divergence = (np.trace(ratio, axis1=1, axis2=2) - np.linalg.slogdet(ratio)[1] - 4).sum()
        return np.sum((Y @ pi.ravel() - t) ** 2) / (t @ t) + weight * divergence

    found = identify(model.tree, q, v, a, tau, prior=prior, consistent=True, regularization=weight)
    start = log_cholesky.from_parameters(prior).ravel()
    theirs = scipy.optimize.minimize(lambda x: cost(log_cholesky.parameters(x.reshape(-1, 10))), start, tol=1e-12)
    assert found.converged
    assert cost(found.parameters) <= theirs.fun + 1e-9
    near(cost(found.parameters), theirs.fun, 1e-6)


def test_a_search_that_does_not_arrive_says_so():
    """The prior is a needle, 0.1 mm thick, and the data say otherwise."""
    needle = mb.SpatialInertia(mass=1.0, com=[0.0, 0.0, 0.1], inertia=np.diag([1.0, 1.0, 1e-8])).parameters()
    found = identify(
        PANDA.tree, *data(PANDA, 100), prior=np.tile(needle, (7, 1)), consistent=True, regularization=1e-12
    )
    assert found.physical.all()
    assert not found.converged


def test_a_strong_pull_gives_the_prior():
    prior = wrong(ARM)
    for consistent in (False, True):
        found = identify(ARM.tree, *data(ARM, 20), prior=prior, consistent=consistent, regularization=1e9)
        near(found.parameters, prior, 1e-6)


def test_more_data_help():
    base = base_parameters(ARM.tree).combination
    truth = base @ regressor.parameters(ARM.tree).ravel()
    errors = []
    for count in (20, 2000):
        trials = [identify(ARM.tree, *data(ARM, count, noise=1.0, seed=seed)) for seed in range(5)]
        errors.append(np.mean([np.linalg.norm(base @ each.parameters.ravel() - truth) for each in trials]))
    assert errors[1] < errors[0] / 4  # by the root of 100, more or less


def test_weights_take_out_a_broken_sensor():
    q, v, a, tau = data(ARM, 100)
    tau[:, 2] += np.random.default_rng(0).standard_normal(100)
    trusted = identify(ARM.tree, q, v, a, tau, weights=[1.0, 1.0, 0.0], regularization=0.0)
    assert trusted.residual < 1e-9 < 0.1 < identify(ARM.tree, q, v, a, tau, regularization=0.0).residual


def test_batches_of_any_shape_are_one_set_of_data():
    args = data(ARM, 60)
    shaped = [x.reshape(3, 20, -1) for x in args]
    near(identify(ARM.tree, *shaped).parameters, identify(ARM.tree, *args).parameters, 1e-12)


# ---- bad input -------------------------------------------------------------------------------------------------------


@each_case(
    "change, message",
    [
        ({"q": np.zeros((5, 4))}, r"q needs the shape \(\.\.\., 3\)"),
        ({"tau": np.zeros((5, 2))}, r"tau needs the shape \(\.\.\., 3\)"),
        ({"tau": np.full((5, 3), np.nan)}, r"identify planar-arm, tau \(sample 0\): expected finite"),
        ({"v": np.zeros((4, 3))}, "do not broadcast"),
        ({"q": np.zeros((0, 3)), "v": np.zeros(3), "a": np.zeros(3), "tau": np.zeros(3)}, "at least one sample"),
        ({"prior": np.zeros((2, 10))}, r"prior: .*\(\.\.\., 3, 10\), got shape \(2, 10\)"),
        ({"prior": np.full((3, 10), np.inf)}, "prior: expected finite"),
        ({"prior": np.zeros((3, 10)), "consistent": True}, "prior of the body 'link1': expected a positive mass"),
        ({"regularization": -1.0}, "regularization: expected a number >= 0, got -1"),
        ({"regularization": 0.0, "consistent": True}, "regularization: expected a number > 0, got 0"),
        ({"regularization": "a"}, "identify planar-arm, regularization: expected real floats .* got dtype <U1"),
        ({"regularization": None}, "identify planar-arm, regularization: expected real floats .* got NoneType"),
        ({"regularization": [1, [2]]}, "identify planar-arm, regularization: expected real floats, got a ragged"),
        ({"regularization": [1.0]}, r"regularization: expected a number >= 0, got \[1.0\]"),
        ({"regularization": np.nan}, "regularization: expected a number >= 0, got nan"),
        ({"regularization": np.inf}, "regularization: expected a number >= 0, got inf"),
        ({"consistent": "no"}, "identify planar-arm, consistent: expected True or False, got 'no'"),
        ({"consistent": np.zeros(2)}, "consistent: expected True or False, got array"),
        ({"weights": [1.0, 1.0]}, "weights"),
        ({"weights": [1.0, 1.0, -1.0]}, "weights: expected 3 numbers >= 0"),
    ],
)
def test_bad_input_is_refused(change, message):
    q, v, a, tau = data(ARM, 5)
    given = {"q": q, "v": v, "a": a, "tau": tau} | change
    with pytest.raises(mb.InputError, match=message):
        identify(ARM.tree, **given)


@each_case(
    "given, message",
    [
        ({"samples": -1}, "base_parameters of planar-arm: expected a number of samples, got -1"),
        ({"samples": 1.5}, "expected a number of samples, got 1.5"),
        ({"samples": True}, "expected a number of samples, got True"),
        ({"seed": -1}, "base_parameters of planar-arm: expected a seed >= 0, got -1"),
        ({"seed": "a"}, "expected a seed >= 0, got 'a'"),
        ({"seed": None}, "expected a seed >= 0, got None"),
        ({"tolerance": 2.0}, r"tolerance in \(0, 1\), got 2"),
        ({"tolerance": np.nan}, r"tolerance in \(0, 1\), got nan"),
        ({"tolerance": [0.1, 0.2]}, r"tolerance in \(0, 1\), got \[0.1, 0.2\]"),
        ({"tolerance": "a"}, "base_parameters of planar-arm, tolerance: expected real floats .* got dtype <U1"),
        ({"tolerance": [1, [2]]}, "tolerance: expected real floats, got a ragged sequence"),
    ],
)
def test_bad_options_of_base_parameters_are_refused(given, message):
    with pytest.raises(mb.InputError, match=message):
        base_parameters(ARM.tree, **given)


def test_numbers_of_numpy_are_taken():
    assert base_parameters(ARM.tree, samples=np.int64(20), seed=np.uint8(1), tolerance=np.float32(1e-6)).count == 9
    args = data(ARM, 20)
    for consistent in (False, True):
        theirs = identify(ARM.tree, *args, consistent=np.bool_(consistent), regularization=np.array(1e-3))
        near(theirs.parameters, identify(ARM.tree, *args, consistent=consistent, regularization=1e-3).parameters, 1e-15)


@pytest.mark.parametrize("bad", [mb.Robot(ARM), 5, None, "planar-arm"], ids=lambda bad: type(bad).__name__)
def test_what_is_no_tree_is_refused(bad):
    args = data(ARM, 5)
    for call in (
        lambda: base_parameters(bad),
        lambda: identify(bad, *args),
        lambda: regressor.parameters(bad),
        lambda: regressor.regressor(bad, *args[:3]),
    ):
        with pytest.raises(
            mb.InputError, match=rf"expected the Tree of a robot, such as robot\.tree, got {type(bad).__name__}"
        ):
            call()


def test_a_robot_that_cannot_move_is_refused():
    with pytest.raises(mb.InputError, match="no moving bodies"):
        identify(mb.Builder("stone").body("stone").model().tree, np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0))


def test_every_parameter_has_a_name():
    assert len(identification.NAMES) == regressor.PARAMETERS
