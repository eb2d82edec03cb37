"""Gradients through time and contacts, against central differences of the value."""

import numpy as np
import pytest

import multibody as mb
from multibody import simulate

from .bodies import at, ball, leg, slider


def slope(function, x, direction, small=1e-6):
    return (function(x + small * direction) - function(x - small * direction)) / (2 * small)


@pytest.mark.parametrize("method", ["euler", "verlet", "rk4", "variational"])
def test_smooth_motion(method):
    robot = mb.load("double-pendulum")
    simulator = simulate.Simulator(robot, dt=0.01, method=method, controller=lambda t, q, v, u: u)
    slopes = simulate.gradient(
        simulator,
        lambda q, v: q[0] ** 2 + v[1] * q[1],
        running=lambda t, q, v, tau: 0.01 * np.sum(tau * tau) + t * v[0],
    )
    rng = np.random.default_rng(0)
    q, v, u = np.array([0.4, -0.3]), np.array([0.1, 0.2]), rng.standard_normal((30, 2))
    g = slopes(q, v, u)
    D = rng.standard_normal((30, 2))
    assert abs(np.sum(g.inputs * D) - slope(lambda x: slopes(q, v, x).value, u, D)) < 1e-7
    d = rng.standard_normal(2)
    assert abs(g.v @ d - slope(lambda x: slopes(q, x, u).value, v, d)) < 1e-7
    assert abs(g.q @ d - slope(lambda x: slopes(x, v, u).value, q, d)) < 1e-7


def test_through_a_landing_with_slip_and_parameters():
    """A ball falls, slides and bounces: by its start, on the group, by friction, restitution, mass and a push."""
    robot, contacts = ball()

    def push(t, q, v, u):
        return np.concatenate([u, 0.0 * v[3:]])

    ground = simulate.Ground(friction=0.3, restitution=0.5)
    simulator = simulate.Simulator(robot, dt=0.01, contacts=contacts, ground=ground, controller=push)
    slopes = simulate.gradient(simulator, lambda q, v: q[0] + 0.5 * q[2] + 0.1 * v[4] + q[4] ** 2)
    q, v, u = at(robot, 0.5), np.array([1.0, 0.2, 0.0, 0.3, 0.0, 0.1]), np.array([0.1, 0.0, -0.2])
    parameters = {"friction": 0.05, "restitution": 0.6, "mass": 1.2}
    g = slopes(q, v, u, parameters, seconds=0.6)
    rng = np.random.default_rng(1)
    d = rng.standard_normal(6)
    value = lambda **x: slopes(**{"q": q, "v": v, "inputs": u, "parameters": parameters, "seconds": 0.6, **x}).value
    assert abs(g.v @ d - slope(lambda x: value(v=x), v, d)) < 1e-6
    assert abs(g.q @ d - slope(lambda s: value(q=robot.integrate(q, s * d)), 0.0, 1.0)) < 1e-6
    e = rng.standard_normal(3)
    assert abs(g.inputs @ e - slope(lambda x: value(inputs=x), u, e)) < 1e-6
    for name, x in parameters.items():
        difference = slope(lambda y, name=name: value(parameters={**parameters, name: y}), x, 1.0)
        assert abs(g.parameters[name] - difference) < 1e-5, name
    assert abs(g.parameters["friction"]) > 1e-3
    run = simulator(q, v, seconds=0.6, inputs=u, parameters=parameters)
    end, speed = run.last
    assert abs(g.value - (end[0] + 0.5 * end[2] + 0.1 * speed[4] + end[4] ** 2)) < 1e-8


