"""Runs: going on bit for bit, batches, files, inputs, parameters, failures and refusals."""

import signal
import threading
import time

import numpy as np
import pytest

import multibody as mb
from multibody import simulate
from multibody.simulate import free_memory

from ..cpu_time import cpu_limit
from .bodies import G, at, ball, box, slider


@pytest.fixture(scope="module")
def falling():
    robot, contacts = box()
    return simulate.Simulator(robot, dt=0.005, contacts=contacts, ground=simulate.Ground(friction=0.4))


@pytest.fixture(scope="module")
def states(falling):
    rng = np.random.default_rng(2)
    q = falling.robot.random(rng, 9)
    q[:, :3] = 0.0, 0.0, 0.35
    return q, rng.standard_normal((9, 6))


def equal(a, b):
    names = ("q", "v", "tau", "forces", "residual", "sweeps")
    return all(np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True) for name in names)


def test_two_halves_are_the_whole_bit_for_bit(falling, states, tmp_path):
    whole = falling(*states, seconds=0.6, every=4)
    half = falling(*states, seconds=0.3, every=4)
    half.save(tmp_path / "half.npz")
    for start in (half, simulate.load(tmp_path / "half.npz"), simulate.load(tmp_path / "half.npz", falling.robot)):
        rest = falling(start, seconds=0.3, every=4)
        assert np.array_equal(np.concatenate([half.q, rest.q], axis=1), whole.q)
        assert np.array_equal(np.concatenate([half.forces, rest.forces], axis=1), whole.forces)
        assert np.array_equal(rest.last[1], whole.last[1])
        np.testing.assert_allclose(np.concatenate([half.t, rest.t]), whole.t, rtol=1e-15)


def test_alone_and_in_batches(falling, states):
    q, v = states
    whole = falling(q, v, seconds=0.5)
    alone = falling(q[4], v[4], seconds=0.5)
    assert np.array_equal(alone.q, whole.q[4])
    assert np.array_equal(alone.forces, whole.forces[4])
    assert equal(falling(q, v, seconds=0.5, threads=2), whole)
    assert equal(falling(q, v, seconds=0.5, progress=lambda share: None), whole)
    shaped = falling(q.reshape(3, 3, 7), v.reshape(3, 3, 6), seconds=0.5)
    assert np.array_equal(shaped.q.reshape(whole.q.shape), whole.q)


def test_what_is_not_finite_stays_in_its_sample(falling, states):
    q, v = states
    whole = falling(q, v, seconds=0.2)
    spoilt = v.copy()
    spoilt[3, 1] = np.nan
    run = falling(q, spoilt, seconds=0.2)
    others = np.arange(9) != 3
    assert np.array_equal(run.q[others], whole.q[others])
    assert run.failed[3] == 1
    assert (run.failed[others] == -1).all()
    assert "sample 3" in run.failures[0]
    assert "1 diverged" in repr(run)


def test_divergence_is_told_with_its_step():
    robot = slider()
    simulator = simulate.Simulator(robot, dt=0.01, method="euler", controller=lambda t, q, v: -1e6 * v)
    run = simulator([0.0], [1.0], seconds=2.0)
    k = int(run.failed)
    assert k > 1
    assert np.isfinite(run.q[k - 2]).all()
    assert not np.isfinite(run.q[k - 1]).all() or not np.isfinite(run.v[k - 1]).all()
    assert "diverged" in run.failures[0]


def test_times_and_rows():
    robot = slider()
    run = simulate.Simulator(robot, dt=0.01, method="verlet")([0.0], [1.0], seconds=0.25, every=4)
    np.testing.assert_allclose(run.t, 0.04 * np.arange(1, 7))
    np.testing.assert_allclose(run.q[:, 0], run.t)
    np.testing.assert_allclose(run.last[0], 0.25)


def test_inputs_in_time_and_constant():
    robot = slider()
    simulator = simulate.Simulator(robot, dt=0.01, method="euler", controller=lambda t, q, v, u: u)
    still = simulator([0.0], seconds=0.5, inputs=[3.0])
    for inputs in (np.full((50, 1), 3.0), np.full((1, 1), 3.0)):
        assert np.array_equal(simulator([0.0], seconds=0.5, inputs=inputs).q, still.q)
    ramp = np.linspace(0, 1, 50)[:, None]
    np.testing.assert_allclose(simulator([0.0], seconds=0.5, inputs=ramp).last[1], ramp.sum() * 0.01 / 2.0)
    batch = simulator(np.zeros((3, 1)), seconds=0.5, inputs=np.array([[[1.0]], [[2.0]], [[3.0]]]))
    np.testing.assert_allclose(batch.last[1][:, 0], [0.25, 0.5, 0.75])


