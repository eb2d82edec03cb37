"""The subgroups of SE(3) that From treats, built from commutators of 4x4 matrices.

Nothing comes from the library, except the groups under test that `library` hands out.
"""

from functools import cache
from math import factorial

import numpy as np

from multibody.geometry import groups

from .motions import twist_matrix
from .truth import STEP

PITCH = 0.35
E = np.eye(6)

# V = H v, [From 58]. Linear first: u, v, w, p, q, r.
SELECTION = {
    "SE(3)": E,
    "X(x)": E[:, [0, 1, 2, 3]],
    "X(y)": E[:, [0, 1, 2, 4]],
    "X(z)": E[:, [0, 1, 2, 5]],
    "R^3": E[:, :3],
    "SE(2)": E[:, [0, 1, 5]],
    "SO(3)": E[:, 3:],
    "R^2": E[:, :2],
    "R": E[:, 2:3],
    "H": (PITCH * E[:, 2] + E[:, 5])[:, None],
    "SO(2)": E[:, 5:],
}
NAMES = list(SELECTION)
CURVED = ["SE(3)", "X(x)", "X(y)", "X(z)", "SE(2)", "SO(3)"]
FLAT = [name for name in NAMES if name not in CURVED]


def library(name):
    """The library's group of that name."""
    made = {
        "SE(3)": groups.SE3,
        "X(x)": lambda: groups.Schoenflies(axis="x"),
        "X(y)": lambda: groups.Schoenflies(axis="y"),
        "X(z)": lambda: groups.Schoenflies(axis="z"),
        "R^3": groups.R3,
        "SE(2)": groups.SE2,
        "SO(3)": groups.SO3,
        "R^2": groups.R2,
        "R": groups.R1,
        "H": lambda: groups.Helical(pitch=PITCH),
        "SO(2)": groups.SO2,
    }
    return made[name]()


def _matrix_units(n, *entries):
    basis = np.zeros((len(entries), n, n))
    for e, (row, column) in zip(basis, entries, strict=True):
        e[row, column] = 1
    return basis


# Three algebras outside se(3), for what is claimed of all Lie groups: the affine maps of a line (two-dimensional, not
# abelian), Heisenberg's, and all 2x2 matrices.
OUTSIDE = {
    "aff(1)": _matrix_units(2, (0, 0), (0, 1)),
    "Heisenberg": _matrix_units(3, (0, 1), (1, 2), (0, 2)),
    "gl(2)": _matrix_units(2, (0, 0), (0, 1), (1, 0), (1, 1)),
}


@cache
def structure(name):
    """c[k, i, j] of [e_i, e_j] = sum_k c[k, i, j] e_k, solved from the matrices; it fails if that is no algebra."""
    basis = OUTSIDE[name] if name in OUTSIDE else twist_matrix(SELECTION[name].T)
    m = len(basis)
    products = np.einsum("iab,jbc->ijac", basis, basis)
    brackets = (products - np.swapaxes(products, 0, 1)).reshape(m * m, -1)
    c, *_ = np.linalg.lstsq(basis.reshape(m, -1).T, brackets.T, rcond=None)
    assert np.allclose(basis.reshape(m, -1).T @ c, brackets.T, atol=1e-14)
    return np.round(c.reshape(m, m, m), 13) + 0.0


def dim(name):
    return len(structure(name))


def ad(name, x):
    """The matrix of [x, .], for real or complex x of shape (..., m)."""
    return np.einsum("kij,...i->...kj", structure(name), x)


def S(name, phi, terms=40):
    """[From 29]: I - ad/2! + ad^2/3! - ..., summed until it no longer changes; complex phi for complex steps."""
    m = dim(name)
    power = np.broadcast_to(np.eye(m), (*np.shape(phi)[:-1], m, m))
    total = 0 * power
    for n in range(terms):
        total = total + (-1) ** n / factorial(n + 1) * power
        power = power @ ad(name, phi)
    return total


def dS(name, phi):
    """d[k, i, j] = dS_ki / dphi_j at one phi of shape (m,), by complex steps of the series."""
    steps = np.eye(len(phi)) * 1j * STEP
    return np.moveaxis(S(name, phi + steps).imag / STEP, 0, -1)


def inertia(name, I6):
    """[From 60]: M = H^T I H."""
    return SELECTION[name].T @ I6 @ SELECTION[name]


def C_57(name, M, v):
    """[From 57] for one v of shape (m,)."""
    d = dS(name, np.zeros(len(v)))
    return np.einsum("kij,k->ij", d - np.swapaxes(d, 1, 2), M @ v)