def test_landing_of_a_leg_by_masses_friction_and_gains():
    """A leg falls on its foot, which slips: by masses, the gains of the joints, friction, the start and the targets."""
    robot, contacts, stand = leg()
    controller = simulate.PD([0.0, 60.0, 60.0], [0.0, 2.0, 2.0])
    ground = simulate.Ground(friction=0.15)
    simulator = simulate.Simulator(robot, dt=0.005, contacts=contacts, ground=ground, controller=controller)
    slopes = simulate.gradient(
        simulator,
        lambda q, v: (q[0] - 0.4) ** 2 + 0.1 * q[1] * q[2] + 0.05 * v[1],
        running=lambda t, q, v, tau: 1e-4 * np.sum(tau * tau),
    )
    masses = np.array([body.inertia.mass for body in robot.tree.bodies])
    given = {
        "q": stand + np.array([0.1, 0.05, -0.1]),
        "v": np.array([0.0, 0.1, -0.2]),
        "inputs": stand,
        "parameters": {
            "masses": masses,
            "kp": np.array([0.0, 60.0, 55.0]),
            "kd": np.array([0.0, 2.0, 1.5]),
            "friction": 0.15,
        },
        "seconds": 0.5,
    }
    g = slopes(**given)
    rng = np.random.default_rng(3)
    for name, answer in (("q", g.q), ("v", g.v), ("inputs", g.inputs)):
        d = rng.standard_normal(3)
        difference = slope(lambda x, name=name: slopes(**{**given, name: x}).value, given[name], d)
        assert abs(answer @ d - difference) < 1e-5 * np.linalg.norm(answer), name
    resting = {**given, "v": np.zeros(3)}  # no kinetic energy at the start
    answer, d = slopes(**resting).q, rng.standard_normal(3)
    difference = slope(lambda x: slopes(**{**resting, "q": x}).value, given["q"], d, small=1e-7)
    assert abs(answer @ d - difference) < 1e-5 * np.linalg.norm(answer)
    for name, answer in g.parameters.items():
        x = np.asarray(given["parameters"][name], float)
        d = np.abs(rng.standard_normal(x.shape)) * (x > 0)

        def value(y, name=name):
            return slopes(**{**given, "parameters": {**given["parameters"], name: y}}).value

        assert abs(np.sum(answer * d) - slope(value, x, d)) < 1e-5 * np.linalg.norm(answer), name


def test_slopes_of_landings_lead_downhill():
    """From rest. Slopes add up to the change of the value: no jump where an impact moves from one step to the next."""
    robot, contacts, stand = leg()
    ground, controller = simulate.Ground(friction=0.8), simulate.PD([0.0, 88.0, 140.0], [0.0, 1.1, 1.0])
    simulator = simulate.Simulator(robot, dt=0.005, contacts=contacts, ground=ground, controller=controller)

    def running(t, q, v, tau):
        return np.minimum(q[0] - stand[0], 0.0) ** 2

    slopes = simulate.gradient(simulator, lambda q, v: (q[0] - stand[0]) ** 2, running)
    start, height = stand + np.array([0.0, 0.03, -0.05]), np.linspace(0.1, 0.2, 401)
    q = start + height[:, None] * np.array([1.0, 0.0, 0.0])
    g = slopes(q, None, stand, seconds=0.3)
    assert np.isfinite(g.q).all()
    assert np.isfinite(g.v).all()
    way = np.sum((g.q[1:, 0] + g.q[:-1, 0]) / 2 * np.diff(height))
    assert abs(way - (g.value[-1] - g.value[0])) < 0.05 * (g.value[-1] - g.value[0])


def test_batches_and_constant_gains():
    robot = slider()
    simulator = simulate.Simulator(robot, dt=0.01, controller=simulate.PD(10.0, 1.0))
    slopes = simulate.gradient(simulator, lambda q, v: (q[0] - 0.5) ** 2)
    q = np.array([[0.0], [0.1], [0.2]])
    whole = slopes(q, None, [0.3], {"kp": np.array([5.0, 10.0, 20.0])}, seconds=0.3)
    assert whole.value.shape == (3,)
    assert whole.inputs.shape == (3, 1)
    for k, kp in enumerate((5.0, 10.0, 20.0)):
        alone = slopes(q[k], None, [0.3], {"kp": kp}, seconds=0.3)
        np.testing.assert_allclose(whole.q[k], alone.q, rtol=1e-14)
        difference = slope(lambda x, k=k: slopes(q[k], None, [0.3], {"kp": x}, seconds=0.3).value, kp, 1.0)
        assert abs(whole.parameters["kp"][k] - difference) < 1e-8


def test_refusals():
    simulator = simulate.Simulator(slider(), dt=0.01, method="rk4")
    with pytest.raises(mb.InputError, match="seconds="):
        simulate.gradient(simulator, lambda q, v: q[0])([0.0])
    with pytest.raises(mb.InputError, match="cost"):
        simulate.gradient(simulator, 3)
    with pytest.raises(mb.InputError, match="Simulator"):
        simulate.gradient(slider(), lambda q, v: q[0])


