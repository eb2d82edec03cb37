"""`multibody view`: a robot in the browser, or a picture of it."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from multibody._saving import check_place
from multibody.cli import _options
from multibody.cli._messages import print_note
from multibody.cli._progress import working
from multibody.cli._viewing import keep_open


def view(
    file: _options.File,
    q: Annotated[str, typer.Option(help="Where it is: numbers, or neutral, home, random.")] = "home",
    frame: Annotated[list[str] | None, _options.frame_option("A frame whose axes are drawn; repeatable.")] = None,
    target: Annotated[str | None, _options.frame_option("A frame to drag: inverse kinematics follows.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Save a picture, .png, .svg or .pdf, and leave.")] = None,
    page: Annotated[Path | None, typer.Option(help="Save a page, .html, that needs no server, and leave.")] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(help="The port; by default the first free one from 8080 on.")] = None,
    floating: _options.Floating = False,
    mimic: _options.MimicOption = _options.Mimic.coupled,
    roots: _options.Roots = None,
    trust_paths: _options.TrustPaths = False,
    seed: _options.Seed = 0,
) -> None:
    """Show a robot in the browser, with a slider for each joint; or save a picture or a page of it."""
    from multibody import view as room

    _options.writable("--picture", picture)
    if page is not None:
        check_place(page, "--page")
    robot = _options.read(file, floating, mimic, roots=roots, trust_paths=trust_paths)
    state = _options.configuration_of(robot, q, np.random.default_rng(seed))
    frames = frame or []
    if picture is not None:
        with working("drawing"):
            figure = room.picture(robot, state, picture, frames=frames)
        for note in figure.notes:
            print_note(note)
        typer.echo(f"Saved {picture}.")
        return
    viewer = room.show(robot, state, host, port, open_browser=False if page is not None else None)
    viewer.frames(*frames)
    if target is not None:
        viewer.target(target)
    if page is not None:
        viewer.save(page)
        viewer.close()
        typer.echo(f"Saved {page}.")
        return
    keep_open(viewer)
