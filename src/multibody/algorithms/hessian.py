"""The Hessian of a frame: how its Jacobian changes along each velocity.  [Kindr §Appendix III]"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.columns import Directions, directions
from multibody.algorithms.jacobian import rate_in
from multibody.algorithms.kinematics import FRAME_REPRESENTATIONS
from multibody.algorithms.velocity_blocks import Entries, add_entry, stack
from multibody.geometry import Pose, Twist, representations
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
    entries: Entries = {}
    for k in on:
        for c in on:
            change = _entry(d, O_H_F, k, c, representation)
            if change is not None:
                vector = np.broadcast_to(change.vector, (*batch, 6))
                add_entry(entries, d.columns[k].index, d.columns[c].index, vector)
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
        change = -s_k.cross(s_c) if change is None else None
    return rate_in(representation, s_c, change, s_k, O_H_F, d.origin)
