"""Derivatives by the velocities of a floating base, taken from "left" to the other representations.  [MDN 75-76]

With v_L = T v, a_L = T a + n(q, v) and τ = T^T τ_L, a small motion δ of the base, left-trivialised, changes v_L by
N_v δ, a_L by N_a δ and, at a fixed τ_L, τ by T^T N_f δ; a change dv of the velocity changes a_L by N_av T dv besides.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.geometry._arrays import block_matrix, transpose
from multibody.geometry.operators import ad, cross3, hat3
from multibody.model import base_velocity
from multibody.model.joint import Joint


class Maps(NamedTuple):
    """T, N_v, N_a, N_f and N_av, each (..., 6, 6)."""

    T: NDArray[Any]
    N_v: NDArray[Any]
    N_a: NDArray[Any]
    N_f: NDArray[Any]
    N_av: NDArray[Any]


def maps(
    joint: Joint, q: NDArray[Any], v: NDArray[Any], a: NDArray[Any], f: NDArray[Any], representation: str
) -> Maps | None:
    """Of one base, from its velocity, acceleration and force in "left"; None when it is in "left"."""
    if representation == "left":
        return None
    T = base_velocity.between(joint, q, representation, "left")
    zero = np.zeros((*v.shape[:-1], 3, 3), q.dtype)
    F, N = hat3(f[..., :3]), hat3(f[..., 3:])
    if representation == "right":
        return Maps(T, ad(v), ad(a), _blocks(zero, -F, -F, -N), _blocks(zero, zero, zero, zero))
    V, W, alpha = hat3(v[..., :3]), hat3(v[..., 3:]), hat3(a[..., 3:])
    origin = hat3(a[..., :3] + cross3(v[..., 3:], v[..., :3])) - np.matmul(W, V)
    N_av = _blocks(-W, V, zero, zero)
    if representation == "kindr":
        return Maps(
            T, _blocks(zero, V, zero, zero), _blocks(zero, origin, zero, zero), _blocks(zero, -F, zero, zero), N_av
        )
    turning = origin + np.matmul(V, W)
    return Maps(T, _blocks(zero, V, zero, W), _blocks(zero, turning, zero, alpha), _blocks(zero, -F, zero, -N), N_av)


def changed(
    dq: NDArray[Any], dv: NDArray[Any], M: NDArray[Any], maps: Maps | None, at: slice
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The derivatives of τ in the robot's representation, from those in "left"."""
    if maps is None:
        return dq, dv, M
    T = maps.T
    by_q = dq[..., :, at] + np.matmul(dv[..., :, at], maps.N_v) + np.matmul(M[..., :, at], maps.N_a)
    rows = [by_q[..., : at.start, :], by_q[..., at, :] + maps.N_f, by_q[..., at.stop :, :]]
    by_q = np.concatenate([row for row in rows if row.shape[-2]], axis=-2)
    by_v = dv[..., :, at] + np.matmul(M[..., :, at], maps.N_av)
    return (
        _with_columns(dq, np.matmul(by_q, T), T, at),
        _with_columns(dv, np.matmul(by_v, T), T, at),
        _with_columns(M, np.matmul(M[..., :, at], T), T, at),
    )


def _with_columns(D: NDArray[Any], columns: NDArray[Any], T: NDArray[Any], at: slice) -> NDArray[Any]:
    """D with other columns for the base, and its rows multiplied by T^T."""
    parts = [D[..., :, : at.start], columns, D[..., :, at.stop :]]
    D = np.concatenate([part for part in parts if part.shape[-1]], axis=-1)
    parts = [D[..., : at.start, :], np.matmul(transpose(T), D[..., at, :]), D[..., at.stop :, :]]
    return np.concatenate([part for part in parts if part.shape[-2]], axis=-2)


def _blocks(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any], d: NDArray[Any]) -> NDArray[Any]:
    return block_matrix([[a, b], [c, d]])


def map_rate(v: NDArray[Any], representation: str) -> NDArray[Any]:
    """N, (..., 6, 6), with T' = N T, from the velocity of the base in "left"."""
    if representation == "right":
        return -ad(v)
    W = hat3(v[..., 3:])
    zero = np.zeros_like(W)
    return _blocks(-W, zero, zero, -W if representation == "mixed" else zero)


def congruent(
    C: NDArray[Any], M: NDArray[Any], T: NDArray[Any], N: NDArray[Any], at: slice
) -> tuple[NDArray[Any], NDArray[Any]]:
    """T^T (C T + M T') and T^T M T, for a map of one base's velocities with T' = N T.  [MDN 76]"""
    by_v = C[..., :, at] + np.matmul(M[..., :, at], N)
    return _with_columns(C, np.matmul(by_v, T), T, at), _with_columns(M, np.matmul(M[..., :, at], T), T, at)
