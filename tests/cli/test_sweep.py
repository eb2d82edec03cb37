"""`multibody sweep`: run the study of a script, go on with it, look at it."""

import importlib
import sys

import pytest
from typer.testing import CliRunner

from multibody.cli import app

SCRIPT = """
import numpy as np
import multibody as mb
from helper import gain

def f(sample):
    if (sample["x"] == 3).any():
        raise ValueError("three")
    return {"y": gain * sample["x"]}

study = mb.sweep.Study(f, {"x": np.arange(10.0)}, STORE, chunk=4)
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "helper.py").write_text("gain = 2.0\n")
    place = tmp_path / "my_study.py"
    place.write_text(SCRIPT.replace("STORE", repr(str(tmp_path / "a.zarr"))))
    return place


def run(*arguments):
    return CliRunner().invoke(app, ["sweep", *map(str, arguments)], catch_exceptions=True)


def test_a_script_is_run_and_looked_at(script, tmp_path):
    said = run(script)
    assert said.exit_code == 0, said.output
    assert "10 (100 %)" in said.output
    assert "raised: ValueError: three" in said.output
    said = run("status", tmp_path / "a.zarr", "--plot", tmp_path / "a.png")
    assert said.exit_code == 0, said.output
    assert "10 (100 %)" in said.output
    assert (tmp_path / "a.png").exists()
    assert "resume" in str(run(script, "--no-resume").exception)
    assert run(script, "--only-failed").exit_code == 0


def test_an_interrupt_says_how_far_it_is(script):
    script.write_text(script.read_text().replace('raise ValueError("three")', "raise KeyboardInterrupt"))
    said = run(script)
    assert said.exit_code == 130
    assert "Interrupted; 0 of 10 samples" in said.output


def test_what_is_not_a_study_is_refused(script, tmp_path):
    assert "expected a store" in str(run("status").exception)
    assert "no store" in str(run("status", tmp_path / "b.zarr").exception)
    assert "expected a script" in str(run(tmp_path / "none.py").exception)
    assert "one script" in str(run(script, tmp_path).exception)
    (tmp_path / "none.py").write_text("x = 1\n")
    assert "expected one Study" in str(run(tmp_path / "none.py").exception)
    assert "'other'" in str(run(script, "--study", "other").exception)


@pytest.mark.parametrize("name", ["signal", "json"])
def test_a_script_replaces_no_module_of_python(tmp_path, monkeypatch, name):
    """In this process and in those of the study, which import these modules with the script's folder on their path."""
    own = importlib.import_module(name)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "helper.py").write_text("gain = 2.0\n")
    text = SCRIPT.replace("STORE", repr(str(tmp_path / "a.zarr"))).replace("f(sample)", "f(sample, law=Law())")
    place = tmp_path / f"{name}.py"
    place.write_text("class Law:\n    factor = 3.0\n" + text)
    said = run(place, "--executor", "processes", "--workers", 1, "--memory", 2)
    assert said.exit_code == 0, said.output
    assert "10 (100 %)" in said.output
    assert importlib.import_module(name) is own
    assert hasattr(own, "SIGINT" if name == "signal" else "loads")


def test_memory_reaches_the_processes(script):
    script.write_text(script.read_text().replace('raise ValueError("three")', "np.ones(10**9)"))
    said = run(script, "--executor", "processes", "--workers", 1, "--memory", 0.5)
    assert said.exit_code == 0, said.output
    assert "memory: MemoryError" in said.output
