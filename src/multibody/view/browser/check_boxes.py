"""Check boxes in a viewer, for overlays that can be shown."""

from collections.abc import Callable
from functools import partial
from typing import Any


class CheckBoxes:
    """A box for each overlay; a function is called with its new value when a person clicks it."""

    def __init__(self, server: Any, shows: dict[str, Callable[[bool], None]]) -> None:
        with server.gui.add_folder("show", order=0.0):
            self._boxes = {name: server.gui.add_checkbox(name, False) for name in shows}
        for name, show in shows.items():
            self._boxes[name].on_update(partial(_clicked, show))

    def follow(self, name: str, shown: bool) -> None:
        """Check a box, or not, as the program has it."""
        if self._boxes[name].value != shown:
            self._boxes[name].value = shown

    def view(self) -> dict[str, bool]:
        """Return a snapshot, by the names of the boxes."""
        return {name: bool(box.value) for name, box in self._boxes.items()}


def _clicked(show: Callable[[bool], None], event: Any) -> None:
    if event.client is not None:  # a person
        show(bool(event.target.value))
