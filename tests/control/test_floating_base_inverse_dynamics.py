"""Torques of robots that stand: least norm, wishes, internal forces, limits, least squares, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import multibody as mb
from multibody import control
from multibody.algorithms import rows
from multibody.control.floating_base_inverse_dynamics import distribute_torques

DOG = mb.load("quadruped")
TREE = DOG.tree
FEET = tuple(mb.constraints.PointContact(f, f) for f in ("foot-lf", "foot-rh", "foot-rf", "foot-lh"))


@pytest.fixture(scope="module")
def standing():
    """States, the generalized forces y = M a + h of a random a, and J of all feet."""
    rng = np.random.default_rng(0)
    q = np.concatenate([np.tile(DOG.home()[:7], (4, 1)), DOG.home()[7:] + 0.1 * rng.standard_normal((4, 12))], axis=1)
    v, a = rng.standard_normal((2, 4, 18))
    return q, v, a, DOG.inverse_dynamics(q, v, a), rows.jacobian(TREE, FEET, q)


def missing(J, y, tau):
    """What motors and contacts leave of y."""
    rest = y - tau
    return rest - J.T @ np.linalg.lstsq(J.T, rest, rcond=None)[0]


@pytest.mark.parametrize("count", [4, 3, 2, 1])
def test_least_squares_whatever_the_contacts(standing, count):
    """The equations of motion are met as well as by any τ and f; the τ is that of NumPy's least squares. [RD 3.100]"""
    q, _, _, y, J = standing
    tau = distribute_torques(TREE, FEET[:count], q, y)
    S_T = np.eye(18)[:, 6:]
    for k in range(4):
        J_T = J[k, : 3 * count].T
        both = np.linalg.lstsq(np.hstack([S_T, J_T]), y[k], rcond=None)[0]
        best = np.linalg.norm(S_T @ both[:12] + J_T @ both[12:] - y[k])
        left = missing(J_T.T, y[k], tau[k])
        assert np.linalg.norm(left) <= best * (1 + 1e-9) + 1e-9
        assert (best < 1e-9) == (count > 2)
        free = np.linalg.svd(np.hstack([S_T, J_T]))[2][np.linalg.matrix_rank(np.hstack([S_T, J_T])) :, :12]
        assert np.abs(free @ tau[k][6:]).max(initial=0.0) < 1e-8  # no freedom makes it smaller


def test_straight_legs_and_single_precision(standing):
    """Where legs are stretched they hold the weight without torque; in float32 the torques are those of doubles."""
    q, _, _, y, _ = standing
    straight = np.concatenate([DOG.home()[:7], np.zeros(12)])
    for off in (0.0, 1e-12, 1e-9, 1e-6):
        near = straight + off * np.sin(np.arange(19.0)) * (np.arange(19) > 6)
        load = DOG.gravity(near)
        tau = distribute_torques(TREE, FEET, near, load)
        assert np.abs(missing(rows.jacobian(TREE, FEET, near), load, tau)).max() < 1e-9
        assert np.abs(tau).max() < 10 * off + 1e-9
    single = distribute_torques(DOG.astype("float32").tree, FEET, q.astype(np.float32), y.astype(np.float32))
    assert_allclose(single, distribute_torques(TREE, FEET, q, y), atol=1e-3)


def test_wishes_are_met_where_the_motion_does_not_mind(standing):
    """N τ0 moves nothing, and applied twice it is there once; internal forces come out whole. [RD 3.101]"""
    q, _, _, y, J = standing
    rng = np.random.default_rng(1)
    tau0 = rng.standard_normal((4, 18))
    plain, wished = distribute_torques(TREE, FEET, q, y), distribute_torques(TREE, FEET, q, y, tau0)
    assert_allclose(distribute_torques(TREE, FEET, q, y, wished), wished, atol=1e-9)
    for k in range(4):
        assert np.abs(missing(J[k], y[k], wished[k])).max() < 1e-9
        assert np.linalg.norm(wished[k] - tau0[k] * (np.arange(18) > 5)) < np.linalg.norm(plain[k] - tau0[k])
        base = J[k][:, :6].T  # forces that the base does not feel
        squeeze = np.linalg.svd(base)[2][6:].T @ rng.standard_normal(6)
        loaded = distribute_torques(TREE, FEET, q[k], y[k], forces=squeeze)
        assert_allclose(plain[k] - loaded, J[k].T @ squeeze, atol=1e-9)


def test_torque_limits_use_the_freedom_first(standing):
    """Where internal forces can take torques below their limits, the acceleration stays; else it gives way."""
    q, _, _, _, J = standing
    calm, largest = DOG.gravity(q), TREE.effort_limits[6:]
    squeeze = np.tile([0.0, 1.0, 0.0], 4)  # across, feet against each other
    tau0 = -500.0 * np.einsum("kij,i->kj", J, squeeze * np.repeat([1, -1, -1, 1], 3))
    assert (np.abs(distribute_torques(TREE, FEET, q, calm, tau0)[:, 6:]) > largest).any()
    free = distribute_torques(TREE, FEET, q, calm, tau0, limits=True)
    assert (np.abs(free[:, 6:]) <= largest).all()
    for k in range(4):
        assert np.abs(missing(J[k], calm[k], free[k])).max() < 1e-6
    heavy = distribute_torques(TREE, FEET, q, 50 * calm, limits=True)
    assert (np.abs(heavy[:, 6:]) <= largest).all()
    assert (np.abs(heavy[:, 6:]).max(axis=1) > 0.99 * largest.min()).all()


def test_compiled_alone_in_batches_with_a_mask_and_nan(standing):
    q, v, a, y, _ = standing
    pair, active = FEET[:2], np.array([[1.0, 1], [0, 1], [1, 0], [1, 1]])
    tau = control.floating_inverse_dynamics(DOG, pair, q, v, a, active=active)
    assert_allclose(tau, distribute_torques(TREE, pair, q, y, active=active), atol=1e-9)
    assert_allclose(tau[1], distribute_torques(TREE, pair[1:], q[1], y[1]), atol=1e-9)
    assert_array_equal(control.floating_inverse_dynamics(DOG, pair, q[2], v[2], a[2], active=active[2]), tau[2])
    a = a.copy()
    a[0, 3] = np.nan
    assert_array_equal(control.floating_inverse_dynamics(DOG, pair, q, v, a, active=active)[1:], tau[1:])


def test_bad_input():
    q, v = DOG.home(), np.zeros(18)
    for message, call in (
        ("contacts: expected at least one", lambda: control.floating_inverse_dynamics(DOG, [], q, v, v)),
        ("contacts: expected constraints", lambda: control.floating_inverse_dynamics(DOG, ["foot-lf"], q, v, v)),
        ("robot: expected a Robot", lambda: control.floating_inverse_dynamics(DOG.model, FEET, q, v, v)),
        ("limits: expected True or False", lambda: control.floating_inverse_dynamics(DOG, FEET, q, v, v, limits=3)),
        ("'hoof'", lambda: control.floating_inverse_dynamics(DOG, [mb.constraints.PointContact("x", "hoof")], q, v, v)),
    ):
        with pytest.raises(mb.InputError, match=message):
            call()
