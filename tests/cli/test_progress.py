"""Signs of life while a command works."""

from pathlib import Path

import pytest

from .running import run

COMMANDS = {
    ("info", "planar-arm"): ["reading the robot"],
    ("eval", "planar-arm"): ["reading the robot", "computing "],
    ("bench", "planar-arm", "--budget", "0.001", "--batch", "8"): ["reading the robot", "compiling", "measuring"],
}


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
def test_a_terminal_shows_what_is_going_on_beside_the_results(arguments: tuple[str, ...]) -> None:
    done = run(*arguments, live=True)
    assert done.code == 0, done.err
    for said in COMMANDS[arguments]:
        assert said in done.err
        assert said not in done.out
    assert done.err.endswith("\x1b[2K")  # the line is cleared at the end


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
def test_a_file_or_a_pipe_gets_results_alone(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert (done.code, done.err) == (0, "")
    assert done.out[0] not in "\n\r\x1b"


def test_errors_stand_alone_after_the_spinner(tmp_path: Path) -> None:
    path = tmp_path / "broken.urdf"
    path.write_text("<robot>")
    done = run("info", str(path), live=True)
    assert (done.code, done.out) == (1, "")
    assert "error: " in done.err.split("\x1b[2K")[-1]
