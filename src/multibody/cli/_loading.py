"""Robots for commands: as `mb.load`, but what was noticed is for the command to print, and not a Python warning."""

from typing import Any

from multibody.model.load import load as load_model
from multibody.robot import Robot


def load(file: str, *, floating: bool = False, **options: Any) -> Robot:
    """The robot of a file or a name; its diagnostics say what `mb.load` would warn of.

    >>> load("planar-arm").nv
    3
    """
    return Robot(load_model(file, floating=floating or None, **options))
