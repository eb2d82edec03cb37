"""The Lie groups of rigid motion, one file each: SE(3) and the subgroups of [From Table 1]."""

from multibody.geometry.groups._group import Group
from multibody.geometry.groups.helical import Helical
from multibody.geometry.groups.schoenflies import Schoenflies
from multibody.geometry.groups.se2 import SE2
from multibody.geometry.groups.se3 import SE3
from multibody.geometry.groups.so2 import SO2
from multibody.geometry.groups.so3 import SO3
from multibody.geometry.groups.translations import R1, R2, R3

__all__ = ["R1", "R2", "R3", "SE2", "SE3", "SO2", "SO3", "Group", "Helical", "Schoenflies"]
