"""Consistent anchors: the anchors of a rigid body's points must have the distances of the points."""

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from multibody.algorithms.constraints.constraint import Constraint
from multibody.errors import InputError
from multibody.model.tree import Tree

ANCHOR_TOLERANCE = 1e-5
"""Tolerance of distances in m, for anchors in float32."""


def check_anchors(tree: Tree, constraints: Iterable[Constraint]) -> None:
    """Refuse anchors that no pose of a body meets.

    Only distances between two points of one body are compared. Unreachable loops and joints between bodies are detected
    by `constraint_projection.projected_configuration`.

    Raises:
        InputError: names two constraints, or one whose points disagree.

    >>> import multibody as mb
    >>> here, there = (mb.constraints.PointContact(f"at {x}", "foot-lf", anchor=(x, 0, 0)) for x in (0, 1))
    >>> check_anchors(mb.load("quadruped").tree, [here, there])
    Traceback (most recent call last):
        ...
    multibody.errors.InputError: quadruped: 'at 0' and 'at 1' hold two points of 'lf-shank', 0 m apart, at places 1 m...
    """
    anchors: dict[int, list[tuple[str, np.ndarray, np.ndarray]]] = {}
    for constraint in constraints:
        for frame, point, place in constraint.anchored():
            body, i_H_F = tree.frame(frame)
            anchors.setdefault(body, []).append((constraint.name, i_H_F @ np.array(point), np.array(place)))
    for body, points in anchors.items():
        for (name, i_r, W_r), (other, i_s, W_s) in combinations(points, 2):
            distance, anchor_distance = (float(np.linalg.norm(d)) for d in (i_r - i_s, W_r - W_s))
            if abs(distance - anchor_distance) > ANCHOR_TOLERANCE:
                who = f"{name!r} holds" if name == other else f"{name!r} and {other!r} hold"
                raise InputError(
                    f"{tree.name}: {who} two points of {tree.bodies[body - 1].name!r}, {distance:.6g} m apart, "
                    f"at places {anchor_distance:.6g} m apart"
                )
