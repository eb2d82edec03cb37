"""The command line: one file per command."""

import io
import sys
from typing import Annotated

import typer
from rich.text import Text

from multibody import __version__
from multibody.cli._spelling import spelled
from multibody.cli._tables import terminal
from multibody.cli.bench import bench
from multibody.cli.cache import cache
from multibody.cli.demo import demo
from multibody.cli.derive import derive
from multibody.cli.evaluate import evaluate
from multibody.cli.export import export
from multibody.cli.ik import ik
from multibody.cli.info import info
from multibody.cli.simulate import simulate
from multibody.cli.sweep import sweep
from multibody.cli.view import view
from multibody.errors import MultibodyError

app = typer.Typer(name="multibody", no_args_is_help=True, add_completion=False, rich_markup_mode="rich")
app.command()(info)
app.command("eval")(evaluate)
app.command()(ik)
app.command()(derive)
app.command()(export)
app.command()(simulate)
app.command()(sweep)
app.command()(view)
app.command()(bench)
app.command()(cache)
app.command()(demo)


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
        said = Text.assemble(("error: ", "bold red"), (spelled(str(error)), "red"))
        terminal(stderr=True).print(said, soft_wrap=True)
        sys.exit(1)
