"""A hinge with a range: one angle about an axis."""

from dataclasses import dataclass

from multibody.model.joints._screw import Hinge


@dataclass(frozen=True, init=False)
class Revolute(Hinge):
    """Rotation about a fixed axis by an angle that counts its turns.  [From Table 1; QT §5.1; RD §2.8]

    >>> Revolute("y").axis
    (0.0, 1.0, 0.0)
    """
