"""Links, the shapes that they carry, and frames on them: what a robot file describes."""

from dataclasses import dataclass, field

from multibody.geometry import Pose, SpatialInertia
from multibody.model.shapes import Shape


@dataclass(frozen=True)
class Geometry:
    """A shape on a link, to be seen or to collide: a reference, not the triangles."""

    shape: Shape
    pose: Pose = field(default_factory=Pose.identity)
    """link_H_shape."""
    name: str = ""
    color: tuple[float, float, float, float] | None = None
    """Red, green, blue, alpha, from 0 to 1."""
    texture: str | None = None


@dataclass(frozen=True)
class Link:
    """A rigid part with a frame. A link without inertia is a frame that can carry shapes."""

    name: str
    inertia: SpatialInertia | None = None
    """In the link's frame; None when the link has no mass."""
    visuals: tuple[Geometry, ...] = ()
    collisions: tuple[Geometry, ...] = ()


@dataclass(frozen=True)
class Frame:
    """A named frame on a link."""

    name: str
    link: str
    pose: Pose = field(default_factory=Pose.identity)
    """link_H_frame."""
