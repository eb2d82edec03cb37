"""`load`: from a file, or the name of an embedded robot, to a Robot."""

import os
from typing import IO, Any

from multibody.model import load as model_load
from multibody.robot.robot import Robot


def load(source: str | os.PathLike[str] | bytes | IO[Any], *, dtype: str | None = None, **options: Any) -> Robot:
    """The robot in a file (URDF, MJCF), in a text of XML, or of an embedded name.

    Args:
        source: a path, an open file, XML, or one of `mb.robots.names()`.
        dtype: the precision in which the robot computes, "float64" or "float32"; by default that of `mb.config`.
        **options: floating, velocity, mimic, snap, strict, roots, trust_paths, gravity, format: see
            `multibody.model.load.load`.

    >>> load("planar-arm").nv
    3
    """
    return Robot(model_load.load(source, **options), dtype=dtype)
