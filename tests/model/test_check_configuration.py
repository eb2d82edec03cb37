"""The checks of coordinates and velocities: each message names the sample and the joint."""

import numpy as np
import pytest

from multibody import InputError
from multibody.model import check_configuration
from multibody.model.builder import Builder
from multibody.model.joint import Limits
from multibody.model.joints import Revolute, Spherical

from ..laws.tools import near


@pytest.fixture
def arm():
    b = Builder("arm").body("base").body("upper").body("fore").body("hand")
    b.joint("shoulder", Spherical(), parent="base", child="upper")
    b.joint("elbow", Revolute("y"), parent="upper", child="fore", limits=Limits(-1.0, 2.0))
    b.joint("wrist", Revolute("x"), parent="fore", child="hand")
    return b.model()


GOOD = np.array([1.0, 0, 0, 0, 0.5, 0.3])


@pytest.mark.parametrize(
    ("q", "says"),
    [
        ([1.0, 0, 0, 0, 0.5], "arm: q needs the shape (..., 6), its nq coordinates, got (5,); 5 is its nv: "),
        ([1.0, 0, 0], "arm: q needs the shape (..., 6), its nq coordinates, got (3,)"),
        (0.5, "arm: q needs the shape (..., 6), its nq coordinates, got ()"),
        ([[1.0, 0, 0, 0, 0.5, np.nan]], "q (sample 0): expected finite numbers, got nan at joint 'wrist'"),
        ([1.0, 0, np.inf, 0, 0.5, 0], "q: expected finite numbers, got inf at joint 'shoulder' (coordinate 2)"),
        (
            [GOOD, [1.1, 0, 0, 0, 0, 0]],
            "q (sample 1): the quaternion (w, x, y, z) of joint 'shoulder' has the length 1.1, "
            "expected 1 within 1e-06; robot.normalize(q) scales it to 1",
        ),
        (
            [[GOOD], [[1, 0, 0, 0, 2.5, 0]]],
            "q (sample 1, 0): 2.5 at joint 'elbow' is past its limits -1 and 2",
        ),
        (["a"], "q: expected real floats"),
        ([[1.0], [2.0, 3.0]], "q: expected real floats, got a ragged sequence"),
    ],
)
def test_check_says_what_is_wrong(arm, q, says):
    with pytest.raises(InputError) as error:
        check_configuration.check(arm.tree, q)
    assert str(error.value).startswith(says)


def test_check_returns_what_is_right(arm):
    near(check_configuration.check(arm.tree, GOOD), GOOD, 0.0)
    near(check_configuration.check(arm.tree, [1, 0, 0, 0, 0, 0]), [1.0, 0, 0, 0, 0, 0], 0.0)
    past = GOOD + np.array([0, 0, 0, 0, 5, 0])
    near(check_configuration.check(arm.tree, past, limits=False), past, 0.0)
    edge = np.array([1, 0, 0, 0, 2.0 + 1e-12, 0])
    near(check_configuration.check(arm.tree, edge), edge, 0.0)
    assert check_configuration.check(arm.tree, np.zeros((0, 6))).shape == (0, 6)


def test_sized_velocities_hint_at_coordinates(arm):
    with pytest.raises(InputError, match=r"v needs the shape \(\.\.\., 5\), its nv .*got \(6,\); 6 is its nq"):
        check_configuration.velocities(arm.tree, np.zeros(6))


def test_messages_name_the_array(arm):
    with pytest.raises(InputError, match=r"^q0 \(sample 1\): expected finite numbers, got nan at joint 'wrist'"):
        check_configuration.check(arm.tree, [GOOD, [1.0, 0, 0, 0, 0, np.nan]], "q0")
    with pytest.raises(InputError, match=r"^q1: the quaternion \(w, x, y, z\) of joint 'shoulder' has the length 2"):
        check_configuration.unit_coordinates(arm.tree, 2 * GOOD, "q1")
