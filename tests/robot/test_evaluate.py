"""`evaluate`: several quantities in one kernel that shares their work; `kernel`: one of them, for tight loops."""

import numpy as np
import pytest

import multibody as mb
from multibody.errors import InputError
from multibody.model.joint import Passive

from ..laws.tools import near
from .robots import identical, robot_of

ARM = "scara"


@pytest.fixture
def robot():
    return robot_of(ARM)


@pytest.fixture
def state(robot):
    rng = np.random.default_rng(0)
    return robot.random(rng, (5,)), *rng.standard_normal((3, 5, robot.nv))


def test_results_are_those_of_the_single_calls(robot, state):
    q, v, a, tau = state
    tip = robot.frames[-1]
    left = ("velocity", tip, {"representation": "left"})
    what = ["mass_matrix", "bias", ("jacobian", tip), left, "inverse_dynamics", "forward_dynamics", "kinetic_energy"]
    found = robot.evaluate(q, v, what, a=a, tau=tau)
    near(found["mass_matrix"], robot.mass_matrix(q), 1e-12)
    near(found["bias"], robot.bias(q, v), 1e-12)
    near(found["jacobian", tip], robot.jacobian(tip, q), 1e-12)
    near(found["velocity", tip, (("representation", "left"),)], robot.velocity(tip, q, v, "left"), 1e-12)
    near(found["inverse_dynamics"], robot.inverse_dynamics(q, v, a), 1e-12)
    near(found["forward_dynamics"], robot.forward_dynamics(q, v, tau), 1e-11)
    near(found["kinetic_energy"], robot.kinetic_energy(q, v), 1e-12)
    assert len(found) == len(what)


def test_poses_come_as_poses(robot, state):
    tip = robot.frames[-1]
    found = robot.evaluate(state[0], None, [("pose", tip), "poses"])
    assert isinstance(found["pose", tip], mb.Pose)
    near(found["pose", tip].matrix, robot.pose(tip, state[0]).matrix, 1e-12)
    assert set(found["poses"]) == set(robot.frames)
    near(found["poses"][tip].matrix, robot.pose(tip, state[0]).matrix, 1e-12)


def test_what_is_given_and_not_needed_does_no_harm(robot, state):
    q, v, a, _ = state
    near(robot.evaluate(q, v, ["mass_matrix"], a=a)["mass_matrix"], robot.mass_matrix(q), 1e-12)


def test_quantities_with_several_results(robot, state):
    q, v, a, _ = state
    found = robot.evaluate(q, v, ["inverse_dynamics_derivatives", "gravity"], a=a)
    for one, other in zip(
        found["inverse_dynamics_derivatives"], robot.inverse_dynamics_derivatives(q, v, a), strict=True
    ):
        near(one, other, 1e-11)


def test_single_batch_and_eager_agree(robot, state):
    q, v, _, _ = state
    batch = robot.evaluate(q, v, ["bias", "mass_matrix"])
    single = robot.evaluate(q[2], v[2], ["bias", "mass_matrix"])
    with mb.eager():
        plain = robot.evaluate(q, v, ["bias", "mass_matrix"])
    for name in batch:
        identical(single[name], batch[name][2])
        near(plain[name], batch[name], 1e-12)
    threaded = robot.evaluate(q, v, ["bias", "mass_matrix"], threads=2)
    identical(tuple(threaded.values()), tuple(batch.values()))


def test_out(robot, state):
    q, v, _, _ = state
    out = (np.zeros((5, robot.nv)), np.zeros((5, robot.nv, robot.nv)))
    found = robot.evaluate(q, v, ["bias", "mass_matrix"], out=out)
    assert found["bias"] is out[0]
    near(out[1], robot.mass_matrix(q), 1e-12)


def test_out_of_quantities_with_several_results(robot, state):
    q, v, a, _ = state
    square = (5, robot.nv, robot.nv)
    out = (tuple(np.zeros(square) for _ in range(3)), np.zeros((5, robot.nv)))
    found = robot.evaluate(q, v, ["inverse_dynamics_derivatives", "gravity"], a=a, out=out)
    assert found["gravity"] is out[1]
    for one, place, other in zip(
        found["inverse_dynamics_derivatives"], out[0], robot.inverse_dynamics_derivatives(q, v, a), strict=True
    ):
        assert one is place
        near(one, other, 1e-11)
    with pytest.raises(InputError, match="out: expected 2 arrays in a tuple, one for each quantity"):
        robot.evaluate(q, v, ["inverse_dynamics_derivatives", "gravity"], a=a, out=(*out[0], out[1]))


def test_work_is_shared():
    """Fewer operations than one after the other: sines, poses and velocities are computed once."""
    robot = robot_of("branching-figure")
    names = ("mass_matrix", "bias", "gravity", "kinetic_energy")
    apart = [robot.kernel(name).ops for name in names]
    robot.evaluate(robot.neutral(), np.zeros(robot.nv), names)
    together = next(lazy.kernel for request, lazy in robot._calls._kernels.items() if not request.single).ops
    assert together["sin"] == max(ops["sin"] for ops in apart) > 0
    assert together.total() < 0.9 * sum(ops.total() for ops in apart)


