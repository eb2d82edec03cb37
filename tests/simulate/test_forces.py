"""Contact forces of the last step, for controllers that ask for them by name."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import multibody as mb
from multibody import simulate

from .bodies import G, ball, leg, puck, slider

METHODS = ("contact", "soft", "events")


def sensing(t, q, v, u, state, forces):
    """Records what it is given, in its state."""
    return np.concatenate([0.0 * v[:1], 0.01 * forces[:, 2] + u]), {"seen": forces, "count": state["count"] + 1.0}


def simulator_of(method, **options):
    robot, contacts = puck()
    start = {"seen": np.full((1, 3), 7.0), "count": 0.0}
    options = {"dt": 0.002, "controller": sensing, "state": start, **options}
    return simulate.Simulator(robot, method=method, contacts=contacts, **options)


@pytest.mark.parametrize("method", METHODS)
def test_forces_are_those_of_the_step_before(method):
    """Zero at the start; then the rows of `run.forces`, one step late, in runs, in runs that go on, and in `step`."""
    simulator = simulator_of(method, outputs={"forces": lambda t, q, v, a, tau, forces: forces})
    q, v = np.array([0.0, 0.01]), np.array([0.3, 0.0])
    run = simulator(q, v, seconds=0.2, inputs=[0.0])
    assert np.max(run.forces) > 10.0
    assert np.array_equal(run.state["forces"], run.forces[-1])
    assert np.array_equal(run.state["memory"]["seen"], run.forces[-2])
    before = np.concatenate([np.zeros((1, 1, 3)), run.forces[:-1]])
    np.testing.assert_allclose(run.tau[:, 1], 0.01 * before[:, 0, 2], rtol=1e-12)
    first = simulator(q, v, seconds=0.002, inputs=[0.0])
    assert np.array_equal(first.state["memory"]["seen"], np.zeros((1, 3)))
    half = simulator(q, v, seconds=0.1, inputs=[0.0])
    rest = simulator(half, seconds=0.1, inputs=[0.0])
    assert np.array_equal(np.concatenate([half.tau, rest.tau]), run.tau)
    now = half.state
    for k in range(3):
        now, record = simulator.step(now, [0.0])
        np.testing.assert_allclose(record["forces"], rest.forces[k], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(now["forces"], record["forces"])
    start = simulator.start(np.tile(q, (4, 1)))
    assert start["forces"].shape == (4, 1, 3)
    assert not start["forces"].any()


@pytest.mark.parametrize("method", METHODS)
def test_sampled_controllers_see_the_last_step(method):
    simulator = simulator_of(method, control_every=5)
    run = simulator([0.0, 0.01], [0.3, 0.0], seconds=0.2, inputs=[0.0])
    before = np.concatenate([np.zeros((1, 1, 3)), run.forces[:-1]])
    np.testing.assert_allclose(run.tau[:, 1], np.repeat(0.01 * before[::5, 0, 2], 5), rtol=1e-12)
    half = simulator([0.0, 0.01], [0.3, 0.0], seconds=0.086, inputs=[0.0])
    rest = simulator(half, seconds=0.114, inputs=[0.0])
    assert np.array_equal(np.concatenate([half.tau, rest.tau]), run.tau)


def test_forces_in_every_form_of_a_controller():
    """With and without input and state, by position and by keyword, on several contacts, in batches and in float32."""
    robot, contacts = ball()
    contacts = [*contacts, simulate.SphereContact("ball", 0.02, (0.3, 0.0, 0.0))]

    def plain(t, q, v, forces):
        return 0.1 * np.concatenate([forces[0], forces[1]])

    def keyword(t, q, v, *, forces):
        return plain(t, q, v, forces)

    def between(t, q, v, forces, u):
        return plain(t, q, v, forces) + 0.0 * u

    def with_input(t, q, v, u, forces):
        return plain(t, q, v, forces) + 0.0 * u

    def with_default(t, q, v, u=0.0, *, forces):
        return plain(t, q, v, forces)

    q = robot.neutral()
    q[2] = 0.11
    q = np.stack([q, q + 0.05 * np.eye(7)[2]])
    runs = []
    for controller in (plain, keyword, with_input, with_default):
        simulator = simulate.Simulator(robot, dt=0.005, contacts=contacts, controller=controller)
        given = {"inputs": [0.0]} if controller is with_input else {}
        runs.append(simulator(q, seconds=0.3, **given))
        assert runs[-1].state["forces"].shape == (2, 2, 3)
        assert np.array_equal(runs[-1].q, runs[0].q)
        assert np.array_equal(runs[-1].tau[:, 1:], 0.1 * runs[-1].forces[:, :-1].reshape(2, -1, 6))
    assert np.abs(runs[0].forces).max() > G
    single = simulate.Simulator(robot, dt=0.005, contacts=contacts, controller=plain, dtype="float32")
    assert single(q, seconds=0.3).state["forces"].dtype == np.float32
    with pytest.raises(mb.InputError, match="inputs: expected those"):
        simulate.Simulator(robot, dt=0.005, contacts=contacts, controller=between)(q, seconds=0.3)


@pytest.mark.parametrize("method", ["contact", "soft"])
def test_gradients_go_through_sensed_forces(method):
    robot, contacts, stand = leg()

    def controller(t, q, v, u, state, forces):
        load = state + 0.3 * (forces[0, 2] - state)
        tau = u * (stand - q) - 0.3 * v + 2e-3 * load * np.array([0.0, 1.0, -1.0])
        return np.concatenate([np.zeros(1), tau[1:]]), load

    ground = simulate.Ground(friction=0.3)
    simulator = simulate.Simulator(
        robot, dt=0.005, method=method, contacts=contacts, ground=ground, controller=controller, state=0.0
    )
    slopes = simulate.gradient(simulator, lambda q, v, state: (q[0] - 0.4) ** 2 + 1e-4 * state + 0.1 * v[1])
    q, v, u = stand + np.array([0.03, 0.02, -0.05]), np.zeros(3), np.array([0.0, 60.0, 60.0])
    g = slopes(q, v, u, {"friction": 0.3}, seconds=0.3)
    assert np.abs(simulator(q, v, seconds=0.3, inputs=u).forces).max() > 50.0
    rng = np.random.default_rng(0)
    for name, answer in (("q", g.q), ("v", g.v), ("inputs", g.inputs)):
        d = rng.standard_normal(3)
        given = {"q": q, "v": v, "inputs": u}
        small = 1e-6 * (60.0 if name == "inputs" else 1.0)
        ends = [
            slopes(**{**given, name: given[name] + sign * small * d}, parameters={"friction": 0.3}, seconds=0.3).value
            for sign in (1, -1)
        ]
        assert abs(answer @ d - (ends[0] - ends[1]) / (2 * small)) < 1e-5 * np.linalg.norm(answer), name
    blind = simulate.Simulator(
        robot,
        dt=0.005,
        method=method,
        contacts=contacts,
        ground=ground,
        controller=lambda t, q, v, u, state: controller(t, q, v, u, state, np.zeros((1, 3))),
        state=0.0,
    )
    other = simulate.gradient(blind, lambda q, v: (q[0] - 0.4) ** 2 + 0.1 * v[1])(q, v, u, seconds=0.3)
    assert np.abs(g.q - other.q).max() > 1e-2  # the force has its share in the gradient


def test_nobody_who_asks_for_no_forces_has_them():
    robot, contacts = puck()
    bare, asking = (
        simulate.Simulator(robot, dt=0.002, contacts=contacts, controller=controller)
        for controller in (lambda t, q, v: -v, lambda t, q, v, forces: -v)
    )
    assert "forces" not in bare.start([0.0, 0.1])
    assert "forces" in asking.start([0.0, 0.1])
    assert "forces" not in simulate.Simulator(robot, contacts=contacts, controller=simulate.PD(1.0, 1.0)).start(
        [0, 0.1]
    )
    with_default = simulate.Simulator(
        robot, dt=0.002, contacts=contacts, controller=lambda t, q, v, forces=None: -v if forces is None else v
    )
    assert "forces" not in with_default.start([0.0, 0.1])
    run = bare([0.0, 0.01], [0.2, 0.0], seconds=0.1)
    assert np.array_equal(asking([0.0, 0.01], [0.2, 0.0], seconds=0.1).q, run.q)
    with pytest.raises(mb.InputError, match=r"the run's state has .*: expected the same controller"):
        asking(run, seconds=0.1)


@pytest.mark.parametrize(
    ("robot", "options", "words"),
    [
        (slider(), {}, "asks for forces, and the robot has no contacts: expected contacts= or ground="),
        (slider(), {"method": "rk4"}, 'no contacts: expected contacts= or ground=, in method "contact"'),
        (puck()[0], {"contacts": []}, "no contacts"),
        (puck()[0], {"controller": lambda t, q, forces: q}, r"t, q, v\[, input\[, state\]\]\[, forces\]"),
        (puck()[0], {"controller": lambda t, q, v, *, force: q}, "one that needs force="),
    ],
)
def test_controllers_that_are_refused(robot, options, words):
    with pytest.raises(mb.InputError, match=words):
        simulate.Simulator(robot, **{"controller": lambda t, q, v, forces: 0.0 * v, **options})


def test_advice_of_controllers_that_sense():
    simulator = simulator_of("contact")
    assert simulator.advice(inputs=[0.0]) == ()
    robot, contacts = puck()
    stiff = simulate.Simulator(
        robot, dt=0.01, contacts=contacts, controller=lambda t, q, v, forces: -1e3 * v + 0.0 * forces[0, :2]
    )
    assert "explicit" in stiff.advice()[0]


def test_the_force_of_press_and_slide_is_that_of_the_motion(monkeypatch):
    """Recorded torques and motion alone tell the force: J^T f = M a + h - tau, seven equations for three numbers."""
    monkeypatch.setattr(sys, "argv", ["20_press_and_slide.py"])  # a further word is the name of a picture
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "20_press_and_slide.py"))
    run, robot, dt = example["run"], example["robot"], example["DT"]
    rows = np.arange(1600, len(run.t), 50)
    before, v = run.v[:, rows - 1], run.v[:, rows]
    middle = robot.integrate(run.q[:, rows - 1], dt / 2 * before)
    missing = robot.inverse_dynamics(middle, (v + before) / 2, (v - before) / dt) - run.tau[:, rows]
    pose = robot.pose("tool", middle)
    tip = pose.rotation.inverse() @ np.array([example["FINGER"], 0.0, 0.0])  # towards the wall, in the tool's axes
    J = robot.point_jacobian("tool", middle, tip)
    force = np.einsum("...ij,...j->...i", np.linalg.pinv(np.swapaxes(J, -1, -2)), missing)
    assert np.abs(np.einsum("...ji,...j->...i", J, force) - missing).max() < 1e-2
    assert np.abs(-force[..., 0] - 10.0).max() < 0.1
    np.testing.assert_allclose(force, run.forces[:, rows, 0], atol=0.02)
    along = np.linalg.norm(force[..., 1:], axis=-1) / -force[..., 0]
    np.testing.assert_allclose(along, np.broadcast_to(example["friction"][:, None], along.shape), rtol=5e-3)
