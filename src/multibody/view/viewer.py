"""The viewer: robots in the browser, served by viser on the loopback."""

import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from os import PathLike
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody._foreign_names import ForeignNames
from multibody._saving import check_place
from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.geometry._arrays import truth
from multibody.model import check_configuration
from multibody.robot import Robot
from multibody.simulate import Run
from multibody.simulate.plot import index_of
from multibody.view import video
from multibody.view.browser import html_page
from multibody.view.browser.charts import Charts
from multibody.view.browser.controls import CheckBoxes, JointSliders, add_drag_target
from multibody.view.browser.player import Player, states_of
from multibody.view.browser.robot_node import RobotNode
from multibody.view.browser.server import serve, stop
from multibody.view.browser.surroundings import Surroundings
from multibody.view.colors import TRANSLUCENT
from multibody.view.contact_forces import ContactForces
from multibody.view.overlays import CenterOfMass, FrameAxes, InertiaEllipsoids, Overlay, Place, Trace
from multibody.view.scene import Scene

INSIDE = ("centre of mass", "inertias")
"""Overlays inside of bodies, which have a check box."""


def show(
    robot: Robot,
    q: ArrayLike | None = None,
    host: str = "127.0.0.1",
    port: int | None = None,
    hosts: Sequence[str] = (),
    open_browser: bool | None = None,
) -> "Viewer":
    """Show a robot in the browser, with sliders for its joints; return at once
    and serve until the process ends.

    Args:
        robot: what is shown.
        q: (nq,), or several, (..., nq), of which all but the last are ghosts; by default the
            robot's home.
        host: the address that it listens on; others than the loopback let the network in.
        port: where it listens; by default the first that is free from 8080 on.
        hosts: names, beyond localhost, under which browsers may ask for it.
        open_browser: whether a browser is opened; by default where there is a screen.

    >>> import multibody as mb
    >>> viewer = show(mb.load("panda"), open_browser=False)
    >>> viewer.url.startswith("http://127.0.0.1:")
    True
    >>> viewer.close()
    """
    return Viewer(robot, q, host, port, hosts, open_browser)


def play(run: Run, **options: Any) -> "Viewer":
    """Return a viewer that plays a run of one robot; options are those of `show`."""
    if run.robot is None:
        raise InputError("view: the run does not know its robot: simulate.load(path, robot)")
    viewer = show(run.robot, **options)
    viewer.play(run)
    return viewer


