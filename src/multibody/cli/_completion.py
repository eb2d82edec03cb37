"""Completion in shells of robots and frames; that of commands and options is typer's own."""

import typer

from multibody.errors import InputError


def robot_names() -> list[str]:
    """Return the names of the embedded robots; shells complete paths of files."""
    from multibody.model import robots

    return list(robots.names())


def frame_names(context: typer.Context) -> list[str]:
    """Return the frames of the robot on the command line; none if it cannot be read."""
    from multibody.model.load import load

    file, *_ = [*context.args, context.params.get("file")]  # an option without its value leaves words in args
    options = {name: context.params.get(name) for name in ("floating", "roots", "trust_paths")}
    try:
        model = load(file, **{name: value for name, value in options.items() if value})
    except (InputError, OSError):
        return []
    return list(model.frames)
