"""Limits: their bounds, and what is refused."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import multibody as mb
from multibody import control


def test_velocity_limits_are_those_of_the_joints():
    robot = mb.load("panda")
    limit = control.VelocityLimits().on(robot.tree)
    q = robot.random(np.random.default_rng(0), (4, 3))
    assert_array_equal(limit.upper(robot.tree, q, None), np.tile(robot.tree.velocity_limits, (4, 3, 1)))
    assert_array_equal(limit.lower(robot.tree, q, None), -limit.upper(robot.tree, q, None))
    assert_array_equal(limit.jacobian(robot.tree, q)[2, 1], np.eye(7))
    assert_array_equal(limit.bias(robot.tree, q, np.ones(7)), 0)


def test_joint_limits_end_at_the_ends_of_the_range():
    dog = mb.load("quadruped")
    limit, tree = control.JointLimits().on(dog.tree), dog.tree
    q = dog.random(np.random.default_rng(0), (5,))
    lower, upper = limit.lower(tree, q, 0.1), limit.upper(tree, q, 0.1)
    assert_array_equal(limit.bounded(tree), np.arange(18) >= 6)
    assert np.isinf(upper[:, :6]).all()
    assert_array_equal(lower[:, :6], -np.inf)
    v = np.where(np.arange(18) < 6, 0.0, np.where(np.isinf(upper), 0.0, upper))
    assert_allclose(dog.integrate(q, 0.1 * v)[:, 7:], np.tile(tree.upper[7:], (5, 1)), atol=1e-12)
    assert_allclose(lower[:, 6:], (tree.lower[7:] - q[:, 7:]) / 0.1, atol=1e-12)


def test_rows_of_a_box_depend_on_the_robot():
    with pytest.raises(mb.InputError, match="depends on the robot"):
        _ = control.VelocityLimits().rows


@dataclass(frozen=True)
class Odd(control.Limit):
    name: str
    count: int
    of_bounds: int
    boxed: bool = False

    @property
    def is_box(self):
        return self.boxed

    @property
    def rows(self):
        return self.count

    def jacobian(self, tree, q):
        return np.ones((*q.shape[:-1], self.count, tree.nv))

    def lower(self, tree, q, dt):
        del tree, dt
        return np.zeros((*q.shape[:-1], self.of_bounds))


@pytest.mark.parametrize("limit", [Odd("odd", 2, 3), Odd("odd", 0, 0), Odd("odd", 2, 2, boxed=True)])
def test_what_does_not_fit_is_refused(limit):
    with pytest.raises(mb.InputError, match="limit 'odd'"):
        limit.on(mb.load("panda").tree)


def test_a_limit_of_velocities_has_no_bias():
    tree = mb.load("panda").tree
    with pytest.raises(mb.InputError, match="no bias"):
        Odd("odd", 2, 2).on(tree).bias(tree, np.zeros(7), np.zeros(7))


@dataclass(frozen=True)
class Slow(control.Limit):
    """A limit of a user on all velocities, of which only the second has a finite bound."""

    name: str
    is_box: bool = True
    rows = 3

    def jacobian(self, _tree, q):
        return np.broadcast_to(np.eye(3), (*q.shape[:-1], 3, 3))

    def lower(self, tree, q, dt):
        return -self.upper(tree, q, dt)

    def upper(self, _tree, q, _dt):
        return np.broadcast_to(np.array([np.inf, 0.2, np.inf]), q.shape)

    def bounded(self, _tree):
        return np.array([False, True, False])


@pytest.mark.parametrize("is_box", [True, False])
def test_a_limit_of_some_velocities_holds_them(is_box):
    """A whole body took the bounds of the first row, infinite ones, for the joint with the finite bound."""
    arm, rest = mb.load("planar-arm"), control.PostureTask("rest")
    q, fast = np.array([0.4, 0.5, 0.6]), np.full(3, 50.0)
    command = control.WholeBody(arm, [], [[rest]], limits=(Slow("slow", is_box),))(
        q, np.zeros(3), rest_acceleration=fast, dt=0.01
    )
    assert_allclose(0.01 * command.a, [0.5, 0.2, 0.5], atol=1e-8)
    assert command.report.violated == ["rest"]
    assert command.report.slack("slow").shape == (1,)
    velocity = control.VelocityControl(arm, [[rest]], limits=(Slow("slow", is_box),))(q, rest=q + 1.0)
    assert_allclose(velocity, [1.0, 0.2, 1.0], atol=1e-8)


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("solver", ["interior-point", "daqp"])
def test_ranges_of_joints_give_way_to_velocity_limits_on_both_sides(side, solver):
    """A joint far above its range came back faster than its velocity limit, one below it did not."""
    arm = mb.load("panda")
    q = (arm.tree.lower + arm.tree.upper) / 2
    q[0] = (arm.tree.upper if side > 0 else arm.tree.lower)[0] + 0.3 * side
    for limits in (
        (control.VelocityLimits(), control.JointLimits()),
        (control.JointLimits(), control.VelocityLimits()),
    ):
        body = control.WholeBody(arm, [], [[control.PostureTask("rest")]], limits=limits)
        command = body(q, np.zeros(7), rest_acceleration=np.zeros(7), dt=0.01, solver=solver)
        assert_allclose(0.01 * command.a[0], -side * arm.tree.velocity_limits[0], rtol=1e-9)
        assert command.report.violated == ["rest", "joint limits"]


def test_velocity_limits_with_a_scale():
    """Every joint keeps a fifth of its limit, in the bounds and in the motion."""
    robot = mb.load("panda")
    q, far = robot.home(), robot.home() + 3.0
    slow = control.VelocityLimits(scale=0.2).on(robot.tree)
    np.testing.assert_allclose(slow.upper(robot.tree, q, None), 0.2 * robot.limits.velocity, rtol=1e-15)
    motion = control.VelocityControl(
        robot, [[control.PostureTask("rest")]], limits=(control.VelocityLimits(scale=0.2),)
    )
    v = motion(q, dt=0.01, rest=far)
    np.testing.assert_allclose(v, 0.2 * robot.limits.velocity, rtol=1e-9)
    for bad in (0, -1.0, np.inf, "half", None):
        with pytest.raises(mb.InputError, match="velocity limits: expected a positive scale of the limits"):
            control.VelocityLimits(scale=bad)
