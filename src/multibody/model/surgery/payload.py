"""Fix a load to a frame of a robot."""

import numpy as np
from numpy.typing import ArrayLike

from multibody.errors import InputError
from multibody.geometry import Pose, SpatialInertia
from multibody.model.builder import as_pose
from multibody.model.diagnostics import Diagnostic
from multibody.model.model import Model
from multibody.model.surgery._shared import link_of_frame
from multibody.model.surgery.change import change


def payload(model: Model, frame: str, inertia: SpatialInertia | float, pose: Pose | ArrayLike | None = None) -> Model:
    """Return the robot with a load fixed to one of its frames.

    Args:
        model: the robot.
        frame: where the load is.
        inertia: of the load, in a frame of its own; a number is the mass of a point at its origin, in kg.
        pose: of that frame in the robot's, a Pose or a position; by default they coincide.
    """
    if not isinstance(frame, str):
        raise InputError(f"payload: expected the frame first, robot.payload(frame, inertia), got {frame!r}")
    link, link_H_frame = link_of_frame(model, frame)
    if isinstance(inertia, int | float | np.number) and not isinstance(inertia, bool):
        if not inertia > 0:
            raise InputError(f"payload on {frame!r}: expected a positive mass in kg, got {inertia!r}")
        inertia = SpatialInertia(mass=inertia, com=np.zeros(3), inertia=np.zeros((3, 3)))
    if not isinstance(inertia, SpatialInertia) or inertia.shape or not np.isfinite(inertia.parameters()).all():
        raise InputError(
            f"payload on {frame!r}: expected one SpatialInertia of finite numbers, or a mass in kg, got {inertia!r}"
        )
    load = link_H_frame @ as_pose(pose) @ inertia
    old = model.link(link).inertia
    new = change(model, inertias={link: load if old is None else old + load})
    if model.tree.frame(frame)[0]:
        return new
    fixed = Diagnostic("warning", "payload", f"the payload on {frame!r} has no effect: that frame does not move")
    return new.with_diagnostics(fixed)
