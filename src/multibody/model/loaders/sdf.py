"""SDF, the Simulation Description Format of Gazebo, as sdformat.org defines it: one model of one file."""

from collections.abc import Sequence

import numpy as np

from multibody.geometry import Pose, SpatialInertia
from multibody.model.builder import BASE, Builder
from multibody.model.joint import Joint
from multibody.model.joints import Fixed, Floating
from multibody.model.link import Link
from multibody.model.loaders.closed_chains import FileJoint, closure, cut_loops
from multibody.model.loaders.extensions import ball_constraints, is_ball
from multibody.model.loaders.meshes import Meshes
from multibody.model.loaders.sdf_frames import MODEL, WORLD, StatedPoses
from multibody.model.loaders.sdf_gearbox import gearbox
from multibody.model.loaders.sdf_joint import JointReader, end
from multibody.model.loaders.sdf_shapes import SdfShapeReader
from multibody.model.loaders.tree_diagnostics import check_tree
from multibody.model.loaders.urdf_inertia import MOMENTS, inertia_at
from multibody.model.loaders.xml import Document, Element

OLDEST, NEWEST = (1, 4), (1, 12)
OF_LINKS = ("gravity", "enable_wind", "self_collide", "kinematic", "must_be_base_link", "velocity_decay", "sensor")
"""Elements of a link, and below of a model, that say nothing about its motion."""
OF_LINKS += ("projector", "audio_source", "audio_sink", "battery", "light", "particle_emitter", "plugin", "frame")
OF_MODELS = ("plugin", "self_collide", "allow_auto_disable", "enable_wind", "gripper")


def read(
    document: Document, *, meshes: Meshes, floating: bool | None, coupled: bool = True, snap: float = 0.0
) -> Builder:
    """The parts of the robot in an SDF file.

    As the format has it, a model is free to move unless a joint holds it to the world, or it is <static>; a link
    without <inertial> has 1 kg and moments of 1 kg m², which is a warning. Joints that close loops, gearboxes and
    Drake's ball constraints are equalities. Nested models, <include>, worlds, and the joint revolute2 are refused.

    Args:
        document: the elements.
        meshes: finds the files of shapes.
        floating: False holds a model that would be free where its pose puts it; True is an error where it is held.
        coupled: whether joints with <mimic> follow others, or move on their own.
        snap: entries of rotations this near to 0 and ±1 are made exact.

    Raises:
        RobotFileError: with file, line and element.
    """
    version = _version(document)
    model = _model(document)
    balls = {element.tag for element in model if is_ball(element)}
    many = ("link", "joint", "frame", *balls)
    parts = document.parts(model, single=("pose", "static"), many=many, ignored=OF_MODELS)
    if "link" not in parts:
        raise document.error(model, "expected a model with links, got none")
    places = _places(document, parts, snap)
    canonical = model.get("canonical_link") or document.text(parts["link"][0], "name")
    if ("link", canonical) not in document.places:
        raise document.error(model, f"canonical_link: there is no link named {canonical!r}")
    world_H_model = places.pose(parts["pose"][0]) if "pose" in parts else Pose.identity()
    if model.get("placement_frame"):
        world_H_model = world_H_model @ places.in_model(model.get("placement_frame") or "", model).inverse()
    shapes = SdfShapeReader(document, places, meshes)
    links = [_link(document, element, places, shapes) for element in parts["link"]]
    reader = JointReader(document, places, version, snap=snap, coupled=coupled)
    elements = parts.get("joint", ())
    gearboxes = [element for element in elements if element.get("type") == "gearbox"]
    read = [
        FileJoint(element, tuple(reader.read(element, canonical, world_H_model)))
        for element in elements
        if element not in gearboxes
    ]
    tree, loops = cut_loops(document, links, read, canonical)
    joints: list[Joint] = []
    for each in tree:
        if len(each.joints) > 1:
            document.places["link", each.joint.child] = document.places["joint", each.joints[1].name] = each.element
            links.append(Link(each.joint.child))
        joints += each.joints
    equalities = [closure(each) for each in loops]
    equalities += ball_constraints(document, model, links)
    equalities += [gearbox(document, element, reader, tree, canonical) for element in gearboxes]
    order = check_tree(document, links, [joint for joint in joints if joint.parent is not None])
    builder = Builder(document.text(model, "name"))
    builder.add(*links)
    for element in parts.get("frame", ()):
        name = document.text(element, "name")
        link = places.link(name, element, canonical)
        builder.frame(name, link, places.in_model(link, element).inverse() @ places.in_model(name, element))
    root = _root(links, joints)
    if root is not None:
        world_H_root = world_H_model @ places.in_model(root, model)
        static = "static" in parts and document.content(parts["static"][0]) in ("true", "1")
        if floating or (floating is None and not static):
            document.note(
                model, "assumed", "nothing holds the model to the world: its base is free (or floating=False)"
            )
            builder.add(Joint(BASE, Floating(), None, root))
            if order is not None:
                base = [*world_H_root.position, *world_H_root.rotation.quaternion]
                rest = [joint.kind.neutral() for joint in order if joint.mimic is None]
                builder.home = tuple(float(x) for x in np.concatenate([base, *rest]))
        else:
            builder.add(Joint(f"{WORLD}_to_{root}", Fixed(), None, root, world_H_root))
    builder.add(*joints)
    for equality in equalities:
        builder.equality(equality)
    for diagnostic in document.diagnostics:
        builder.note(diagnostic)
    return builder


