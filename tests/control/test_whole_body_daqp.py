"""WholeBody by DAQP: what is least when nothing yields, beside a cascade of programs; else the default's answer."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import multibody as mb
from multibody import control
from multibody.control.whole_body.contact_dynamics import unit_of
from multibody.model.joint import Limits
from multibody.solvers import daqp

from .whole_bodies import COM, LIMITS, MINIMUM, MU, TRUNK, oracle


def state(dog, k):
    rng = np.random.default_rng(k)
    q = dog.home()
    q[7:] += 0.1 * rng.standard_normal(12)
    return q, 0.2 * rng.standard_normal(18)


def at_once(body, q, v, **values):
    """The answer by DAQP, as NumPy; None where DAQP has none."""
    problem = body.problem
    program = problem.least_norm_program({"q": q, "v": v, **values})
    found = daqp.least_norm_solver_for(*program.G.shape)(program.G, program.lower, program.upper)
    return found and problem.solution_at(q, v, *found, program)


@pytest.mark.parametrize("active", [None, (1, 1, 1, 0)], ids=str)
def test_what_can_be_had_at_once_is_what_a_cascade_finds(dog, feet, active):
    """[RD 3.108-3.111, 3.113]"""
    body = control.WholeBody(dog, feet, [[COM, TRUNK]], LIMITS)
    more = {} if active is None else {"active": np.array(active, float)}
    reached = 0
    for k in range(2):
        (q, v), push = state(dog, k), np.array([2.0 - 4 * k, 0.5, 0.3])
        answer = at_once(body, q, v, com_acceleration=push, base_acceleration=np.zeros(3), **more)
        tau, f, a, norms = oracle(dog, feet, q, v, [[(COM, push), (TRUNK, np.zeros(3))]], MU, minimum=MINIMUM, **more)
        assert_allclose(norms[:2], 0, atol=1e-6)
        assert_allclose(answer.tau[6:], tau, atol=1e-4)
        assert_allclose(answer.f, f * np.repeat(np.ones(4) if active is None else active, 3), atol=1e-4)
        assert_allclose(answer.a, a, atol=1e-4)
        assert_allclose(answer.residuals, 0, atol=1e-8)
        assert_array_equal(answer.missed, 0)
        default = body.problem.solution(
            {"q": q, "v": v, "com_acceleration": push, "base_acceleration": np.zeros(3), **more}
        )
        assert_allclose(answer.tau, default.tau, atol=1e-6 * np.abs(default.tau).max())
        assert_allclose(answer.slacks, default.slacks, atol=1e-6)
        reached += bool(np.abs(answer.tau - at_once_free(body, q, v, push, more)).max() > 1e-3)
    assert reached or active is not None  # bounds decide somewhere


def at_once_free(body, q, v, push, more):
    """tau without bounds."""
    values = {"q": q, "v": v, "com_acceleration": push, "base_acceleration": np.zeros(3), **more}
    program = body.problem.least_norm_program(values)
    return np.concatenate([np.zeros(6), unit_of(body.robot.tree) * program.x[:12, -1]])


def test_what_has_to_yield_is_not_for_daqp(dog, feet):
    body = control.WholeBody(dog, feet, [[COM]], LIMITS)
    assert at_once(body, *state(dog, 0), com_acceleration=np.array([30.0, 0, 0])) is None


def test_limits_of_joints_are_bounds(dog, feet):
    """A narrow limit of velocities decides, and is told to be kept."""
    joints = {joint.name: Limits(-1.0, 1.0, 2.0, 80.0) for joint in dog.joints if joint.name != dog.joints[0].name}
    slow = dog.change(limits=joints)
    body = control.WholeBody(slow, feet, [[COM]], (*LIMITS, control.VelocityLimits()))
    q, v = state(slow, 1)
    v = 0.0 * v
    given = {"com_acceleration": np.array([0.0, 0.0, 1.0]), "dt": np.array(0.1)}
    answer = at_once(body, q, v, **given)
    assert_allclose(answer.residuals, 0, atol=1e-8)
    rates = np.abs(v + 0.1 * answer.a)[6:]
    assert_allclose(rates.max(), 2.0, atol=1e-7)
    default = body.problem.solution({"q": q, "v": v, **given})
    assert_allclose(answer.tau, default.tau, atol=1e-6 * np.abs(default.tau).max())
    assert_array_equal(answer.missed, default.missed)


@pytest.mark.parametrize("seed", [48, 112])
def test_levels_that_press_against_bounds_end_where_they_are_met(dog, feet, seed):
    """With the tolerances of the last level, these were off by 9e-6 and 5e-6 of the torques."""
    rng, q = np.random.default_rng(seed), dog.home()
    q[7:] += 0.3 * rng.standard_normal(12)
    v = 0.5 * rng.standard_normal(18)
    sizes = {"com": (4, 3), "base": (8, 3), "rest": (20, 12)}
    given = {f"{name}_acceleration": rng.uniform(-most, most, rows) for name, (most, rows) in sizes.items()}
    body = control.WholeBody(dog, feet, [[COM, TRUNK], [control.PostureTask("rest")]], LIMITS)
    answer = at_once(body, q, v, **given)
    default = body.problem.solution({"q": q, "v": v, **given})
    assert_allclose(answer.tau, default.tau, atol=1e-7 * np.abs(default.tau).max())
    assert_array_equal(answer.missed, default.missed)


@pytest.fixture(scope="module")
def arm():
    """Three hinges in a plane, weak ones, whose tip is told where to accelerate: one direction is left."""
    one = mb.load("planar-arm")
    weak = one.change(limits={joint.name: Limits(-3.0, 3.0, 10.0, 4.0) for joint in one.joints})
    return control.WholeBody(weak, [], [[control.PositionTask("tip", "tool", "xy")]], (control.TorqueLimits(),))


def test_one_state_is_within_the_tolerance_of_the_default(arm):
    rng, before = np.random.default_rng(0), None
    asked, reached = 0, 0
    for _ in range(30):
        q, v = arm.robot.random(rng), 0.3 * rng.standard_normal(3)
        given = {"tip_acceleration": rng.uniform(-6, 6, 2)}
        default, command = arm(q, v, **given), arm(q, v, solver="daqp", **given)
        started = arm(q, v, solver="daqp", start=before, **given)
        assert_allclose(command.tau, default.tau, atol=1e-6 * max(1.0, np.abs(default.tau).max()))
        assert_allclose(started.tau, command.tau, atol=1e-9)
        assert command.report.violated == default.report.violated
        if command.report.multipliers is None:  # what yields is the default's
            assert default.report.violated == ["tip"]
            assert_array_equal(command.tau, default.tau)
        else:
            asked, reached = asked + 1, reached + bool(np.any(command.report.multipliers))
            before = command
        assert_array_equal(arm(q, v, solver="daqp", **given).tau, command.tau)  # nothing is remembered
    assert 5 <= asked < 30
    assert reached


def test_what_daqp_does_not_take_is_refused(arm, dog, feet):
    q, v, given = np.zeros(3), np.zeros(3), {"tip_acceleration": np.zeros(2)}
    with pytest.raises(mb.InputError, match="takes one state, got a batch"):
        arm(np.zeros((2, 3)), np.zeros((2, 3)), solver="daqp", **given)
    with pytest.raises(mb.InputError, match="cannot be a part of a kernel"):
        mb.compile(lambda q: arm(q, np.zeros(3), solver="daqp", **given).tau, 3)
    with pytest.raises(mb.InputError, match="solver: expected one of"):
        arm(q, v, solver="osqp", **given)
    with pytest.raises(mb.InputError, match="start: expected None unless"):
        arm(q, v, start=arm(q, v, **given), **given)
    with pytest.raises(mb.InputError, match="start: expected a command"):
        arm(q, v, solver="daqp", start=np.zeros(3), **given)
    twice = control.WholeBody(dog, [*feet, mb.constraints.PointContact("x", "foot-lf")], [[COM]], LIMITS)
    round_ones = control.WholeBody(dog, feet, [[COM]], (control.FrictionCones(MU, sides=np.inf),))
    for body in (twice, round_ones):
        with pytest.raises(mb.InputError, match=r"independent contacts, .* and pyramids"):
            body(*state(dog, 0), solver="daqp", com_acceleration=np.zeros(3))


@pytest.mark.slow
def test_the_quadruped_by_daqp(dog, feet):
    body = control.WholeBody(dog, feet, [[COM, TRUNK], [control.PostureTask("rest")]], LIMITS)
    for k in range(10):
        (q, v), push = state(dog, k), np.random.default_rng(k).uniform(-1, 1, 3)
        given = {"com_acceleration": push, "base_acceleration": np.zeros(3), "rest_acceleration": np.zeros(12)}
        default, command = body(q, v, **given), body(q, v, solver="daqp", **given)
        assert_allclose(command.tau, default.tau, atol=1e-6 * np.abs(default.tau).max())
        assert_allclose(command.f, default.f, atol=1e-5)
