"""The command line as a person uses it: in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import multibody as mb

BARE = """
import sys
for name in ("pinocchio", "mujoco", "scipy", "sympy", "hypothesis", "example_robot_data"):
    sys.modules[name] = None
"""
"""As if only the library's own requirements were installed."""


def run(*arguments: str, cwd: Path, before: str = "") -> subprocess.CompletedProcess[str]:
    code = f"{before}\nfrom multibody.cli import main; main()"
    environment = {
        name: x for name, x in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY", "MPLBACKEND")
    }
    environment |= {"COLUMNS": "80", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env=environment,
    )


def check_demo(done: subprocess.CompletedProcess[str], picture: Path) -> None:
    assert done.returncode == 0, done.stderr
    assert "conserved over 0.95 s: yes" in done.stdout
    assert done.stdout.count("yes\n") == 5
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_the_demo_checks_itself_and_saves_a_picture_without_the_extras(tmp_path: Path) -> None:
    done = run("demo", "--quick", "--picture", "shown.png", cwd=tmp_path, before=BARE)
    check_demo(done, tmp_path / "shown.png")


@pytest.mark.slow
def test_the_whole_demo(tmp_path: Path) -> None:
    done = run("demo", cwd=tmp_path)
    check_demo(done, tmp_path / "multibody-demo.png")
    assert "quadruped" in done.stdout


def test_bench_without_the_extras(tmp_path: Path) -> None:
    done = run("bench", "double-pendulum", "--budget", "0.001", cwd=tmp_path, before=BARE)
    assert done.returncode == 0, done.stderr
    assert "inverse dynamics  ours, once" in done.stdout


def test_the_version(tmp_path: Path) -> None:
    assert run("--version", cwd=tmp_path).stdout.strip() == f"multibody {mb.__version__}"


def test_an_unknown_command_is_refused(tmp_path: Path) -> None:
    done = run("dance", cwd=tmp_path)
    assert done.returncode == 2
    assert "No such command" in done.stderr


def test_an_error_of_the_library_is_one_message(tmp_path: Path) -> None:
    done = run("info", "nothing.urdf", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("error: 'nothing.urdf' is neither a file nor an embedded robot")
    assert "Traceback" not in done.stderr