def _places(document: Document, parts: dict[str, list[Element]], snap: float) -> StatedPoses:
    """The poses of all links, joints and frames, as stated."""
    places = StatedPoses(document, snap)
    for element in parts["link"]:
        places.add(document.name(element, "link"), element, MODEL)
    for element in parts.get("joint", ()):
        places.add(document.name(element, "joint"), element, end(document, element, "child"))
    for element in parts.get("frame", ()):
        document.attributes(element, "name", "attached_to")
        attached = element.get("attached_to") or MODEL
        places.add(document.text(element, "name"), element, attached, attached)
    places.check()
    return places


def _root(links: Sequence[Link], joints: Sequence[Joint]) -> str | None:
    """The link from which all others hang, where no joint holds it to the world."""
    if any(joint.parent is None for joint in joints):
        return None
    children = {joint.child for joint in joints}
    roots = [link.name for link in links if link.name not in children]
    return roots[0] if len(roots) == 1 else None  # with more, the model tells what is wrong


def _version(document: Document) -> tuple[int, ...]:
    root = document.root
    document.attributes(root, "version")
    text = document.text(root, "version")
    numbers = text.split(".")
    if len(numbers) != 2 or not all(number.isdigit() for number in numbers):
        raise document.error(root, f"version: expected one such as 1.9, got {text!r}")
    version = tuple(map(int, numbers))
    if not OLDEST <= version <= NEWEST:
        document.warn(root, "assumed", f"expected a version from 1.4 to 1.12, got {text}")
    return version


def _model(document: Document) -> Element:
    """The one model of the file."""
    for element in document.root:
        if element.tag in (WORLD, "include"):
            raise document.error(element, f"<{element.tag}> is not read: expected one <model> in <sdf>")
    models = [element for element in document.root if element.tag == "model"]
    if len(models) != 1:
        at = models[1] if models else document.root
        raise document.error(at, f"expected one <model> in <sdf>, got {len(models)}")
    (model,) = models
    document.attributes(model, "name", "canonical_link", "placement_frame")
    for element in model:
        if element.tag in ("model", "include"):
            raise document.error(element, f"<{element.tag}> in a model: nested models are not read yet")
    return model


def _link(document: Document, element: Element, places: StatedPoses, shapes: SdfShapeReader) -> Link:
    document.attributes(element, "name")
    name = document.text(element, "name")
    parts = document.parts(element, single=("pose", "inertial"), many=("visual", "collision"), ignored=OF_LINKS)
    if "inertial" in parts:
        inertia = _inertia(document, parts["inertial"][0], places)
    else:
        document.warn(element, "assumed", "without <inertial> the link has 1 kg and 1 kg m², the format says")
        inertia = SpatialInertia(mass=1.0, com=np.zeros(3), inertia=np.eye(3))
    seen, touched = (
        tuple(shape for each in parts.get(tag, ()) if (shape := shapes.read(each, name)) is not None)
        for tag in ("visual", "collision")
    )
    return Link(name, inertia, seen, touched)


def _inertia(document: Document, element: Element, places: StatedPoses) -> SpatialInertia | None:
    """The inertia of <inertial> in the frame of the link; None when it is zero."""
    if element.get("auto") in ("true", "1"):
        raise document.error(element, "auto: inertias from shapes are not computed; expected <mass> and <inertia>")
    parts = document.parts(element, single=("mass", "pose", "inertia"), ignored=("density", "fluid_added_mass"))
    mass = document.numbers(parts["mass"][0], 1)[0] if "mass" in parts else 1.0
    if mass < 0:
        raise document.error(parts["mass"][0], f"expected a mass that is not negative, got {mass:g} kg")
    values: dict[str, float] = dict(zip(MOMENTS, (1.0, 0.0, 0.0, 1.0, 0.0, 1.0), strict=True))
    if "inertia" in parts:
        for name, found in document.parts(parts["inertia"][0], single=MOMENTS).items():
            values[name] = document.numbers(found[0], 1)[0]
    if mass == 0 and not any(values.values()):
        return None
    pose = places.pose(parts["pose"][0]) if "pose" in parts else Pose.identity()
    return inertia_at(document, element, mass, list(values.values()), pose)
