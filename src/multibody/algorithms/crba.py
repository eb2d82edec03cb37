"""The mass matrix: the composite rigid body algorithm."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.base_representation import in_left, inertia
from multibody.algorithms.rnea import rnea
from multibody.algorithms.velocity_blocks import Entries, add_entry, dense_matrix, toward_world
from multibody.geometry import Pose
from multibody.geometry._arrays import diagonal
from multibody.model.composite_inertia import CompositeInertia
from multibody.model.tree import Tree


def crba(tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
    """M(q), (..., nv, nv), in the robot's own base representation.  [RD 3.43; QT 59]

    Composite inertias accumulate inward. The wrench for a unit acceleration of a joint is transmitted toward the world
    and projected on each joint between.
    """
    return _of_bodies(tree, q) + diagonal(tree.armature)


def mass_matrix_product(tree: Tree, q: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    """M(q) x, (..., nv), without the matrix: inverse dynamics at rest and without gravity."""
    return rnea(tree, q, np.zeros_like(x), x, gravity=False)


@in_left(returns=inertia)
def _of_bodies(tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
    """The mass matrix without the drives."""
    M, n = upper_blocks(tree, q), tree.nv
    return dense_matrix([[M.get((min(r, c), max(r, c))) for c in range(n)] for r in range(n)], q.shape[:-1], q)


def upper_blocks(tree: Tree, q: NDArray[Any]) -> Entries:
    """The entries M_rc over the batch, r ≤ c, for velocities with bases in "left".

    Pairs whose joints are on different branches are zero, and absent.
    """
    p_H = {body.index: body.joint.pose(q) for body in tree.bodies}
    i_S = {body.index: body.joint.subspace(q) for body in tree.bodies}
    i_M = composite_inertias(tree, p_H)
    M: Entries = {}
    for i, _, body in tree.inward():
        composite, S, joint = i_M[i], i_S[i], body.joint
        forces = [composite @ S.column(k) for k in range(joint.kind.nv)]
        for k, f in enumerate(forces):
            column = joint.v.start + k
            own = S.project(f)
            for r in range(k + 1):
                add_entry(M, joint.v.start + r, column, own[..., r])
            for j, H in toward_world(tree, p_H, i):
                f = H @ f
                above, part = tree.bodies[j - 1].joint, i_S[j].project(f)
                for r in range(above.kind.nv):
                    row = above.v.start + r
                    # a joint and one that mimics it share a velocity: the pair counts both ways
                    value = part[..., r] * (2.0 if row == column else 1.0)
                    add_entry(M, min(row, column), max(row, column), value)
    return M


def composite_inertias(tree: Tree, p_H: Mapping[int, Pose]) -> dict[int, CompositeInertia]:
    """The inertia of each body with all bodies that it carries, in its frame, from the poses in the parents."""
    i_M = {body.index: CompositeInertia.of(body.inertia) for body in tree.bodies}
    for i, p, _ in tree.inward():
        if p:
            i_M[p] = i_M[p] + i_M[i].in_frame(p_H[i])
    return i_M
