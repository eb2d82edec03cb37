"""How near the compiler comes to its limits: taskset -c 0 python benchmarks/compiler_limits.py [--quick] [--plot FILE]

Claims, each measured here: code of about 1,000 operations runs at 35 % or more of the core's peak, which a kernel of
independent multiply-adds measures in the same run; compile time grows linearly with the graph, 1,000 nodes in at most
0.3 s and 100,000 in at most 25 s; a call of a trivial kernel costs at most 0.3 µs with out= and 0.5 µs without; a warm
start takes at most 50 ms beyond the import, and the import at most 0.25 s beyond NumPy's. Exit status 1 otherwise.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import multibody as mb
from multibody.geometry.operators import cross3
from multibody.tracing.graph.graph import flops

COUNT = 4096
rng = np.random.default_rng(0)


def least(function: Callable[[], Any], budget: float = 1.0) -> float:
    """The least time of a call within the budget."""
    function()
    best, end = np.inf, time.perf_counter() + budget
    while time.perf_counter() < end:
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def independent(x: Any, c: Any) -> Any:
    """A thousand multiply-adds in ten chains that do not wait for one another: what the core can do."""
    chains = [x[..., i] for i in range(10)]
    for _ in range(100):
        chains = [y * c[..., 0] + c[..., 1] for y in chains]
    return np.stack(chains, axis=-1)


def recursion(R: Any, w: Any, a: Any) -> Any:
    """Velocities and forces along a chain of seven bodies whose rotations are known."""
    offsets, inertias = OFFSETS, INERTIAS
    omega, alpha, forces = w[0], a[0], []
    for i in range(7):
        turned, turning = R[i].T @ omega + w[i], R[i].T @ alpha + a[i]
        linear = R[i].T @ (cross3(alpha, offsets[i]) + cross3(omega, cross3(omega, offsets[i])))
        omega, alpha = turned, turning + linear
        forces.append(inertias[i] @ alpha + cross3(omega, inertias[i] @ omega))
    total, joint = np.zeros_like(omega), []
    for i in reversed(range(7)):
        total = R[i] @ (total + forces[i] + cross3(offsets[i], forces[i]))
        joint.append(total[2])
    return np.stack(joint)


OFFSETS = rng.uniform(-0.3, 0.3, (7, 3))
INERTIAS = [np.diag(rng.uniform(0.1, 1, 3)) + 0.01 for _ in range(7)]


def rate(function: Callable[..., Any], *shapes: Any) -> tuple[float, int]:
    """Floating-point operations per nanosecond, and per sample."""
    kernel = mb.compile(function, *shapes)
    arrays = [rng.uniform(-0.5, 0.5, (COUNT, *np.atleast_1d(shape))) for shape in shapes]
    out = kernel(*arrays)
    work = flops(kernel.ops)
    return work * COUNT / least(lambda: kernel(*arrays, out=out)) / 1e9, work


def grown(links: int) -> Callable[..., Any]:
    """A function whose graph grows with the number of links."""
    turns, shifts = rng.uniform(-1, 1, (links, 3, 3)), rng.uniform(-1, 1, (links, 3))

    def function(q: Any, x: Any) -> Any:
        seen = []
        for i in range(links):
            x = (turns[i] @ x) * q[i % 7] + shifts[i]
            if i % 20 == 19:
                seen.append(x)
        return np.concatenate(seen)

    return function


def compile_times(sizes: list[int]) -> list[tuple[int, float]]:
    points = []
    for links in sizes:
        start = time.perf_counter()
        kernel = mb.compile(grown(links), 7, 3)
        points.append((sum(kernel.ops.values()), time.perf_counter() - start))
        print(f"  {points[-1][0]:7d} operations: {points[-1][1]:6.2f} s")
    return points


def start_times() -> tuple[float, float]:
    """Seconds of the import beyond NumPy's, and of a warm start beyond that; least of five processes."""
    code = (
        "import time, numpy as np; a = time.perf_counter(); import multibody as mb; b = time.perf_counter();"
        "import multibody.compiler.compile; c = time.perf_counter();"
        "k = mb.compile(mb.geometry.so3.exp, 3, key='benchmark'); k(np.ones(3)); d = time.perf_counter();"
        "print(b - a, d - c)"
    )
    with tempfile.TemporaryDirectory() as place:
        environment = {"MULTIBODY_CACHE_DIR": place, "PATH": ""}
        runs = [
            subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
            for _ in range(6)
        ]
    times = np.array([[float(x) for x in run.stdout.split()] for run in runs[1:]])
    return float(times[:, 0].min()), float(times[:, 1].min())


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="graphs of up to 10,000 nodes only")
    parser.add_argument("--plot", type=Path, help="save a picture of the compile times")
    options = parser.parse_args()
    mb.config.cache = False
    claims: list[tuple[str, bool]] = []

    peak, _ = rate(independent, 10, 2)
    speed, work = rate(recursion, (7, 3, 3), (7, 3), (7, 3))
    print(f"peak {peak:.1f} Gflop/s; recursion of {work} flops {speed:.1f} Gflop/s: {100 * speed / peak:.0f} % of it")
    claims.append(("35 % of the peak", speed >= 0.35 * peak))

    trivial = mb.compile(lambda x: 2.0 * x, 3)
    x, out = np.ones(3), np.empty(3)
    with_out = least(lambda: [trivial(x, out=out) for _ in range(1000)]) / 1000
    without = least(lambda: [trivial(x) for _ in range(1000)]) / 1000
    print(f"a call: {with_out * 1e6:.2f} µs with out=, {without * 1e6:.2f} µs without")
    claims.append(("0.3 µs and 0.5 µs a call", with_out <= 0.3e-6 and without <= 0.5e-6))

    imported, warm = start_times()
    print(f"import {imported:.3f} s beyond NumPy's; warm start {warm * 1e3:.1f} ms")
    claims.append(("import 0.25 s, warm start 50 ms", imported <= 0.25 and warm <= 0.05))

    print("compile time:")
    points = compile_times([85, 850] if options.quick else [85, 850, 8500, 25500])
    claims.append(("1,000 nodes in 0.3 s", points[0][1] <= 0.3 * max(1, points[0][0] / 1000)))
    if not options.quick:
        claims.append(("100,000 nodes in 25 s", points[2][1] <= 25 * max(1, points[2][0] / 100_000)))
    if options.plot:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6, 4), layout="constrained")
        axes = figure.subplots()
        axes.loglog(*zip(*points, strict=True), "o-", label="measured")
        nodes = np.array([n for n, _ in points])
        axes.loglog(nodes, points[-1][1] * nodes / nodes[-1], "--", color="0.6", label="linear")
        axes.set(xlabel="operations", ylabel="compile time [s]")
        axes.legend()
        figure.savefig(options.plot, dpi=110)
    for claim, holds in claims:
        print(f"{'ok   ' if holds else 'SHORT'} {claim}")
    return int(not all(holds for _, holds in claims))


if __name__ == "__main__":
    sys.exit(main())
