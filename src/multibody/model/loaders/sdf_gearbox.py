"""Gearboxes in an SDF file: two joints on one link, coupled by a ratio."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from multibody.model.actuator import Equality
from multibody.model.joints import Continuous, Revolute
from multibody.model.loaders.closed_chains import FileJoint
from multibody.model.loaders.sdf_joint import IGNORED, JointReader, end
from multibody.model.loaders.xml import Document, Element

PARALLEL = 1e-6
"""Tolerated difference of the cosine of two axes from ±1: angles in files are rounded to about 1e-4 rad."""


def gearbox(
    document: Document, element: Element, reader: JointReader, tree: Sequence[FileJoint], canonical: str
) -> Equality:
    """The constraint of a gearbox: θ2 = -ratio θ1.

    θ1 is the angle from the reference body to the parent about <axis>, θ2 that to the child about <axis2>, as the
    format defines. Both are angles of joints of the tree, with their signs.

    Raises:
        RobotFileError: when the reference body has no hinge to one of them about that axis.
    """
    document.attributes(element, "name", "type")
    parts = document.parts(
        element,
        single=("parent", "child", "pose", "axis", "axis2", "gearbox_ratio", "gearbox_reference_body"),
        ignored=IGNORED,
    )
    ratio = document.numbers(parts["gearbox_ratio"][0], 1)[0] if "gearbox_ratio" in parts else 1.0
    place = document.child(element, "gearbox_reference_body")
    reference = reader.places.link(document.content(place), place, canonical)
    hinges = []
    for role, tag in (("parent", "axis"), ("child", "axis2")):
        link = reader.places.link(end(document, element, role), parts[role][0], canonical)
        axis = reader.axis_in_model(element, tag, parts)
        hinges.append(_hinge(document, element, reader, tree, (reference, link), axis))
    (first, sign_1), (second, sign_2) = hinges
    name = document.text(element, "name")
    document.note(
        element,
        "closure",
        f"the gearbox is the constraint mb.constraints.JointCoupling of {second!r} and {first!r} in robot.closures",
    )
    return Equality("joint", second, first, (0.0, -ratio * sign_1 * sign_2, 0.0, 0.0, 0.0), name)


def _hinge(
    document: Document,
    element: Element,
    reader: JointReader,
    tree: Sequence[FileJoint],
    links: tuple[str, str],
    axis: NDArray[np.float64],
) -> tuple[str, float]:
    """The joint that turns the second link relative to the first one, and the sign of its angle about an axis."""
    for each in tree:
        kind = each.joint.kind
        if {each.parent, each.child} == set(links) and isinstance(kind, Revolute | Continuous):
            model_R_joint = reader.places.in_model(each.joint.name, element).rotation
            cosine = float(axis @ (model_R_joint @ np.array(kind.axis)))
            if abs(cosine) > 1 - PARALLEL:
                return each.joint.name, float(np.sign(cosine)) * (1.0 if each.parent == links[0] else -1.0)
    raise document.error(
        element,
        f"expected a revolute joint between the reference body {links[0]!r} and {links[1]!r}, about the axis of the "
        "gearbox: remove the gearbox, and add mb.constraints.JointCoupling(name, joint, other, ratio)",
    )
