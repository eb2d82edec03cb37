"""Viewers that a command opens, and keeps open until it is interrupted."""

import time
from typing import Any

import typer

from multibody.cli._messages import print_note


def keep_open(viewer: Any) -> None:
    """Tell the address, and serve until Ctrl-C."""
    for note in viewer.notes:
        print_note(note)
    try:
        typer.echo(f"{viewer.robot.name} is at {viewer.url} (Ctrl-C ends)")
        while True:
            time.sleep(1.0)
    except KeyboardInterrupt:
        viewer.close()
