"""The Lie groups of rigid motion: SE(3) and its subgroups.

[From Table 1]
"""

from multibody.geometry.groups.group import Group
from multibody.geometry.groups.helical import Helical
from multibody.geometry.groups.schoenflies import Schoenflies
from multibody.geometry.groups.special_euclidean import SE2, SE3
from multibody.geometry.groups.special_orthogonal import SO2, SO3
from multibody.geometry.groups.translations import R1, R2, R3

__all__ = ["R1", "R2", "R3", "SE2", "SE3", "SO2", "SO3", "Group", "Helical", "Schoenflies"]
