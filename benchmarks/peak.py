"""The fraction of the core's peak at which inverse dynamics runs: python benchmarks/peak.py

The peak is what a kernel of independent multiply-adds reaches in the same run (compiler_limits.py); work is counted as
additions, multiplications and divisions, a fused multiply-add as two, sines and cosines as none. The claims: for Panda
at least 35 % of the peak, and at most 1,030 operations for its inverse dynamics and 2.1 times as many for ABA, the
articulated body algorithm; for forward dynamics 2.1 times what inverse dynamics takes, and for the derivatives by q and
v 5 times. ABA is counted by itself, since forward dynamics takes whichever of two ways is shorter: for Panda that is
through the factors of the mass matrix. Exit status 1 when one does not hold.
"""

import sys

import numpy as np
from _robots import CASES, least, load, one_core
from compiler_limits import independent

import multibody as mb
from multibody.algorithms.aba import aba
from multibody.tracing.graph.graph import flops

COUNT = 1024
FRACTION = 0.35
OPERATIONS = 1030
ABA = 2.1
CLAIMS = {"forward_dynamics": 2.1, "inverse_dynamics_derivatives": 5.0}


def aba_of(robot: mb.Robot) -> mb.Kernel:
    """The kernel of the articulated body algorithm, whatever forward dynamics takes."""
    return mb.compile(lambda q, v, tau: aba(robot.tree, q, v, tau), robot.nq, robot.nv, robot.nv)


def main() -> int:
    one_core()
    rng = np.random.default_rng(0)
    peak = mb.compile(independent, 10, 2)
    x, c = rng.uniform(-0.5, 0.5, (COUNT, 10)), rng.uniform(-0.5, 0.5, (COUNT, 2))
    x_out = peak(x, c)
    kernels, calls = {"peak": peak}, {"peak": lambda: peak(x, c, out=x_out)}
    robots = {name: load(name) for name in CASES}
    for name, robot in robots.items():
        kernel = kernels[name] = robot.kernel("inverse_dynamics")
        arrays = robot.random(rng, (COUNT,)), *rng.standard_normal((2, COUNT, robot.nv))
        out = kernel(*arrays)
        calls[name] = lambda kernel=kernel, arrays=arrays, out=out: kernel(*arrays, out=out)
    times = least(calls, 1.5)
    speeds = {name: flops(kernels[name].ops) * COUNT / times[name] / 1e9 for name in calls}
    print(f"peak: {speeds['peak']:.1f} Gflop/s")
    for name in CASES:
        share = 100 * speeds[name] / speeds["peak"]
        print(
            f"{name:8s} inverse dynamics: {flops(kernels[name].ops):6d} flops, {times[name] / COUNT * 1e9:6.1f} ns, "
            f"{speeds[name]:5.1f} Gflop/s: {share:.0f} % of the peak"
        )
    work, share_of_panda = flops(kernels["panda"].ops), speeds["panda"] / speeds["peak"]
    claims = [
        (f"35 % of the peak for panda: {share_of_panda:.2f}", share_of_panda >= FRACTION),
        (f"{OPERATIONS} operations for panda's inverse dynamics: {work}", work <= OPERATIONS),
    ]
    alone = flops(aba_of(robots["panda"]).ops)
    told = f"{alone}, {alone / work:.3f} times our inverse dynamics"
    claims.append((f"{ABA} times {OPERATIONS} operations for panda's ABA: {told}", alone <= ABA * OPERATIONS))
    for what, most in CLAIMS.items():
        ratio = flops(robots["panda"].kernel(what).ops) / work
        claims.append((f"{what} of panda at most {most} times that: {ratio:.2f}", ratio <= most))
    for claim, holds in claims:
        print(f"{'ok   ' if holds else 'SHORT'} {claim}")
    return int(not all(holds for _, holds in claims))


if __name__ == "__main__":
    sys.exit(main())
