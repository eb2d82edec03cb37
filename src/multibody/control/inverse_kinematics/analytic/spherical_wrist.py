"""Spherical wrists: three hinges whose axes meet, the angles at which they make a rotation, and the place of the point.

Three other joints bring the point where the axes meet to a place: E_1(x) E_2(y) E_3(z) p = r.  [RD §2.9.3]
E_2(y) takes E_3(z) p to E_1(-x) r. When joint 2 turns, that keeps the height along its axis and the distance from a
point of it; when it slides, it keeps the two coordinates across. Either way both equations are linear,

    A u(z) + B w(x) = g,

in u = (cos z, sin z) for a hinge, u = (z, z²) for a slide: a distance from a circle has no squares of its sine and
cosine. Where B has an inverse, w = B^-1 (g - A u) lies on its own curve, the circle or the parabola: a polynomial of
degree four in exp(i z), or in z, as Pieper found. Where neither A nor B has an inverse, as in arms whose axes meet or
are parallel, an equation has one unknown alone.
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise, product

import numpy as np

from multibody.control.inverse_kinematics.analytic.screws import (
    Matrix,
    Screw,
    Vector,
    common_point,
    rotation_about,
    transform,
    turn_about,
)

Curve = tuple[Vector, Matrix]

MEET_TOLERANCE = 1e-6
"""How far from a common point the axes may be, in m; what that leaves is polished away."""
PARALLEL = 1e-6
"""The sine of an angle between neighbouring axes below which they are parallel; of singular angles, too."""
ORDER = (3, 0, 2, 1)
"""Where a wrist is looked for, by the number of joints before it: at the end first, at the base, then between."""
SINGULAR = 1e-8
"""The fraction of the size of the equations below which something counts as zero."""
NEARLY = 1e-3
"""The fraction below which equations are solved as if it were zero, besides: files round their numbers."""
STEPS, ACCEPTED = 6, 1e-9
"""Steps of Newton from each candidate, and how far off a solution may be, as a fraction of the arm."""
STARTS = tuple(product((0.4, 2.5, -1.7), (0.1,), (0.4, 2.5, -1.7)))
"""Where Newton starts when the closed form has nothing."""
SAME = 2e-6
"""Solutions nearer than this, in m or rad, are one."""
OFF_CIRCLE = 1e-3
"""How far from the circle a root may be: double roots are uncertain. What they give is polished, and checked."""
SAMPLES = (0.0, np.pi / 2, np.pi, -np.pi / 2, np.pi / 4, 3 * np.pi / 4, -3 * np.pi / 4, -np.pi / 4)
"""Coordinates to try, in m or rad, where infinitely many do: the first that leads to a solution is taken."""


def wrist(screws: tuple[Screw, ...]) -> tuple[int, Vector] | None:
    """The number of joints before three hinges whose axes meet, and the point where they do at q = 0."""
    for k in ORDER:
        three = screws[k : k + 3]
        if all(screw.turns for screw in three) and all(
            np.linalg.norm(np.cross(a.axis, b.axis)) > PARALLEL for a, b in pairwise(three)
        ):
            point, off = common_point(three)
            if off < MEET_TOLERANCE:
                return k, point
    return None


def angles(three: tuple[Screw, ...], R: Matrix) -> list[Vector]:
    """All (t_1, t_2, t_3) with exp(a t_1) exp(b t_2) exp(c t_3) = R; where only t_1 and t_3 together matter, t_1 = 0.

    a . exp(b t_2) c = a . R c is an equation in t_2 alone.
    """
    a, b, c = (screw.axis for screw in three)
    along = b * (b @ c)
    triples = []
    for t2 in _cosines(np.array([a @ (c - along), a @ np.cross(b, c)]), float(a @ R @ c - a @ along)):
        B = rotation_about(b, t2)
        t1 = turn_about(a, B @ c, R @ c, PARALLEL) or 0.0
        C = (rotation_about(a, t1) @ B).T @ R
        across = np.linalg.svd(c[None, :])[2][1]
        triples.append(np.array([t1, t2, turn_about(c, across, C @ across, PARALLEL) or 0.0]))
    return triples


def positions(screws: Sequence[Screw], p: Vector, r: Vector) -> list[Vector]:
    """All (x, y, z), each once; where infinitely many do, one of them or a few."""
    first, middle, last = screws
    size = max(float(np.linalg.norm(p - middle.point)), float(np.linalg.norm(r - middle.point)), 1e-3)
    solutions: list[Vector] = []

    def polish(q: Vector, steps: int = STEPS) -> None:
        q, off = _polish(screws, p, r, q, steps)
        if off < ACCEPTED * size:
            add(solutions, q, [screw.turns for screw in screws])

    for z, x in _pairs(middle, _curve(last, p), _curve(first.reversed(), r), (last.turns, first.turns)):
        end, wanted = transform(last.matrix(z), p), transform(first.matrix(-x), r)
        if middle.turns:
            y = turn_about(middle.axis, end - middle.point, wanted - middle.point, SINGULAR * size)
        else:
            y = float(middle.axis @ (wanted - end))
        polish(np.array([x, 0.0 if y is None else y, z]))
    # an arm that cannot move its point in all directions has a whole curve of solutions, or none
    for start in STARTS:
        if not solutions:
            polish(np.array(start), 4 * STEPS)
    return solutions


def add(solutions: list[Vector], q: Vector, turns: Sequence[bool]) -> None:
    """Another solution, its angles in (-pi, pi], unless it is there already."""
    q = np.where(turns, np.pi - np.mod(np.pi - q, 2 * np.pi), q)
    apart = [np.where(turns, np.abs(np.exp(1j * q) - np.exp(1j * other)), np.abs(q - other)) for other in solutions]
    if all(np.max(each) > SAME for each in apart):
        solutions.append(q)


def _polish(screws: Sequence[Screw], p: Vector, r: Vector, q: Vector, steps: int) -> tuple[Vector, float]:
    """q after a few steps of Newton, and how far the point is off; singular directions are left alone."""
    best, least = q, np.inf
    for _ in range(steps):
        chain = list(accumulate(map(Screw.matrix, screws, q), np.matmul, initial=np.eye(4)))
        place = transform(chain[-1], p)
        off = r - place
        if np.linalg.norm(off) < least:
            best, least = q, float(np.linalg.norm(off))
        here = [screw.seen_from(H) for screw, H in zip(screws, chain, strict=False)]
        J = np.stack([np.cross(s.axis, place - s.point) if s.turns else s.axis for s in here], axis=1)
        q = q + np.linalg.pinv(J, rcond=1e-7) @ off
    return best, least


def _curve(screw: Screw, p: Vector) -> Curve:
    """A point as its joint moves: a constant, and the vectors (3, 2) of cos and sin, or of q and q²."""
    if not screw.turns:
        return p, np.stack([screw.axis, np.zeros(3)], axis=1)
    arm = p - screw.point
    along = screw.axis * (screw.axis @ arm)
    return screw.point + along, np.stack([arm - along, np.cross(screw.axis, arm)], axis=1)


def _pairs(middle: Screw, start: Curve, wanted: Curve, turns: tuple[bool, bool]) -> list[tuple[float, float]]:
    """All (z, x) at which joint 2 can take one point to the other, and some at which it nearly can."""
    (a0, A), (b0, B) = (_invariants(middle, curve, turn) for curve, turn in zip((start, wanted), turns, strict=True))
    g = b0 - a0
    B = -B
    scale = np.maximum(np.abs(np.column_stack([A, B, g])).max(axis=1), 1e-12)
    A, B, g = A / scale[:, None], B / scale[:, None], g / scale
    smallest = [np.linalg.svd(M, compute_uv=False)[-1] for M in (A, B)]
    pairs = _solve_separately(A, B, g, turns) if max(smallest) < NEARLY else []
    if max(smallest) < SINGULAR:
        return pairs
    if smallest[0] > smallest[1]:
        return pairs + [(z, x) for x, z in _solve_jointly(B, A, g, (turns[1], turns[0]))]
    return pairs + _solve_jointly(A, B, g, turns)


def _invariants(middle: Screw, curve: Curve, turns: bool) -> tuple[Vector, Matrix]:
    """The invariants under joint 2 of a point on a curve: constants (2,), and factors (2, 2) of its two functions."""
    c, V = curve
    if not middle.turns:
        across = np.linalg.svd(middle.axis[None, :])[2][1:]
        return across @ c, across @ V
    arm = c - middle.point
    height, far = middle.axis @ V, 2 * arm @ V
    spread = V[:, 0] @ V[:, 0]  # the radius squared; of a slide the factor of q²
    constant = arm @ arm + (spread if turns else 0.0)
    far = far if turns else far + np.array([0.0, spread])
    return np.array([middle.axis @ arm, constant]), np.stack([height, far])


def _solve_jointly(A: Matrix, B: Matrix, g: Vector, turns: tuple[bool, bool]) -> list[tuple[float, float]]:
    """Pairs (z, x) with A u(z) + B w(x) = g, for a B that has an inverse."""
    back = np.linalg.inv(B)
    M, k = -back @ A, back @ g
    pairs = []
    for z in _roots(M, k, turns):
        w = k + M @ _functions(z, turns[0])
        pairs.append((z, float(np.arctan2(w[1], w[0])) if turns[1] else float(w[0])))
    return pairs


def _roots(M: Matrix, k: Vector, turns: tuple[bool, bool]) -> list[float]:
    """All z at which w = k + M u(z) lies on its curve."""
    if turns[0]:  # polynomials in exp(i z), times exp(i z): the constant is in the middle
        w = [np.array([(M[i, 0] - 1j * M[i, 1]) / 2, k[i], (M[i, 0] + 1j * M[i, 1]) / 2]) for i in range(2)]
        constant = 2
    else:
        w = [np.array([M[i, 1], M[i, 0], k[i]], complex) for i in range(2)]
        constant = 4
    if turns[1]:
        off = np.convolve(w[0], w[0]) + np.convolve(w[1], w[1])
        off[constant] -= 1
    else:
        off = -np.convolve(w[0], w[0])
        off[(1 if turns[0] else 2) :][:3] += w[1]
    if np.abs(off).max() < SINGULAR:
        return [SAMPLES[0]]
    off = np.where(np.abs(off) < 1e-14 * np.abs(off).max(), 0, off)
    roots = np.roots(off)
    if turns[0]:
        return [float(np.angle(root)) for root in roots if abs(abs(root) - 1) < OFF_CIRCLE]
    return [float(root.real) for root in roots if abs(root.imag) < OFF_CIRCLE * max(1.0, abs(root))]


def _solve_separately(A: Matrix, B: Matrix, g: Vector, turns: tuple[bool, bool]) -> list[tuple[float, float]]:
    """Pairs (z, x) with A u(z) + B w(x) = g, for A and B without an inverse: first z alone, then x."""
    U, s, _ = np.linalg.svd(B)
    seeing, blind = U.T  # the combination of both equations in which x is, and that in which it is not
    if s[0] < SINGULAR:  # x moves nothing: take the equation that says more of z
        rows = np.linalg.norm(A, axis=1)
        return [(z, SAMPLES[0]) for z in _solve_single(A[np.argmax(rows)], float(g[np.argmax(rows)]), turns[0])]

    def of(z: float) -> list[tuple[float, float]]:
        right = float(seeing @ (g - A @ _functions(z, turns[0])))
        return [(z, x) for x in _solve_single(seeing @ B, right, turns[1])]

    zs = _solve_single(blind @ A, float(blind @ g), turns[0])
    if np.linalg.norm(blind @ A) < SINGULAR and zs:  # any z, if x follows
        return next((pairs for z in SAMPLES if (pairs := of(z))), [])
    return [pair for z in zs for pair in of(z)]


def _solve_single(row: Vector, right: float, turns: bool) -> list[float]:
    """All q with row . u(q) = right, in one unknown; a sample where every q does."""
    if np.linalg.norm(row) < SINGULAR:
        return [SAMPLES[0]] if abs(right) < SINGULAR else []
    if not turns:
        return _roots(np.stack([[0, 0], row]), np.array([0.0, -right]), (False, False))
    return _cosines(row, right)


def _cosines(row: Vector, right: float) -> list[float]:
    """The angles with row . (cos, sin) = right, two or none."""
    cosine = right / np.linalg.norm(row)
    if abs(cosine) > 1 + MEET_TOLERANCE:
        return []
    ahead, aside = np.arctan2(row[1], row[0]), np.arccos(np.clip(cosine, -1, 1))
    return [float(ahead + aside), float(ahead - aside)]


def _functions(q: float, turns: bool) -> Vector:
    return np.array([np.cos(q), np.sin(q)]) if turns else np.array([q, q * q])
