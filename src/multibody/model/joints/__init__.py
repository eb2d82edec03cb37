"""The kinds of joints, one file each, and the motion subspace that they share."""

from multibody.model.joints._contract import check_kind
from multibody.model.joints._kind import Kind
from multibody.model.joints.continuous import Continuous
from multibody.model.joints.cylindrical import Cylindrical
from multibody.model.joints.fixed import Fixed
from multibody.model.joints.floating import Floating
from multibody.model.joints.helical import Helical
from multibody.model.joints.planar import Planar
from multibody.model.joints.prismatic import Prismatic
from multibody.model.joints.revolute import Revolute
from multibody.model.joints.schoenflies import Schoenflies
from multibody.model.joints.spherical import Spherical
from multibody.model.joints.translational import Translational
from multibody.model.joints.universal import Universal

KINDS: tuple[type[Kind], ...] = (
    Fixed,
    Revolute,
    Continuous,
    Prismatic,
    Helical,
    Cylindrical,
    Universal,
    Spherical,
    Planar,
    Translational,
    Schoenflies,
    Floating,
)
"""All of them."""

__all__ = [
    "KINDS",
    "Continuous",
    "Cylindrical",
    "Fixed",
    "Floating",
    "Helical",
    "Kind",
    "Planar",
    "Prismatic",
    "Revolute",
    "Schoenflies",
    "Spherical",
    "Translational",
    "Universal",
    "check_kind",
]
