"""One body that moves in each of the groups.  [From Table 1; From §4]"""

from collections.abc import Callable, Sequence
from functools import partial

from multibody.model.builder import BASE, Builder
from multibody.model.joints import (
    Continuous,
    Floating,
    Helical,
    Kind,
    Planar,
    Prismatic,
    Schoenflies,
    Spherical,
    Translational,
)
from multibody.model.robots._construction import BLUE, positive
from multibody.model.shapes import Box

SOURCE = "From, Explicit Formulation of Singularity-Free Dynamic Equations, part one, section 4; a box chosen here."

Size = Sequence[float]
SIZE = (0.3, 0.2, 0.1)


def _body(
    name: str,
    motions: Sequence[tuple[str, Kind]],
    mass: float = 6.0,
    size: Size = SIZE,
    com: Sequence[float] = (0.0, 0.0, 0.0),
) -> Builder:
    """A box whose centre of mass is at com, moved by joints one after the other; links between them have no mass."""
    (mass,) = positive("mass", mass)
    b = Builder(name)
    b.body("body", shape=Box(positive("size", size, 3)), pose=com, mass=mass, color=BLUE)
    parent = None
    for joint, kind in motions[:-1]:
        b.body(f"{joint}-carriage")
        b.joint(joint, kind, parent=parent, child=f"{joint}-carriage")
        parent = f"{joint}-carriage"
    joint, kind = motions[-1]
    return b.joint(joint, kind, parent=parent, child="body").unactuated()


def _helical(
    mass: float = 6.0, size: Size = SIZE, com: Sequence[float] = (0.0, 0.0, 0.0), pitch: float = 0.05
) -> Builder:
    """A body on a screw along z with a pitch in m/rad."""
    return _body("free-body-helical", [("screw", Helical("z", pitch=pitch))], mass, size, com)


def _schoenflies(
    mass: float = 6.0, size: Size = SIZE, com: Sequence[float] = (0.0, 0.0, 0.0), axis: str = "z"
) -> Builder:
    """All translations, and rotation about one axis: x, y or z."""
    return _body("free-body-schoenflies", [("motion", Schoenflies(axis))], mass, size, com)


_KINDS: dict[str, tuple[str, tuple[tuple[str, Kind], ...]]] = {
    "r1": ("R^1, translation along z", (("slide", Prismatic("z")),)),
    "r2": ("R^2, translation along x and y", (("slide-x", Prismatic("x")), ("slide-y", Prismatic("y")))),
    "r3": ("R^3, all translations", (("motion", Translational()),)),
    "so2": ("SO(2), rotation about z", (("turn", Continuous("z")),)),
    "so3": ("SO(3), all rotations", (("motion", Spherical()),)),
    "se2": ("SE(2), motion in the x-y plane", (("motion", Planar()),)),
    "se3": ("SE(3), all motions; velocity='left' gives From's velocities", ((BASE, Floating()),)),
}
_TEXTS = {
    **{f"free-body-{group}": text for group, (text, _) in _KINDS.items()},
    "free-body-helical": "H, a screw motion along z",
    "free-body-schoenflies": "X, all translations and rotation about one axis",
}

MAKERS: dict[str, Callable[..., Builder]] = {
    **{f"free-body-{group}": partial(_body, f"free-body-{group}", joints) for group, (_, joints) in _KINDS.items()},
    "free-body-helical": _helical,
    "free-body-schoenflies": _schoenflies,
}
"""The functions that build them, by name."""


def summary(name: str) -> str:
    """One line about one of them."""
    return f"One rigid body on {_TEXTS[name]}."
