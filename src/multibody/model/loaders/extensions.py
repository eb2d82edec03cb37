"""Closed chains in extensions of the formats: Gazebo's joints in URDF files, and Drake's ball constraints."""

from collections.abc import Sequence

from multibody.geometry import Pose
from multibody.model.actuator import Equality
from multibody.model.joint import Joint
from multibody.model.link import Link
from multibody.model.loaders.closed_chains import FileJoint, closure, note_closure
from multibody.model.loaders.sdf_frames import StatedPoses
from multibody.model.loaders.sdf_joint import JointReader, end
from multibody.model.loaders.xml import Document, Element, tag

BALL = "ball_constraint"
SDF_VERSION = (1, 12)
"""The version that joints in <gazebo> are read as: axes are along the joint's frame."""


def is_ball(element: Element) -> bool:
    """Whether an element is Drake's <drake:ball_constraint>."""
    return tag(element) == BALL and "drake" in element.tag


def ball_constraints(document: Document, parent: Element, links: Sequence[Link]) -> list[Equality]:
    """The constraints of <drake:ball_constraint>: two points of two links stay together."""
    names = {link.name for link in links}
    equalities = []
    for element in filter(is_ball, parent):
        parts = {tag(part).removeprefix(f"{BALL}_"): part for part in element}
        for needed in ("body_A", "body_B", "p_AP", "p_BQ"):
            if needed not in parts:
                raise document.error(element, f"expected the element <drake:{BALL}_{needed}>, got none")
        bodies = []
        for role in ("body_A", "body_B"):
            part = parts[role]
            bodies.append(document.content(part) if part.get("name") is None else document.text(part, "name"))
            if bodies[-1] not in names:
                raise document.error(part, f"there is no link named {bodies[-1]!r}")
        points = [
            document.numbers(part, 3) if part.get("value") is None else document.vector(part, "value", 3)
            for part in (parts["p_AP"], parts["p_BQ"])
        ]
        name = f"{BALL}_{bodies[0]}_{bodies[1]}"
        document.note(element, "closure", "the constraint is mb.constraints.PointClosure in robot.closures")
        equalities.append(Equality("connect", bodies[0], bodies[1], (*points[0], *points[1]), name))
    return equalities


def gazebo_joints(
    document: Document, gazebo: Sequence[Element], tree: Sequence[Joint], *, snap: float
) -> list[Equality]:
    """The constraints of <joint> in <gazebo>, which close loops of a tree.

    Args:
        document: the elements of the file.
        gazebo: its extensions.
        tree: the joints of the file, parents first.
        snap: as in `urdf.read`.
    """
    elements = [joint for extension in gazebo for joint in extension if joint.tag == "joint"]
    if not elements:
        return []
    places = StatedPoses(document, snap)
    root = tree[0].parent or "" if tree else ""
    root_H_link = {root: Pose.identity()} if root else {}
    for joint in tree:  # all at zero, where the format states poses
        root_H_link[joint.child] = root_H_link[joint.parent or root] @ joint.placement
    for name, pose in root_H_link.items():
        places.put(name, document.places["link", name], pose)
    reader = JointReader(document, places, SDF_VERSION, snap=snap, coupled=True)
    equalities = []
    for element in elements:
        places.add(document.name(element, "joint"), element, end(document, element, "child"))
        each = FileJoint(element, tuple(reader.read(element, root, Pose.identity())))
        note_closure(document, each)
        equalities.append(closure(each))
    return equalities
