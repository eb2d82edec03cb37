"""What README.md shows works in the environment that `make demo` makes. Its Python runs in tests/project."""

import ast
import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest

from multibody.errors import install_command, missing_package

from .running import run

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    multibody ([^-].*?) *(?:#.*)?$", README, re.MULTILINE)
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
IMPORTED_AS = {"mujoco-core": "mujoco"}


def test_the_commands_are_found() -> None:
    commands = {"info", "view", "eval", "ik", "simulate", "derive", "export", "equation", "bench"}
    assert {command.split()[0] for command in COMMANDS} == commands


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_works(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # for those that save files
    arguments = ["planar-arm" if word == "FILE" else word for word in shlex.split(command)]
    quick = {"bench": ["--budget", "0.001"]}
    if arguments[0] == "view" and "--picture" not in arguments:
        quick["view"] = ["--page", "robot.html"]  # a viewer would serve for ever
    done = run(*arguments, *quick.get(arguments[0], []))
    assert done.code == 0
    assert all(line.startswith("note: ") for line in done.err.splitlines()), (
        done.err
    )  # a simulation tells how exact it is
    assert done.out.strip()
    named = [word for word in arguments if word.endswith((".png", ".c"))]
    assert all((tmp_path / name).stat().st_size > 500 for name in named)


def packages(extra: str) -> set[str]:
    """What the project and an extra of it require, under the names by which it is imported."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = [*project["dependencies"], *project["optional-dependencies"][extra]]
    names = set[str]()
    for requirement in required:
        nested = re.fullmatch(r"multibody\[(.*)\]", requirement)
        if nested:
            names |= set().union(*(packages(name) for name in nested[1].split(",")))
        else:
            name = re.split(r"[<>=]", requirement)[0]
            names.add(IMPORTED_AS.get(name, name))
    return names


def imports(source: str) -> set[str]:
    nodes = list(ast.walk(ast.parse(source)))
    whole = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    parts = [str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.split(".")[0] for name in whole + parts} - {"multibody"} - set(sys.stdlib_module_names)


def test_make_demo_installs_what_readme_and_the_examples_import() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^demo: \$\(VENV\)/\.ready$", makefile, re.MULTILINE)
    assert "$(VENV)/.ready: pyproject.toml | $(VENV)/bin/python\n\t$(call install,[demo])" in makefile
    sources = [*BLOCK.findall(README), *(path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.py"))]
    assert len(sources) > 5
    assert "sympy" in packages("demo")
    assert set().union(*map(imports, sources)) <= packages("demo")


def test_a_missing_package_names_the_command_of_the_python_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = Path(sys.executable)
    monkeypatch.chdir(tmp_path)
    assert install_command("symbolic") == f'{python} -m pip install -e "{ROOT}[symbolic]"'
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "executable", str(ROOT / ".venv" / "bin" / "python"))
    error = missing_package("formulas need SymPy", "symbolic", "sympy")
    assert str(error) == 'formulas need SymPy: run .venv/bin/python -m pip install -e ".[symbolic]"'
    assert error.name == "sympy"
    monkeypatch.setattr(sys, "executable", str(ROOT / "my venv" / "python"))
    assert install_command("mjcf").startswith('"my venv/python" -m pip')
