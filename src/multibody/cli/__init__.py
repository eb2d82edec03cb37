"""The command line: one file per command."""

from typing import Annotated

import typer

from multibody import __version__
from multibody.cli.demo import demo

app = typer.Typer(name="multibody", no_args_is_help=True, add_completion=False, rich_markup_mode="rich")
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
    """The entry point of the `multibody` command."""
    app()
