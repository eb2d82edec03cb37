"""Contacts in a viewer: their points, arrows for the forces on the robot, and friction cones."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError
from multibody.geometry._arrays import floats
from multibody.view.colors import FORCE, FRICTION_CONE
from multibody.view.overlays import Overlay, Place
from multibody.view.scene import OverlayView

WEIGHT = 0.5
"""The length of an arrow for the robot's weight, relative to the robot's size."""


class ContactForces(Overlay):
    """Points of contact, arrows for the forces on the robot, and the cones that friction keeps these within."""

    def __init__(
        self, place: Place, contacts: Sequence[Any], forces: ArrayLike | None, friction: ArrayLike | None, normal: Any
    ) -> None:
        """See `Viewer.contacts`."""
        self._points = [_point(contact) for contact in contacts]
        self._normal, self.forces, cones = _checked(len(contacts), forces, friction, normal)
        super().__init__(place)
        length = WEIGHT * self.size
        self._arrows: Any = None
        self._meters = length / max(sum(float(body.inertia.mass) for body in self.robot.bodies) * 9.81, 1e-6)
        self.nodes = [self.scene.add_icosphere(f"{self.path}/{k}", 0.03 * length, FORCE) for k in range(len(contacts))]
        self._cones = [
            self.scene.add_mesh_simple(
                f"{self.path}/cone-{k}", *friction_cone(mu, self._normal, 0.3 * length), color=FRICTION_CONE,
                opacity=0.3, side="double", cast_shadow=False,
            )
            for k, mu in enumerate(cones)
        ]  # fmt: skip

    def follow(self, q: NDArray[Any]) -> None:
        poses = [self.robot.pose(frame, q) for frame, _, _ in self._points]
        places = np.reshape(
            [pose @ at - radius * self._normal for pose, (_, at, radius) in zip(poses, self._points, strict=True)],
            (-1, 3),
        )
        acting = np.ones(len(places), bool) if self.forces is None else np.abs(self.forces).max(axis=1) > 1e-9
        for node, place in zip(self.nodes, places, strict=True):
            node.position = place
        for cone, place, visible in zip(self._cones, places, acting.tolist(), strict=False):
            cone.position, cone.visible = place, visible
        forces = np.zeros_like(places) if self.forces is None else self.forces
        acting &= forces.any(axis=1)  # arrows of no length would be heads that lie on their side
        arrows = np.stack([places, places + self._meters * forces], axis=1)[acting].astype(np.float32)
        if self._arrows is not None and len(self._arrows.points) == len(arrows):
            self._arrows.points = arrows
            return
        if self._arrows is not None:
            self._arrows.remove()
        thick = 0.02 * WEIGHT * self.size
        sizes = {"shaft_radius": thick, "head_radius": 2 * thick, "head_length": 4 * thick}
        path = f"{self.path}/forces"
        self._arrows = self.scene.add_arrows(path, arrows, FORCE, **sizes) if len(arrows) else None

    def view(self) -> OverlayView:
        arrows = np.zeros((0, 2, 3)) if self._arrows is None else np.asarray(self._arrows.points)
        return super().view()._replace(arrows=arrows, cones=tuple(bool(cone.visible) for cone in self._cones))


def friction_cone(mu: float, normal: NDArray[Any], length: float, sides: int = 32) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return vertices and faces of a cone: its tip at the origin, open along the normal, its sides of a length in m."""
    first = np.cross(normal, [1.0, 0.0, 0.0] if abs(normal[0]) < 0.9 else [0.0, 1.0, 0.0])
    first = first / np.linalg.norm(first)
    second = np.cross(normal, first)
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)[:, None]
    rim = length / np.hypot(1.0, mu) * (normal + mu * (np.cos(angle) * first + np.sin(angle) * second))
    k = np.arange(sides)
    faces = np.stack([np.zeros(sides, int), 1 + (k + 1) % sides, 1 + k], axis=-1)
    return np.concatenate([np.zeros((1, 3)), rim]).astype(np.float32), faces.astype(np.uint32)


def _point(contact: Any) -> tuple[str, NDArray[Any], float]:
    """The frame of a simulator's contact or of a constraint, its point there, and the radius about it, in m."""
    frame, point = getattr(contact, "frame", None), getattr(contact, "point", None)
    if not isinstance(frame, str) or point is None:
        raise InputError(f"contacts: expected contacts or constraints with a frame and a point, got {contact!r}")
    return frame, floats(point, f"contact at {frame!r}, point", 3), float(getattr(contact, "radius", 0.0))


def _checked(
    count: int, forces: ArrayLike | None, friction: ArrayLike | None, normal: ArrayLike
) -> tuple[NDArray[Any], NDArray[Any] | None, list[float]]:
    """The unit normal, the forces, and the friction of each cone."""
    up = floats(normal, "normal", 3)
    if up.shape != (3,) or not np.isfinite(up).all() or not np.linalg.norm(up) > 0:
        raise InputError(f"normal: expected three numbers that are not all zero, got {normal!r}")
    pushes = None if forces is None else floats(forces, "forces", 3)
    if pushes is not None and pushes.shape != (count, 3):
        raise InputError(f"forces: expected ({count}, 3), a row for each contact, got shape {pushes.shape}")
    mu = floats([] if friction is None else friction, "friction")
    if friction is not None and (mu.shape not in ((), (count,)) or not (mu >= 0).all() or not np.isfinite(mu).all()):
        raise InputError(f"friction: expected one number from 0 on, or {count}, got {friction!r}")
    cones = [] if friction is None else np.broadcast_to(mu, (count,)).tolist()
    return up / np.linalg.norm(up), pushes, cones