def test_inputs_of_any_name(robot, state):
    q, v, _, _ = state
    tip, x, point = robot.frames[-1], np.linspace(0.0, 1.0, robot.nv), np.array([0.1, 0.2, 0.3])
    result = robot.evaluate(q, v, ["mass_matrix_product", ("point_velocity", tip)], point=point, x=x)
    near(result["mass_matrix_product"], robot.mass_matrix_product(q, x), 1e-12)
    near(result["point_velocity", tip], robot.point_velocity(tip, q, v, point), 1e-12)
    with pytest.raises(InputError, match="no quantity takes 'pont'; they take q, v, a, tau"):
        robot.evaluate(q, v, ["mass_matrix"], pont=point)


def test_errors(robot, state):
    q, v, _, _ = state
    cases = [
        ([], "at least one quantity"),
        (["mas_matrix"], "no quantity is named 'mas_matrix'; did you mean 'mass_matrix'"),
        (["inverse_dynamics"], "'inverse_dynamics' needs a, which is not given"),
        (["jacobian"], "needs a frame"),
        ([("jacobian", "toool")], "no frame is named 'toool'"),
        ([("mass_matrix", robot.frames[0])], "takes no frame"),
        (
            [("jacobian", robot.frames[0], {"representatoin": "left"})],
            "no option 'representatoin'; it has representation",
        ),
        ([("jacobian", robot.frames[0], {"representation": "body"})], "'left', 'right', 'mixed', got 'body'"),
        ([["jacobian", robot.frames[0]]], "expected a name or a tuple"),
        ([3], "no quantity is named 3"),
        ([()], "no quantity is named ()"),
        ([("jacobian", robot.frames[0], "left")], "expected (name, frame, {option: value})"),
        ([("jacobian", robot.frames[0], {"frame": "left"})], "has no option 'frame'"),
        (None, "expected a list of quantities, got None"),
        ("mass_matrix", "expected a list of quantities, got 'mass_matrix'"),
    ]
    for what, message in cases:
        with pytest.raises(InputError) as caught:
            robot.evaluate(q, v, what)
        assert message in str(caught.value), what
    with pytest.raises(InputError, match=r"q needs the shape \(..., 4\)"):
        robot.evaluate(q[:, :3], v, ["bias"])


# ---- kernels ---------------------------------------------------------------------------------------------------------


def test_kernel_is_the_method(robot, state):
    q, v, a, _ = state
    kernel = robot.kernel("inverse_dynamics")
    identical(kernel(q, v, a), robot.inverse_dynamics(q, v, a))
    assert robot.kernel("inverse_dynamics") is kernel
    assert [given.name for given in kernel.signature.inputs] == ["q", "v", "a"]
    assert kernel.ops.total() > 50
    left = robot.kernel("jacobian", robot.frames[-1], representation="left")
    identical(left(q), robot.jacobian(robot.frames[-1], q, "left"))


def test_kernel_with_wrenches(robot, state):
    q, v, a, _ = state
    first, last = robot.frames[1], robot.frames[-1]
    f = np.random.default_rng(1).standard_normal((2, 5, 6))
    given = {first: f[0], last: f[1]}
    kernel = robot.kernel("inverse_dynamics", wrenches=[last, first])
    identical(kernel(q, v, a, *(given[name] for name in sorted(given))), robot.inverse_dynamics(q, v, a, given))


def test_equal_models_share_code_and_keep_their_functions(robot):
    other = mb.load(ARM).rename(name="twin")
    kernels = other.kernel("mass_matrix"), robot.kernel("mass_matrix")
    assert kernels[0]._code is kernels[1]._code
    assert kernels[0]._launcher.source.function is not kernels[1]._launcher.source.function
    assert robot.change(gravity=(0, 0, -1.6)).kernel("gravity")._code is not robot.kernel("gravity")._code


def test_passive_is_not_shared_between_models_of_equal_dynamics():
    """The digest of the dynamics leaves passive forces out, the kernel of passive forces must not."""
    robot = robot_of("double-pendulum")
    joint = robot.joints[0].name
    damped = robot.change(passive={joint: Passive(damping=2.0)})
    assert robot.passive(robot.neutral(), np.ones(2)).tolist() != damped.passive(robot.neutral(), np.ones(2)).tolist()


def test_out_may_be_an_input_also_with_passive_forces():
    robot = robot_of("double-pendulum")
    damped = robot.change(passive={robot.joints[0].name: Passive(damping=2.0, stiffness=3.0)})
    rng = np.random.default_rng(8)
    args = [rng.standard_normal((5, 2)) for _ in range(3)]
    for call in (damped.inverse_dynamics, damped.forward_dynamics):
        expected = call(*args, passive=True)
        assert not np.array_equal(expected, call(*args))
        for k in range(3):
            own = [x.copy() for x in args]
            identical(call(*own, passive=True, out=own[k]), expected)
