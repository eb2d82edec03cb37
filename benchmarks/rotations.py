"""Rotations beside SciPy's, in plain NumPy and in one run: python benchmarks/rotations.py [count]

The claim: over the conversions below, composition and application, the geometric mean of our time over SciPy's is at
most 1, and each is at most 3. Both start from and end at plain arrays. Exit status 1 when the claim does not hold.
"""

import math
import sys
import time
from collections.abc import Callable

import numpy as np
from scipy.spatial.transform import Rotation as SciPy

import multibody as mb

REPEATS = 7


def best(*functions: Callable[[], object]) -> list[float]:
    """The least time of each; they take turns, so that a noisy machine is unfair to none."""
    times = [math.inf] * len(functions)
    for _ in range(REPEATS):
        for k, function in enumerate(functions):
            start = time.perf_counter()
            function()
            times[k] = min(times[k], time.perf_counter() - start)
    return times


def main(count: int) -> int:
    rng = np.random.default_rng(0)
    matrix = SciPy.random(count, random_state=0).as_matrix()
    other = SciPy.random(count, random_state=1).as_matrix()
    vectors = rng.standard_normal((count, 3))
    scipy, scipy_other = SciPy.from_matrix(matrix), SciPy.from_matrix(other)
    ours, ours_other = mb.Rotation.from_matrix(matrix), mb.Rotation.from_matrix(other)
    xyzw, phi, zyx, zxz = scipy.as_quat(), scipy.as_rotvec(), scipy.as_euler("ZYX"), scipy.as_euler("ZXZ")
    R = mb.Rotation
    cases: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "matrix -> quaternion": (lambda: SciPy.from_matrix(matrix).as_quat(), lambda: R.from_matrix(matrix).xyzw),
        "quaternion -> matrix": (lambda: SciPy.from_quat(xyzw).as_matrix(), lambda: R.from_xyzw(xyzw).matrix),
        "quaternion -> rotation vector": (
            lambda: SciPy.from_quat(xyzw).as_rotvec(),
            lambda: R.from_xyzw(xyzw).rotation_vector,
        ),
        "rotation vector -> quaternion": (
            lambda: SciPy.from_rotvec(phi).as_quat(),
            lambda: R.from_rotation_vector(phi).xyzw,
        ),
        "matrix -> rotation vector": (
            lambda: SciPy.from_matrix(matrix).as_rotvec(),
            lambda: R.from_matrix(matrix).rotation_vector,
        ),
        "rotation vector -> matrix": (
            lambda: SciPy.from_rotvec(phi).as_matrix(),
            lambda: R.from_rotation_vector(phi).matrix,
        ),
        "matrix -> Euler zyx": (
            lambda: SciPy.from_matrix(matrix).as_euler("ZYX"),
            lambda: R.from_matrix(matrix).euler("zyx"),
        ),
        "Euler zyx -> matrix": (
            lambda: SciPy.from_euler("ZYX", zyx).as_matrix(),
            lambda: R.from_euler("zyx", zyx).matrix,
        ),
        "Euler zxz -> rotation vector": (
            lambda: SciPy.from_euler("ZXZ", zxz).as_rotvec(),
            lambda: R.from_euler("zxz", zxz).rotation_vector,
        ),
        "rotation vector -> Euler zxz": (
            lambda: SciPy.from_rotvec(phi).as_euler("ZXZ"),
            lambda: R.from_rotation_vector(phi).euler("zxz"),
        ),
        "composition": (lambda: scipy * scipy_other, lambda: ours @ ours_other),
        "application": (lambda: scipy.apply(vectors), lambda: ours @ vectors),
    }
    ratios = []
    print(f"{count} rotations, least of {REPEATS} turns\n{'':32s}{'SciPy':>10s}{'ours':>10s}{'ours / SciPy':>14s}")
    for name, (peer, mine) in cases.items():
        theirs, own = best(peer, mine)
        ratios.append(own / theirs)
        print(f"{name:32s}{theirs * 1e3:8.1f} ms{own * 1e3:8.1f} ms{own / theirs:14.2f}")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean {mean:.2f} (claim: at most 1), worst {max(ratios):.2f} (claim: at most 3)")
    return int(mean > 1 or max(ratios) > 3)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
