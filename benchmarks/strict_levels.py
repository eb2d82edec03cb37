"""Claim: reduced bases solve strict levels of a legged robot faster: python benchmarks/strict_levels.py

The same random levels by both forms of `multibody.solvers.strict_levels`, in one kernel each: 12 unknowns (torques of a
quadruped), levels of 6 and 4 rows, then the least norm, within 12 two-sided and 20 one-sided bounds. In one batch all
samples are within bounds, in the other all reach some. Both forms are held to the same results. Exit status 1 when a
claim does not hold.
"""

import sys
import time

import numpy as np

import multibody as mb
from multibody.solvers.program import Bounds
from multibody.solvers.strict_levels import projection, reduced_bases
from multibody.solvers.strict_levels.reduced_bases import LevelSize, ReducedState

UNKNOWNS, ROWS, TWO_SIDED, ONE_SIDED, BATCH = 12, (6, 4), 12, 20, 64
MISS_WITHIN = 1e-7
"""The difference of the residuals of levels, relative to their largest."""
NAMES = ["A1", "b1", "A2", "b2", "C", "lower", "upper"]
SHAPES = [
    *(shape for rows in ROWS for shape in ((rows, UNKNOWNS), (rows,))),
    (TWO_SIDED + ONE_SIDED, UNKNOWNS),
    (TWO_SIDED,),
    (TWO_SIDED + ONE_SIDED,),
]


def by_projection(A1, b1, A2, b2, C, lower, upper):
    """Both levels and the least norm, in the full dimension."""
    lower = np.concatenate([lower, np.full_like(upper[..., TWO_SIDED:], -np.inf)], axis=-1)
    return projection.solve_within([(A1, b1), (A2, b2)], Bounds(C, lower, upper))


def by_reduction(A1, b1, A2, b2, C, lower, upper):
    """The same in reduced bases, whose sizes are known."""
    bounds, left = Bounds(C, lower, upper).normalized(), UNKNOWNS
    state = ReducedState.free(np.zeros_like(A1[..., 0, :]))
    for A, b in ((A1, b1), (A2, b2)):
        rows = A.shape[-2]
        left -= rows
        state = reduced_bases.solve_level(A, b, np.ones_like(b[..., 0]), state, bounds, LevelSize(rows, left, rows))
    return reduced_bases.minimise_norm(state, bounds).x


def problems(rng: np.random.Generator, size: float) -> list[np.ndarray]:
    """Levels whose targets have a size, and bounds that zero meets."""
    parts = []
    for rows in ROWS:
        parts += [rng.standard_normal((BATCH, rows, UNKNOWNS)), size * rng.standard_normal((BATCH, rows))]
    C = rng.standard_normal((BATCH, TWO_SIDED + ONE_SIDED, UNKNOWNS))
    C[:, :TWO_SIDED] = np.eye(UNKNOWNS)
    upper = rng.uniform(0.5, 1.5, (BATCH, TWO_SIDED + ONE_SIDED))
    return [*parts, C, -upper[:, :TWO_SIDED], upper]


def least(kernel: object, arrays: list[np.ndarray]) -> float:
    """The least CPU time of a sample, in s."""
    times = []
    for _ in range(300):
        began = time.thread_time()
        kernel(*arrays)
        times.append(time.thread_time() - began)
    return min(times) / BATCH


def main() -> int:
    """Print figures of both forms."""
    kernels = {f: mb.compile(f, *SHAPES, names=NAMES) for f in (by_projection, by_reduction)}
    failed = False
    for what, size in (("within bounds", 0.05), ("at bounds", 3.0)):
        arrays = problems(np.random.default_rng(0), size)
        xs = [kernel(*arrays) for kernel in kernels.values()]
        times = [least(kernel, arrays) for kernel in kernels.values()]
        misses = [
            [np.linalg.norm((A @ x[..., None])[..., 0] - b, axis=1) for A, b in (arrays[:2], arrays[2:4])] for x in xs
        ]
        apart = np.abs(np.array(misses[0]) - misses[1]).max() / max(1.0, np.max(misses))
        ok = apart <= MISS_WITHIN and times[1] <= times[0]
        failed |= not ok
        print(
            f"{'ok  ' if ok else 'FAIL'} {what}: full dimension {times[0] * 1e6:.1f} us, reduced bases "
            f"{times[1] * 1e6:.1f} us a sample; levels differ by {apart:.1e}"
        )
    return failed


if __name__ == "__main__":
    sys.exit(main())
