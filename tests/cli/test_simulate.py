"""`multibody simulate`: a table, a file that goes on, a picture, and refusals."""

import numpy as np

from multibody import simulate

from .running import run


def test_a_body_is_dropped(tmp_path):
    done = run(
        *("simulate", "free-body-se3", "--seconds", "0.5", "--drop", "0.1"),
        *("--save", str(tmp_path / "run.npz"), "--plot", str(tmp_path / "run.png")),
    )
    assert done.code == 0, done.err
    assert "height of the base" in done.out
    assert (tmp_path / "run.png").stat().st_size > 10_000
    kept = simulate.load(tmp_path / "run.npz")
    assert len(kept.t) == 250
    assert np.isfinite(kept.q).all()


def test_a_pendulum_swings_with_a_bar():
    done = run("simulate", "double-pendulum", "--seconds", "0.2", "--kp", "5", "--kd", "1", live=True)
    assert done.code == 0, done.err
    assert "energy" in done.out


def test_refusals(tmp_path):
    assert "multiple of dt" in run("simulate", "double-pendulum", "--seconds", "0.0015").err
    assert "--plot" in run("simulate", "double-pendulum", "--plot", "nowhere/run.png").err
    assert "--save" in run("simulate", "double-pendulum", "--save", str(tmp_path)).err
