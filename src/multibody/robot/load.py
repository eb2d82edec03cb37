"""`load`: from a file, or the name of an embedded robot, to a Robot."""

import os
import warnings
from typing import IO, Any

from multibody.errors import RobotFileWarning
from multibody.model import load as model_load
from multibody.robot.robot import Robot

NAMED = 3
"""How many warnings of a file one warning in Python names."""
GRAVE = ("fixed", "units")
"""Codes of diagnostics that it names first: with these, all numbers are wrong."""


def load(source: str | os.PathLike[str] | bytes | IO[Any], *, dtype: str | None = None, **options: Any) -> Robot:
    """The robot in a file (URDF, MJCF, SDF), in a text of XML, or of an embedded name.

    Args:
        source: a path, an open file, XML, or one of `mb.robots.names()`.
        dtype: the precision in which the robot computes, "float64" or "float32"; by default that of `mb.config`.
        **options: floating, velocity, mimic, snap, strict, roots, trust_paths, gravity, format: see
            `multibody.model.load.load`. Angles are in radians in URDF files, and in MJCF files what their <compiler>
            says; `gravity` is (3,) in m/s² along the world's axes, downward with a negative z.

    Warns:
        RobotFileWarning: once for each call, where the file may have mistakes, or a robot that seems to walk or fly is
            fixed to the world. `robot.diagnostics` has all that was noticed, `strict=True` makes an error of it.

    >>> load("planar-arm").nv
    3
    """
    robot = Robot(model_load.load(source, **options), dtype=dtype)
    told = [diagnostic for diagnostic in robot.diagnostics if diagnostic.level == "warning"]
    if told:
        told.sort(key=lambda diagnostic: diagnostic.code not in GRAVE)
        first = "".join(f"\n  {str(diagnostic).removeprefix('warning: ')}" for diagnostic in told[:NAMED])
        more = f"\n  and {len(told) - NAMED} more" if len(told) > NAMED else ""
        count = f"{len(told)} warning{'s' * (len(told) > 1)}"
        warnings.warn(
            f"{robot.name}: {count} about the file; robot.diagnostics has all that was noticed:{first}{more}",
            RobotFileWarning,
            stacklevel=2,
        )
    return robot
