"""Constraints and contacts, and sets of them."""

from multibody._signatures import readable_names
from multibody.algorithms.constraints.closures import Distance, HingeClosure, JointCoupling, PointClosure, Weld
from multibody.algorithms.constraints.constraint import Constraint
from multibody.algorithms.constraints.constraint_set import ConstraintSet, Ranks, Worst
from multibody.algorithms.constraints.contacts import FrameContact, PointContact, SurfaceContact
from multibody.algorithms.constraints.rolling import NoSlip, RollingContact
from multibody.algorithms.constraints.stated import stated

__all__ = [
    "Constraint",
    "ConstraintSet",
    "Distance",
    "FrameContact",
    "HingeClosure",
    "JointCoupling",
    "NoSlip",
    "PointClosure",
    "PointContact",
    "Ranks",
    "RollingContact",
    "SurfaceContact",
    "Weld",
    "Worst",
    "stated",
]

readable_names(__name__)
