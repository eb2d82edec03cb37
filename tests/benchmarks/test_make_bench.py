"""`make bench`."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = """#!/bin/sh
echo "ran $1"
case "$1" in *FAILING*) exit 1;; esac
"""


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize(("failing", "code"), [("none", 0), ("peak.py", 2)])
def test_all_scripts_run_and_the_ones_that_fail_are_named_at_the_end(failing: str, code: int, tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(PYTHON.replace("FAILING", failing))
    python.chmod(0o755)
    (tmp_path / ".ready-test").touch()
    command = ["make", "bench", f"VENV={tmp_path}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    scripts = sorted(path.name for path in (ROOT / "benchmarks").glob("[a-z]*.py"))
    assert len(scripts) > 5
    assert [line.removeprefix("ran benchmarks/") for line in done.stdout.splitlines() if "ran " in line] == scripts
    said = [line for line in done.stdout.splitlines() if "does not hold" in line]
    assert said == ([f"== a claim does not hold, or the script failed: benchmarks/{failing}"] if code else [])
