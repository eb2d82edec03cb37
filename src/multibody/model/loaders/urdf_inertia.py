"""Inertias in a URDF file."""

import numpy as np

from multibody.geometry import SpatialInertia
from multibody.model.loaders.urdf_origin import Origins
from multibody.model.loaders.xml import Document, Element


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
