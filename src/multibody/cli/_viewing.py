"""Viewers that a command opens, and keeps open until it is interrupted."""

import time
from typing import Any

import typer


def keep_open(viewer: Any) -> None:
    """Tell the address, and serve until Ctrl-C."""
    for note in viewer.notes:
        typer.echo(f"note: {note}", err=True)
    try:
        typer.echo(f"{viewer.robot.name} is at {viewer.url} (Ctrl-C ends)")
        while True:
            time.sleep(1.0)
    except KeyboardInterrupt:
        viewer.close()
