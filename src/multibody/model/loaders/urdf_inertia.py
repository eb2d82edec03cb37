"""Inertias in a URDF file."""

from collections.abc import Sequence

import numpy as np

from multibody.geometry import Pose, SpatialInertia
from multibody.model.loaders.urdf_origin import Origins
from multibody.model.loaders.xml import Document, Element

MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
"""Entries of the rotational inertia in URDF and SDF files."""


def read_inertia(document: Document, inertial: Element, origins: Origins) -> SpatialInertia | None:
    """The inertia of <inertial> in the frame of the link; None when it is zero."""
    parts = document.parts(inertial, single=("origin", "mass", "inertia"))
    mass_element, inertia = document.child(inertial, "mass"), document.child(inertial, "inertia")
    document.attributes(mass_element, "value")
    mass = document.number(mass_element, "value")
    if mass < 0:
        raise document.error(mass_element, f"value: expected a mass that is not negative, got {mass:g} kg")
    document.attributes(inertia, *MOMENTS)
    moments = [document.number(inertia, name) for name in MOMENTS]
    if mass == 0 and not any(moments):
        return None
    pose = origins.pose(parts.get("origin"))
    turned = "origin" in parts and "rpy" in parts["origin"][0].attrib
    return inertia_at(document, inertia, mass, moments, pose, turned=turned)


def inertia_at(
    document: Document, element: Element, mass: float, moments: Sequence[float], pose: Pose, *, turned: bool = True
) -> SpatialInertia:
    """The inertia of a link from the MOMENTS along the axes of a pose at the centre of mass."""
    xx, xy, xz, yy, yz, zz = moments
    matrix, R = np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))), pose.rotation.matrix
    if turned:
        with np.errstate(all="ignore"):
            matrix = R @ matrix @ R.T
            matrix = (matrix + matrix.T) / 2
        if not np.isfinite(matrix).all():
            raise document.error(element, "expected moments that can be turned into the frame of the link: overflow")
    return SpatialInertia._trusted(np.array(mass), pose.position, matrix)
