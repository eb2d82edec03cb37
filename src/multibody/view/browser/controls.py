"""Controls of a viewer: sliders for joints, check boxes for overlays, a gizmo that inverse kinematics follows."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.control import InverseKinematics
from multibody.geometry import Pose, Rotation
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


def add_drag_target(
    server: Any, robot: Robot, frame: str, q: Any, size: float, follow: Callable[[Callable[[Any], Any]], None]
) -> None:
    """Add a gizmo at a frame, of a size in m; once dragged, `follow` is called with a function from q0 to the next q.

    The gizmo is read when that function is called: of several drags that wait, the last one counts.
    """
    solver = InverseKinematics(robot, frame, base="fixed" if robot.tree.bases else "free")
    pose = robot.pose(frame, q)
    place = {"wxyz": pose.rotation.quaternion, "position": pose.position}
    gizmo = server.scene.add_transform_controls(f"/target/{frame}", scale=size, depth_test=False, **place)

    def reached(q0: Any) -> Any:
        turn, position = np.array(gizmo.wxyz, float), np.array(gizmo.position, float)
        if not (np.isfinite(turn).all() and np.isfinite(position).all() and np.linalg.norm(turn) > 0.5):
            return q0
        return solver(Pose(Rotation.from_quaternion(turn / np.linalg.norm(turn)), position), q0=q0).q

    gizmo.on_update(lambda _: follow(reached))


def _replaced(values: dict[int, float], q: NDArray[Any]) -> NDArray[Any]:
    """A configuration with other values of some coordinates."""
    q = q.copy()
    q[list(values)] = list(values.values())
    return q


def _clicked(show: Callable[[bool], None], event: Any) -> None:
    if event.client is not None:  # a person
        show(bool(event.target.value))
