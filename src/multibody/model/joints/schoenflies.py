"""Pick-and-place motion: all translations, and rotation about one axis of fixed direction."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from multibody.geometry import Pose, Rotation, groups
from multibody.geometry._arrays import choice
from multibody.model.joints._turning_plane import TurningPlane


@dataclass(frozen=True)
class Schoenflies(TurningPlane):
    """q = [x, y, z, θ], θ about the axis; v = the velocity of the group in the child's frame.  [From §4.4]"""

    axis: str = "z"

    nq = 4
    nv = 4
    units = ("m", "m", "m", "rad")
    rates = ("m", "m", "m", "rad")

    def __post_init__(self) -> None:
        choice(self.axis, "axis of a Schoenflies joint", ("x", "y", "z"))

    @property
    def group(self) -> groups.Schoenflies:
        return groups.Schoenflies(self.axis)

    def pose(self, q: NDArray[Any]) -> Pose:
        return Pose._trusted(Rotation.elementary(self.axis, q[..., 3]), q[..., :3] + 0.0)

    def _translation_rate(self, q: NDArray[Any]) -> NDArray[Any]:
        return Rotation.elementary(self.axis, q[..., 3]).matrix

    def _element(self, q: NDArray[Any]) -> NDArray[Any]:
        return self.pose(q).matrix