def integral_leg():
    """A leg with a controller whose state is nested: an integral in a dict, and a filter and a count in a tuple."""
    robot, contacts, stand = leg()

    def controller(t, q, v, u, state):
        integral, (filtered, count) = state["integral"], state["rest"]
        error = u["target"] - q
        tau = u["gain"][0] * error + 20.0 * integral - filtered
        after = {"integral": integral + 0.005 * error, "rest": (filtered + 0.3 * (v - filtered), count + 1.0)}
        return np.concatenate([np.zeros(1), tau[1:]]), after

    state = {"integral": np.zeros(3), "rest": (0.1 * np.ones(3), 0.0)}
    ground = simulate.Ground(friction=0.15)
    return simulate.Simulator(
        robot, dt=0.005, contacts=contacts, ground=ground, controller=controller, state=state
    ), stand


def test_nested_states_of_controllers_and_arguments_by_name():
    """By start, inputs (in time and constant) and parameters, of costs that see all of them; central differences."""
    simulator, stand = integral_leg()

    def cost(q, v, *, data, state, inputs, parameters):
        miss = q - data["goal"]
        kept = state["integral"] @ state["rest"][0] + 1e-3 * state["rest"][1] * q[0]
        return np.sum(miss * miss) + kept + inputs["gain"][0] * q[1] * 1e-2 + parameters["friction"] * q[0]

    def running(t, q, v, tau, parameters, inputs, state, data):
        effort = 1e-4 * np.sum(inputs["target"] ** 2) + 1e-4 * tau[1] * tau[1]
        return effort + 1e-2 * parameters["mass"] * state["integral"][1] ** 2 + 1e-3 * t * data["goal"][0] * q[1]

    slopes = simulate.gradient(simulator, cost, running)
    rng = np.random.default_rng(4)
    given = {
        "q": stand + np.array([0.05, 0.05, -0.1]),
        "v": np.array([0.0, 0.1, -0.2]),
        "inputs": {"target": stand + 0.02 * rng.standard_normal((40, 3)), "gain": np.array([60.0])},
        "parameters": {"friction": 0.2, "mass": 6.0},
        "data": {"goal": np.array([0.4, 0.6, -1.1])},
    }
    g = slopes(**given)
    assert np.isfinite(g.value)

    def value(**change):
        return slopes(**{**given, **change}).value

    for name, answer in (("q", g.q), ("v", g.v)):
        d = rng.standard_normal(3)
        difference = slope(lambda x, name=name: value(**{name: x}), given[name], d)
        assert abs(answer @ d - difference) < 1e-5 * np.linalg.norm(answer), name
    for name, answer in g.inputs.items():
        x = given["inputs"][name]
        assert answer.shape == x.shape
        for d in (rng.standard_normal(x.shape), np.eye(len(x))[-1].reshape(-1, *[1] * (x.ndim - 1)) * np.ones(x.shape)):
            difference = slope(lambda y, name=name: value(inputs={**given["inputs"], name: y}), x, d)
            assert abs(np.sum(answer * d) - difference) < 2e-5 * np.linalg.norm(answer), name
    for name, answer in g.parameters.items():
        x = given["parameters"][name]
        difference = slope(lambda y, name=name: value(parameters={**given["parameters"], name: y}), x, 1.0)
        assert abs(answer - difference) < 1e-5 * max(1.0, abs(answer)), name
    run = simulator(given["q"], given["v"], seconds=0.2, inputs=given["inputs"], parameters=given["parameters"])
    q, v = run.last
    last = {name: x[-1] if x.ndim > 1 else x for name, x in given["inputs"].items()}
    end = cost(q, v, inputs=last, state=run.state["memory"], parameters=given["parameters"], data=given["data"])
    summed = simulate.gradient(simulator, cost)(**given).value
    assert abs(summed - end) < 1e-3 * end  # the run's energy limiter takes 1.3 mJ, which a gradient leaves alone


