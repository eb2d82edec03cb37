"""Imports against the layers: two methods of lower rooms that a higher room implements."""

from importlib import import_module
from typing import Any

_MODULES = {
    "inverse_kinematics": "multibody.control.inverse_kinematics.solver",
    "view": "multibody.view.viewer",
}


def room_above(name: str) -> Any:
    """Return the module of a higher room that implements a method; it is imported at the first call."""
    return import_module(_MODULES[name])
