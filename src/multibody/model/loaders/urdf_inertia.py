"""Inertia in a URDF file, and whether a real body can have it."""

import math
from collections.abc import Sequence

import numpy as np

from multibody.geometry import SpatialInertia
from multibody.model.link import Link
from multibody.model.loaders.urdf_origin import Origins
from multibody.model.loaders.urdf_tree import Outline
from multibody.model.loaders.xml import Document, Element

WITHIN = 1e-9
"""How far, relative to its largest moment, an inertia may be from what is possible."""

ROUNDED = 1e-6
"""A radius of gyration, in m, that the rounding of a file may make."""

GYRATION = 10.0
"""A radius of gyration, in m, beyond which the units are in doubt."""


def read_inertia(document: Document, inertial: Element, origins: Origins) -> SpatialInertia | None:
    """The inertia of <inertial> in the frame of the link; None when it is zero."""
    parts = document.parts(inertial, single=("origin", "mass", "inertia"))
    for name in ("mass", "inertia"):
        if name not in parts:
            raise document.error(inertial, f"expected the element <{name}>, got none")
    mass_element, inertia = parts["mass"][0], parts["inertia"][0]
    document.attributes(mass_element, "value")
    mass = document.number(mass_element, "value")
    if mass < 0:
        raise document.error(mass_element, f"value: expected a mass that is not negative, got {mass:g} kg")
    document.attributes(inertia, "ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    xx, xy, xz, yy, yz, zz = (document.number(inertia, name) for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    moments = np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    if mass == 0 and not moments.any():
        return None
    pose = origins.pose(parts.get("origin"))
    if "rpy" in (parts["origin"][0].attrib if "origin" in parts else ()):
        R = pose.rotation.matrix
        with np.errstate(all="ignore"):
            moments = R @ moments @ R.T
            moments = (moments + moments.T) / 2
        if not np.isfinite(moments).all():
            raise document.error(inertia, "expected moments that can be turned into the frame of the link: overflow")
    return SpatialInertia._trusted(np.array(mass), pose.position, moments)


def check_inertias(document: Document, links: Sequence[Link], outline: Outline) -> None:
    """Tell which inertias no real body has.

    A moment that is negative is an error, unless the link is fixed to others with which it makes a body that has none.
    The rest are warnings: it is the file's word, and dynamics can be computed with it.
    """
    heavy = [(link, link.inertia) for link in links if link.inertia is not None]
    if not heavy:
        return
    moments = np.linalg.eigvalsh(np.stack([inertia.inertia for _, inertia in heavy])).tolist()
    for (link, inertia), (low, middle, high) in zip(heavy, moments, strict=True):
        mass, size = float(inertia.mass), max(abs(low), abs(high))
        if low > 0 and high - low - middle <= WITHIN * size and size <= mass * GYRATION**2:
            continue
        element = document.places["link", link.name].find("inertial")
        assert element is not None
        if mass == 0:
            document.warn(element, "inertia", "expected a mass with the rotational inertia, got 0 kg")
        if _negative(low, size, mass):
            problem = f"expected a rotational inertia without negative principal moments, got {low:.6g} kg m²"
            body = outline.body_inertia(link.name)
            least, _, most = np.linalg.eigvalsh(body.inertia).tolist()
            if _negative(least, abs(most), float(body.mass)):
                raise document.error(element, problem)
            document.warn(element, "inertia", f"{problem}; the body that the link is a part of has none")
        elif low <= 0:
            document.warn(element, "inertia", f"the rotational inertia has the principal moment {max(low, 0):g} kg m²")
        if high - low - middle > WITHIN * size:
            document.warn(
                element,
                "inertia",
                f"the principal moments {low:.6g}, {middle:.6g}, {high:.6g} kg m² violate the triangle inequality",
            )
        if mass and size > mass * GYRATION**2:
            document.warn(
                element,
                "units",
                f"the radius of gyration is {math.sqrt(size / mass):.3g} m: are mass and inertia in kg and kg m²?",
            )


def _negative(least: float, size: float, mass: float) -> bool:
    """Whether a moment is less than zero by more than the rounding of a file."""
    return least < -(WITHIN * size + mass * ROUNDED**2)
