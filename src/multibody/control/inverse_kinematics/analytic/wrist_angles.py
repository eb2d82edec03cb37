"""Spherical wrists: three hinges whose axes meet, and the angles at which they make a rotation."""

from itertools import pairwise

import numpy as np

from multibody.control.inverse_kinematics.analytic.screws import Matrix, Screw, Vector, common_point, turn_about, turned

MEET_TOLERANCE = 1e-6
"""How far from a common point the axes may be, in m; what that leaves is polished away."""
PARALLEL = 1e-6
"""The sine of an angle between neighbouring axes below which they are parallel; of singular angles, too."""
ORDER = (3, 0, 2, 1)
"""Where a wrist is looked for, by the number of joints before it: at the end first, at the base, then between."""


def wrist(screws: tuple[Screw, ...]) -> tuple[int, Vector] | None:
    """The number of joints before three hinges whose axes meet, and the point where they do at q = 0."""
    for k in ORDER:
        three = screws[k : k + 3]
        if all(screw.turns for screw in three) and all(
            np.linalg.norm(np.cross(a.axis, b.axis)) > PARALLEL for a, b in pairwise(three)
        ):
            point, off = common_point(three)
            if off < MEET_TOLERANCE:
                return k, point
    return None


def angles(three: tuple[Screw, ...], R: Matrix) -> list[Vector]:
    """All (t_1, t_2, t_3) with exp(a t_1) exp(b t_2) exp(c t_3) = R; where only t_1 and t_3 together matter, t_1 = 0.

    a . exp(b t_2) c = a . R c is an equation in t_2 alone.
    """
    a, b, c = (screw.axis for screw in three)
    along = b * (b @ c)
    row = np.array([a @ (c - along), a @ np.cross(b, c)])
    size = np.linalg.norm(row)
    cosine = (a @ R @ c - a @ along) / size
    if abs(cosine) > 1 + MEET_TOLERANCE:
        return []
    ahead, aside = np.arctan2(row[1], row[0]), np.arccos(np.clip(cosine, -1, 1))
    triples = []
    for t2 in (ahead + aside, ahead - aside):
        B = turned(b, t2)
        t1 = turn_about(a, B @ c, R @ c, PARALLEL) or 0.0
        C = (turned(a, t1) @ B).T @ R
        across = np.linalg.svd(c[None, :])[2][1]
        triples.append(np.array([t1, t2, turn_about(c, across, C @ across, PARALLEL) or 0.0]))
    return triples
