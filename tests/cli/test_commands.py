"""The table of commands, what each import costs, and completion in shells."""

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from multibody.cli import COMMANDS, app, load_command
from multibody.cli._completion import frame_names

from .running import run

HEAVY = ["multibody.robot", "multibody.compiler", "multibody.simulate", "multibody.control", "multibody.view"]
HEAVY += ["multibody.sweep", "multibody.derive", "llvmlite", "lxml", "matplotlib", "scipy", "sympy", "viser"]
MAX_OWN_MODULES = 6
"""Modules of the library that `--version` and `--help` may import; each command takes dozens."""
SCRIPT = """
import sys
from multibody.cli import main
try:
    main()
finally:
    print("\\n" + __import__("json").dumps([*sys.modules]), file=sys.stderr)
"""


def output_and_modules(arguments: tuple[str, ...], environment: dict[str, str]) -> tuple[str, set[str]]:
    """What a new process prints, and what it has imported at the end."""
    command = [sys.executable, "-c", SCRIPT, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, encoding="utf-8")
    return done.stdout, set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("--show-completion", "bash"), ("sumilate",)])
def test_no_command_is_imported_for_what_needs_none(arguments: tuple[str, ...]) -> None:
    _, modules = output_and_modules(arguments, {"PYTHONIOENCODING": "utf-8"})
    assert "multibody.cli" in modules
    assert not {"numpy", "multibody.geometry", "multibody.model", *HEAVY} & modules
    assert len([name for name in modules if name.partition(".")[0] == "multibody"]) <= MAX_OWN_MODULES
    assert not {name for name in modules if name.startswith("multibody.cli.")} - {
        "multibody.cli._tables", "multibody.cli._messages"
    }  # fmt: skip


def complete(*words: str, cwd: Path | None = None) -> tuple[list[str], set[str]]:
    """The candidates for the last word, as bash asks for them."""
    line = " ".join(["multibody", *words])
    environment = {"_MULTIBODY_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words))}
    before = os.getcwd()
    os.chdir(cwd or before)
    try:
        script = SCRIPT.replace("main()\nfinally", "sys.argv[0] = 'multibody'; main()\nfinally")
        command = [sys.executable, "-c", script]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
    finally:
        os.chdir(before)
    return done.stdout.split(), set(json.loads(done.stderr.splitlines()[-1]))


def test_shells_complete_commands_robots_and_frames(tmp_path: Path) -> None:
    found, modules = complete("e")
    assert found == ["eval", "equation", "export"]
    assert not {"numpy", *HEAVY} & modules
    found, modules = complete("view", "p")
    assert found == ["planar-arm", "puma-560", "panda"]
    assert not set(HEAVY) & modules
    (tmp_path / "one.urdf").write_text('<robot name="one"><link name="here"/></robot>')
    assert complete("eval", "one.urdf", "--frame", "", cwd=tmp_path)[0] == ["here"]


@pytest.mark.parametrize(
    ("words", "file", "found"),
    [(["panda", "--frame"], None, "tool"), ([], "panda", "tool"), (["no-such-file.urdf", "--frame"], None, None)],
)
def test_frames_are_those_of_the_robot_that_is_named_before(words: list[str], file: str | None, found: str) -> None:
    context = typer.Context(typer.main.get_command(app), resilient_parsing=True)
    context.args, context.params = words, {"file": file}
    assert found in frame_names(context) if found else frame_names(context) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_has_the_first_words_of_each_command(name: str) -> None:
    command = load_command(name)
    first, *_ = inspect.cleandoc(str(command.help)).split("\n\n")
    assert " ".join(first.split()).startswith(COMMANDS[name].rstrip("."))


def test_a_command_that_is_mistyped_is_named() -> None:
    done = run("sumilate")
    assert done.code == 2
    assert "simulate" in done.err
