"""What runs for long: a quadruped that stands, and bits that are the same wherever they are computed."""

import subprocess
import sys

import numpy as np
import pytest

import multibody as mb
from multibody import simulate

SCRIPT = """
import sys
import numpy as np
from tests.simulate.test_standing import simulator_of, states
q, v = states()
run = simulator_of()(q, v, seconds=0.3)
np.savez(sys.argv[1], q=run.q, forces=run.forces)
"""


def simulator_of():
    robot = mb.load("quadruped")
    contacts = [simulate.SphereContact(frame, 0.02) for frame in robot.frames if frame.startswith("foot")]
    return simulate.Simulator(robot, dt=0.002, contacts=contacts, controller=simulate.PD(80.0, 2.0))


def states():
    robot = mb.load("quadruped")
    rng = np.random.default_rng(0)
    q = np.tile(robot.home(), (16, 1))
    q[:, 2] += 0.03 - robot.pose("foot-lf", robot.home()).position[2]
    q[:, 7:] += 0.02 * rng.standard_normal((16, 12))
    return q, 0.1 * rng.standard_normal((16, robot.nv))


@pytest.fixture(scope="module")
def simulator():
    return simulator_of()


def test_feet_stay_where_they_are(simulator):
    """20,000 steps of a batch of 16; `benchmarks/standing.py` takes a million."""
    robot, (q, v) = simulator.robot, states()
    first = simulator(q, v, seconds=20.0, every=10_000)
    last = simulator(first, seconds=40.0, every=20_000)
    assert last.last[0][:, 2].min() > 0.2
    for contact in simulator.contacts:
        moved = robot.pose(contact.frame, last.last[0]).position - robot.pose(contact.frame, first.last[0]).position
        assert np.abs(moved).max() < 1e-6


def test_bits_are_the_same_everywhere(simulator, tmp_path):
    """Alone, in any batch, in any order, with threads, after a file, in another process."""
    q, v = states()
    whole = simulator(q, v, seconds=0.3)
    order = np.random.default_rng(1).permutation(16)
    assert np.array_equal(simulator(q[order], v[order], seconds=0.3).q, whole.q[order])
    assert np.array_equal(simulator(q[:5], v[:5], seconds=0.3, threads=2).forces, whole.forces[:5])
    assert np.array_equal(simulator(q[11], v[11], seconds=0.3).q, whole.q[11])
    half = simulator(q, v, seconds=0.1)
    half.save(tmp_path / "half.npz")
    rest = simulator(simulate.load(tmp_path / "half.npz"), seconds=0.2)
    assert np.array_equal(rest.q, whole.q[:, 50:])
    subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path / "other.npz")], check=True)
    with np.load(tmp_path / "other.npz") as other:
        assert np.array_equal(other["q"], whole.q)
        assert np.array_equal(other["forces"], whole.forces)


def test_nan_stays_where_it_is(simulator):
    q, v = states()
    whole = simulator(q, v, seconds=0.1)
    v[6, 9] = np.nan
    spoilt, others = simulator(q, v, seconds=0.1), np.arange(16) != 6
    assert np.array_equal(spoilt.q[others], whole.q[others])
    assert spoilt.failed[6] == 1
    assert not np.isfinite(spoilt.q[6, -1]).all()
