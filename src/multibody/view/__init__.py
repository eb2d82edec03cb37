"""Robots in the browser, pictures without one, and drawings of derived systems.

viewer = mb.view.show(robot)  # sliders in the browser
mb.view.picture(robot, q, "robot.png")
mb.view.draw(system, "system.svg")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from multibody._signatures import readable_names
from multibody.view.picture import picture
from multibody.view.viewer import Viewer, show

if TYPE_CHECKING:
    from multibody.derive.drawing.animation import animate
    from multibody.derive.drawing.sketch import draw

_LATER = {"animate": "animation", "draw": "sketch"}
"""They need SymPy, the others do not."""

__all__ = ["Viewer", "animate", "draw", "picture", "show"]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"multibody.derive.drawing.{_LATER[name]}"), name)
    raise AttributeError(f"module 'multibody.view' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *_LATER]


readable_names(__name__)
