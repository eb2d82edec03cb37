"""A hinge with a range: one angle about an axis."""

from dataclasses import dataclass

from multibody.geometry.groups import SO2, Group
from multibody.model.joints._screw import Screw


@dataclass(frozen=True, init=False)
class Revolute(Screw):
    """Rotation about a fixed axis by an angle that counts its turns.  [From Table 1; QT §5.1; RD §2.8]

    >>> Revolute("y").axis
    (0.0, 1.0, 0.0)
    """

    units = ("rad",)
    rates = ("rad",)

    @property
    def groups(self) -> tuple[Group, ...]:
        return (SO2(),)

    @property
    def screw(self) -> tuple[float, float]:
        return 0.0, 1.0
