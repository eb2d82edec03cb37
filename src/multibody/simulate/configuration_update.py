"""Displacements on the configuration's groups, with quaternions of unit length."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry._arrays import dot
from multibody.model import configuration
from multibody.model.tree import Tree


def advance(tree: Tree, q: NDArray[Any], dv: NDArray[Any]) -> NDArray[Any]:
    """q ⊕ dv.  [MDN 77-79]

    Products of unit quaternions drift from unit length by rounding, which adds up over millions of steps. One step of
    Newton's method for 1/|x| corrects it.
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
