"""Sliders for the joints of a robot in a viewer."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.robot import Robot
from multibody.view.browser.thread_errors import reported
from multibody.view.scene import SliderView

MAX_TURN, MAX_SLIDE = np.pi, 1.0
"""The range of a joint without limits, to both sides: in rad, or in m."""
DELAY = 0.1
"""In s: sliders follow the robot with a delay, because a browser lays them out more slowly than it moves a robot."""


class JointSliders:
    """One slider for each joint with one coordinate, within its limits.

    When a person moves one, `moved` is called with a function from the configuration to the next one. Values
    from the page are stored as they arrive and applied on a thread of their own, so that the last one counts.
    """

    def __init__(self, server: Any, robot: Robot, q: NDArray[Any], title: str, moved: Callable[[Any], None]) -> None:
        self._moved, self._q = moved, np.array(q, float)
        self._sliders: dict[str, tuple[int, Any]] = {}
        self._lock = threading.Lock()
        self._wanted: dict[int, float] = {}
        self._arrived = threading.Event()
        self._timer: threading.Timer | None = None
        self._closed = False
        with server.gui.add_folder(title, expand_by_default=True):
            home = server.gui.add_button("home")
            home.on_click(lambda _: moved(lambda _: q))
            for joint in robot.joints:
                if joint.nq == 1:
                    self._add(server, joint)
        threading.Thread(target=self._work, name="multibody sliders", daemon=True).start()

    def follow(self, q: NDArray[Any]) -> None:
        """Put the sliders at a configuration, after a delay."""
        with self._lock:
            self._q = np.array(q, float)
            if self._timer is None and not self._closed:
                self._timer = threading.Timer(DELAY, self._show)
                self._timer.daemon = True
                self._timer.start()

    def close(self) -> None:
        """Stop the threads."""
        with self._lock:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
        self._arrived.set()

    def view(self) -> dict[str, SliderView]:
        """Return a snapshot, by the names of joints."""
        return {
            name: SliderView(float(slider.value), slider.min, slider.max, slider.step)
            for name, (_, slider) in self._sliders.items()
        }

    def _work(self) -> None:
        while True:
            self._arrived.wait()
            self._arrived.clear()
            with self._lock:
                wanted, self._wanted = self._wanted, {}
            if self._closed:
                return
            if wanted:
                with reported():
                    self._moved(partial(_replaced, wanted))

    def _show(self) -> None:
        with self._lock:
            self._timer = None
            if self._closed:
                return
            for k, slider in self._sliders.values():
                value = float(np.clip(self._q[k], slider.min, slider.max))
                if abs(value - slider.value) > slider.step and k not in self._wanted:
                    slider.value = value

    def _add(self, server: Any, joint: Any) -> None:
        k = joint.q.start
        low, high = (float(np.atleast_1d(x)[0]) for x in (joint.limits.lower, joint.limits.upper))
        reach = MAX_TURN if joint.kind.units[0] == "rad" else MAX_SLIDE
        low, high = (x if np.isfinite(x) else side * reach for x, side in ((low, -1.0), (high, 1.0)))
        if not high > low:
            return
        step = 10.0 ** np.floor(np.log10((high - low) / 500))  # and ends with as few digits, within the limits
        low, high = float(np.ceil(low / step - 1e-6) * step), float(np.floor(high / step + 1e-6) * step)
        start = float(np.clip(self._q[k], low, high))
        slider = server.gui.add_slider(joint.name, low, high, step, start)
        self._sliders[joint.name] = k, slider

        async def changed(event: Any) -> None:  # at once, on the thread that reads what pages say
            value = float(slider.value)
            if event.client is not None and np.isfinite(value):  # a person, and no nonsense
                with self._lock:
                    self._wanted[k] = float(np.clip(value, low, high))
                self._arrived.set()

        slider.on_update(changed)


def _replaced(values: dict[int, float], q: NDArray[Any]) -> NDArray[Any]:
    """A configuration with other values of some coordinates."""
    q = q.copy()
    q[list(values)] = list(values.values())
    return q
