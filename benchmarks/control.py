"""Claim: quadratic programs in microseconds, as exact as the best: python benchmarks/control.py [--quick] [part ...]

Parts: qp, dense programs of 12 unknowns and 32 two-sided rows, in a batch and alone, beside DAQP and PIQP on the same
problems in the same run, all of them held to residuals of the conditions of optimality of 1e-8; whole, whole bodies
beside DAQP, PIQP and TSID (whole_body.py). Exit status 1 when a claim does not hold.
"""

import sys
import time
from collections.abc import Callable

import daqp
import numpy as np
import piqp
import whole_body

from multibody import control

UNKNOWNS, ROWS = 12, 32
RESIDUALS_WITHIN, OBJECTIVE_WITHIN = 1e-8, 1e-8
BATCH_WITHIN = 15e-6
"""Seconds for a program of a batch, on one idle core with AVX2."""
BATCH_OF_PEERS = 1.0
"""The share of the time of the faster of the two peers that a program of a batch takes at most."""
failed: list[str] = []


def claim(what: str, value: float, bar: float) -> None:
    """Print a figure beside its bar."""
    print(f"  {'ok  ' if value <= bar else 'FAIL'} {what}: {value:.3g} (at most {bar:.3g})")
    if not value <= bar:
        failed.append(what)


def least(function: Callable[[], object], repeats: int) -> float:
    """The least CPU time of some calls, in s."""
    times = []
    for _ in range(repeats):
        began = time.thread_time()
        function()
        times.append(time.thread_time() - began)
    return min(times)


# ---- quadratic programs ----------------------------------------------------------------------------------------------


def dense_programs(rng: np.random.Generator, count: int) -> list[np.ndarray]:
    """(H, g, C, lower, upper), feasible and strictly convex; about as many rows are active as there are unknowns."""
    F = rng.standard_normal((count, UNKNOWNS, UNKNOWNS)) * 10 ** rng.uniform(-1, 1, (count, UNKNOWNS, 1))
    H = np.swapaxes(F, 1, 2) @ F + 1e-2 * np.eye(UNKNOWNS)
    C, x = rng.standard_normal((count, ROWS, UNKNOWNS)), rng.standard_normal((count, UNKNOWNS, 1))
    middle = (C @ x)[..., 0]
    lower, upper = (middle + sign * rng.exponential(1, (count, ROWS)) for sign in (-1, 1))
    return [H, rng.standard_normal((count, UNKNOWNS)) * 3, C, lower, upper]


def by_daqp(H: np.ndarray, g: np.ndarray, C: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """DAQP, with the tolerances that the residuals need."""
    return daqp.solve(H, g, C, upper, lower, np.zeros(ROWS, np.int32), primal_tol=1e-9, dual_tol=1e-12, is_avi=False)[0]


def by_piqp(H: np.ndarray, g: np.ndarray, C: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """PIQP, likewise."""
    solver = piqp.DenseSolver()
    settings = solver.settings
    settings.eps_abs = settings.eps_rel = settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = 1e-10
    solver.setup(H, g, None, None, C, lower, upper, None, None)
    solver.solve()
    return solver.result.x


def qp(*, quick: bool) -> None:
    """Programs in a batch and alone."""
    count, repeats = (256, 20) if quick else (2048, 60)
    problem = dense_programs(np.random.default_rng(0), count)
    H, g, C, lower, upper = problem
    began = time.process_time()
    answer = control.qp(H, g, C=C, lower=lower, upper=upper)
    took = time.process_time() - began
    singles = [tuple(np.ascontiguousarray(part[k]) for part in problem) for k in range(64)]
    small = [part[:64] for part in problem]

    def alone(**options: str) -> None:
        for H, g, C, lower, upper in singles:
            control.qp(H, g, C=C, lower=lower, upper=upper, **options)

    def ours(H: np.ndarray, g: np.ndarray, C: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> object:
        return control.qp(H, g, C=C, lower=lower, upper=upper)

    batch = least(lambda: ours(*small), 20 * repeats) / 64
    one, one_daqp = (least(run, repeats) / 64 for run in (alone, lambda: alone(solver="daqp")))
    theirs = {
        name: least(lambda solve=solve: [solve(*single) for single in singles], repeats) / 64
        for name, solve in (("DAQP", by_daqp), ("PIQP", by_piqp))
    }
    active = np.mean(np.sum(np.abs(answer.multipliers.inequality) > 1e-6, axis=1))
    print(
        f"{UNKNOWNS} unknowns, {ROWS} dense two-sided rows, {active:.1f} of them active; first call {took:.1f} s of CPU"
    )
    print(
        f"  a program in a batch {batch * 1e6:.1f} us, alone {one * 1e6:.0f} us, "
        f"alone with solver='daqp' {one_daqp * 1e6:.0f} us"
    )
    print("  " + ", ".join(f"{name} from Python {seconds * 1e6:.0f} us" for name, seconds in theirs.items()))
    for name, value in zip(answer.residuals._fields[:3], answer.residuals[:3], strict=True):
        claim(f"{name} of {count} answers", float(value.max()), RESIDUALS_WITHIN)
    values = [
        [x @ H @ x / 2 + g @ x for x in (mine, solve(H, g, *rest))]
        for (H, g, *rest), mine in zip(singles, answer.x, strict=False)
        for solve in (by_daqp, by_piqp)
    ]
    claim("objective beside both, relative", max(abs(a - b) / max(1.0, abs(b)) for a, b in values), OBJECTIVE_WITHIN)
    claim("time in a batch, in s", batch, BATCH_WITHIN)
    claim("time in a batch, as a share of the faster peer's", batch / min(theirs.values()), BATCH_OF_PEERS)


def whole(*, quick: bool) -> None:
    """Whole bodies."""
    del quick
    if whole_body.main():
        failed.append("whole bodies")


PARTS: dict[str, Callable[..., None]] = {"qp": qp, "whole": whole}


def main(arguments: list[str]) -> int:
    """Print figures beside peers, of the parts that are named, or of all."""
    chosen = [name for name in arguments if name in PARTS] or list(PARTS)
    for name in chosen:
        PARTS[name](quick="--quick" in arguments)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
