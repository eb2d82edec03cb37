"""Dense matrices in kernels: python benchmarks/dense.py [--batch N] [--budget S]

Products, solutions and factorizations of matrices of 30 to 60 rows, beside NumPy's batched ones, and JAX's where it is
installed (on the processor, in double precision), in one run on one core. Results are checked against NumPy's before
they are timed. The transfer is a copy of the arguments and of the results alone. Times are least ones of turns, a
sample of a batch; compilation is in seconds of the processor's time, from nothing. The claims: the speed-ups over
NumPy that are named, 1e-10 of the results, and compilation within a second, two for A^T A + 1 and its solution; else
status 1.
"""

import argparse
import importlib.util
import os
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MULTIBODY_CACHE_MODE", "off")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np
from _robots import least, one_core

import multibody as mb


class Case(NamedTuple):
    """A function for one sample, and what is claimed of it."""

    function: Callable[..., Any]
    shapes: list[tuple[int, ...]]
    numpy: Callable[..., Any]
    """The same for a batch, in NumPy or in jax.numpy, which is its first argument."""
    definite: bool = False
    speedup: float = 0.0
    seconds: float = 1.0


def columns(xp: Any, A: Any, b: Any) -> Any:
    return xp.linalg.solve(A, b[..., None])[..., 0]


def normal(xp: Any, A: Any) -> Any:
    return xp.swapaxes(A, -1, -2) @ A + xp.eye(A.shape[-1])


CASES = {
    "A B, 48 x 48": Case(lambda A, B: A @ B, [(48, 48), (48, 48)], lambda _, A, B: A @ B),
    "A^T A, 60 x 30": Case(lambda A: A.T @ A, [(60, 30)], lambda xp, A: xp.swapaxes(A, -1, -2) @ A),
    "A^T A + 1 and its solution, 60 x 30": Case(
        lambda A, b: mb.linalg.solve(A.T @ A + np.eye(30), b, definite=True), [(60, 30), (30,)],
        lambda xp, A, b: columns(xp, normal(xp, A), b), speedup=3.0, seconds=2.0,
    ),
    "definite solution, 30 x 30": Case(
        lambda A, b: mb.linalg.solve(A, b, definite=True), [(30, 30), (30,)], columns, definite=True, speedup=4.0
    ),
    "general solution, 30 x 30": Case(np.linalg.solve, [(30, 30), (30,)], columns, speedup=3.0),
    "general solution, 48 x 48": Case(np.linalg.solve, [(48, 48), (48,)], columns),
    "inverse, 30 x 30": Case(np.linalg.inv, [(30, 30)], lambda xp, A: xp.linalg.inv(A)),
    "Cholesky, 48 x 48": Case(
        np.linalg.cholesky, [(48, 48)], lambda xp, A: xp.linalg.cholesky(A), definite=True, speedup=3.0
    ),
}  # fmt: skip


def arguments(case: Case, batch: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((batch, *shape)) for shape in case.shapes]
    if case.definite:
        arrays[0] = arrays[0] @ arrays[0].swapaxes(1, 2) + np.eye(arrays[0].shape[-1])
    elif case.shapes[0][0] == case.shapes[0][-1]:  # so that 1e-10 is a matter of the method, not of the matrix
        arrays[0] = arrays[0] + 2 * case.shapes[0][0] ** 0.5 * np.eye(case.shapes[0][0])
    return arrays


def jax_calls(case: Case, arrays: list[np.ndarray]) -> dict[str, Callable[[], Any]]:
    if importlib.util.find_spec("jax") is None:
        return {}
    import jax

    jax.config.update("jax_enable_x64", True)
    compiled, on_device = jax.jit(lambda *x: case.numpy(jax.numpy, *x)), [jax.numpy.asarray(x) for x in arrays]
    return {"JAX": lambda: compiled(*on_device).block_until_ready()}


def measure(name: str, case: Case, batch: int, budget: float) -> bool:
    """Print a line; whether the claims hold."""
    arrays = arguments(case, batch)
    begun = time.process_time()
    kernel = mb.compile(case.function, *case.shapes)
    seconds = time.process_time() - begun
    out, expected = kernel(*arrays), case.numpy(np, *arrays)
    error = np.abs(out - expected).max() / np.abs(expected).max()
    copies = [np.empty_like(x) for x in (*arrays, out)]

    def transfer() -> None:
        for copy, array in zip(copies, (*arrays, out), strict=True):
            np.copyto(copy, array)

    calls: dict[str, Callable[[], Any]] = {
        "ours": lambda: kernel(*arrays, out=out), "NumPy": lambda: case.numpy(np, *arrays), "transfer": transfer
    } | jax_calls(case, arrays)  # fmt: skip
    times = least(calls, budget)
    ratio = times["NumPy"] / times["ours"]
    holds = ratio >= case.speedup and error <= 1e-10 and seconds <= case.seconds
    shown = "  ".join(f"{who} {times[who] / batch * 1e6:7.2f}" for who in times)
    claim = f"at least {case.speedup:g}x" if case.speedup else "no claim of speed"
    print(
        f"{name:<36} {shown}  {ratio:5.1f}x ({claim}), error {error:.0e}, compiled in {seconds:.2f} s: "
        f"{'holds' if holds else 'DOES NOT HOLD'}"
    )
    return holds


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--budget", type=float, default=0.6, help="seconds for each figure")
    options = parser.parse_args()
    one_core()
    mb.compile(lambda x: x + 1.0, ())  # LLVM's own start is not the matrices'
    print(f"µs a sample of a batch of {options.batch}")
    holds = [measure(name, case, options.batch, options.budget) for name, case in CASES.items()]
    return int(not all(holds))


if __name__ == "__main__":
    sys.exit(main())
