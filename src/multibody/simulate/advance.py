"""Moving on the configuration's own groups, with quaternions that stay units."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry._arrays import dot
from multibody.model import configuration
from multibody.model.tree import Tree


def advance(tree: Tree, q: NDArray[Any], dv: NDArray[Any]) -> NDArray[Any]:
    """q ⊕ dv.  [MDN 77-79]

    The product of two unit quaternions is a unit but for rounding, which would add up over millions of steps: one step
    of Newton's method for 1/|x| brings each back.
    """
    moved = configuration.integrate(tree, q, dv)
    joints = tree.independent_joints
    if not any(joint.kind.quaternion for joint in joints):
        return moved
    parts = []
    for joint in joints:
        x, where = moved[..., joint.q], joint.kind.quaternion
        if where is not None:
            turn = x[..., where]
            unit = turn * (1.5 - 0.5 * dot(turn, turn))[..., None]
            x = np.concatenate([x[..., : where.start], unit, x[..., where.stop :]], axis=-1)
        parts.append(x)
    return np.concatenate(parts, axis=-1)
