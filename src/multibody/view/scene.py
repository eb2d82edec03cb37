"""A snapshot of the scene that a viewer shows, as `Viewer.scene()` returns it."""

from typing import Any, NamedTuple

from numpy.typing import NDArray

from multibody.geometry import Pose


class LinkView(NamedTuple):
    """A link with its ghosts."""

    pose: Pose
    ghosts: NDArray[Any]
    """(n, 3): the positions of its ghosts, in m."""
    colors: tuple[tuple[int, int, int], ...]
    """Red, green and blue of each of its surfaces, from 0 to 255."""
    opacity: float
    """The lowest of its surfaces, 1 for solid ones."""
    visible: bool


class RobotView(NamedTuple):
    """A robot: its configuration, (nq,) or (n, nq) with ghosts, and its links by name."""

    q: NDArray[Any]
    links: dict[str, LinkView]


class OverlayView(NamedTuple):
    """Something drawn at points of a robot."""

    points: NDArray[Any]
    """(n, 3): frames, centres of mass, contacts, or the points of a trace, in m."""
    arrows: NDArray[Any] | None = None
    """(forces, 2, 3): start and end of the arrows of contact forces that are not zero, in m."""
    cones: tuple[bool, ...] = ()
    """Whether each friction cone is visible."""


class SliderView(NamedTuple):
    """A slider of a joint."""

    value: float
    lower: float
    upper: float
    step: float


class RunView(NamedTuple):
    """The run that is played."""

    t: float
    """The time that is shown, in s."""
    bar: float
    """The time at which the bar stands, in s."""
    playing: bool
    charts: tuple[tuple[NDArray[Any], ...], ...]
    """Of each chart the times, its lines, and the line that marks the time."""


class Scene(NamedTuple):
    """The scene of a viewer at one moment."""

    robots: dict[str, RobotView]
    overlays: dict[str, OverlayView]
    """By name, such as "frame tool", "contacts", "trace tool"."""
    sliders: dict[str, SliderView]
    """By the names of joints."""
    boxes: dict[str, bool]
    """The boxes of the page, and whether they are checked."""
    run: RunView | None
