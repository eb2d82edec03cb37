"""URDF, the Unified Robot Description Format, as the ROS wiki and its schema define it."""

import os

from multibody.errors import RobotFileError
from multibody.model.builder import Builder
from multibody.model.joint import Joint
from multibody.model.link import Link
from multibody.model.loaders.closed_chains import PREFERENCE, FileJoint, closure, constraint_text
from multibody.model.loaders.extensions import ball_constraints, gazebo_joints, is_ball
from multibody.model.loaders.meshes import Meshes
from multibody.model.loaders.tree_diagnostics import check_tree
from multibody.model.loaders.urdf_inertia import read_inertia
from multibody.model.loaders.urdf_joint import read_joint
from multibody.model.loaders.urdf_origin import Origins
from multibody.model.loaders.urdf_shapes import UrdfShapeReader
from multibody.model.loaders.xml import Document, Element, tag

VERSIONS = ("1.0", "1.1", "1.2")

EXTENSIONS = ("transmission", "sensor", "ros2_control", "plugin", "drake", "mujoco", "group_state")
"""Elements of other programs that URDF files carry."""

SEMANTIC = ("group", "group_state", "end_effector", "virtual_joint", "disable_collisions", "passive_joint")
"""Elements of SRDF files, which have the same root element."""


def read(document: Document, *, meshes: Meshes, coupled: bool = True, snap: float = 0.0) -> Builder:
    """The parts of the robot in a URDF file.

    Where files in use leave the format, this is what happens: a revolute or prismatic joint without <limit> has none,
    and a robot without a name is named after its file, with a warning; a link with a negative moment of inertia is an
    error, unless others that are fixed to it outweigh it. Motors of <transmission> are noted and left out. Joints in
    <gazebo> and Drake's ball constraints close loops, as equalities.

    Args:
        document: the elements.
        meshes: finds the files of shapes.
        coupled: whether joints with <mimic> follow others, or move on their own.
        snap: entries of rotations this near to 0 and ±1 are made exact.

    Raises:
        RobotFileError: with file, line and element.
    """
    root = document.root
    _strip_namespace(root)
    document.attributes(root, "name", "version")
    document.places["robot", ""] = root
    version = root.get("version") or "1.0"
    if version not in VERSIONS:
        document.warn(root, "assumed", f"expected the version {', '.join(VERSIONS)}, got {version!r}")
    for element in root.iter("*"):
        if "xacro" in element.tag or any("${" in value or "$(" in value for value in element.attrib.values()):
            message = "expected a URDF file, got one with macros: expand it with xacro first, as in"
            raise document.error(element, f"{message} `xacro robot.urdf.xacro > robot.urdf` (pip install xacro)")
    semantic = next((element for element in root if element.tag in SEMANTIC), None)
    if (semantic is not None or document.file.endswith(".srdf")) and root.find("link") is None:
        message = "expected a URDF file, got an SRDF file, which only describes groups and collisions of a robot"
        raise document.error(root if semantic is None else semantic, f"{message}: load the robot's URDF file")
    balls = {element.tag for element in root if is_ball(element)}
    parts = document.parts(root, many=("link", "joint", "material", "gazebo", *balls), ignored=EXTENSIONS)
    origins = Origins(document, snap)
    shapes = UrdfShapeReader(document, origins, meshes)
    for element in parts.get("material", ()):
        shapes.define(element)
    links = [_link(document, element, origins, shapes) for element in parts.get("link", ())]
    joints: list[Joint] = []
    parents: dict[str, str] = {}
    for element in parts.get("joint", ()):
        new = list(read_joint(document, element, origins, coupled=coupled))
        first = parents.setdefault(new[-1].child, new[0].name)
        if first != new[0].name:
            raise _second_parent(document, FileJoint(element, tuple(new)), first)
        for extra in new[1:]:
            document.places["link", extra.parent or ""] = document.places["joint", extra.name] = element
            links.append(Link(extra.parent or ""))
        joints += new
    origins.note()
    tree = check_tree(document, links, joints)
    builder = Builder(_name(document))
    builder.add(*links, *joints)
    gazebo = parts.get("gazebo", [])
    for element in gazebo:
        if element.find("joint") is None:
            document.note(element, "ignored", "<gazebo> is ignored: it is no part of the model")
    if tree is not None:
        for equality in (
            *ball_constraints(document, root, links),
            *gazebo_joints(document, gazebo, tree, snap=snap),
        ):
            builder.equality(equality)
    for diagnostic in document.diagnostics:
        builder.note(diagnostic)
    return builder


def _second_parent(document: Document, each: FileJoint, first: str) -> RobotFileError:
    """The error of a joint to a link that has a parent, with the constraint to use in its place."""
    instead = f", and add {constraint_text(closure(each))}" if isinstance(each.joint.kind, PREFERENCE) else ""
    return document.error(
        each.element,
        f"link {each.child!r} has two parents: it is the child of the joints {first!r} and {each.joint.name!r}, and "
        f"URDF has one. If it closes a loop, remove the joint {each.joint.name!r}{instead}",
    )


def _link(document: Document, element: Element, origins: Origins, shapes: UrdfShapeReader) -> Link:
    document.attributes(element, "name")
    name = document.name(element, "link")
    parts = document.parts(element, single=("inertial",), many=("visual", "collision"), ignored=("contact", "sensor"))
    inertia = read_inertia(document, parts["inertial"][0], origins) if "inertial" in parts else None
    visuals = tuple([shapes.visual(visual) for visual in parts.get("visual", ())])
    collisions = tuple([shapes.collision(collision) for collision in parts.get("collision", ())])
    return Link(name, inertia, visuals, collisions)


def _name(document: Document) -> str:
    name = (document.root.get("name") or "").strip()
    if name:
        return name
    name = os.path.splitext(os.path.basename(document.file))[0]
    document.warn(document.root, "assumed", f"expected the attribute 'name', got none: the robot is named {name!r}")
    return name


def _strip_namespace(root: Element) -> None:
    """Take the default namespace, if the file has one, from all elements."""
    if not root.tag.startswith("{"):
        return
    space = root.tag[: root.tag.index("}") + 1]
    for element in root.iter(f"{space}*"):
        element.tag = tag(element)
