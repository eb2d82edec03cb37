"""`load`: from a file, or the name of an embedded robot, to a Robot."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Sequence
from typing import IO, Any

from multibody._signatures import options_of
from multibody.errors import RobotFileWarning
from multibody.model import load as model_load
from multibody.model.diagnostics import Diagnostic
from multibody.robot.robot import Robot

MAX_LISTED = 6
"""Kinds of warnings of a file that one Python warning lists, each by its first warning."""
LISTED_FIRST = ("fixed", "units")
"""Codes of diagnostics that are listed first: they make all results wrong."""


@options_of(model_load.load)
def load(source: str | os.PathLike[str] | bytes | IO[Any], *, dtype: str | None = None, **options: Any) -> Robot:
    """Load a robot from a file (URDF, MJCF, SDF), from XML text, or by the name
    of an embedded robot.

    Args:
        source: a path, an open file, XML, or one of `mb.robots.names()`.
        dtype: the precision in which the robot computes, "float64" or "float32"; by default
            that of `mb.config`.
        **options: those of `model.load.load`.

    Angles are in radians in URDF files, and in MJCF files what their <compiler> says.

    Warns:
        RobotFileWarning: once per call, if the file may have mistakes, or a robot that seems to
            walk or fly is fixed to the world. `robot.diagnostics` has all diagnostics;
            `strict=True` raises an error instead.

    >>> load("planar-arm").nv
    3
    """
    robot = Robot(model_load.load(source, **options), dtype=dtype)
    reported = [diagnostic for diagnostic in robot.diagnostics if diagnostic.level == "warning"]
    if reported:
        count = f"{len(reported)} warning{'s' * (len(reported) > 1)}"
        lines = "".join(f"\n  {line}" for line in _one_line_per_kind(reported))
        warnings.warn(
            f"{robot.name}: {count} about the file; robot.diagnostics has all of them:{lines}",
            RobotFileWarning,
            stacklevel=2,
        )
    return robot


def _one_line_per_kind(reported: Sequence[Diagnostic]) -> list[str]:
    """The first warning of each kind and the number of the others; a kind is a message without names and numbers."""
    kinds: dict[tuple[str, str], list[Diagnostic]] = {}
    for each in sorted(reported, key=lambda each: each.code not in LISTED_FIRST):
        kinds.setdefault((each.code, re.sub(r"'[^']*'|\b\w+(?==)|[\d.e+-]+", "", each.message)), []).append(each)
    lines = [
        str(first).removeprefix("warning: ") + (f", and {len(others)} more like it" if others else "")
        for first, *others in kinds.values()
    ]
    hidden = len(lines) - MAX_LISTED
    return [*lines[:MAX_LISTED], *([f"and {hidden} more kinds of warnings"] if hidden > 0 else [])]
