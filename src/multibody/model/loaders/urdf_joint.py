"""Joints in a URDF file."""

import math
from collections.abc import Iterator

import numpy as np

from multibody.geometry import Pose, Rotation, so3
from multibody.model.joint import Joint, Limits, Mimic, Passive
from multibody.model.joints import Continuous, Fixed, Floating, Kind, Planar, Prismatic, Revolute
from multibody.model.loaders.urdf_origin import Origins
from multibody.model.loaders.xml import Document, Element

TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")

DEGREE_RANGE = (30.0, 1000.0)
"""Limits in this range are perhaps in degrees; larger angles mean "no limit"."""


def read_joint(document: Document, element: Element, origins: Origins, *, coupled: bool) -> Iterator[Joint]:
    """The joint of <joint>, and for a planar joint whose normal is not z the fixed joint that turns its child back."""
    document.attributes(element, "name", "type")
    name = document.name(element, "joint")
    type_ = document.text(element, "type")
    if type_ not in TYPES:
        raise document.error(element, f"type: expected one of {', '.join(TYPES)}, got {type_!r}")
    parts = document.parts(
        element,
        single=("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"),
        ignored=("safety_controller", "calibration"),
    )
    parent, child = (_link(document, element, role) for role in ("parent", "child"))
    if "origin" not in parts:
        document.note(element, "assumed", "without <origin> the joint is where the parent's frame is")
    placement = origins.pose(parts.get("origin"))
    kind, turn = _kind(document, element, type_, parts, origins)
    limits = _limits(document, element, kind, parts)
    passive = _passive(document, kind, parts)
    mimic = _mimic(document, kind, parts, coupled=coupled)
    if turn is None:
        yield Joint(name, kind, parent, child, placement, limits, passive, mimic)
        return
    plane = f"{name}_plane"
    while ("link", plane) in document.places:
        plane += "_"
    yield Joint(name, kind, parent, plane, placement @ turn, limits, passive, mimic)
    yield Joint(f"{plane}_to_{child}", Fixed(), plane, child, turn.inverse())


def _link(document: Document, joint: Element, role: str) -> str:
    element = document.child(joint, role)
    document.attributes(element, "link")
    return document.text(element, "link")


def _kind(
    document: Document, joint: Element, type_: str, parts: dict[str, list[Element]], origins: Origins
) -> tuple[Kind, Pose | None]:
    """The kind of motion, and the rotation to a frame in which a plane's normal is z, where it is another axis."""
    if type_ in ("fixed", "floating"):
        if "axis" in parts:
            document.note(parts["axis"][0], "ignored", f"a {type_} joint has no axis")
        return (Fixed() if type_ == "fixed" else Floating()), None
    axis: tuple[float, ...] = (1.0, 0.0, 0.0)
    if "axis" in parts:
        document.attributes(parts["axis"][0], "xyz")
        axis = origins.axis(parts["axis"][0])
    else:
        document.warn(joint, "assumed", "without <axis> the axis is x, the format says")
    if type_ == "planar":
        return Planar(), _turn_to(document, joint, axis)
    return {"revolute": Revolute, "continuous": Continuous, "prismatic": Prismatic}[type_](axis), None


def _turn_to(document: Document, joint: Element, normal: tuple[float, ...]) -> Pose | None:
    """The shortest rotation that takes z to a normal."""
    if normal == (0.0, 0.0, 1.0):
        return None
    document.note(
        joint,
        "assumed",
        f"the plane has the normal {' '.join(f'{x:g}' for x in normal)}: x and y of its coordinates are along the axes "
        "of a frame whose z is that normal, turned there the shortest way (other readers take the plane x-y)",
    )
    x, y, z = normal
    sine = math.hypot(x, y)
    if sine == 0:
        matrix = np.diag([1.0, -1.0, -1.0])
    else:
        angle = np.array(math.atan2(sine, z))
        matrix = so3.from_angle_axis(angle, np.array([-y / sine, x / sine, 0.0]))
        matrix = np.where(np.abs(matrix) < 1e-15, 0.0, matrix)
    return Pose._trusted(Rotation._trusted(matrix), np.zeros(3))


def _limits(document: Document, joint: Element, kind: Kind, parts: dict[str, list[Element]]) -> Limits:
    single = isinstance(kind, Revolute | Prismatic)
    if "limit" not in parts:
        if single:
            document.warn(joint, "assumed", f"a {kind.name} joint needs a <limit>: without one it has no limits")
        return Limits()
    element = parts["limit"][0]
    if kind.nv != 1:
        document.note(element, "ignored", f"a {kind.name} joint has no <limit>")
        return Limits()
    document.attributes(element, "lower", "upper", "velocity", "effort")
    bounds = {"velocity": math.inf, "effort": math.inf}
    for name in bounds:
        if element.get(name) is None:
            document.warn(element, "assumed", f"without the attribute {name!r} there is no limit of it")
            continue
        bounds[name] = document.number(element, name, infinite=True)
        if bounds[name] < 0:
            raise document.error(element, f"{name}: expected a number that is not negative, got {bounds[name]:g}")
    if not single:
        for name in ("lower", "upper"):
            if element.get(name) is not None:
                document.note(element, "ignored", f"a continuous joint has no limit {name!r}")
        return Limits(**bounds)
    for name in ("lower", "upper"):
        if element.get(name) is None:
            document.warn(element, "assumed", f"without the attribute {name!r} it is 0, the format says")
    lower, upper = (document.number(element, name, 0.0, infinite=True) for name in ("lower", "upper"))
    check_limits(document, element, kind, lower, upper)
    return Limits(lower, upper, **bounds)


def check_limits(document: Document, element: Element, kind: Kind, lower: float, upper: float) -> None:
    """Raise an error for reversed limits; warn of angles that look like degrees."""
    if lower > upper:
        raise document.error(element, f"expected lower <= upper, got {lower:g} and {upper:g}")
    low, high = DEGREE_RANGE
    if kind.units[0] == "rad" and any(low < abs(x) < high for x in (lower, upper)):
        document.warn(
            element, "units", f"expected limits in radians, got {lower:g} and {upper:g}, which look like degrees"
        )


def _passive(document: Document, kind: Kind, parts: dict[str, list[Element]]) -> Passive:
    if "dynamics" not in parts:
        return Passive()
    element = parts["dynamics"][0]
    if kind.nv == 0:
        document.note(element, "ignored", "a fixed joint has no <dynamics>")
        return Passive()
    document.attributes(element, "damping", "friction")
    damping, friction = (document.number(element, name, 0.0) for name in ("damping", "friction"))
    for name, value in (("damping", damping), ("friction", friction)):
        if value < 0:
            raise document.error(element, f"{name}: expected a number that is not negative, got {value:g}")
    return Passive(damping, friction)


def _mimic(document: Document, kind: Kind, parts: dict[str, list[Element]], *, coupled: bool) -> Mimic | None:
    if "mimic" not in parts:
        return None
    element = parts["mimic"][0]
    document.attributes(element, "joint", "multiplier", "offset")
    leader = document.text(element, "joint")
    ratio, offset = document.number(element, "multiplier", 1.0), document.number(element, "offset", 0.0)
    if kind.nv == 0:
        document.warn(element, "ignored", f"a fixed joint cannot mimic {leader!r}")
        return None
    if not coupled:
        document.note(element, "coupled", f"the joint mimics {leader!r}, but moves on its own: mimic='independent'")
        return None
    document.note(
        element, "coupled", f"the joint has no coordinate of its own: it is {ratio:g} times {leader!r} plus {offset:g}"
    )
    return Mimic(leader, ratio, offset)
