"""The limits of all joints of a robot, as arrays over its coordinates and velocities."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from multibody._reprs import short_fields
from multibody.model.joints import Kind
from multibody.model.tree import Tree


@dataclass(frozen=True, eq=False)
class RobotLimits:
    """The limits of a robot; missing limits are infinite. The arrays are read-only.

    Quaternions, angles of continuous joints and floating bases have no limits: -inf and inf. Mimic joints have no
    entries.
    """

    lower: NDArray[Any]
    """(nq,): the least coordinates, in rad or m."""
    upper: NDArray[Any]
    """(nq,): the largest coordinates, in rad or m."""
    velocity: NDArray[Any]
    """(nv,): the largest magnitudes of velocities, in rad/s or m/s."""
    effort: NDArray[Any]
    """(nv,): the largest magnitudes of generalized forces, in N m or N."""

    __repr__ = short_fields


def limits_of(tree: Tree) -> RobotLimits:
    """Return the limits of a tree.

    >>> import multibody as mb
    >>> limits_of(mb.load("quadruped").tree).lower[5:9]  # the end of a quaternion, and two hinges
    array([-inf, -inf, -1.2, -2.6])
    """
    return RobotLimits(tree.lower, tree.upper, tree.velocity_limits, tree.effort_limits)


def integrated_coordinates(tree: Tree) -> list[int | None]:
    """For every velocity the coordinate that it is the rate of, None where there is none."""
    places: list[int | None] = [None] * tree.nv
    for joint in tree.independent_joints:
        if type(joint.kind).rate_matrix is Kind.rate_matrix:
            for k in range(joint.nv):
                places[joint.v.start + k] = joint.q.start + k
    return places
