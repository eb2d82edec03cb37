"""External wrenches through the face: each acts at its own frame, whatever order the frames are given in."""

import numpy as np
import pytest

import multibody as mb
from multibody.errors import InputError

from ..laws.tools import near
from .robots import identical, robot_of

FRAMES = ("trunk", "foot-rh", "foot-lf")
"""Not in the order of the alphabet, in which methods take them."""


@pytest.fixture(scope="module")
def case():
    robot, rng = robot_of("quadruped"), np.random.default_rng(0)
    pushes = dict(zip(FRAMES, rng.standard_normal((3, 4, 6)), strict=True))
    return robot, robot.random(rng, (4,)), *rng.standard_normal((3, 4, robot.nv)), pushes


def pushed(robot, q, pushes):
    """Σ J^T f."""
    return sum(np.einsum("...ij,...i->...j", robot.jacobian(frame, q), f) for frame, f in pushes.items())


def test_a_kernel_takes_wrenches_in_the_order_that_is_asked_for(case):
    robot, q, v, a, tau, pushes = case
    names = ["q", "v", "a", *(f"wrench_{frame}" for frame in FRAMES)]
    kernel = robot.kernel("inverse_dynamics", wrenches=FRAMES)
    assert [given.name for given in kernel.signature.inputs] == names
    expected = robot.inverse_dynamics(q, v, a) - pushed(robot, q, pushes)
    near(kernel(q, v, a, *pushes.values()), expected, 1e-10)
    other = robot.kernel("inverse_dynamics", wrenches=FRAMES[::-1])
    near(other(q, v, a, *reversed(pushes.values())), expected, 1e-10)
    near(kernel(q, v, a, **{f"wrench_{frame}": f for frame, f in reversed(pushes.items())}), expected, 1e-10)
    forward = robot.kernel("forward_dynamics", wrenches=list(FRAMES))
    near(forward(q, v, tau, *pushes.values()), robot.forward_dynamics(q, v, tau + pushed(robot, q, pushes)), 1e-8)
    assert "wrench_foot_lf" in kernel.to_c().header


def test_methods_take_wrenches_by_name(case):
    robot, q, v, a, tau, pushes = case
    turned = dict(reversed(pushes.items()))
    expected = robot.inverse_dynamics(q, v, a) - pushed(robot, q, pushes)
    for each in (pushes, turned):
        near(robot.inverse_dynamics(q, v, a, wrenches=each), expected, 1e-10)
        near(
            robot.forward_dynamics(q, v, tau, wrenches=each),
            robot.forward_dynamics(q, v, tau + pushed(robot, q, pushes)),
            1e-8,
        )
        with mb.eager():
            near(robot.inverse_dynamics(q, v, a, wrenches=each), expected, 1e-10)
    identical(robot.joint_wrenches(q, v, a, pushes), robot.joint_wrenches(q, v, a, turned))


def test_derivatives_take_wrenches_in_the_order_that_is_asked_for():
    robot, rng = robot_of("scara"), np.random.default_rng(1)
    frames = (robot.frames[-1], robot.frames[1])
    q, v, a = robot.random(rng), *rng.standard_normal((2, robot.nv))
    pushes = rng.standard_normal((2, 6))
    *_, first, second = robot.derivatives("inverse_dynamics", q, v, a, *pushes, wrenches=frames)
    near(first, -robot.jacobian(frames[0], q).T, 1e-12)
    near(second, -robot.jacobian(frames[1], q).T, 1e-12)


def test_evaluate_takes_wrenches(case):
    """They act on all that takes them, and the rest has none."""
    robot, q, v, a, tau, pushes = case
    what = ["inverse_dynamics", "bias", "forward_dynamics"]
    found = robot.evaluate(q, v, what, a=a, tau=tau, wrenches=pushes)
    near(found["inverse_dynamics"], robot.inverse_dynamics(q, v, a, pushes), 1e-10)
    near(found["forward_dynamics"], robot.forward_dynamics(q, v, tau, pushes), 1e-8)
    near(found["bias"], robot.bias(q, v), 1e-10)
    turned = robot.evaluate(q, v, what, a=a, tau=tau, wrenches=dict(reversed(pushes.items())))
    identical(tuple(turned.values()), tuple(found.values()))
    one = {"trunk": mb.Wrench.from_vector(pushes["trunk"])}
    apart = robot.evaluate(q, v, ["inverse_dynamics"], a=a, wrenches=one)["inverse_dynamics"]
    near(apart, robot.inverse_dynamics(q, v, a, one), 1e-10)


def test_wrenches_that_are_wrong(case):
    robot, q, v, a, _, pushes = case
    with pytest.raises(InputError, match=r"expected a list of frames, got \{"):
        robot.kernel("inverse_dynamics", wrenches=set(FRAMES))
    with pytest.raises(InputError, match="evaluate: expected a quantity that takes external wrenches"):
        robot.evaluate(q, v, ["bias"], wrenches=pushes)
    with pytest.raises(InputError, match="no frame is named 'foot-left'"):
        robot.evaluate(q, v, ["inverse_dynamics"], a=a, wrenches={"foot-left": np.zeros(6)})
    with pytest.raises(InputError, match=r"the wrench at 'foot-rh'.*6.*got shape"):
        robot.inverse_dynamics(q, v, a, {**pushes, "foot-rh": np.zeros(3)})
    with pytest.raises(InputError, match=r"the wrench at 'foot-rh'.*6.*got shape"):
        robot.evaluate(q, v, ["inverse_dynamics"], a=a, wrenches={**pushes, "foot-rh": np.zeros(3)})
    arm = robot_of("panda")
    with pytest.raises(InputError, match=r"the wrench at 'tool'.*6.*got shape"):
        arm.derivatives("inverse_dynamics", *np.zeros((3, 7)), np.zeros(5), wrenches=["tool"])
