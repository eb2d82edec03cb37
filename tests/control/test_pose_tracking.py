"""Tracking of poses: as printed, in batches, and refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import multibody as mb
from multibody import control

ARM = mb.load("panda")


@pytest.mark.parametrize(("rows", "part"), [("pose", slice(6)), ("position", slice(3)), ("rotation", slice(3, 6))])
def test_as_printed(rows, part):
    """J^+ (w* + k Δ) with the rows of J that are asked for; twists whole or in part. [RD 2.256-2.258]"""
    rng = np.random.default_rng(1)
    q, H, w = ARM.random(rng, (3,)), ARM.pose("tool", ARM.random(rng)), rng.standard_normal(6)
    v = control.track_pose(ARM, "tool", q, H, w, position_gain=3.0, rotation_gain=2.0, rows=rows)
    for k in range(3):
        actual = ARM.pose("tool", q[k])
        e = np.concatenate([3 * (H.position - actual.position), 2 * H.rotation.boxminus(actual.rotation)])
        assert_allclose(v[k], np.linalg.pinv(ARM.jacobian("tool", q[k])[part]) @ (w + e)[part], atol=1e-9)
        alone = control.track_pose(ARM, "tool", q[k], H, w[part], position_gain=3.0, rotation_gain=2.0, rows=rows)
        assert_array_equal(alone, v[k])


def test_follows_a_trajectory():
    """With the feed-forward the hand stays on a moving target, and reaches it from beside. [RD §2.9.4]"""
    q = ARM.home()
    start = ARM.pose("tool", q)
    end = start.integrate([0.1, -0.1, 0.05, 0.2, 0.1, -0.3], 1.0, "mixed")
    way = control.trajectories.quintic(start, end, 1.0)
    q = q + 0.01
    for t in np.arange(0, 1.5, 0.005):
        target, twist, _ = way(t)
        q = ARM.integrate(
            q, 0.005 * control.track_pose(ARM, "tool", q, target, twist, position_gain=10, rotation_gain=10)
        )
    assert np.abs(ARM.pose("tool", q).matrix - end.matrix).max() < 1e-3


def test_bad_input():
    q, H = ARM.home(), ARM.pose("tool", ARM.home())
    for message, call in (
        ("robot: expected a Robot, got Model", lambda: control.track_pose(ARM.model, "tool", q, H)),
        ("gripper9", lambda: control.track_pose(ARM, "gripper9", q, H)),
        ("target: expected a Pose, got ndarray", lambda: control.track_pose(ARM, "tool", q, H.matrix)),
        ("rows: expected one of 'pose'", lambda: control.track_pose(ARM, "tool", q, H, rows="all")),
        (r"twist: expected \(..., 6\), got shape \(3,\)", lambda: control.track_pose(ARM, "tool", q, H, np.zeros(3))),
        ("needs the shape", lambda: control.track_pose(ARM, "tool", q[:5], H)),
    ):
        with pytest.raises(mb.InputError, match=message):
            call()
