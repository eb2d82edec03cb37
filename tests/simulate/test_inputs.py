"""Inputs, pushes, parameters and states: checked alike by runs, steps and gradients."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import multibody as mb
from multibody import simulate

from .bodies import ball, box, leg, slider


@pytest.fixture(scope="module")
def legged():
    robot, contacts, stand = leg()
    controller = simulate.PD(60.0, 2.0)
    return simulate.Simulator(robot, dt=0.005, contacts=contacts, controller=controller), stand


def test_a_step_is_the_first_of_a_run_also_with_pushes(legged):
    simulator, stand = legged
    given = {
        "inputs": stand + 0.1,
        "parameters": {"friction": 0.3, "mass": 7.0, "kp": 50.0},
        "wrenches": {"trunk": np.array([3.0, 0.0, -5.0, 0.0, 1.0, 0.0])},
    }
    run = simulator(stand, seconds=0.005, **given)
    after, record = simulator.step(simulator.start(stand), **given)
    np.testing.assert_allclose(after["q"], run.q[0], rtol=1e-13)
    np.testing.assert_allclose(after["v"], run.v[0], rtol=1e-12)
    np.testing.assert_allclose(record["forces"], run.forces[0], rtol=1e-9, atol=1e-9)
    kernel = mb.compile(
        lambda q, kp, push, target: simulator.step(
            simulator.start(q), target, {"kp": kp, "friction": 0.3, "mass": 7.0}, wrenches={"trunk": push}
        )[0]["q"],
        (3,),
        (),
        (6,),
        (3,),
    )
    q = kernel(stand, 50.0, given["wrenches"]["trunk"], given["inputs"])
    np.testing.assert_allclose(q, run.q[0], rtol=1e-13)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"parameters": {"frction": 0.5}}, "there is no 'frction' here; there are friction, restitution, kp"),
        ({"parameters": {"friction": [0.5, 0.6]}}, r"friction: expected shape \(\), that of one sample, got \(2,\)"),
        ({"parameters": {"friction": -0.5}}, "friction: expected numbers >= 0, got -0.5"),
        ({"parameters": {"restitution": 1.5}}, "restitution: expected numbers from 0 to 1, got 1.5"),
        ({"parameters": {"kp": np.full(3, 60.0)}}, r"kp: expected shape \(\).*simulate.PD\(kp=np.array"),
        ({"parameters": {"mass": 1.0, "masses": np.ones(3)}}, "several of them"),
        ({"parameters": 0.5}, "parameters: expected"),
        ({"inputs": np.zeros(4)}, "inputs: expected 3 targets, one for each coordinate of a joint, got 4"),
        ({"inputs": 0.0}, r"inputs: expected \(n,\)"),
        ({"inputs": np.zeros((1, 3))}, "inputs: expected .n,., that of one sample in one step"),
        ({"inputs": {"target": np.zeros(3)}}, "one array, got a dict"),
        ({"inputs": "three"}, "inputs: expected real floats"),
        ({"wrenches": {"trunc": np.zeros(6)}}, "trunc"),
        ({"wrenches": {"trunk": np.zeros(5)}}, r"wrenches, trunk: expected \(6,\)"),
        ({"wrenches": np.zeros(6)}, "wrenches: expected {frame"),
    ],
)
def test_steps_that_are_refused_also_while_they_are_traced(legged, given, words):
    simulator, stand = legged
    with pytest.raises(mb.InputError, match=words):
        simulator.step(simulator.start(stand), **given)
    with pytest.raises(mb.InputError, match=words):
        mb.compile(lambda q: simulator.step(simulator.start(q), **given)[0]["q"], (3,))


def test_traced_inputs_of_a_wrong_length_are_refused(legged):
    simulator, _ = legged
    with pytest.raises(mb.InputError, match="expected 3 targets"):
        mb.compile(lambda q, u: simulator.step(simulator.start(q), u)[0]["q"], (3,), (5,))
    with pytest.raises(mb.InputError, match="kp: expected shape"):
        mb.compile(lambda q, kp: simulator.step(simulator.start(q), None, {"kp": kp})[0]["q"], (3,), (3,))


def test_plain_numbers_are_parameters_of_a_step(legged):
    simulator, stand = legged
    robot = simulator.robot
    after, _ = simulator.step(simulator.start(stand), stand, {"mass": robot.mass, "friction": 0.8})
    same, _ = simulator.step(simulator.start(stand), stand)
    np.testing.assert_allclose(after["q"], same["q"], rtol=1e-14)


def test_checks_leave_the_kernel_of_a_step_as_it_is(legged):
    """The operations of a checked step are those of the step itself."""
    simulator, _ = legged
    checked = mb.compile(lambda q, u: simulator.step(simulator.start(q), u)[0]["q"], (3,), (3,))
    bare = mb.compile(lambda q, u: simulator._step(simulator.start(q), {"input": u})[0]["q"], (3,), (3,))
    assert checked.ops == bare.ops


def test_gains_have_the_shape_of_those_of_the_controller(legged):
    """With PD(60, 2) three numbers are three samples, with PD(three numbers, 2) those of three joints."""
    simulator, stand = legged
    kp = np.array([40.0, 60.0, 80.0])
    several = simulator(stand, seconds=0.05, parameters={"kp": kp})
    assert several.q.shape == (3, 10, 3)
    for k in range(3):
        alone = simulator(stand, seconds=0.05, parameters={"kp": kp[k]})
        assert np.array_equal(several.q[k], alone.q)
    controller = simulate.PD(np.full(3, 60.0), 2.0)
    joint = simulate.Simulator(simulator.robot, dt=0.005, contacts=simulator.contacts, controller=controller)
    run = joint(stand, seconds=0.005, parameters={"kp": kp})
    assert run.q.shape == (1, 3)
    after, _ = joint.step(joint.start(stand), None, {"kp": kp})
    np.testing.assert_allclose(after["q"], run.q[0], rtol=1e-13)
    with pytest.raises(mb.InputError, match=r"kp: expected shape \(\.\.\., 3\), got \(\)"):
        joint(stand, seconds=0.005, parameters={"kp": 60.0})


def test_the_start_of_a_batch_is_a_whole_batch():
    robot, contacts = box()

    def controller(t, q, v, u, state):
        return np.zeros(6), {"sum": state["sum"] + q, "pair": (state["pair"][0] + 1.0, state["pair"][1])}

    state = {"sum": np.zeros(7), "pair": (0.0, np.ones(2))}
    simulator = simulate.Simulator(
        robot, dt=0.01, contacts=contacts, controller=controller, state=state, control_every=2
    )
    q = np.tile(robot.neutral(), (2, 3, 1))
    start = simulator.start(q)
    shapes = simulator.start(robot.neutral())

    def check(batch, single):
        if isinstance(single, dict):
            assert set(batch) == set(single)
            for name in single:
                check(batch[name], single[name])
        elif isinstance(single, tuple):
            for parts in zip(batch, single, strict=True):
                check(*parts)
        else:
            assert batch.shape == (2, 3, *np.shape(single))

    check(start, shapes)
    assert start["steps"].shape == (2, 3)
    velocities = simulator.start(robot.neutral(), np.zeros((5, 6)))
    assert velocities["q"].shape == (5, 7)
    memory = {"sum": np.zeros((4, 7)), "pair": (np.arange(4.0), np.ones(2))}
    assert simulator.start(robot.neutral(), state=memory)["bound"].shape[0] == 4
    with pytest.raises(mb.InputError, match=r"state, memory: expected a dict with sum, pair, got sum"):
        simulator.start(robot.neutral(), state={"sum": np.zeros(7)})
    with pytest.raises(mb.InputError, match=r"state, memory, sum: expected shape \(\.\.\., 7\), got \(6,\)"):
        simulator.start(robot.neutral(), state={**state, "sum": np.zeros(6)})
    with pytest.raises(mb.InputError, match="do not broadcast"):
        simulator.start(q, np.zeros((5, 6)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: {name: x for name, x in s.items() if name != "v"}, "state: expected a dict with q, v, steps"),
        (lambda s: {**s, "velocity": s["v"]}, "state: expected a dict with q, v, steps"),
        (lambda s: {**s, "q": np.zeros(4)}, r"state, q: expected shape \(\.\.\., 3\), got \(4,\)"),
        (lambda s: {**s, "q": np.zeros((2, 3))}, r"one sample, got a batch"),
        (lambda s: s["q"], "state: expected a dict"),
    ],
)
def test_states_of_steps_that_are_refused(legged, change, words):
    simulator, stand = legged
    with pytest.raises(mb.InputError, match=words):
        simulator.step(change(simulator.start(stand)))


def test_robots_without_joints_are_refused():
    rock = mb.Robot(mb.Builder("rock").body("rock", mass=1.0, shape=mb.model.shapes.Sphere(0.1)).model())
    with pytest.raises(mb.InputError, match="Simulator: expected a robot with joints, got 'rock'"):
        simulate.Simulator(rock)
    with pytest.raises(mb.InputError, match="robot: expected one with joints, got 'rock'"):
        rock.inverse_kinematics("rock", rock.pose("rock", np.zeros(0)))


def test_lists_are_states_and_forces():
    arm = mb.load("double-pendulum")
    settings = {"dt": 0.01, "method": "rk4"}
    of_lists = simulate.Simulator(arm, **settings, controller=lambda t, q, v: [1.0, -v[0]])
    of_arrays = simulate.Simulator(arm, **settings, controller=lambda t, q, v: np.stack([1.0 + 0.0 * v[0], -v[0]]))
    start = of_arrays.start([0.1, 0.2], [0.3, 0.4])
    after = of_lists.step({**start, "q": [0.1, 0.2], "v": [0.3, 0.4]})[0]
    np.testing.assert_array_equal(after["q"], of_arrays.step(start)[0]["q"])
    np.testing.assert_array_equal(of_lists([0.1, 0.2], [0.3, 0.4], seconds=0.01).last[0], after["q"])


def test_steps_refuse_quaternions_of_another_length():
    robot, _ = ball()
    simulator = simulate.Simulator(robot, dt=0.01)
    start = simulator.start(robot.neutral())
    with pytest.raises(mb.InputError, match=r"state, q: the quaternion .* has the length 2, expected 1"):
        simulator.step({**start, "q": np.array([0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0])})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"height": lambda x, y: 0 * x, "normal": (1, 0, 1)}, "ground, normal and offset: expected none with a height"),
        ({"height": lambda x, y: 0 * x, "offset": 0.3}, "ground, normal and offset: .* and 0.3; "),
        ({"height": lambda x: x}, "ground, height: expected a function of x and y, got one with too many"),
        ({"height": lambda x, y: None}, "ground, height: .* a number, got None"),
        ({"height": lambda x, y: np.stack([x, y])}, r"ground, height: .* a number, got the shape \(2,\)"),
    ],
)
def test_grounds_that_are_refused(given, words):
    with pytest.raises(mb.InputError, match=words):
        simulate.Ground(**given)


def test_batches_that_do_not_fit_are_refused(legged):
    simulator, stand = legged
    with pytest.raises(mb.InputError, match=r"batches of q, v, state, inputs, wrenches and parameters"):
        simulator(np.tile(stand, (4, 1)), seconds=0.05, parameters={"friction": np.ones(3)})
    with pytest.raises(mb.InputError, match="do not broadcast"):
        simulator(np.tile(stand, (4, 1)), seconds=0.05, inputs=np.tile(stand, (3, 1, 1)))


def test_empty_batches_have_empty_runs(legged):
    simulator, stand = legged
    run = simulator(np.zeros((0, 3)), seconds=0.05)
    assert run.q.shape == (0, 10, 3)
    assert run.forces.shape == (0, 10, 1, 3)
    assert run.t.shape == (10,)
    assert simulator(run, seconds=0.05).q.shape == (0, 10, 3)
    assert simulator(stand, seconds=0.05, parameters={"friction": np.zeros(0)}).q.shape == (0, 10, 3)
    assert simulator.start(np.zeros((0, 3)))["steps"].shape == (0,)


@pytest.mark.parametrize("threads", [0, -1, 1.5, "two"])
def test_numbers_of_threads_that_are_refused(legged, threads):
    simulator, stand = legged
    with pytest.raises(mb.InputError, match="threads"):
        simulator(stand, seconds=0.05, threads=threads)


def test_precision_and_memory_layout_of_arrays_do_not_matter(legged):
    simulator, stand = legged
    rng = np.random.default_rng(0)
    q, u = stand + 0.01 * rng.standard_normal((4, 3)), stand + 0.1 * rng.standard_normal((4, 20, 3))
    run = simulator(q, seconds=0.1, inputs=u)
    strided = np.zeros((8, 20, 6))[::2, :, ::2]
    strided[...] = u
    assert np.array_equal(simulator(np.asfortranarray(q), seconds=0.1, inputs=strided).q, run.q)
    assert np.array_equal(simulator(q, seconds=0.1, inputs=np.flip(np.flip(u, 1).copy(), 1)).q, run.q)
    single = simulate.Simulator(
        simulator.robot, dt=0.005, contacts=simulator.contacts, controller=simulator.controller, dtype="float32"
    )
    small = single(q, seconds=0.1, inputs=u)
    assert small.q.dtype == np.float32
    assert np.array_equal(single(q.astype(np.float32), seconds=0.1, inputs=u.astype(np.float32)).q, small.q)
    np.testing.assert_allclose(small.q, run.q, atol=1e-4)
    integers = simulator(np.array([1, 0, 0]), seconds=0.1, inputs=np.array([0, 1, 0]))
    assert np.array_equal(integers.q, simulator([1.0, 0.0, 0.0], seconds=0.1, inputs=[0.0, 1.0, 0.0]).q)


def test_inputs_that_are_not_finite_stay_in_their_sample(legged):
    simulator, stand = legged
    u = np.tile(stand, (3, 20, 1))
    u[1, 7, 0] = np.nan
    run = simulator(stand, seconds=0.1, inputs=u)
    assert run.failed.tolist() == [-1, 8, -1]
    assert "inputs" in run.failures[0]
    push = np.zeros((3, 20, 6))
    push[2, 4, 2] = np.inf
    run = simulator(stand, seconds=0.1, wrenches={"trunk": push})
    assert run.failed.tolist() == [-1, -1, 5]
    assert "pushes" in run.failures[0]
    with pytest.raises(mb.InputError, match=r"friction \(sample 1\): expected numbers >= 0, got nan"):
        simulator(stand, seconds=0.1, parameters={"friction": [0.5, np.nan]})


def test_inputs_that_nobody_takes_are_refused():
    silent = simulate.Simulator(slider(), dt=0.01, controller=lambda t, q, v: -v)
    for simulator in (silent, simulate.Simulator(slider(), dt=0.01)):
        with pytest.raises(mb.InputError, match="inputs: expected none without a controller that takes them"):
            simulator([0.0], seconds=0.1, inputs=[1.0])
        with pytest.raises(mb.InputError, match="inputs: expected none without a controller that takes them"):
            simulator.step(simulator.start([0.0]), [1.0])
    hungry = simulate.Simulator(slider(), dt=0.01, controller=lambda t, q, v, u: u)
    for given in (None, {}):
        with pytest.raises(mb.InputError, match="inputs: expected those of the controller"):
            hungry([0.0], seconds=0.1, inputs=given)
        with pytest.raises(mb.InputError, match="inputs: expected those of the controller"):
            hungry.step(hungry.start([0.0]), given)


def test_gradients_check_their_inputs_as_runs_do(legged):
    simulator, stand = legged
    slopes = simulate.gradient(simulator, lambda q, v: q[0])
    with pytest.raises(mb.InputError, match="inputs: expected 3 targets, one for each coordinate of a joint, got 5"):
        slopes(stand, None, np.zeros((20, 5)))
    with pytest.raises(mb.InputError, match="there is no 'frction' here"):
        slopes(stand, None, None, {"frction": 0.5}, seconds=0.05)
    with pytest.raises(mb.InputError, match="do not broadcast"):
        slopes(np.tile(stand, (4, 1)), None, None, {"friction": np.ones(3)}, seconds=0.05)
    with pytest.raises(mb.InputError, match="threads"):
        slopes(stand, None, None, seconds=0.05, threads=0)


def spheres(*frames, radius=0.02):
    return [simulate.SphereContact(frame, radius) for frame in frames]


def wavy(x, y):
    return 0.01 * np.sin(3.0 * x) + 0.0 * y


@cache
def on_front_feet(method):
    """A quadruped on two spheres: the options of its simulator, and a run of one step."""
    robot = mb.load("quadruped")
    options = {"dt": 0.005, "method": method, "contacts": spheres("foot-lf", "foot-rf"), "ground": simulate.Ground()}
    return robot, options, simulate.Simulator(robot, **options)(robot.home(), seconds=0.005)


@pytest.mark.parametrize("method", ["soft", "contact"])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"contacts": spheres("foot-lh", "foot-rh")}, "other contacts .*'foot-lf'.*expected .*'foot-lh'"),
        ({"contacts": spheres("foot-rf", "foot-lf")}, "other contacts"),
        ({"contacts": spheres("foot-lf", "foot-rf", radius=0.03)}, "other radii and points of contacts"),
        ({"ground": simulate.Ground(offset=-0.01)}, "other grounds"),
        ({"ground": simulate.Ground(height=wavy)}, "other grounds"),
        ({"ground": [simulate.Ground(), simulate.Ground(normal=(0, 1, 0), offset=-1.0)]}, "other grounds"),
        (
            {"pairs": [simulate.SpherePair(*spheres("foot-lf", "foot-rf"))]},
            r"other pairs of spheres .*simulator\(\*run.last",
        ),
        ({"limits": True}, "other joints with limits or dry friction"),
        ({"constraints": [mb.constraints.PointContact("hold", "foot-lh")]}, "other constraints"),
    ],
)
def test_runs_go_on_with_their_own_contacts(tmp_path, method, change, words):
    robot, options, run = on_front_feet(method)
    run.save(tmp_path / "run.npz")
    other = simulate.Simulator(robot, **{**options, **change})
    for start in (run, simulate.load(tmp_path / "run.npz")):
        with pytest.raises(mb.InputError, match=words):
            other(start, seconds=0.005)


def test_runs_go_on_where_the_state_means_the_same(tmp_path):
    """With other friction, stiffness and gains; and heights are compared by their values."""
    robot, contacts, stand = leg()
    for ground, other in (
        (simulate.Ground(friction=0.5), simulate.Ground(friction=0.9, stiffness=3e4)),
        (simulate.Ground(height=wavy), simulate.Ground(height=lambda x, y: wavy(x, y))),
    ):
        options = {"dt": 0.005, "method": "soft", "contacts": contacts, "controller": simulate.PD(60.0, 2.0)}
        simulator = simulate.Simulator(robot, ground=ground, **options)
        run = simulator(stand, seconds=0.05)
        run.save(tmp_path / "run.npz")
        loaded = simulate.load(tmp_path / "run.npz")
        rest = simulate.Simulator(robot, ground=other, **{**options, "controller": simulate.PD(50.0, 2.0)})
        assert np.array_equal(rest(run, seconds=0.05).q, rest(loaded, seconds=0.05).q)
    higher = simulate.Simulator(robot, ground=simulate.Ground(height=lambda x, y: wavy(x, y) + 1e-3), **options)
    with pytest.raises(mb.InputError, match="other grounds"):
        higher(run, seconds=0.05)
    before = {name: x for name, x in run.about.items() if name not in ("spheres", "grounds", "pairs", "joints")}
    state = {name: x for name, x in run.state.items() if name != "jump"}
    old = replace(run, about=before, state=state)
    assert np.array_equal(simulator(old, seconds=0.05).q, simulator(run, seconds=0.05).q)


@pytest.mark.parametrize(
    ("read", "given", "words"),
    [
        (lambda u: u["target"], {"targets": [1.0]}, "the controller reads 'target', expected it among 'targets'"),
        (lambda u: u["a"], {"a": [1.0], "b": [2.0]}, "the controller does not read 'b'"),
        (lambda u: u.get("gain", np.ones(1)), {"gian": [1.0]}, "the controller does not read 'gian'"),
        (lambda u: u["a"] if "gain" in u else np.ones(1), {"a": [1.0]}, "the controller does not read 'a'"),
    ],
)
def test_misspelt_inputs_are_refused(read, given, words):
    simulator = simulate.Simulator(slider(), dt=0.01, method="rk4", controller=lambda t, q, v, u: read(u))
    with pytest.raises(mb.InputError, match=words):
        simulator([0.0], seconds=0.1, inputs=given)
    with pytest.raises(mb.InputError, match=words):
        simulator.step(simulator.start([0.0]), given)
    with pytest.raises(mb.InputError, match=words):
        simulate.gradient(simulator, lambda q, v: q[0])([0.0], None, given, seconds=0.1)


@pytest.mark.parametrize(
    "read",
    [
        lambda u: u["a"] + u["b"],
        lambda u: u.get("a") + u.get("b", 0.0),
        lambda u: sum(u.values()),
        lambda u: sum(x for _, x in u.items()),
        lambda u: sum(u[name] for name in u),
        lambda u: (lambda a, b: a + b)(**u),
        lambda u: sum({**u}.values()),
        lambda u: sum(dict(u).values()),
        lambda u: sum((u | {"c": np.zeros(1)}).values()),
    ],
)
def test_all_ways_to_read_inputs_by_name(read):
    simulator = simulate.Simulator(slider(), dt=0.01, method="euler", controller=lambda t, q, v, u: read(u))
    run = simulator([0.0], seconds=0.1, inputs={"a": [1.0], "b": [2.0]})
    np.testing.assert_allclose(run.tau, 3.0)


@pytest.mark.parametrize(
    ("settings", "call", "message"),
    [
        ({"dt": 0.0}, {}, "dt, in s: expected a finite number > 0, got 0.0"),
        ({"dt": [0.1, 0.2]}, {}, "dt, in s: expected a finite number > 0"),
        ({"tolerance": np.inf}, {}, "tolerance, in m/s: expected a finite number > 0, got inf"),
        ({"sweeps": 2.5}, {}, "sweeps: expected a positive integer, got 2.5"),
        ({"constraints": None}, {}, "slider: expected a list of constraints, got NoneType"),
        ({"sweeps": True}, {}, "sweeps: expected a positive integer, got True"),
        ({}, {"every": 0}, "every: expected a positive integer, got 0"),
        ({}, {"seconds": -1.0}, "seconds: expected a time in s that is not negative, got -1.0"),
        ({}, {"seconds": 0.123}, "seconds: expected a multiple of dt = 0.01 s, got 0.123"),
    ],
)
def test_numbers_are_refused(settings, call, message):
    with pytest.raises(mb.InputError, match=re.escape(message)):
        simulate.Simulator(slider(), **{"dt": 0.01, "method": "euler"} | settings)([0.0], **{"seconds": 0.1} | call)
