"""Where the robots of the package example-robot-data are, and which of their files are not robots one can load."""

from pathlib import Path

import numpy as np
import pinocchio


def directory() -> Path:
    """The directory `robots` of the installed package."""
    for module in pinocchio.__file__, np.__file__:
        for parent in Path(module).parents:
            for place in ("cmeel.prefix/share", "share"):
                found = parent / place / "example-robot-data" / "robots"
                if found.is_dir():
                    return found
    raise FileNotFoundError("example-robot-data is not installed: pip install example-robot-data")


def urdf(path: str) -> Path:
    """The URDF file of a path below `directory()`."""
    return directory() / path


def urdfs() -> list[str]:
    """The paths of all URDF files, below `directory()`."""
    root = directory()
    return sorted(str(path.relative_to(root)) for path in root.rglob("*.urdf"))


REFUSED = {
    "ur_description/urdf/ur3.urdf": "at least one link",
    "romeo_description/urdf/romeo_laas_small.urdf": "negative principal moments",
}
"""Files that do not load, and why: one has no link at all (Pinocchio refuses it too), the other has three moving bodies
with an inertia that no body has."""
