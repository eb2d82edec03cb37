"""The Hessian of a frame: how its Jacobian changes along each velocity.  [Kindr §Appendix III]"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.columns import Directions, directions
from multibody.algorithms.kinematics import FRAME_REPRESENTATIONS
from multibody.algorithms.velocity_blocks import stack
from multibody.geometry import Pose, Twist, representations
from multibody.geometry.operators import cross3
from multibody.model.tree import Tree


def hessian(tree: Tree, frame: str, q: NDArray[Any], representation: str = "mixed") -> NDArray[Any]:
    """(..., nv, 6, nv): H[k] is the derivative of the Jacobian along the k-th velocity.  [Kindr 15-18]

    Args:
        tree: the robot.
        frame: its name.
        q: (..., nq).
        representation: "left", "right" or "mixed".
    """
    representations.representation(representation, FRAME_REPRESENTATIONS)
    i, _ = tree.frame(frame)
    d = directions(tree, q, tree.support(i))
    O_H_F, on = d.frame(frame), d.on(i)
    batch, n = q.shape[:-1], tree.nv
    entries: dict[tuple[int, int], NDArray[Any]] = {}
    for k in on:
        for c in on:
            change = _entry(d, O_H_F, k, c, representation)
            if change is not None:
                key = (d.columns[k].index, d.columns[c].index)
                vector = np.broadcast_to(change.vector, (*batch, 6))
                entries[key] = entries[key] + vector if key in entries else vector
    zero = np.zeros((*batch, 6), q.dtype)
    rows = [np.stack([entries.get((k, c), zero) for c in range(n)], axis=-1) for k in range(n)]
    return stack(rows, -3, (*batch, 0, 6, 0), q)


def jacobian_dot_from_hessian(H: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """(..., 6, nv): J' = Σ_k H[k] v_k.  [Kindr 17-18]"""
    return np.einsum("...kij,...k->...ij", H, v)


def _entry(d: Directions, O_H_F: Pose, k: int, c: int, representation: str) -> Twist | None:
    """The change of column c along column k; None for zero."""
    s_k, s_c = d.columns[k].twist, d.columns[c].twist
    change = d.derivative(k, c)
    if representation == "left":
        # the frame, in which the column is written, moves along column k too: s_k × s_c cancels when c is carried
        return None if change is not None else O_H_F.pull(-s_k.cross(s_c))
    if representation == "right":
        if change is None:
            return None
        return Twist._trusted(change.linear + cross3(d.origin, change.angular), change.angular)
    F_o_k = s_k.linear + cross3(s_k.angular, O_H_F.position)
    moved = cross3(s_c.angular, F_o_k)
    if change is None:
        return Twist._trusted(moved, np.zeros_like(moved))
    linear = change.linear + cross3(change.angular, O_H_F.position) + moved
    return Twist._trusted(linear, change.angular)
