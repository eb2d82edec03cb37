"""The mass matrix: the composite rigid body algorithm."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.base_representation import in_left, inertia
from multibody.algorithms.rnea import rnea
from multibody.algorithms.velocity_blocks import dense_matrix, mirror_upper
from multibody.geometry import Pose, SpatialInertia, Twist, Wrench
from multibody.geometry._arrays import diagonal, dot, eye_like, matvec, transpose
from multibody.geometry.operators import cross3
from multibody.model.tree import Tree


class Composite(NamedTuple):
    """The inertia of one or several bodies, in a form that adds: m, m c, I about the frame's origin.  [MDN 68-69]"""

    mass: NDArray[Any]
    first: NDArray[Any]
    inertia: NDArray[Any]

    @staticmethod
    def of(inertia: SpatialInertia) -> "Composite":
        """The inertia of a body."""
        return Composite(inertia.mass, inertia.first_moment, inertia.about_origin)

    def __add__(self, other: Any) -> "Composite":
        """The inertia of both together."""
        return Composite(self.mass + other.mass, self.first + other.first, self.inertia + other.inertia)

    def in_frame(self, A_H_B: Pose) -> "Composite":
        """The same, from frame B, in frame A.  [MDN 68-69]"""
        R, p, m = A_H_B.rotation.matrix, A_H_B.position, self.mass
        turned = A_H_B.rotation @ self.first
        first = turned + m[..., None] * p
        # I about A's origin: R I R^T + [(p·h + h'·p) 1 - p h^T - h' p^T], h before and h' after the shift
        shift = dot(p, turned) + dot(first, p)
        moved = congruence(R, self.inertia) + shift[..., None, None] * eye_like(R, 3)
        outer = mirror_upper(p[..., :, None] * turned[..., None, :] + first[..., :, None] * p[..., None, :])
        return Composite(m, first, moved - outer)

    def momentum(self, v: Twist) -> Wrench:
        """The momentum at a twist, about the frame's origin.  [RD 3.19-3.20; QT 21]"""
        linear = self.mass[..., None] * v.linear + cross3(v.angular, self.first)
        return Wrench._trusted(linear, matvec(self.inertia, v.angular) + cross3(self.first, v.linear))


def congruence(R: NDArray[Any], I: NDArray[Any]) -> NDArray[Any]:
    """R I R^T of a symmetric I, (..., 3, 3): the lower triangle is the upper one, which alone a kernel computes."""
    return mirror_upper(np.matmul(np.matmul(R, I), transpose(R)))


def crba(tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
    """M(q), (..., nv, nv), in the robot's own base representation.  [RD 3.43; QT 59]

    Composite inertias go inward; the wrench that a unit acceleration of a joint asks for goes on to the world, and
    each joint on the way feels its share.
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


def upper_blocks(tree: Tree, q: NDArray[Any]) -> dict[tuple[int, int], NDArray[Any]]:
    """The numbers M_rc over the batch, r and c velocities with bases in "left"; each pair (r, c) has one, r ≤ c.

    Pairs whose joints are on different branches are zero, and absent.
    """
    p_H = [Pose.identity(), *(body.joint.pose(q) for body in tree.bodies)]
    i_S = [None, *(body.joint.subspace(q) for body in tree.bodies)]
    i_M = [None, *(Composite.of(body.inertia) for body in tree.bodies)]
    M: dict[tuple[int, int], NDArray[Any]] = {}

    def add(r: int, c: int, value: NDArray[Any]) -> None:
        key = (min(r, c), max(r, c))
        M[key] = M[key] + value if key in M else value

    for i, p, body in tree.inward():
        composite, S, joint = i_M[i], i_S[i], body.joint
        assert composite is not None
        assert S is not None
        forces = [composite.momentum(S.column(k)) for k in range(joint.kind.nv)]
        for k, f in enumerate(forces):
            column = joint.v.start + k
            own = S.project(f)
            for r in range(k + 1):
                add(joint.v.start + r, column, own[..., r])
            j, up = p, p_H[i]
            while j:
                f = up @ f
                above, S_j = tree.bodies[j - 1].joint, i_S[j]
                assert S_j is not None
                part = S_j.project(f)
                for r in range(above.kind.nv):
                    row = above.v.start + r
                    # a joint and one that mimics it share a velocity: the pair counts both ways
                    add(row, column, part[..., r] * (2.0 if row == column else 1.0))
                j, up = tree.bodies[j - 1].parent, p_H[j]
        if p:
            parent = i_M[p]
            assert parent is not None
            i_M[p] = parent + composite.in_frame(p_H[i])
    return M
