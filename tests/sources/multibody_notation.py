"""The operators of Multibody Dynamics Notation, transcribed from the print. Nothing here comes from the library."""

import numpy as np

from .motions import Series, block, split
from .truth import mul, same


def hat_5(w):
    """[MDN 5], entry by entry."""
    x, y, z = np.moveaxis(w, -1, 0)
    o = np.zeros_like(x)
    return np.stack([np.stack(r, -1) for r in ([o, -z, y], [z, o, -x], [-y, x, o])], -2)


def vee_6(W):
    """[MDN 6], as a vector."""
    return np.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], -1)


def hat_7(v):
    """[MDN 7]"""
    top = np.concatenate([hat_5(v[..., 3:]), v[..., :3, None]], -1)
    return np.concatenate([top, np.zeros((*v.shape[:-1], 1, 4))], -2)


def vee_8(V):
    """[MDN 8]"""
    return np.concatenate([V[..., :3, 3], vee_6(V[..., :3, :3])], -1)


def X_27(H):
    """[MDN 27] for a series or a matrix A_H_B."""
    if isinstance(H, Series):
        R, o = split(H)
        return block([[R, o.map(lambda o: hat_5(o[..., 0])) @ R], [0, R]])
    return X_27(Series([H])).now


def cross_38(v):
    """[MDN 38]: the 6x6 matrix of v x."""
    linear, angular = hat_5(v[..., :3]), hat_5(v[..., 3:])
    top, bottom = np.concatenate([angular, linear], -1), np.concatenate([np.zeros_like(angular), angular], -1)
    return np.concatenate([top, bottom], -2)


def left(H):
    """[MDN 21]: the series of B_v_AB."""
    return (H.inverse @ H.rate).map(vee_8)


def right(H):
    """[MDN 26]: the series of A_v_AB."""
    return (H.rate @ H.inverse).map(vee_8)


def Xf_59(H):
    """[MDN 59], its last form, for a series or a matrix A_H_B."""
    if isinstance(H, Series):
        R, o = split(H)
        return block([[R, 0], [o.map(lambda o: hat_5(o[..., 0])) @ R, R]])
    return Xf_59(Series([H])).now


def dual_cross_62(v):
    """[MDN 62]: the 6x6 matrix of the dual cross product."""
    linear, angular = hat_5(v[..., :3]), hat_5(v[..., 3:])
    top, bottom = np.concatenate([angular, np.zeros_like(angular)], -1), np.concatenate([linear, angular], -1)
    return np.concatenate([top, bottom], -2)


def equal_series(a, b, tolerance=1e-12):
    """Two series agree in every coefficient that both have: the identity holds in an interval of time."""
    for x, y in zip(a.c, b.c, strict=False):
        same(x, y, tolerance)


def times(M, v):
    """A series of matrices times a series of vectors."""
    return M.product(v, mul)