def test_dict_of_inputs_and_wrenches():
    robot = slider()
    simulator = simulate.Simulator(robot, dt=0.01, method="euler", controller=lambda t, q, v, u: u["a"] + 2 * u["b"])
    run = simulator([0.0], seconds=0.5, inputs={"a": [1.0], "b": np.full((50, 1), 2.0)})
    np.testing.assert_allclose(run.last[1], 5.0 * 0.5 / 2.0)
    push = np.zeros((50, 6))
    push[:10, 0] = 4.0
    kicked = simulate.Simulator(robot, dt=0.01)([0.0], seconds=0.5, wrenches={"cart": push})
    np.testing.assert_allclose(kicked.last[1], 4.0 * 0.1 / 2.0)


def test_controllers_with_memory_and_hold():
    robot = slider()

    def count(t, q, v, u, state):
        return u * state, state + 1.0

    simulator = simulate.Simulator(robot, dt=0.01, method="euler", controller=count, state=np.zeros(1), control_every=5)
    run = simulator([0.0], seconds=0.2, inputs=[1.0])
    np.testing.assert_allclose(run.tau[:, 0], np.repeat([0.0, 1.0, 2.0, 3.0], 5))
    np.testing.assert_allclose(run.state["memory"], 4.0)
    first = simulator([0.0], seconds=0.07, inputs=[1.0])
    rest = simulator(first, seconds=0.13, inputs=[1.0])
    assert np.array_equal(np.concatenate([first.tau, rest.tau]), run.tau)


def test_outputs_are_sensors():
    """An accelerometer on a falling ball feels nothing, on a resting one gravity; a gyroscope the turn."""
    robot, contacts = ball()

    def accelerometer(t, q, v, a, tau, forces):
        return a[:3] + np.array([0.0, 0.0, G])

    simulator = simulate.Simulator(
        robot, dt=0.002, contacts=contacts, outputs={"accelerometer": accelerometer, "gyroscope": lambda *x: x[2][3:]}
    )
    run = simulator(at(robot, 0.2), [0, 0, 0, 0, 0, 3.0], seconds=0.5)
    np.testing.assert_allclose(run.outputs["accelerometer"][3], 0.0, atol=1e-9)
    np.testing.assert_allclose(run.outputs["accelerometer"][-1], [0, 0, G], atol=1e-6)
    np.testing.assert_allclose(run.outputs["gyroscope"][10], [0, 0, 3.0], atol=1e-9)


def test_parameters_per_sample():
    robot = slider()
    simulator = simulate.Simulator(robot, dt=0.01, controller=simulate.PD(10.0, 1.0))
    kp, mass = np.array([10.0, 40.0]), np.array([2.0, 3.0])
    run = simulator([0.0], seconds=0.5, inputs=[1.0], parameters={"kp": kp, "mass": mass})
    for k in range(2):
        other = simulate.Simulator(robot.change(), dt=0.01, controller=simulate.PD(kp[k], 1.0))
        single = other([0.0], seconds=0.5, inputs=[1.0], parameters={"mass": mass[k]})
        np.testing.assert_allclose(run.q[k], single.q, rtol=1e-12)
    kinetic = 0.5 * mass[:, None] * run.v[..., 0] ** 2
    np.testing.assert_allclose(run.energy(), kinetic, atol=1e-12)


def test_single_precision(falling, states):
    simulator = simulate.Simulator(falling.robot, dt=0.005, contacts=list(falling.contacts), dtype="float32")
    run = simulator(*states, seconds=1.0)
    assert run.q.dtype == np.float32
    assert (run.failed == -1).all()
    assert run.q[:, -1, 2].min() > -0.11  # four points alone: it may come to lie on its back


def test_resample(falling, states):
    q, v = states
    run = falling(q[0], v[0], seconds=0.2)
    same = run.resample(run.t[3:7])
    np.testing.assert_allclose(same.q, run.q[3:7], atol=1e-14)
    assert np.array_equal(same.forces, run.forces[3:7])
    middle = run.resample([(run.t[0] + run.t[1]) / 2])
    np.testing.assert_allclose(middle.v[0], (run.v[0] + run.v[1]) / 2)
    with pytest.raises(mb.InputError, match="within"):
        run.resample([99.0])


def test_step_is_traceable(falling, states):
    q, v = states
    kernel = mb.compile(lambda q, v: falling.step(falling.start(q, v))[0]["q"], (7,), (6,))
    run = falling(q, v, seconds=0.005)
    np.testing.assert_allclose(kernel(q, v), run.q[:, 0], rtol=1e-13)


