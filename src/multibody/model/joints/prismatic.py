"""A slider: one length along an axis."""

from dataclasses import dataclass

from multibody.geometry.groups import R1, Group
from multibody.model.joints._screw import Screw


@dataclass(frozen=True, init=False)
class Prismatic(Screw):
    """Translation along a fixed axis.  [From Table 1; QT §5.1; RD §2.8.1]"""

    units = ("m",)
    rates = ("m",)

    @property
    def groups(self) -> tuple[Group, ...]:
        return (R1(),)

    @property
    def screw(self) -> tuple[float, float]:
        return 1.0, 0.0
