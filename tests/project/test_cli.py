"""The command line as a person uses it."""

import subprocess
import sys
from pathlib import Path

import multibody as mb


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    code = "from multibody.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=cwd)


def test_the_demo_checks_itself_and_saves_a_picture(tmp_path: Path) -> None:
    done = run("demo", "--picture", "shown.png", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "conserved over 12 s: yes" in done.stdout
    assert (tmp_path / "shown.png").read_bytes().startswith(b"\x89PNG")


def test_the_version(tmp_path: Path) -> None:
    assert run("--version", cwd=tmp_path).stdout.strip() == f"multibody {mb.__version__}"


def test_an_unknown_command_is_refused(tmp_path: Path) -> None:
    done = run("dance", cwd=tmp_path)
    assert done.returncode == 2
    assert "No such command" in done.stderr
