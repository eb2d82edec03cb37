"""A screw: rotation about an axis that advances along it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from multibody.errors import InputError
from multibody.geometry import groups
from multibody.model.joints._screw import Screw


@dataclass(frozen=True, init=False)
class Helical(Screw):
    """Rotation by the coordinate, an angle, with `pitch` metres of advance per radian.  [From §4.6; From Table 1]

    >>> Helical("z", pitch=0.01).screw
    (0.01, 1.0)
    """

    pitch: float

    units = ("rad",)
    rates = ("rad",)

    def __init__(self, axis: str | Sequence[float] = "z", *, pitch: float) -> None:
        super().__init__(axis)
        if not isinstance(pitch, int | float) or not math.isfinite(pitch):
            raise InputError(f"pitch: expected a finite number of m/rad, got {pitch!r}")
        object.__setattr__(self, "pitch", float(pitch))

    @property
    def groups(self) -> tuple[groups.Group, ...]:
        return (groups.Helical(self.pitch) if self.pitch else groups.SO2(),)

    def scaled(self, factor: float) -> "Helical":
        return Helical(self.axis, pitch=factor * self.pitch)

    @property
    def screw(self) -> tuple[float, float]:
        return self.pitch, 1.0
