"""The functions of compiler_peers.py as an expert writes them for numba: loops over samples and scalars."""

import math

import numba
import numpy as np


@numba.njit(fastmath=False)
def quaternions(q, p, r, out):
    for n in range(q.shape[0]):
        a0, a1, a2, a3 = q[n, 0], q[n, 1], q[n, 2], q[n, 3]
        b0, b1, b2, b3 = p[n, 0], p[n, 1], p[n, 2], p[n, 3]
        x, y, z = r[n, 0], r[n, 1], r[n, 2]
        out[n, 0] = a0 * b0 - a1 * b1 - a2 * b2 - a3 * b3
        out[n, 1] = a0 * b1 + a1 * b0 + a2 * b3 - a3 * b2
        out[n, 2] = a0 * b2 - a1 * b3 + a2 * b0 + a3 * b1
        out[n, 3] = a0 * b3 + a1 * b2 - a2 * b1 + a3 * b0
        tx, ty, tz = 2 * (a2 * z - a3 * y), 2 * (a3 * x - a1 * z), 2 * (a1 * y - a2 * x)
        out[n, 4] = x + a0 * tx + a2 * tz - a3 * ty
        out[n, 5] = y + a0 * ty + a3 * tx - a1 * tz
        out[n, 6] = z + a0 * tz + a1 * ty - a2 * tx


@numba.njit(fastmath=False)
def chain(q, offsets, shifts, out):
    R, T = np.empty((3, 3)), np.empty((3, 3))
    for n in range(q.shape[0]):
        for i in range(3):
            out[n, i] = 0.0
            for j in range(3):
                R[i, j] = 1.0 if i == j else 0.0
        for k in range(7):
            c, s = math.cos(q[n, k]), math.sin(q[n, k])
            for i in range(3):
                out[n, i] += R[i, 0] * shifts[k, 0] + R[i, 1] * shifts[k, 1] + R[i, 2] * shifts[k, 2]
                for j in range(3):
                    T[i, j] = R[i, 0] * offsets[k, 0, j] + R[i, 1] * offsets[k, 1, j] + R[i, 2] * offsets[k, 2, j]
            for i in range(3):
                R[i, 0] = T[i, 0] * c + T[i, 1] * s
                R[i, 1] = T[i, 1] * c - T[i, 0] * s
                R[i, 2] = T[i, 2]
        for i in range(3):
            for j in range(3):
                out[n, 3 + 3 * i + j] = R[i, j]


@numba.njit(fastmath=False)
def system(A, b, out):
    L, d = np.empty((6, 6)), np.empty(6)
    for n in range(A.shape[0]):
        for j in range(6):
            pivot = A[n, j * (j + 1) // 2 + j]
            for k in range(j):
                pivot -= L[j, k] * L[j, k] * d[k]
            d[j] = pivot
            for i in range(j + 1, 6):
                x = A[n, i * (i + 1) // 2 + j]
                for k in range(j):
                    x -= L[i, k] * L[j, k] * d[k]
                L[i, j] = x / pivot
        for i in range(6):
            x = b[n, i]
            for k in range(i):
                x -= L[i, k] * out[n, k]
            out[n, i] = x
        for i in range(5, -1, -1):
            x = out[n, i] / d[i]
            for k in range(i + 1, 6):
                x -= L[k, i] * out[n, k]
            out[n, i] = x
