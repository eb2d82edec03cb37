"""Add a frame to a robot."""

from numpy.typing import ArrayLike

from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.model.builder import as_pose
from multibody.model.link import Frame
from multibody.model.model import Model
from multibody.model.surgery._shared import link_of_frame


def with_frame(model: Model, name: str, parent: str, pose: Pose | ArrayLike | None = None) -> Model:
    """Return the robot with one more frame.

    Args:
        model: the robot.
        name: of the new frame.
        parent: the link or frame that it is fixed to.
        pose: the pose of the new frame in its parent, a Pose or a position (3,) in m; by default they coincide.
    """
    if not isinstance(name, str) or not name:
        raise InputError(f"with_frame, name: expected a text that is not empty, got {name!r}")
    if name in model.frames and parent not in model.frames:
        raise InputError(f"with_frame: expected the new name first, robot.with_frame({parent!r}, {name!r}, pose)")
    link, link_H_parent = link_of_frame(model, parent)
    if name in model.frames:
        raise InputError(f"with_frame: {model.name!r} has a link or frame {name!r} already")
    frame = Frame(name, link, link_H_parent @ as_pose(pose))
    return model.with_(extra_frames=(*model.extra_frames, frame))
