"""`load`: from a file, or the name of an embedded robot, to a Robot."""

import os
import warnings
from typing import IO, Any

from multibody._signatures import readable
from multibody.errors import RobotFileWarning
from multibody.model import load as model_load
from multibody.robot.robot import Robot

MAX_LISTED = 3
"""Warnings of a file that one Python warning lists."""
LISTED_FIRST = ("fixed", "units")
"""Codes of diagnostics that are listed first: they make all results wrong."""


@readable
def load(source: str | os.PathLike[str] | bytes | IO[Any], *, dtype: str | None = None, **options: Any) -> Robot:
    """Load a robot from a file (URDF, MJCF, SDF), from XML text, or by the name of an embedded robot.

    Args:
        source: a path, an open file, XML, or one of `mb.robots.names()`.
        dtype: the precision in which the robot computes, "float64" or "float32"; by default that of `mb.config`.
        **options: floating, velocity, mimic, snap, strict, roots, trust_paths, gravity, format: see
            `multibody.model.load.load`. Angles are in radians in URDF files, and in MJCF files what their <compiler>
            says; `gravity` is (3,) in m/s² along the world's axes, downward with a negative z.

    Warns:
        RobotFileWarning: once per call, if the file may have mistakes, or a robot that seems to walk or fly is fixed to
            the world. `robot.diagnostics` has all diagnostics; `strict=True` raises an error instead.

    >>> load("planar-arm").nv
    3
    """
    robot = Robot(model_load.load(source, **options), dtype=dtype)
    reported = [diagnostic for diagnostic in robot.diagnostics if diagnostic.level == "warning"]
    if reported:
        reported.sort(key=lambda diagnostic: diagnostic.code not in LISTED_FIRST)
        first = "".join(f"\n  {str(diagnostic).removeprefix('warning: ')}" for diagnostic in reported[:MAX_LISTED])
        more = f"\n  and {len(reported) - MAX_LISTED} more" if len(reported) > MAX_LISTED else ""
        count = f"{len(reported)} warning{'s' * (len(reported) > 1)}"
        warnings.warn(
            f"{robot.name}: {count} about the file; robot.diagnostics has all of them:{first}{more}",
            RobotFileWarning,
            stacklevel=2,
        )
    return robot
