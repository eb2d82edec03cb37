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
