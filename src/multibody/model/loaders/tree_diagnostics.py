"""Diagnostics about the whole tree of a file: odd inertias, merged links, reordered joints, massless branches."""

import math
from collections.abc import Sequence

import numpy as np

from multibody.geometry.inertia import triangle_excess
from multibody.model.build_tree import StructureError, body_inertia, tree_order
from multibody.model.joint import Joint
from multibody.model.link import Link
from multibody.model.loaders.xml import Document

MOMENT_TOLERANCE = 1e-9
"""Tolerated violation of positivity and of the triangle inequality, relative to the largest moment."""

ROUNDING_RADIUS = 1e-6
"""A radius of gyration, in m, that rounding in a file can cause."""

MAX_RADIUS = 10.0
"""A radius of gyration, in m, beyond which the units are in doubt."""


def check_tree(document: Document, links: Sequence[Link], joints: Sequence[Joint]) -> Sequence[Joint] | None:
    """Report odd inertias, merged links, reordered joints and joints that move no mass.

    Returns the joints in the order of the tree; None if they make no tree, which the model then reports.
    """
    try:
        order = tree_order({link.name: link for link in links}, joints)[1]
        _check_inertias(document, links, joints)
    except StructureError:
        return None
    _note_order(document, links, joints, order)
    return order


def _note_order(document: Document, links: Sequence[Link], joints: Sequence[Joint], order: Sequence[Joint]) -> None:
    """Note merged links and reordered joints; warn of joints that move no mass. `order` is that of the tree."""
    has_inertia = {link.name: link.inertia is not None for link in links}
    for joint in order:
        if joint.kind.nv == 0:
            what = "is a part of its body" if has_inertia[joint.child] else "has no mass and is a frame of its body"
            document.note(
                document.places["link", joint.child],
                "merged",
                f"the link is fixed to {joint.parent!r} by the joint {joint.name!r}: it {what}",
            )
    for joint in reversed(order):
        if joint.kind.nv and joint.mimic is None and not has_inertia[joint.child]:
            document.warn(
                document.places["joint", joint.name],
                "inertia",
                f"nothing that the joint moves has inertia, for the link {joint.child!r} has none: forward dynamics "
                "will have no answer",
            )
        has_inertia[joint.parent or ""] |= has_inertia[joint.child]
    ours = [joint.name for joint in order if joint.kind.nv]
    files = [joint.name for joint in joints if joint.kind.nv]
    if ours != files:
        at = next(k for k, (a, b) in enumerate(zip(ours, files, strict=True)) if a != b)
        document.note(
            document.places["joint", files[at]],
            "reordered",
            f"coordinates follow the tree and not the file, in which {files[at]!r} comes before {ours[at]!r}",
        )


def _check_inertias(document: Document, links: Sequence[Link], joints: Sequence[Joint]) -> None:
    """Report inertias that no real body has.

    A negative moment is an error, unless the merged body of the link has none. The others are warnings, because
    dynamics can be computed with them.
    """
    heavy = [(link, link.inertia) for link in links if link.inertia is not None]
    if not heavy:
        return
    moments = np.linalg.eigvalsh(np.stack([inertia.inertia for _, inertia in heavy]))
    excesses = triangle_excess(moments).tolist()
    for (link, inertia), (low, middle, high), excess in zip(heavy, moments.tolist(), excesses, strict=True):
        mass, size = float(inertia.mass), max(abs(low), abs(high))
        if low > 0 and excess <= MOMENT_TOLERANCE * size and size <= mass * MAX_RADIUS**2:
            continue
        element = document.places["link", link.name].find("inertial")
        assert element is not None
        if mass == 0:
            document.warn(element, "inertia", "expected a mass with the rotational inertia, got 0 kg")
        if _negative(low, size, mass):
            problem = f"expected a rotational inertia without negative principal moments, got {low:.6g} kg m²"
            body = body_inertia(links, joints, link.name)
            least, _, most = np.linalg.eigvalsh(body.inertia).tolist()
            if _negative(least, abs(most), float(body.mass)):
                raise document.error(element, problem)
            document.warn(element, "inertia", f"{problem}; the body that the link is a part of has none")
        elif low <= 0:
            document.warn(element, "inertia", f"the rotational inertia has the principal moment {max(low, 0):g} kg m²")
        if excess > MOMENT_TOLERANCE * size:
            document.warn(
                element,
                "inertia",
                f"the principal moments {low:.6g}, {middle:.6g}, {high:.6g} kg m² violate the triangle inequality",
            )
        if mass and size > mass * MAX_RADIUS**2:
            document.warn(
                element,
                "units",
                f"the radius of gyration is {math.sqrt(size / mass):.3g} m: are mass and inertia in kg and kg m²?",
            )


def _negative(least: float, size: float, mass: float) -> bool:
    """Whether a moment is negative beyond the rounding of a file."""
    return least < -(MOMENT_TOLERANCE * size + mass * ROUNDING_RADIUS**2)
