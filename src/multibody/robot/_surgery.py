"""Surgery: methods of Robot that return a new robot."""

from collections.abc import Mapping
from typing import Any, Self

from numpy.typing import ArrayLike

from multibody.errors import InputError
from multibody.geometry import Pose, SpatialInertia
from multibody.model import cutting, rebuilding, scaling, surgery
from multibody.robot._face import Face


class Surgery(Face):
    """Each method leaves the robot as it is and returns another."""

    def lock(self, values: Mapping[str, ArrayLike]) -> Self:
        """With joints fixed at values (rad, m, or (nq,) coordinates): {"elbow": 0.5}."""
        return self._with(cutting.lock(self.model, values))

    def attach(
        self,
        other: Self,
        *,
        frame: str,
        other_frame: str | None = None,
        pose: Pose | ArrayLike | None = None,
        prefix: str = "",
    ) -> Self:
        """With another robot, such as a gripper, fixed to a frame; see `multibody.model.surgery.attach`."""
        if not isinstance(other, Face):
            raise InputError(f"attach: expected a Robot, got {type(other).__name__}")
        joined = surgery.attach(self.model, other.model, frame=frame, other_frame=other_frame, pose=pose, prefix=prefix)
        return self._with(joined)

    def payload(self, frame: str, inertia: SpatialInertia, pose: Pose | ArrayLike | None = None) -> Self:
        """With a load at a frame."""
        return self._with(surgery.payload(self.model, frame, inertia, pose))

    def remove(self, link: str) -> Self:
        """Without a link and all that hangs on it."""
        return self._with(cutting.remove(self.model, link))

    def rename(self, names: Mapping[str, str] | None = None, **options: Any) -> Self:
        """With other names of links, frames and joints: {old: new}; name="..." for the robot itself."""
        return self._with(surgery.rename(self.model, names, **options))

    def scale(self, factor: float, mass: float | None = None) -> Self:
        """With all lengths times a factor, and masses times its cube or `mass`."""
        return self._with(scaling.scale(self.model, factor, mass))

    def change(self, **changes: Any) -> Self:
        """With other parameters: inertias, placements, limits, passive by name; gravity, velocity, home."""
        return self._with(surgery.change(self.model, **changes))

    def with_parameters(
        self,
        inertias: ArrayLike | None = None,
        *,
        placements: ArrayLike | None = None,
        positions: ArrayLike | None = None,
        frame_placements: ArrayLike | None = None,
        gravity: ArrayLike | None = None,
    ) -> Self:
        """With the numbers of one sample of a kernel with parameters; what is not given stays.

        Args:
            inertias: (bodies, 10), as `parameters()` has them.
            placements: (bodies, 7), as `placements()` has them: in parent bodies. `change` takes those in parent links.
            positions: (bodies, 3), as `positions()` has them; or placements, not both.
            frame_placements: (frames, 7), as `frame_placements()` has them.
            gravity: (3,).

        >>> import multibody as mb
        >>> robot = mb.load("planar-arm")
        >>> robot.with_parameters(2 * robot.parameters()).mass == 2 * robot.mass
        True
        """
        places = {"placements": placements, "positions": positions, "frame_placements": frame_placements}
        return self._with(rebuilding.with_parameters(self.model, inertias, **places, gravity=gravity))
