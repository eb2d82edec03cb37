"""Poses in a URDF file, and right angles rounded by the file."""

import math

import numpy as np

from multibody.geometry import Pose
from multibody.model.loaders.snap import SNAP, rotation_from_rpy, snap
from multibody.model.loaders.xml import Document, Element

RIGHT_ANGLE_TOLERANCE = 1e-5
"""Angles within this of a right angle, such as 1.5708, are reported if they are not snapped."""

DEGREES = 4 * math.pi
"""Angles beyond this are perhaps in degrees."""

_ORIGIN = Pose.identity()


class Origins:
    """Reads <origin xyz rpy>; equal texts give one and the same value."""

    def __init__(self, document: Document, snap: float) -> None:
        self._document = document
        self._snap = snap
        self._poses: dict[tuple[str | None, str | None], tuple[Pose, bool, str]] = {(None, None): (_ORIGIN, False, "")}
        self._snapped: list[Element] = []
        self._nearly: list[tuple[Element, str]] = []

    def pose(self, origin: list[Element] | None) -> Pose:
        """The pose of an element's origin; without one, the identity."""
        if origin is None:
            return _ORIGIN
        element = origin[0]
        self._document.attributes(element, "xyz", "rpy")
        key = element.get("xyz"), element.get("rpy")
        known = self._poses.get(key)
        if known is None:
            known = self._poses[key] = self._read(element)
        if known[1]:
            self._snapped.append(element)
        if known[2]:
            self._nearly.append((element, known[2]))
        return known[0]

    def axis(self, element: Element) -> tuple[float, ...]:
        """The axis of a joint, with entries near 0 and ±1 made exact."""
        axis = self._document.vector(element, "xyz", 3)
        length = math.hypot(*axis)
        if not length > 0:
            raise self._document.error(element, f"xyz: expected an axis that is not zero, got {element.get('xyz')!r}")
        if abs(length - 1) > 1e-3:
            self._document.warn(element, "assumed", f"the axis has the length {length:g}: it is made 1")
        exact, changed = snap((x / length for x in axis), self._snap)
        if changed:
            self._snapped.append(element)
        return exact

    def note(self) -> None:
        """Report snapped rotations in one note, and nearly right angles in another."""
        if self._nearly:
            places = [f"line {self._document.line(element)}: {question}" for element, question in self._nearly[:10]]
            more = f"; and {len(self._nearly) - 10} more" if len(self._nearly) > 10 else ""
            self._document.note(
                self._nearly[0][0],
                "angle",
                f"{len(self._nearly)} rotations are nearly, but not within snap={self._snap:g}, multiples of a right "
                f"angle; snap={RIGHT_ANGLE_TOLERANCE:g} would make them exact: {'; '.join(places)}{more}",
            )
        if self._snapped:
            lines = [str(self._document.line(element)) for element in self._snapped]
            more = ", ..." if len(lines) > 20 else ""
            self._document.note(
                self._snapped[0],
                "snapped",
                f"{len(lines)} rotations or axes within {self._snap:g} of a right angle were made exact (snap=0 keeps "
                f"them as they are), on the lines {', '.join(lines[:20])}{more}",
            )

    def _read(self, element: Element) -> tuple[Pose, bool, str]:
        x, y, z = (0.0, 0.0, 0.0) if element.get("xyz") is None else self._document.vector(element, "xyz", 3)
        rpy = (0.0, 0.0, 0.0) if element.get("rpy") is None else self._document.vector(element, "rpy", 3)
        if max(map(abs, rpy)) > DEGREES:
            self._document.warn(
                element, "units", f"rpy: expected radians, got {element.get('rpy')!r}, which look like degrees"
            )
        rotation, changed = rotation_from_rpy(rpy, self._snap)
        return Pose._trusted(rotation, np.array((x, y, z))), changed, self._question(rpy)

    def _question(self, rpy: tuple[float, ...]) -> str:
        """A question about angles that are nearly multiples of a right angle; empty for others."""
        near = max(self._snap, SNAP)
        asked = [
            f"{angle:.9g}, {_in_quarters(round(angle / (math.pi / 2)))}?"
            for angle in rpy
            if near < min(abs(math.cos(angle)), abs(math.sin(angle))) <= RIGHT_ANGLE_TOLERANCE
        ]
        return ", ".join(asked)


def _in_quarters(count: int) -> str:
    """A multiple of a right angle as people write it.

    >>> [_in_quarters(k) for k in (0, 1, -1, 2, -3)]
    ['0', 'π/2', '-π/2', 'π', '-3π/2']
    """
    if count == 0:
        return "0"
    whole, size = count % 2 == 0, abs(count)
    factor = size // 2 if whole else size
    return f"{'-' * (count < 0)}{factor if factor > 1 else ''}π{'' if whole else '/2'}"
