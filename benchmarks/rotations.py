"""Rotations beside SciPy's, in plain NumPy and compiled, in one run: python benchmarks/rotations.py [count]

The claims: over the conversions below, composition and application, the geometric mean of our time over SciPy's is at
most 1 in plain NumPy, and each is at most 3; compiled, the mean is at most 0.5. All start from and end at plain arrays.
Exit status 1 when a claim does not hold.
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
    conversions: dict[str, tuple[np.ndarray, Callable[[np.ndarray], object], Callable[[np.ndarray], object]]] = {
        "matrix -> quaternion": (matrix, lambda m: SciPy.from_matrix(m).as_quat(), lambda m: R.from_matrix(m).xyzw),
        "quaternion -> matrix": (xyzw, lambda q: SciPy.from_quat(q).as_matrix(), lambda q: R.from_xyzw(q).matrix),
        "quaternion -> rotation vector": (
            xyzw,
            lambda q: SciPy.from_quat(q).as_rotvec(),
            lambda q: R.from_xyzw(q).rotation_vector,
        ),
        "rotation vector -> quaternion": (phi, lambda v: SciPy.from_rotvec(v).as_quat(), lambda v: R.exp(v).xyzw),
        "matrix -> rotation vector": (
            matrix,
            lambda m: SciPy.from_matrix(m).as_rotvec(),
            lambda m: R.from_matrix(m).rotation_vector,
        ),
        "rotation vector -> matrix": (phi, lambda v: SciPy.from_rotvec(v).as_matrix(), lambda v: R.exp(v).matrix),
        "matrix -> Euler zyx": (
            matrix,
            lambda m: SciPy.from_matrix(m).as_euler("ZYX"),
            lambda m: R.from_matrix(m).euler("zyx"),
        ),
        "Euler zyx -> matrix": (
            zyx,
            lambda chi: SciPy.from_euler("ZYX", chi).as_matrix(),
            lambda chi: R.from_euler("zyx", chi).matrix,
        ),
        "Euler zxz -> rotation vector": (
            zxz,
            lambda chi: SciPy.from_euler("ZXZ", chi).as_rotvec(),
            lambda chi: R.from_euler("zxz", chi).rotation_vector,
        ),
        "rotation vector -> Euler zxz": (
            phi,
            lambda v: SciPy.from_rotvec(v).as_euler("ZXZ"),
            lambda v: R.exp(v).euler("zxz"),
        ),
    }
    compose = mb.compile(lambda a, b: a @ b, (3, 3), (3, 3))
    apply = mb.compile(lambda a, v: a @ v, (3, 3), 3)
    cases: dict[str, tuple[Callable[[], object], ...]] = {
        "composition": (
            lambda: scipy * scipy_other,
            lambda: ours @ ours_other,
            lambda: compose(matrix, other),
        ),
        "application": (lambda: scipy.apply(vectors), lambda: ours @ vectors, lambda: apply(matrix, vectors)),
    }
    for name, (array, peer, mine) in conversions.items():
        kernel = mb.compile(mine, array.shape[1:], names=["x"])
        np.testing.assert_allclose(kernel(array[:100]), mine(array[:100]), atol=1e-12)
        cases[name] = (lambda f=peer, x=array: f(x), lambda f=mine, x=array: f(x), lambda f=kernel, x=array: f(x))
    ratios = []
    print(f"{count} rotations, least of {REPEATS} turns, time over SciPy's")
    print(f"{'':32s}{'SciPy':>10s}{'NumPy':>9s}{'compiled':>10s}")
    for name, functions in cases.items():
        theirs, plain, compiled = best(*functions)
        ratios.append((plain / theirs, compiled / theirs))
        print(f"{name:32s}{theirs * 1e3:7.1f} ms{plain / theirs:9.2f}{compiled / theirs:10.2f}")
    plain, compiled = (math.exp(sum(map(math.log, column)) / len(ratios)) for column in zip(*ratios, strict=True))
    worst = max(ratio for ratio, _ in ratios)
    print(f"geometric mean: NumPy {plain:.2f} (claim 1), compiled {compiled:.2f} (claim 0.5)")
    print(f"worst, in NumPy: {worst:.2f} (claim 3)")
    return int(plain > 1 or worst > 3 or compiled > 0.5)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
