"""Kernels beside heyoka, JAX, CasADi and numba in one run: taskset -c 0 python benchmarks/compiler_peers.py

Three functions, a batch of 4096, arrays reused. heyoka's cfunc and CasADi's map are given the very operations of our
graph; JAX the NumPy function itself; numba loops written by hand. Claims, as the peer's time over ours: heyoka 1.3,
JAX 3, CasADi 10, numba 1.3. Exit status 1 when one does not hold. Peers that are not installed are left out, which is
said (`pip install -e .[bench]`).
"""

import importlib.util
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from peers.casadi import function_of
from peers.heyoka import over_batch

import multibody as mb
from multibody.tracing.graph.graph import flops
from multibody.tracing.record.trace import Trace, trace

COUNT = 4096
CLAIMS = {"heyoka": 1.3, "jax": 3.0, "casadi": 10.0, "numba": 1.3}
rng = np.random.default_rng(0)
OFFSETS = [(mb.Rotation.random(rng).matrix, rng.uniform(-0.3, 0.3, 3)) for _ in range(7)]


def quaternions(q: Any, p: Any, r: Any, xp: Any = np) -> Any:
    """The product of two quaternions, and a vector rotated by the first."""

    def product(a: Any, b: Any) -> Any:
        return xp.stack([
            a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
            a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
            a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
        ])  # fmt: skip

    u = xp.stack([q[1], q[2], q[3]])
    t = 2.0 * xp.cross(u, r)
    return xp.concatenate([product(q, p), r + q[0] * t + xp.cross(u, t)])


def chain(q: Any, xp: Any = np) -> Any:
    """The position and the rotation of the end of a chain of seven revolute joints."""
    R, p = xp.eye(3), xp.zeros(3)
    for i, (offset, shift) in enumerate(OFFSETS):
        p = p + R @ shift
        R = R @ offset
        c, s = xp.cos(q[i]), xp.sin(q[i])
        R = xp.stack([R[:, 0] * c + R[:, 1] * s, R[:, 1] * c - R[:, 0] * s, R[:, 2]], axis=1)
    return xp.concatenate([p, R.reshape(9)])


def system(A: Any, b: Any, xp: Any = np) -> Any:
    """The solution of a symmetric positive definite system of six equations, from the lower triangle of its matrix."""
    rows = [[A[max(i, j) * (max(i, j) + 1) // 2 + min(i, j)] for j in range(6)] for i in range(6)]
    return xp.linalg.solve(xp.stack([xp.stack(row) for row in rows]), b)


def best(functions: dict[str, Callable[[], Any]], budget: float = 1.5) -> dict[str, float]:
    """The least time of each; they take turns of twenty calls: a noisy machine is unfair to none, and all are warm."""
    times = dict.fromkeys(functions, math.inf)
    for function in functions.values():
        function()
    end = time.perf_counter() + budget * len(functions)
    while time.perf_counter() < end:
        for name, function in functions.items():
            for _ in range(20):
                start = time.perf_counter()
                function()
                times[name] = min(times[name], time.perf_counter() - start)
    return times


def with_heyoka(traced: Trace, arrays: list[np.ndarray], out: np.ndarray) -> Callable[[], Any]:
    run, result = over_batch(traced, arrays)
    run()
    np.testing.assert_allclose(result.T, out, atol=1e-12)
    return run


def with_casadi(traced: Trace, arrays: list[np.ndarray], out: np.ndarray) -> Callable[[], Any]:
    function = function_of(traced).map(COUNT)
    np.testing.assert_allclose(np.array(function(*(a.T for a in arrays))).T, out, atol=1e-12)
    buffer, run = function.buffer()
    stored = [np.asfortranarray(a.T) for a in arrays]
    for i, a in enumerate(stored):
        buffer.set_arg(i, memoryview(a.T.reshape(-1)))
    result = np.zeros(out.T.shape, order="F")
    buffer.set_res(0, memoryview(result.T.reshape(-1)))
    return lambda keep=(buffer, stored, result): run()  # noqa: ARG005  the buffer does not own its memory


def with_jax(function: Callable[..., Any], arrays: list[np.ndarray], out: np.ndarray) -> Callable[[], Any]:
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    batched = jax.jit(jax.vmap(lambda *x: function(*x, xp=jnp)))
    inputs = [jnp.asarray(a) for a in arrays]
    np.testing.assert_allclose(np.asarray(batched(*inputs)), out, atol=1e-11)
    return lambda: batched(*inputs).block_until_ready()


def with_numba(name: str, arrays: list[np.ndarray], out: np.ndarray) -> Callable[[], Any]:
    import _numba_loops as numba_loops  # beside this file

    function, result = getattr(numba_loops, name), np.empty_like(out)
    extra = [np.stack([o for o, _ in OFFSETS]), np.stack([s for _, s in OFFSETS])] if name == "chain" else []
    function(*arrays, *extra, result)
    np.testing.assert_allclose(result, out, atol=1e-11)
    return lambda: function(*arrays, *extra, result)


def uniform(n: int) -> np.ndarray:
    return rng.uniform(-1, 1, (COUNT, n))


def main() -> int:
    S = rng.uniform(-1, 1, (COUNT, 6, 6))
    S = S @ np.swapaxes(S, 1, 2) + np.eye(6)
    lower = np.stack([S[:, i, j] for i in range(6) for j in range(i + 1)], axis=1)
    cases = {
        "quaternions": (quaternions, [uniform(4), uniform(4), uniform(3)]),
        "chain": (chain, [uniform(7)]),
        "system": (system, [lower, uniform(6)]),
    }
    peers = [name for name in CLAIMS if importlib.util.find_spec(name)]
    missing = [name for name in CLAIMS if name not in peers]
    print(f"batch of {COUNT}, ns per evaluation; not installed: {', '.join(missing) or 'none'}")
    short = 0
    for name, (function, arrays) in cases.items():
        shapes = [a.shape[1:] for a in arrays]
        kernel, traced = mb.compile(function, *shapes), trace(function, shapes)
        out = kernel(*arrays)
        build = {
            "heyoka": lambda t=traced, a=arrays, o=out: with_heyoka(t, a, o),
            "casadi": lambda t=traced, a=arrays, o=out: with_casadi(t, a, o),
            "jax": lambda f=function, a=arrays, o=out: with_jax(f, a, o),
            "numba": lambda n=name, a=arrays, o=out: with_numba(n, a, o),
        }
        runs = {"ours": lambda k=kernel, a=arrays, o=out: k(*a, out=o)} | {peer: build[peer]() for peer in peers}
        times = best(runs)
        print(f"{name:12s} ours {times['ours'] / COUNT * 1e9:7.1f} ({flops(kernel.ops)} flops)", end="")
        for peer in peers:
            ratio = times[peer] / times["ours"]
            short += ratio < CLAIMS[peer]
            print(f"   {peer} {times[peer] / COUNT * 1e9:7.1f} ({ratio:.1f}x, claim {CLAIMS[peer]})", end="")
        print()
    print(f"{short} claims short")
    return int(short > 0)


if __name__ == "__main__":
    sys.exit(main())
