"""Boxes to tick in a viewer: what is drawn besides the robot."""

from collections.abc import Callable
from typing import Any


class Switches:
    """A box for each thing that can be shown; `show` is told whether, when a person ticks it."""

    def __init__(self, server: Any, shows: dict[str, Callable[[bool], None]]) -> None:
        self._boxes: dict[str, Any] = {}
        with server.gui.add_folder("show", order=0.0):
            for name, show in shows.items():
                self._boxes[name] = server.gui.add_checkbox(name, False)
                self._boxes[name].on_update(self._told(name, show))

    @property
    def names(self) -> tuple[str, ...]:
        """Of all of them."""
        return tuple(self._boxes)

    def follow(self, name: str, shown: bool) -> None:
        """Tick a box, or not, as the program has it."""
        if self._boxes[name].value != shown:
            self._boxes[name].value = shown

    def _told(self, name: str, show: Callable[[bool], None]) -> Callable[[Any], None]:
        def ticked(event: Any) -> None:
            if event.client is not None:  # a person
                show(bool(self._boxes[name].value))

        return ticked
