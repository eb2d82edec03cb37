"""The two doors that lead upward: methods of robots and runs that ask a room above for what it makes of them."""

from importlib import import_module
from typing import Any

_DOORS = {
    "inverse_kinematics": "multibody.control.inverse_kinematics.solver",
    "view": "multibody.view.viewer",
}


def door(name: str) -> Any:
    """The module of a room above that serves a method; imported when it is first asked for."""
    return import_module(_DOORS[name])