@final
class Viewer(metaclass=ForeignNames):
    """Robots in the browser; see `show`."""

    def __init__(
        self,
        robot: Robot,
        q: ArrayLike | None = None,
        host: str = "127.0.0.1",
        port: int | None = None,
        hosts: Sequence[str] = (),
        open_browser: bool | None = None,
    ) -> None:
        if not isinstance(robot, Robot):
            raise InputError(f"show: expected a Robot, got {type(robot).__name__}")
        if isinstance(hosts, str) or not all(isinstance(name, str) for name in hosts):
            raise InputError(f"hosts: expected a list of names, got {hosts!r}")
        start = robot.home() if q is None else check_configuration.coordinates(robot.tree, q)
        self._server = serve(host, port, tuple(hosts))
        self._host = host
        self._lock = threading.RLock()
        self._robots: dict[str, RobotNode] = {}
        self._overlays: dict[str, Overlay] = {}
        self._numbers = count()
        self._player: Player | None = None
        self._run: tuple[Run, NDArray[Any], NDArray[Any]] | None = None
        """The run, its states as (samples, rows, nq), and its contact forces."""
        self._row = 0
        try:
            self._main = self._put(robot, start, robot.name, Pose.identity())
            self._around = Surroundings(self._server, robot, self._main.shapes, self._main.state)
            self._sliders = JointSliders(self._server, robot, self._main.state, robot.name, self._moved_by_hand)
            shows = self.center_of_mass, self.inertias
            self._boxes = CheckBoxes(self._server, dict(zip(INSIDE, shows, strict=True)))
            if self.notes:
                with self._server.gui.add_folder("notes", expand_by_default=False):
                    self._server.gui.add_text("", "\n".join(self.notes), multiline=True, disabled=True)
        except BaseException:
            stop(self._server)
            raise
        if open_browser or (open_browser is None and html_page.has_screen()):
            webbrowser.open(self.url)

    # ---- what is shown -----------------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{self._host}:{self.port}"

    @property
    def port(self) -> int:
        """The port on which the server listens."""
        return self._server.get_port()

    @property
    def server(self) -> Any:
        """The server of viser, for further nodes and controls by viser's own functions."""
        return self._server

    @property
    def robot(self) -> Robot:
        """The first robot."""
        return self._main.robot

    @property
    def notes(self) -> tuple[str, ...]:
        """Shapes that could not be drawn as the robot's file has them, and their stand-ins."""
        return tuple(note for node in self._robots.values() for note in node.shapes.notes)

    def scene(self) -> Scene:
        """Return a snapshot of what is shown: robots, overlays, sliders, boxes and the run.

        >>> import multibody as mb
        >>> with show(mb.load("panda"), open_browser=False) as viewer:
        ...     scene = viewer.scene()
        >>> len(scene.sliders), scene.boxes
        (7, {'centre of mass': False, 'inertias': False})
        """
        with self._lock:
            run = self._player.view() if self._player is not None else None
            robots = {name: node.view() for name, node in self._robots.items()}
            overlays = {name: overlay.view() for name, overlay in self._overlays.items()}
            return Scene(robots, overlays, self._sliders.view(), self._boxes.view(), run)

    def update(self, q: ArrayLike, name: str | None = None) -> None:
        """Move a robot.

        Args:
            q: (nq,), or several, (..., nq): the last is solid, the others are ghosts.
            name: which robot; by default the first.
        """
        with self._lock:
            node = self._main if name is None else self._node(name)
            node.move(q)
            if node is self._main:
                self._sliders.follow(node.state)
                for overlay in self._overlays.values():
                    overlay.follow(node.state)
            self._server.flush()  # or two updates of one sixtieth of a second become one

    def add(self, robot: Robot, q: ArrayLike | None = None, name: str | None = None, place: Pose | None = None) -> None:
        """Add another robot to the scene; `update(q, name)` moves it.

        Args:
            robot: the other one.
            q: where it is; by default at home.
            name: what it is called; by default as the robot.
            place: the pose of its world in that of the first: robots on fixed bases stand
                elsewhere with it.
        """
        name = robot.name if name is None else name
        if place is not None and (not isinstance(place, Pose) or place.shape != ()):
            raise InputError(f"place: expected one Pose, got {place!r}")
        if name in self._robots:
            raise InputError(f"name: a robot called {name!r} is there already: expected another name")
        start = robot.home() if q is None else check_configuration.coordinates(robot.tree, q)
        self._put(robot, start, name, place or Pose.identity())

    def frames(self, *names: str) -> None:
        """Draw the axes of frames of the first robot, x red, y green, z blue, with their names.

        Args:
            *names: names out of `robot.frames`.
        """
        for frame in names:
            self._draw(f"frame {frame}", FrameAxes, frame)

    def center_of_mass(self, shown: bool = True) -> None:
        """Draw the centre of mass, and the point below it on the ground; the bodies
        are then seen through.
        """
        self._draw_inside(INSIDE[0], shown, CenterOfMass, self._around.floor)

    def inertias(self, shown: bool = True) -> None:
        """Draw, for each body, the ellipsoid of uniform density with its mass and
        moments of inertia.
        """
        self._draw_inside(INSIDE[1], shown, InertiaEllipsoids)

    def contacts(
        self,
        contacts: Sequence[Any],
        forces: ArrayLike | None = None,
        friction: ArrayLike | None = None,
        normal: ArrayLike = (0.0, 0.0, 1.0),
    ) -> None:
        """Draw points of contact, the forces there, and cones of friction; a run that
        is played brings its own forces.

        Args:
            contacts: of a simulator (`SphereContact`), or constraints with a frame and a point.
            forces: (contacts, 3) on the robot, in N, along the world's axes; the robot's weight
                is an arrow of half its size.
            friction: Coulomb's μ, one or for each contact: draws the cone within which a
                contact's force lies.
            normal: of the ground, away from it.
        """
        self._draw("contacts", ContactForces, contacts, forces, friction, normal)

    def trace(self, frame: str) -> None:
        """Draw the path of a frame's origin from now on."""
        self._draw(f"trace {frame}", Trace, frame)

    def target(self, frame: str) -> None:
        """Add a gizmo to drag, which inverse kinematics follows with a frame of the first robot."""
        size = 0.2 * self._around.size
        add_drag_target(self._server, self.robot, frame, self._main.state, size, self._moved_by_hand)

    # ---- runs --------------------------------------------------------------------------------------------------------

    def play(
        self, run: Run, speed: float = 1.0, sample: int | tuple[int, ...] | None = None, charts: bool = True
    ) -> None:
        """Play a run of the first robot, with a time bar and charts that follow it.

        Args:
            run: what a simulator returned.
            speed: 1 for real time.
            sample: of a batch; by default the first, with up to 100 others as ghosts.
            charts: whether base, joints, contacts and energy are drawn over the time.
        """
        if not isinstance(run, Run) or run.q.shape[-1] != self.robot.nq or not len(run.t):
            raise InputError(f"play: expected a run of {self.robot.name} with at least one row, got {run!r}")
        self.stop()
        index = index_of(run, sample)
        self._run = run, states_of(run, index, alone=sample is not None), np.asarray(run.forces[index], float)
        beside = Charts(self._server, run, index) if charts else None
        self._player = Player(self._server, run, beside, self._show_row, speed)

    def pause(self) -> None:
        """Stop the run at this moment."""
        if self._player is not None:
            self._player.pause()

    def seek(self, seconds: float) -> None:
        """Show the run at a time."""
        if self._player is None:
            raise InputError("seek: no run is being played: expected play(run) before")
        self._player.seek(seconds)

    def stop(self) -> None:
        """End playing."""
        if self._player is not None:
            self._player.close()
            self._player = None

    def save(self, path: str | PathLike[str]) -> None:
        """Save one page that shows the scene, and plays the run, without a server."""
        check_place(path, "path").write_text(self._page(), encoding="utf-8")

    def record(
        self,
        path: str | PathLike[str],
        size: tuple[int, int] = (640, 480),
        rate: float = 25.0,
        progress: bool | None = None,
    ) -> None:
        """Save the run as a moving picture, drawn without a browser.

        Args:
            path: a name that ends in .gif or, if the program ffmpeg is there, .mp4.
            size: width and height in pixels.
            rate: frames a second of the run's time.
            progress: whether the cost (frames, size, estimated seconds) is written to stderr
                before the first frame, and a bar meanwhile; by default if stderr is a terminal
                or a notebook.
        """
        if self._run is None:
            raise InputError("record: no run: expected play(run) before")
        run, states, _ = self._run
        video.record(self.robot, run.t, states[-1], check_place(path, "path"), size, rate, progress)

    def close(self) -> None:
        """Stop serving."""
        self.stop()
        self._sliders.close()
        stop(self._server)

    def _repr_html_(self) -> str:
        """In a notebook: the page, or, where its browser is on another machine, the scene as it is now."""
        return html_page.inline(page=self._page()) if html_page.is_remote() else html_page.inline(self.url)

    def __enter__(self) -> "Viewer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Viewer of {', '.join(self._robots)} at {self.url}>"

    # ---- inside ------------------------------------------------------------------------------------------------------

    def _page(self) -> str:
        if self._player is None:
            return html_page.page_of(self._server, self._frames())
        now = self._player.view()
        self.pause()
        page = html_page.page_of(self._server, self._frames())
        self.seek(now.t)
        self._player.pause(not now.playing)
        return page

    def _frames(self) -> Iterator[None]:
        """Show the run, frame by frame."""
        if self._run is not None:
            for row in video.rows_at(self._run[0].t, html_page.RATE):
                yield self._show_row(row)

    def _show_row(self, row: int) -> None:
        """Show a row of the run, with its contact forces."""
        assert self._run is not None
        _, states, forces = self._run
        with self._lock:
            for overlay in self._overlays.values():
                if isinstance(overlay, ContactForces) and len(overlay.nodes) == forces.shape[1]:
                    overlay.forces = forces[row]
                if isinstance(overlay, Trace) and row < self._row:
                    overlay.clear()
            self._row = row
            self.update(states[:, row])

    def _put(self, robot: Robot, q: Any, name: str, place: Pose) -> RobotNode:
        self._robots[name] = RobotNode(self._server, robot, np.asarray(q, float), name, place)
        return self._robots[name]

    def _node(self, name: str) -> RobotNode:
        if name not in self._robots:
            raise InputError(f"name: expected one of {', '.join(map(repr, self._robots))}, got {name!r}")
        return self._robots[name]

    def _draw(self, name: str, kind: Callable[..., Overlay], *inputs: Any) -> None:
        """Draw an overlay, in place of the one with its name."""
        with self._lock:
            path = f"/{self._main.name}-overlays/{name} {next(self._numbers)}"
            overlay = kind(Place(self._server.scene, self.robot, path, self._around.size), *inputs)
            self._erase(name)
            self._overlays[name] = overlay
            overlay.follow(self._main.state)

    def _erase(self, name: str) -> None:
        overlay = self._overlays.pop(name, None)
        if overlay is not None:
            overlay.remove()

    def _draw_inside(self, name: str, shown: bool, kind: Callable[..., Overlay], *inputs: Any) -> None:
        """Draw or erase an overlay inside of bodies, which are translucent meanwhile."""
        with self._lock:
            if truth(shown, "shown"):
                self._draw(name, kind, *inputs)
            else:
                self._erase(name)
            self._main.fade(TRANSLUCENT if any(each in self._overlays for each in INSIDE) else 1.0)
            self._boxes.follow(name, shown)

    def _moved_by_hand(self, q: Callable[[Any], Any]) -> None:
        """Move the first robot to a function of its configuration; the forces of a run do not act there."""
        self.pause()
        with self._lock:
            for overlay in self._overlays.values():
                if isinstance(overlay, ContactForces) and self._run is not None:
                    overlay.forces = np.zeros((len(overlay.nodes), 3))
            self.update(q(self._main.state))
