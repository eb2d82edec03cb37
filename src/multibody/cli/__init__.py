"""The command line: one file per command, imported when the command runs."""

import io
import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from multibody import __version__
from multibody.errors import MultibodyError

COMMANDS = {
    "info": "Show a robot: what may be wrong with its file, its tree, masses, limits, and what the loader noticed.",
    "eval": "Compute pose, Jacobian, mass matrix, bias, gravity and torque at one state.",
    "ik": "Find joint values at which a frame has a position, a rotation, or both.",
    "derive": "Derive equations of motion as formulas, by each method of the documents.",
    "equation": "Show an equation of the documents: its code, its tests, and the pages that cite it.",
    "export": "Write a quantity of a robot as code that needs nothing of this library: C, NumPy or SymPy.",
    "simulate": "Simulate a robot: drop it on the ground, or let it swing, with friction, damping and joint limits.",
    "sweep": "Run the study of a script.",
    "view": "Show a robot in the browser, with a slider for each joint; or save a picture or a page of it.",
    "bench": "Measure on one core, single calls and batches, as a table and as bars.",
    "cache": "Show the directory and the size of the compiled code on disk, or remove it.",
    "demo": "Show an arm and its dynamics, throw a humanoid and check what is conserved, measure, save a picture.",
}
"""The commands in the order of --help, with the first paragraphs of their docstrings."""
_FUNCTIONS = {"eval": "evaluate"}
"""Functions, and their modules, that cannot have the name of the command."""


class _Commands(TyperGroup):
    """A group that lists commands without their modules, and imports the module of the command that runs."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands.update({name: TyperCommand(name, help=summary) for name, summary in COMMANDS.items()})

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and load_command(name), rest


def load_command(name: str | None) -> Any:
    """Return a command with its options; this imports its module."""
    function = _FUNCTIONS.get(str(name), name)
    single = typer.Typer(add_completion=False, rich_markup_mode="rich")
    single.command(name)(getattr(import_module(f"multibody.cli.{function}"), str(function)))
    return typer.main.get_command(single)


app = typer.Typer(name="multibody", cls=_Commands, no_args_is_help=True, rich_markup_mode="rich")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"multibody {__version__}")
        raise typer.Exit


@app.callback()
def multibody(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Kinematics, dynamics, control and simulation of robots."""


def main() -> None:
    """The entry point of the `multibody` command: errors of the library are one message, without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # where letters such as µ cannot be written, ? says enough
    try:
        app()
    except MultibodyError as error:
        from multibody.cli._messages import exit_with_error

        exit_with_error(error)
