"""Contact forces in two parts: those that move the robot, and those within a sole, which do not.

Points of one rigid sole are redundant: J = U R, where R has six rows at most, independent of each other, and the
columns of U are orthonormal (`independent_rows`). With orthonormal columns N across those of U, all forces of the
points are f = U w + N g: the robot feels J^T f = R^T w alone, and |f|² = |w|² + |g|². In the frame of the sole N is
constant.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from multibody.algorithms import kinematics, rows
from multibody.algorithms.constraints import Constraint, SurfaceContact
from multibody.algorithms.constraints.independent import independent_rows
from multibody.control.affine import Affine
from multibody.geometry._arrays import Array, block_matrix, matvec, transpose
from multibody.geometry.operators import hat3
from multibody.model.tree import Tree
from multibody.solvers.least_squares import complement
from multibody.tracing.matrices import linalg


class ContactForces(NamedTuple):
    """The parts of contact forces, f = U w + N g."""

    J: Array
    """R, (..., r, nv), with which w pushes the robot; zero for contacts that are not active."""
    drift: Array
    """R' v, (..., r): R a + R' v is the acceleration of the contacts, as far as it can be zero."""
    U: Array | None
    """(..., rows, r); None is the identity, where no contact is a sole: then f is w."""
    N: Array | None
    """(..., rows, k), for forces within soles; zero for those that are not active."""
    centripetal: Array | None
    """(..., rows): centripetal accelerations of points of a sole that turns, which no force can make zero."""
    mask: Array | None
    """(..., r): ones, and zeros for contacts that are not active; None for all ones."""

    @property
    def within(self) -> int:
        """The number of forces within soles, g."""
        return 0 if self.N is None else self.N.shape[-1]

    def parts(self, f: Array) -> Array:
        """(w, g), (..., r + k), of forces f, (..., rows)."""
        w = f if self.U is None else matvec(transpose(self.U), f)
        return w if self.N is None else np.concatenate([w, matvec(transpose(self.N), f)], axis=-1)

    def of(self, w: Affine) -> Affine:
        """f of (x, g), for w of x."""
        if self.U is None or self.N is None:
            return w
        f = w.transform(self.U)
        return Affine(np.concatenate([f.matrix, self.N], axis=-1), f.offset)

    def acceleration(self, reduced: Array) -> Array:
        """(..., rows): of all rows of the contacts, from that of the independent ones."""
        if self.U is None or self.centripetal is None:
            return reduced
        return matvec(self.U, reduced) + self.centripetal


def split_forces(tree: Tree, contacts: Sequence[Constraint], q: Array, v: Array, mask: Array | None) -> ContactForces:
    """The parts of the forces of contacts at a state, for a mask (..., rows) of those that are active."""
    if not contacts:
        none = np.zeros((*q.shape[:-1], 0, tree.nv), q.dtype)
        return ContactForces(none, none[..., 0], None, None, None, None)
    if not any(is_sole(contact) for contact in contacts):
        J, drift = rows.jacobian(tree, contacts, q), rows.bias(tree, contacts, q, v)
        if mask is not None:
            J, drift = J * mask[..., :, None], drift * mask
        return ContactForces(J, drift, None, None, None, mask)
    blocks = [_sole(tree, contact, q) if is_sole(contact) else _plain(tree, contact, q) for contact in contacts]
    J = np.concatenate([block[0] for block in blocks], axis=-2)
    U, N = _diagonal([block[1] for block in blocks]), _diagonal([block[2] for block in blocks])
    drift = rows.bias(tree, contacts, q, v)
    reduced = matvec(transpose(U), drift)
    centripetal = drift - matvec(U, reduced)
    if mask is None:
        return ContactForces(J, reduced, U, N, centripetal, None)
    starts = [place.start for place in rows.slices(contacts).values()]
    on = mask[..., np.repeat(starts, [block[0].shape[-2] for block in blocks]).tolist()]
    return ContactForces(J * on[..., :, None], reduced * on, U, N * mask[..., :, None], centripetal * mask, on)


def is_sole(contact: Constraint) -> bool:
    """Whether a contact has redundant points."""
    return isinstance(contact, SurfaceContact) and len(contact.points) > 1


def _plain(tree: Tree, contact: Constraint, q: Array) -> tuple[Array, Array, Array]:
    one = np.eye(contact.rows, dtype=q.dtype)
    return contact.jacobian(tree, q), one, one[:, :0]


def _sole(tree: Tree, contact: Any, q: Array) -> tuple[Array, Array, Array]:
    """R, U and N of a sole."""
    R, U = independent_rows(tree, [contact], q)
    assert U is not None, "two points of a body at least"
    W_R_F = kinematics.pose(tree, contact.frame, q).rotation.matrix
    lines = [np.matmul(W_R_F, part) for part in _internal_forces(contact.points, q.dtype)]
    return R, U, np.concatenate(lines, axis=-2)


def _internal_forces(points: Sequence[Sequence[float]], dtype: Any) -> list[Array]:
    """For each point (3, k), along the axes of the sole: forces whose sum and whose moment are zero."""
    grasp = np.concatenate([np.concatenate([np.eye(3), hat3(np.array(point))]) for point in points], axis=-1)
    Q, independent = linalg.orthonormal_rows(grasp)
    N = complement(Q[independent > 0]).astype(dtype)
    return [N[start : start + 3] for start in range(0, len(N), 3)]


def _diagonal(blocks: Sequence[Array]) -> Array:
    """Blocks on the diagonal of a matrix, some of which may have no columns."""
    return block_matrix([[block if j == k else 0 for j in range(len(blocks))] for k, block in enumerate(blocks)])
