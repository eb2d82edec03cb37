"""Sliders for the joints of a robot in a viewer."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.robot import Robot

TURN = np.pi
"""In rad: how far a joint without limits can be turned."""
SLIDE = 1.0
"""In m: how far one can slide."""


class Sliders:
    """One slider for each joint with one coordinate, within its limits; `moved` hears the configuration."""

    def __init__(self, server: Any, robot: Robot, q: NDArray[Any], title: str, moved: Callable[[Any], None]) -> None:
        self.robot, self._moved = robot, moved
        self._silent = False
        self._home = np.array(q, float)
        self._q = np.array(q, float)
        self._sliders: list[tuple[int, Any]] = []
        self._folder = server.gui.add_folder(title, expand_by_default=True)
        with self._folder:
            home = server.gui.add_button("home")
            home.on_click(lambda _: self._go_home())
            for joint in robot.joints:
                if joint.nq == 1:
                    self._add(server, joint)

    def show(self, q: NDArray[Any]) -> None:
        """Put the sliders at a configuration, without telling anyone."""
        self._silent = True
        try:
            self._q = np.array(q, float)
            for k, slider in self._sliders:
                slider.value = float(np.clip(q[k], slider.min, slider.max))
        finally:
            self._silent = False

    def remove(self) -> None:
        """Out of the panel."""
        self._folder.remove()

    def _add(self, server: Any, joint: Any) -> None:
        k = joint.q.start
        low, high = (float(np.atleast_1d(x)[0]) for x in (joint.limits.lower, joint.limits.upper))
        reach = TURN if joint.kind.units[0] == "rad" else SLIDE
        low, high = (x if np.isfinite(x) else side * reach for x, side in ((low, -1.0), (high, 1.0)))
        if not high > low:
            return
        start = float(np.clip(self._q[k], low, high))
        slider = server.gui.add_slider(joint.name, low, high, (high - low) / 1000, start)
        self._sliders.append((k, slider))

        def changed(_: Any) -> None:
            if not self._silent:
                self._q = self._q.copy()
                self._q[k] = slider.value
                self._moved(self._q)

        slider.on_update(changed)

    def _go_home(self) -> None:
        self.show(self._home)
        self._moved(self._q)