def test_files_are_checked(falling, states, tmp_path):
    run = falling(states[0][0], seconds=0.05)
    path = tmp_path / "run.npz"
    run.save(path)
    assert equal(simulate.load(path), run)
    with pytest.raises(mb.InputError, match="another robot"):
        simulate.load(path, slider())
    with pytest.raises(mb.InputError, match=r"run\.energy"):
        simulate.load(path).energy()
    path.write_bytes(b"nonsense")
    with pytest.raises(mb.InputError, match=r"run\.save"):
        simulate.load(path)
    other = simulate.Simulator(falling.robot, dt=0.01, contacts=list(falling.contacts))
    with pytest.raises(mb.InputError, match="time step"):
        other(run, seconds=0.1)


def test_memory_is_counted_before(falling, states, monkeypatch):
    monkeypatch.setattr(free_memory, "UNCHECKED_BYTES", 1000)
    monkeypatch.setattr(free_memory, "available", lambda: 10_000)
    with pytest.raises(mb.InputError, match="every="):
        falling(*states, seconds=1.0)
    falling(*states, seconds=1.0, every=200)


@pytest.mark.parametrize("threads", [None, 2])
def test_interrupt_keeps_what_was_computed(threads):
    robot = mb.load("double-pendulum")
    simulator = simulate.Simulator(robot, dt=0.001, method="rk4")
    simulator(np.zeros((64, 2)), seconds=0.001, threads=threads)  # compiled before the interrupt

    def interrupt():
        while time.process_time() < begun + 0.5:
            time.sleep(0.001)
        signal.raise_signal(signal.SIGINT)

    begun = time.process_time()
    sender = threading.Thread(target=interrupt)
    sender.start()
    run = simulator(np.zeros((64, 2)), seconds=10_000.0, every=1000, partial=True, threads=threads)
    assert time.process_time() - begun < cpu_limit(5.0)  # of CPU time, which a busy machine does not change
    assert 0 < len(run.t) < 10_000
    sender.join()


def test_plot(falling, states, tmp_path):
    run = falling(*states, seconds=0.1)
    figure = run.plot(tmp_path / "run.png", sample=2)
    assert (tmp_path / "run.png").stat().st_size > 10_000
    assert len(figure.axes) == 4
    with pytest.raises(mb.InputError, match="sample"):
        run.plot(sample=99)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dt": 0.0}, "dt"),
        ({"method": "leapfrog"}, "'contact', 'euler'"),
        ({"method": "rk4", "limits": True}, 'method="contact"'),
        ({"controller": 3}, "function of t, q, v"),
        ({"controller": lambda t: 0}, "arguments"),
        ({"controller": simulate.PD(np.ones(7), 1.0)}, "kp"),
        ({"control_every": 2}, "control_every"),
        ({"sweeps": 0}, "sweeps"),
        ({"state": np.zeros(2)}, "state"),
        ({"contacts": ["foot"]}, "SphereContact"),
        ({"ground": 3}, "Ground"),
        ({"outputs": {"x": 1}}, "outputs"),
        ({"outputs": {"x": lambda t, q, v: q}}, "outputs, x: expected a function of .t, q, v, a, tau, forces."),
    ],
)
def test_simulators_that_are_refused(options, words):
    with pytest.raises(mb.InputError, match=words):
        simulate.Simulator(slider(), **{"dt": 0.01, **options})


def test_a_run_goes_on_with_its_own_robot():
    run = simulate.Simulator(slider(), dt=0.01)([0.0], seconds=0.1)
    for robot, words in (
        (
            slider().change(gravity=(0.0, 0.0, -1.0)),
            "another robot than the simulator: '(.*)', of other numbers, expected",
        ),
        (mb.load("double-pendulum"), "another robot than the simulator: '(.*)', expected 'double-pendulum'"),
    ):
        with pytest.raises(mb.InputError, match=words):
            simulate.Simulator(robot, dt=0.01)(run, seconds=0.1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seconds": 0.015}, "multiple"),
        ({"seconds": -1.0}, "seconds"),
        ({"every": 0}, "every"),
        ({"inputs": [1.0, 2.0]}, "targets"),
        ({"inputs": np.zeros((7, 1))}, "rows"),
        ({"parameters": {"wind": 1.0}}, "wind"),
        ({"parameters": {"kp": -1.0}}, "kp"),
        ({"parameters": {"masses": np.ones(3)}}, "masses"),
        ({"wrenches": {"nowhere": np.zeros(6)}}, "nowhere"),
        ({"wrenches": {"cart": np.zeros(5)}}, "wrench"),
        ({"state": np.zeros(1)}, "state"),
    ],
)
def test_runs_that_are_refused(options, words):
    simulator = simulate.Simulator(slider(), dt=0.01, controller=simulate.PD(1.0, 1.0))
    with pytest.raises(mb.InputError, match=words):
        simulator([0.0], **{"seconds": 0.1, **options})