def test_data_of_each_sample_and_a_first_state():
    simulator, stand = integral_leg()
    slopes = simulate.gradient(simulator, lambda q, v, data: np.sum((q - data["goal"]) ** 2) * data["weight"][0])
    goals = stand + np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.2]])
    memory = {"integral": np.array([0.0, 0.05, 0.0]), "rest": (np.zeros(3), 7.0)}
    given = {"inputs": {"target": np.tile(stand, (20, 1)), "gain": np.array([40.0])}, "state": memory}
    whole = slopes(stand, None, **given, data={"goal": goals, "weight": [[1.0], [2.0]]})
    assert whole.value.shape == (2,)
    assert whole.inputs["target"].shape == (2, 20, 3)
    for k in range(2):
        alone = slopes(stand, None, **given, data={"goal": goals[k], "weight": [1.0 + k]})
        np.testing.assert_allclose(whole.value[k], alone.value, rtol=1e-12)
        np.testing.assert_allclose(whole.inputs["target"][k], alone.inputs["target"], rtol=1e-9, atol=1e-12)
    run = simulator(stand, seconds=0.1, **given)
    np.testing.assert_allclose(whole.value, np.sum((run.last[0] - goals) ** 2, axis=-1) * [1.0, 2.0], atol=1e-7)


def test_costs_with_defaults_are_those_of_before():
    """A default, such as one that holds a variable of a loop, is no question for state or data."""
    simulator = simulate.Simulator(slider(), dt=0.01, method="rk4")
    data, state = 3.0, 2.0
    slopes = simulate.gradient(simulator, lambda q, v, data=data, state=state: data * q[0] + state * v[0])
    np.testing.assert_allclose(slopes([0.0], [1.0], seconds=0.1).value, 0.3 + 2.0)
    assert simulate.gradient(simulator, lambda *x: x[0][0])([0.5], seconds=0.0).value == 0.5


@pytest.mark.parametrize(
    ("cost", "running", "given", "words"),
    [
        (lambda q: q[0], None, {}, r"gradient, cost: expected a function of \(q, v\) and, by name, of inputs, state"),
        (lambda q, v, target: q[0], None, {}, "gradient, cost: .*target"),
        (lambda q, v: q[0], lambda t, q, v: q[0], {}, r"gradient, running: expected a function of \(t, q, v, tau\)"),
        (lambda q, v, state: q[0], None, {}, "asks for state"),
        (lambda q, v, data: q[0], None, {}, "expected data=, since a cost asks for it"),
        (lambda q, v: q[0], None, {"data": {"goal": [0.0]}}, "or no data="),
        (lambda q, v, data: q[0], None, {"data": {"goal": 0.0}}, r"data, goal: expected shape \(\.\.\., n\), got \(\)"),
        (lambda q, v, data: q[0], None, {"data": [0.0]}, "data: expected {name"),
        (lambda q, v, inputs: q[0], None, {}, "a cost asks for inputs"),
        (lambda q, v: q[0], None, {"state": np.zeros(1)}, "state: expected none"),
    ],
)
def test_costs_that_are_refused(cost, running, given, words):
    simulator = simulate.Simulator(slider(), dt=0.01, method="rk4")
    with pytest.raises(mb.InputError, match=words):
        simulate.gradient(simulator, cost, running)([0.0], seconds=0.1, **given)


def test_costs_that_read_what_the_call_lacks():
    simulator = simulate.Simulator(slider(), dt=0.01, method="rk4")
    slopes = simulate.gradient(simulator, lambda q, v, parameters: q[0] + parameters["mass"])
    with pytest.raises(mb.InputError, match="parameters, mass: a cost reads it, but the call has none; expected param"):
        slopes([0.0], seconds=0.1)
    slopes = simulate.gradient(simulator, lambda q, v, data: q[0] + data["goal"][0])
    with pytest.raises(mb.InputError, match="data, goal: a cost reads it, but the call has aim; expected data="):
        slopes([0.0], seconds=0.1, data={"aim": [0.0]})
    running = simulate.gradient(simulator, lambda q, v: q[0], lambda t, q, v, tau, parameters: parameters["mass"])
    with pytest.raises(mb.InputError, match="parameters, mass: a cost reads it, but the call has armature"):
        running([0.0], seconds=0.1, parameters={"armature": [0.0]})
