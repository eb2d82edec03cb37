"""The count of steps goes on exactly past 2²⁴, where float32 has no next whole number."""

from dataclasses import replace

import numpy as np
import pytest

import multibody as mb
from multibody import simulate
from multibody.simulate.clock import WRAP, step_count

from .bodies import slider

LAST = 2**24


def started_at(simulator, run, count):
    """The run, as if it had taken so many steps: as a file of before has it, with one number for the count."""
    state = {name: x for name, x in run.state.items() if name not in ("wraps", "phase")}
    return replace(run, state={**state, "steps": np.float64(count)})


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [LAST - 3, WRAP - 3, 5 * LAST - 3])
def test_time_goes_on_in_controllers_outputs_and_runs(dtype, count):
    def remember(t, q, v, u, state):
        return 0.0 * v, np.reshape(t, (1,))

    simulator = simulate.Simulator(
        slider(),
        dt=0.001,
        method="euler",
        controller=remember,
        state=np.zeros(1),
        dtype=dtype,
        outputs={"t": lambda t, *rest: t},
    )
    run = started_at(simulator, simulator([0.0], seconds=0.0), count)
    whole = simulator(run, seconds=0.01)
    assert step_count(whole.state) == count + 10
    times = 0.001 * (count + np.arange(1, 11))
    np.testing.assert_array_equal(whole.t, times)
    spacing = 2 * np.spacing(np.asarray(times[-1], dtype))
    np.testing.assert_allclose(whole.outputs["t"], times, rtol=0, atol=spacing)
    np.testing.assert_allclose(whole.state["memory"], times[-2], rtol=0, atol=spacing)
    half = simulator(run, seconds=0.005)
    rest = simulator(half, seconds=0.005)
    for name in whole.state:
        assert np.array_equal(rest.state[name], whole.state[name]), name
    assert np.array_equal(np.concatenate([half.outputs["t"], rest.outputs["t"]]), whole.outputs["t"])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("every", [3, 7, 4097])
def test_controllers_are_asked_at_every_multiple(dtype, every):
    def count(t, q, v, u, state):
        return np.zeros(1), state + 1.0

    simulator = simulate.Simulator(
        slider(),
        dt=0.001,
        method="euler",
        controller=count,
        state=np.zeros(1),
        control_every=every,
        dtype=dtype,
        outputs={"zero": lambda t, *rest: 0.0 * t},
    )
    start = LAST - 10
    run = started_at(simulator, simulator([0.0], seconds=0.0), start)
    for length in (1, 9, 10, 12, 4200):
        after = simulator(run, seconds=length * 0.001)
        asked = sum((start + k) % every == 0 for k in range(length))
        assert after.state["memory"] == asked, length
        assert step_count(after.state) == start + length


def test_runs_go_on_in_another_precision(tmp_path):
    options = {"dt": 0.001, "method": "euler", "outputs": {"t": lambda t, *rest: t}}
    single, double = (simulate.Simulator(slider(), dtype=dtype, **options) for dtype in ("float32", "float64"))
    run = started_at(single, single([0.0], seconds=0.0), LAST + 5)
    after = single(run, seconds=0.002)
    after.save(tmp_path / "run.npz")
    for start in (after, simulate.load(tmp_path / "run.npz")):
        there = double(start, seconds=0.002)
        assert step_count(there.state) == there.state["steps"] == LAST + 9
        back = single(there, seconds=0.002)
        assert step_count(back.state) == LAST + 11
        np.testing.assert_array_equal(back.t, 0.001 * (LAST + np.array([10, 11])))


def test_steps_in_own_kernels_count_past_the_end():
    simulator = simulate.Simulator(slider(), dt=0.001, method="euler", dtype="float32")
    start = simulator.start([0.0])
    shapes = {name: np.shape(x) for name, x in start.items()}
    scan = mb.compile_scan(lambda state: (simulator.step(state)[0], None), shapes, dtype="float32")
    after, _ = scan({**start, "steps": WRAP - 2.0, "wraps": 3.0}, steps=5)
    assert step_count(after) == 4 * WRAP + 3
    batch = simulator.start(np.zeros((3, 1)))
    batch["steps"] = np.array([WRAP - 5.0, WRAP - 6.0, 7.0])
    after, _ = scan(batch, steps=5)
    assert step_count(after).tolist() == [WRAP, WRAP - 1, 12]


def test_samples_that_fail_late_say_when():
    simulator = simulate.Simulator(
        slider(), dt=0.001, method="euler", dtype="float32", controller=lambda t, q, v, u: u, outputs={}
    )
    run = started_at(simulator, simulator([0.0], seconds=0.0, inputs=[0.0]), LAST + 2)
    after = simulator(run, seconds=0.004, inputs=np.array([[0.0], [np.nan], [0.0], [0.0]]))
    assert after.failed == LAST + 4
    assert str(LAST + 4) in after.failures[0]
