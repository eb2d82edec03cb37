"""WholeBody: optimal level by level, both forms alike, contacts that come and go, limits, names, and bad input.

Where nothing is said of kernels, the problem runs as NumPy, which takes no compilation.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import multibody as mb
from multibody import control
from multibody.model.joint import Limits

from .whole_bodies import COM, LIMITS, MINIMUM, MU, TRUNK, oracle

REST = control.PostureTask("rest")
STILL = np.zeros(3)
AGAIN = mb.constraints.PointContact("x", "foot-lf")
ALL = {"com_acceleration": STILL, "push": STILL, "spin": np.zeros(6), "dt": 0.001}


@pytest.fixture(scope="module")
def states(dog):
    rng = np.random.default_rng(3)
    q = np.tile(dog.home(), (3, 1))
    q[:, 7:] += 0.1 * rng.standard_normal((3, 12))
    return q, 0.2 * rng.standard_normal((3, 18))


def solved(body, q, v, **inputs):
    """The answer, in NumPy, of a batch."""
    count = len(q)
    values = {name: np.broadcast_to(x, (count, *np.shape(x)[-1:])) for name, x in inputs.items()}
    with np.errstate(all="ignore"):
        return body.problem.solution({"q": q, "v": v, **values})


def names(body, missed):
    return [name for name, one in zip(body.problem.sizes, missed, strict=True) if one]


@pytest.mark.parametrize(
    "active",
    [
        None,
        (1, 1, 1, 0),
        pytest.param((1, 0, 0, 1), marks=pytest.mark.slow),
        pytest.param((0, 0, 0, 0), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_it_is_optimal_level_by_level_in_both_forms(dog, feet, states, active):
    """One state has tasks within reach, others do not. [RD 3.103, 3.108-3.111, §3.10.1, §3.10.3, §3.10.4]"""
    (q, v), levels = states, [[COM, TRUNK], [REST]]
    pushes = np.array([[0.5, -0.3, 0.2], [12.0, 0.0, 0.0], [3.0, 0.0, 5.0]])
    more = {} if active is None else {"active": np.array(active, float)}
    on = np.repeat(np.ones(4) if active is None else active, 3)
    given = {"com_acceleration": pushes, "base_acceleration": STILL, "rest_acceleration": np.zeros(12)}
    answers = [solved(control.WholeBody(dog, feet, levels, LIMITS, eliminate=e), q, v, **given, **more) for e in (1, 0)]
    for k, push in enumerate(pushes):
        tasks = [[(COM, push), (TRUNK, STILL)], [(REST, np.zeros(12))]]
        tau, f, a, _ = oracle(dog, feet, q[k], v[k], tasks, MU, minimum=MINIMUM, **more)
        for answer in answers:
            assert_allclose(answer.tau[k], np.r_[np.zeros(6), tau], atol=1e-5)  # the oracle's bounds are 1e-9 wider
            assert_allclose(answer.f[k], f * on, atol=1e-4)
            assert_allclose(answer.a[k], a, atol=1e-5 * max(1, np.abs(a).max()))
            assert bool(answer.missed[k, 0]) == (k == 1 or active == (0, 0, 0, 0) or bool(answers[0].missed[k, 0]))
            assert not answer.missed[k, 3:].any()


@pytest.mark.parametrize("sides", [6, pytest.param(3, marks=pytest.mark.slow)])
def test_pyramids_have_as_many_sides_as_asked_for(dog, feet, states, sides):
    q, v = states
    cones = control.FrictionCones(MU, sides=sides)
    body = control.WholeBody(dog, feet, [[COM, TRUNK]], (control.TorqueLimits(), cones))
    answer = solved(body, q, v, com_acceleration=(8.0, 3.0, 0.0), base_acceleration=STILL)
    tasks = [[(COM, np.array([8.0, 3.0, 0.0])), (TRUNK, STILL)]]
    for k in range(2):
        tau = oracle(dog, feet, q[k], v[k], tasks, MU, faces=sides)[0]
        assert_allclose(answer.tau[k, 6:], tau, atol=1e-5)
        f = answer.f[k].reshape(-1, 3)
        assert (np.hypot(f[:, 0], f[:, 1]) <= MU * f[:, 2] + 1e-8).all()


def test_cones_turn_with_their_normals(dog, feet, states):
    q, v = states
    n = np.array([np.sin(0.3), 0.0, np.cos(0.3)])
    tilted = control.WholeBody(dog, feet, [[COM, TRUNK]], (control.FrictionCones(0.3, normal=n),))
    given = {"com_acceleration": STILL, "base_acceleration": STILL}
    answer = solved(tilted, q, v, **given)
    f = answer.f.reshape(-1, 3)
    along = f @ n
    assert (np.linalg.norm(f - along[:, None] * n, axis=1) <= 0.3 * along + 1e-8).all()
    flat = control.WholeBody(dog, feet, [[COM, TRUNK]], (control.FrictionCones(0.3),))
    normals = np.broadcast_to(n, (3, 4, 3))
    with np.errstate(all="ignore"):
        values = {name: np.broadcast_to(x, (3, 3)) for name, x in given.items()}
        other = flat.problem.solution({"q": q, "v": v, "normals": normals, **values})
    assert_allclose(other.tau, answer.tau, atol=1e-9)


def test_forces_and_torques_are_tasks(dog, feet, states):
    """[RD 3.112-3.113]"""
    q, v = states
    push, soft = control.ForceTask("push", "foot-lf"), control.TorqueTask("soft", ("rh-knee",))
    body = control.WholeBody(dog, feet, [[COM, TRUNK], [push], [soft]], LIMITS)
    answer = solved(body, q, v, com_acceleration=STILL, base_acceleration=STILL, push=(1.0, 0.5, 22.0))
    assert_allclose(answer.f[:, :3], np.tile([1.0, 0.5, 22.0], (3, 1)), atol=1e-7)
    knee = next(joint.v.start for joint in dog.joints if joint.name == "rh-knee")
    free = control.WholeBody(dog, feet, [[COM, TRUNK], [push]], LIMITS)
    before = solved(free, q, v, com_acceleration=STILL, base_acceleration=STILL, push=(1.0, 0.5, 22.0))
    assert (np.abs(answer.tau[:, knee]) < np.abs(before.tau[:, knee])).all()


def test_targets_are_reached_by_springs(dog, feet, states):
    q, v = states[0], 0.1 * states[1]
    body = control.WholeBody(dog, feet, [[COM, TRUNK]], LIMITS)
    wanted = dog.center_of_mass(q) + np.array([0.01, -0.005, 0.002])
    rate = np.array([0.05, 0.0, 0.0])
    level = mb.Rotation.identity()
    shared = {"base": level, "base_kp": np.full(3, 50.0), "base_kd": np.full(3, 3.0)}
    with np.errstate(all="ignore"):
        values = {"q": q, "v": v, "com": wanted, "com_velocity": np.tile(rate, (3, 1)), **shared}
        answer = body.problem.solution(values)
    kp, kd = 100.0, 20.0
    J = dog.com_jacobian(q)
    back = kp * np.array([0.01, -0.005, 0.002]) + kd * (rate - np.einsum("bij,bj->bi", J, v))
    held = dog.constraints(feet)
    assert not answer.missed.any()
    assert_allclose(np.einsum("bij,bj->bi", J, answer.a) + COM.bias(dog.tree, q, v), back, atol=1e-8)
    moved = np.einsum("bij,bj->bi", held.jacobian(q), answer.a) + held.bias(q, v)
    assert_allclose(moved, 0, atol=1e-9)


def test_weak_motors_let_contacts_yield_and_are_named(dog, feet, states):
    q, v = states[0], 30 * states[1]
    weak = control.TorqueLimits(fraction=0.02)
    body = control.WholeBody(dog, feet, [[COM, TRUNK]], (weak, control.FrictionCones(MU)))
    answer = solved(body, q, v, com_acceleration=STILL, base_acceleration=STILL)
    assert (np.abs(answer.tau) <= 0.02 * dog.tree.effort_limits + 1e-8).all()
    f = answer.f.reshape(-1, 3)
    assert (np.hypot(f[:, 0], f[:, 1]) <= MU * f[:, 2] + 1e-6).all()
    J = dog.constraints(feet).jacobian(q)
    motion = dog.inverse_dynamics(q, v, answer.a) - answer.tau - np.einsum("bij,bi->bj", J, answer.f)
    assert_allclose(motion, 0, atol=1e-8)
    for missed in answer.missed:
        assert {"com", "foot-lf"} <= set(names(body, missed))


def test_feet_push_as_hard_as_they_are_told_to(dog, feet, states):
    """Twice the weight, which lifts the robot, and more than its motors can, which moves its feet."""
    q, v = states[0][:1], np.zeros((1, 18))
    weight = dog.mass * 9.81
    for minimum, culprit in ((weight / 2, "com"), (60 * weight, "foot-lf")):
        cones = control.FrictionCones(MU, minimum=minimum)
        body = control.WholeBody(dog, feet, [[COM, TRUNK]], (control.TorqueLimits(), cones))
        answer = solved(body, q, v, com_acceleration=STILL, base_acceleration=STILL)
        assert (answer.f[:, 2::3] >= minimum * (1 - 1e-7)).all()
        assert (np.abs(answer.tau) <= dog.tree.effort_limits + 1e-6).all()
        assert culprit in names(body, answer.missed[0])
        J = dog.constraints(feet).jacobian(q)
        motion = dog.inverse_dynamics(q, v, answer.a) - answer.tau - np.einsum("bij,bi->bj", J, answer.f)
        assert_allclose(motion, 0, atol=1e-6)


@pytest.mark.parametrize("which", ["q", "v", "com_acceleration"])
def test_no_torques_for_numbers_that_are_none(dog, feet, states, which):
    q, v = states
    body = control.WholeBody(dog, feet, [[COM, TRUNK]], LIMITS)
    values = {"q": q, "v": v, "com_acceleration": np.zeros((3, 3)), "base_acceleration": np.zeros((3, 3))}
    with np.errstate(all="ignore"):
        right = body.problem.solution(values)
        bad = values | {which: values[which].copy()}
        bad[which][1, -1] = np.nan
        answer = body.problem.solution(bad)
    assert_array_equal(answer.tau[[0, 2]], right.tau[[0, 2]])
    assert "com" in names(body, answer.missed[1])
    assert np.isnan(answer.tau[1]).all()


@pytest.fixture(scope="module")
def arm():
    """Three hinges in a plane within [-2, 2] rad, at most at 1, 2 and 3 rad/s."""
    robot = mb.load("planar-arm")
    speeds = {joint.name: Limits(-2.0, 2.0, speed, 50.0) for joint, speed in zip(robot.joints, (1, 2, 3), strict=True)}
    return robot.change(limits=speeds)


def test_joints_can_still_brake(arm):
    dt, limits = 0.03, (control.VelocityLimits(), control.JointLimits(deceleration=20.0))
    body = control.WholeBody(arm, (), [[REST]], limits)
    q, v = np.zeros((1, 3)), np.zeros((1, 3))
    fastest = np.zeros(3)
    for _ in range(120):
        values = {"q": q, "v": v, "rest_acceleration": np.array([[300.0, -300.0, 300.0]]), "dt": np.array([dt])}
        answer = body.problem.solution(values)
        q, v = q + dt * v + dt * dt / 2 * answer.a, v + dt * answer.a
        fastest = np.maximum(fastest, np.abs(v[0]))
        assert (np.abs(q) <= 2 + 1e-9).all()
        assert names(body, answer.missed[0]) == ["rest"]
    assert_allclose(q, [[2.0, -2.0, 2.0]], atol=2e-3)
    assert_allclose(fastest, [1.0, 2.0, 3.0], atol=1e-6)


def test_limits_that_exclude_each_other_are_named(dog, feet):
    """Four feet that stand still while the trunk falls fast: knees cannot slow down at once."""
    q, v = dog.home()[None], np.zeros((1, 18))
    held = dog.constraints(feet).jacobian(q[0])
    v[0] = np.linalg.lstsq(np.vstack([held, np.eye(18)[:6]]), np.r_[np.zeros(12), 0, 0, -20.0, 0, 0, 0], rcond=None)[0]
    limits = (*LIMITS, control.VelocityLimits())
    body = control.WholeBody(dog, feet, [[COM, TRUNK]], limits)
    answer = solved(body, q, v, com_acceleration=STILL, base_acceleration=STILL, dt=0.002)
    missed = names(body, answer.missed[0])
    assert "velocity limits" in missed
    assert (np.abs(answer.tau) <= dog.tree.effort_limits + 1e-7).all()


def test_a_singular_task_has_an_answer(dog, feet, states):
    """The same task twice in a level, and once more below it."""
    q, v = states
    again = control.CenterOfMassTask("again")
    double = control.WholeBody(dog, feet, [[COM, again, TRUNK], [control.CenterOfMassTask("third")]], LIMITS)
    once = control.WholeBody(dog, feet, [[COM, TRUNK]], LIMITS)
    given = {"com_acceleration": (0.3, 0.0, 0.1), "base_acceleration": STILL}
    more = {"again_acceleration": (0.3, 0.0, 0.1), "third_acceleration": (0.0, 0.0, 1.0)}
    answer = solved(double, q, v, **given, **more)
    assert_allclose(answer.tau, solved(once, q, v, **given).tau, atol=1e-7)
    assert [names(double, missed) for missed in answer.missed] == [["third"]] * 3


@pytest.mark.parametrize("active", [None, (1, 1, 1, 1)], ids=str)
def test_a_task_that_contacts_make_impossible_decides_nothing(dog, feet, states, active):
    """A foot that stands: what is left of its rows is rounding errors, which are no directions."""
    q, v = states
    swing = control.PositionTask("swing", "foot-lf")
    more = {} if active is None else {"active": np.array(active, float)}
    given = {"com_acceleration": STILL, "base_acceleration": STILL}
    body = control.WholeBody(dog, feet, [[COM, TRUNK], [swing]], LIMITS)
    answer = solved(body, q, v, **given, swing_acceleration=(0.0, 0.0, 1.0), **more)
    alone = solved(control.WholeBody(dog, feet, [[COM, TRUNK]], LIMITS), q, v, **given, **more)
    assert_allclose(answer.tau, alone.tau, atol=1e-7)
    assert [names(body, missed) for missed in answer.missed] == [["swing"]] * 3


# ---- kernels -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chain():
    """Three hinges in a plane: a kernel that takes a second."""
    one = mb.load("planar-arm")
    return one.change(limits={joint.name: Limits(-3.0, 3.0, 10.0, 30.0) for joint in one.joints})


@pytest.fixture(scope="module")
def wiping(chain):
    """An arm that pushes against a wall with its tip, which may slide on it."""
    wall = mb.constraints.PointContact("tip", "tool")
    levels = [[control.ForceTask("push", "tip")], [REST]]
    cones = control.FrictionCones(0.5, normal=(-1.0, 0.0, 0.0))
    return control.WholeBody(chain, [wall], levels, (control.TorqueLimits(), cones))


def test_one_is_as_in_a_batch_and_no_number_stays_alone(chain, wiping):
    rng = np.random.default_rng(0)
    q, v = chain.random(rng, 9), 0.1 * rng.standard_normal((9, 3))
    given = {"push": rng.standard_normal((9, 3)) * 10, "rest": np.zeros((9, 3)), "rest_kp": 30.0}
    tau, a, f, report = wiping(q, v, **given)
    for k in (0, 8):
        one = wiping(q[k], v[k], push=given["push"][k], rest=np.zeros(3), rest_kp=30.0)
        for x, y in zip((tau, a, f), one[:3], strict=True):
            assert_array_equal(x[k], y)
        assert one.report.violated == report.violated[k]
        assert_array_equal(one.report.residuals, report.residuals[k])
        assert one.report.unsolved == []
    none = wiping(q[:0], v[:0], push=given["push"][:0], rest=np.zeros((0, 3)))
    assert none.tau.shape == (0, 3)
    assert none.report.violated == []
    q[4] = np.nan
    other = wiping(q, v, **given)
    rest = np.arange(9) != 4
    assert_array_equal(other.tau[rest], tau[rest])
    assert np.isnan(other.tau[4]).all()
    assert other.report.violated[4] == ["push", "rest", "tip"]
    given["push"][2] = np.nan
    other = wiping(np.nan_to_num(q), v, **given)
    assert np.isnan(other.tau[2]).all()
    assert "push" in other.report.violated[2]


def test_single_precision_misses_what_double_does(chain, wiping):
    rng = np.random.default_rng(2)
    q, v, push = chain.random(rng, 30), 0.1 * rng.standard_normal((30, 3)), 10 * rng.standard_normal((30, 3))
    own = mb.load("planar-arm", dtype="float32").change(limits={joint.name: joint.limits for joint in chain.joints})
    single = control.WholeBody(own, wiping.contacts, wiping.levels, (control.TorqueLimits(), wiping.problem.cones))
    exact = wiping(q, v, push=push, rest=np.zeros((30, 3)))
    single = single(*(x.astype("f4") for x in (q, v)), push=push.astype("f4"), rest=np.zeros((30, 3), "f4"))
    assert single.tau.dtype == np.float32
    assert_allclose(single.tau, exact.tau, atol=1e-3 * np.abs(exact.tau).max())
    assert_array_equal(single.report.missed, exact.report.missed)


def test_a_kernel_is_the_numpy_and_traces_into_others(chain, wiping):
    rng = np.random.default_rng(1)
    q, v, push = chain.random(rng, 5), np.zeros((5, 3)), rng.standard_normal((5, 3)) * 10
    zero = np.zeros((5, 3))
    compiled = wiping(q, v, push=push, rest_acceleration=zero)
    plain = solved(wiping, q, v, push=push, rest_acceleration=zero)
    assert_allclose(compiled.tau, plain.tau, atol=1e-6)
    assert_array_equal(compiled.report.missed, plain.missed)
    assert "push" in repr(compiled[3].slacks)

    def law(q, v, push):
        command = wiping(q, v, push=push, rest_acceleration=np.zeros(3))
        return command.tau, command.report.missed

    tau, missed = mb.compile(law, 3, 3, 3)(q, v, push)
    assert_allclose(tau, compiled.tau, atol=1e-9)  # zeros that are constants fold
    assert_array_equal(missed, compiled.report.missed)


@pytest.mark.slow
def test_the_quadruped_in_a_kernel(dog, feet, states):
    q, v = states
    body = control.WholeBody(dog, feet, [[COM, TRUNK], [REST]], LIMITS)
    for push in ((0.5, 0.0, 0.0), (12.0, 0.0, 0.0)):
        given = {"com_acceleration": np.array(push), "base_acceleration": STILL, "rest_acceleration": np.zeros(12)}
        command = body(q, v, **given)
        assert_allclose(command.tau, solved(body, q, v, **given).tau, atol=1e-6)
        assert ("com" in command.report.violated[0]) == (push[0] > 1)
        assert_array_equal(body(q[1], v[1], **given).tau, command.tau[1])


# ---- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "make"),
    [
        ("contacts: expected at least one", lambda r, _: control.WholeBody(r, [], [[COM]])),
        ("levels: expected lists of tasks", lambda r, c: control.WholeBody(r, c, [])),
        ("level 2: expected a list of tasks", lambda r, c: control.WholeBody(r, c, [[COM], []])),
        ("expected a Robot", lambda _, c: control.WholeBody("dog", c, [[COM]])),
        ("'com': expected another name", lambda r, c: control.WholeBody(r, c, [[COM], [COM]])),
        ("'q': expected another name", lambda r, c: control.WholeBody(r, c, [[control.CenterOfMassTask("q")]])),
        ("got 'foot-lf' twice", lambda r, c: control.WholeBody(r, c, [[control.CenterOfMassTask("foot-lf")]])),
        ("got 'foot-lf' twice", lambda r, c: control.WholeBody(r, c, [[COM]], (control.VelocityLimits("foot-lf"),))),
        ("no contact is called 'hand'", lambda r, c: control.WholeBody(r, c, [[control.ForceTask("push", "hand")]])),
        ("no joint 'elbow'", lambda r, c: control.WholeBody(r, c, [[control.TorqueTask("soft", ("elbow",))]])),
        ("expected limits such as", lambda r, c: control.WholeBody(r, c, [[COM]], limits=(0.6,))),
        ("one FrictionCones at most", lambda r, c: control.WholeBody(r, c, [[COM]], (LIMITS[1], LIMITS[1]))),
        ("positive for friction", lambda *_: control.FrictionCones(0.0)),
        ("not negative for minimum", lambda *_: control.FrictionCones(0.5, minimum=-1.0)),
        ("at least 3 sides", lambda *_: control.FrictionCones(0.5, sides=2)),
        ("normal: expected three finite numbers", lambda *_: control.FrictionCones(0.5, normal=(0, 0, 0))),
        ("positive fraction", lambda *_: control.TorqueLimits(fraction=0.0)),
        ("positive deceleration", lambda *_: control.JointLimits(deceleration=-1.0)),
        ("positive weight", lambda r, c: control.WholeBody(r, c, [[control.TorqueTask("t", weight=0.0)]])),
        ("independent contacts", lambda r, c: control.WholeBody(r, [*c, AGAIN], [[COM]], eliminate=True)),
    ],
)  # fmt: skip
def test_bad_controllers_are_refused_in_words(dog, feet, words, make):
    with pytest.raises(mb.MultibodyError, match=words):
        make(dog, feet)


@pytest.mark.parametrize(
    ("words", "inputs"),
    [
        ("missing: the target of task 'com'", {}),
        ("missing: the force of task 'push'", {"com_acceleration": STILL}),
        ("missing: dt", {"com_acceleration": STILL, "push": STILL, "spin": np.zeros(6)}),
        ("no task has an input 'hand'", {"com_acceleration": STILL, "hand": STILL}),
        ("is a rate, which has no gains", {"spin_kp": 1.0}),
        ("expected ones and zeros, got 0.5", {**ALL, "active": np.array([1.0, 0.5, 1.0, 1.0])}),
    ],
)
def test_bad_inputs_are_refused_in_words(dog, feet, words, inputs):
    levels = [[COM], [control.ForceTask("push", "foot-lf")], [control.MomentumTask("spin")]]
    body = control.WholeBody(dog, feet, levels, (control.VelocityLimits(),))
    with pytest.raises(mb.InputError, match=words):
        body(dog.home(), np.zeros(18), **inputs)


@pytest.mark.parametrize(("length", "mass"), [(1.0, 1e-6), (0.02, 8e-6), (10.0, 1e3)])
def test_small_and_large_robots_share_their_weight_alike(length, mass):
    """Of similar robots that accelerate alike, forces are the same share of the weight: 15 % were missing at 71 mg."""
    shares = []
    for robot in (mb.load("quadruped"), mb.load("quadruped").scale(length, mass)):
        feet = [mb.constraints.PointContact(name, name) for name in robot.frames if name.startswith("foot")]
        size = length if shares else 1.0
        levels = [[control.CenterOfMassTask("com"), control.OrientationTask("trunk", "trunk", weight=size**2)]]
        body = control.WholeBody(robot, feet, levels, limits=(control.FrictionCones(0.6),))
        given = {"com_acceleration": np.array([9.0, 0, 0]), "trunk_acceleration": np.zeros(3)}
        answer = body.problem.solution({"q": robot.home(), "v": np.zeros(18), **given})
        assert_allclose(answer.residuals, 0, atol=1e-8)
        shares.append(answer.f / (9.81 * robot.mass))
    assert_allclose(shares[1], shares[0], atol=1e-8)
