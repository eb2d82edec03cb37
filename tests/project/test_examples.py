"""Every example runs, from its first line to its last."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("[0-9]*.py"))


LONG = {"10_drop_a_robot", "16_lift_a_leg", "17_push_a_humanoid", "21_trot"}


@pytest.mark.parametrize(
    "script",
    [pytest.param(path, marks=pytest.mark.slow if path.stem in LONG else (), id=path.stem) for path in EXAMPLES],
)
def test_the_example_runs(script: Path, tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, "-W", "error", script], capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip(), "an example shows what it does"


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 2
