"""Derived equations beside the recursive algorithm and SymPy: python benchmarks/derive.py [--rounds 5]

The planar arm with three hinges; lengths, centres of mass, masses, inertias and gravity are symbols. Operations are
those of the graph that is compiled, sines and cosines among them, with a fused multiply-add as two. Inverse dynamics by
Lagrange and by projected Newton-Euler stands beside the library's `rnea`, traced with the same symbols; forward
dynamics x' = f(x, τ), from the system to a compiled function, beside SymPy's `LagrangesMethod`, whose mass matrix and
forcing become a function by `lambdify(cse=True)` and a solution by NumPy, as SymPy's documentation does it, or whose
`rhs()` does. Times are least ones of fresh processes that take turns, without imports and without what a first call of
`lambdify` or `mb.compile` sets up. All are checked against the articulated-body algorithm first.

The claims: inverse dynamics takes at most twice the operations of `rnea`; forward dynamics takes a third of SymPy's
operations and a third of its time. Exit status 1 when one does not hold.
"""

import argparse
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp
from sympy.physics import mechanics

import multibody as mb
from multibody import derive
from multibody.algorithms.aba import aba
from multibody.algorithms.rnea import rnea
from multibody.compiler.kernel import Kernel
from multibody.derive.algebra.simplify import count
from multibody.geometry._arrays import vector
from multibody.model.robots import planar_arm
from multibody.tracing.graph.graph import flops

METHODS = ("lagrange", "projected-newton-euler")
MOST_OPERATIONS, LEAST_SPEEDUP, LEAST_SAVING = 2.0, 3.0, 3.0
LENGTHS, CENTRES, MASSES, INERTIAS = (derive.symbols(f"{x}1 {x}2 {x}3") for x in "lcmI")
GRAVITY = derive.symbols("g")[0]
PARAMETERS = sorted((*CENTRES, *INERTIAS, *LENGTHS[:2], *MASSES, GRAVITY), key=str)
TORQUES = derive.symbols("tau1 tau2 tau3")


# ---- the arm, three times --------------------------------------------------------------------------------------------


def system() -> derive.System:
    """The arm as a system of `multibody.derive`."""
    q = derive.coordinates("q1 q2 q3")
    angle, joint, bodies = sp.Integer(0), sp.zeros(3, 1), []
    for k in range(3):
        angle += q[k]
        R = derive.rotation_y(angle)
        centre = joint + R * sp.Matrix([0, 0, CENTRES[k]])
        bodies.append(derive.Body(f"link{k + 1}", MASSES[k], centre, R, sp.diag(0, INERTIAS[k], 0)))
        joint += R * sp.Matrix([0, 0, LENGTHS[k]])
    loads = [derive.Generalized(derive.rate(x), u) for x, u in zip(q, TORQUES, strict=True)]
    return derive.System("3R", q, bodies, gravity=(0, 0, -GRAVITY), loads=loads)


def recursive(algorithm: Callable[..., Any]) -> Kernel:
    """A kernel of an algorithm of the library, of q, v, a or τ, and the parameters."""
    model = planar_arm.build().model()

    def function(q: Any, v: Any, x: Any, parameters: Any) -> Any:
        p = {s: parameters[..., k] for k, s in enumerate(PARAMETERS)}
        none = np.zeros_like(q[..., 0])
        inertias, places = [], []
        for k, (m, c, I) in enumerate(zip(MASSES, CENTRES, INERTIAS, strict=True)):
            inertias.append(
                vector(p[m], none, none, p[m] * p[c], none, none, p[I] + p[m] * p[c] ** 2, none, none, none)
            )
            places.append(vector(none, none, p[LENGTHS[k - 1]] if k else none, none + 1, none, none, none))
        other = model.tree.with_values(
            inertias=np.stack(inertias, -2),
            placements=np.stack(places, -2),
            gravity=vector(none, none, -p[GRAVITY]),
        )
        return algorithm(other, q, v, x)

    return mb.compile(function, 3, 3, 3, len(PARAMETERS))


def lagranges_method() -> tuple[mechanics.LagrangesMethod, dict[Any, Any]]:
    """SymPy's equations, and the symbols that replace functions of time in them."""
    q, q_dot = mechanics.dynamicsymbols("q1:4"), mechanics.dynamicsymbols("q1:4", 1)
    N, joint = mechanics.ReferenceFrame("N"), mechanics.Point("O")
    joint.set_vel(N, 0)
    origin, frames, bodies = joint, [N], []
    for k in range(3):
        B = frames[-1].orientnew(f"B{k}", "Axis", [q[k], frames[-1].y])
        centre = joint.locatenew(f"C{k}", CENTRES[k] * B.z)
        centre.v2pt_theory(joint, N, B)
        inertia = mechanics.inertia(B, 0, INERTIAS[k], 0)
        bodies.append(mechanics.RigidBody(f"link{k}", centre, B, MASSES[k], (inertia, centre)))
        bodies[-1].potential_energy = MASSES[k] * GRAVITY * centre.pos_from(origin).dot(N.z)
        tip = joint.locatenew(f"P{k}", LENGTHS[k] * B.z)
        tip.v2pt_theory(joint, N, B)
        joint = tip
        frames.append(B)
    passed = [*TORQUES[1:], sp.Integer(0)]
    loads = [(B, (t - after) * N.y) for B, t, after in zip(frames[1:], TORQUES, passed, strict=True)]
    method = mechanics.LagrangesMethod(mechanics.Lagrangian(N, *bodies), q, forcelist=loads, frame=N)
    method.form_lagranges_equations()
    names = dict(zip(q_dot, sp.symbols("u1:4"), strict=True)) | dict(zip(q, sp.symbols("x1:4"), strict=True))
    return method, names


# ---- right-hand sides ------------------------------------------------------------------------------------------------


def derived(method: str) -> Kernel:
    """Forward dynamics by `multibody.derive`, of q, v, τ and the parameters."""
    return derive.equations(system(), method).simplify().kernel("forward_dynamics")


def matrices() -> list[Any]:
    """SymPy's mass matrix and forcing."""
    method, names = lagranges_method()
    return [x.xreplace(names) for x in (method.mass_matrix_full, method.forcing_full)]


def right_hand_side() -> list[Any]:
    """SymPy's solution for x'."""
    method, names = lagranges_method()
    return [method.rhs().xreplace(names)]


def function_of(expressions: list[Any]) -> Callable[..., Any]:
    """SymPy's way to a function."""
    symbols = (*sp.symbols("x1:4 u1:4"), *TORQUES, *PARAMETERS)
    return sp.lambdify(symbols, expressions, modules="numpy", cse=True)


BUILDERS: dict[str, Callable[[], Any]] = {
    **{method: (lambda method=method: derived(method)) for method in METHODS},
    "SymPy, matrices": lambda: function_of(matrices()),
    "SymPy, rhs()": lambda: function_of(right_hand_side()),
}


def seconds(name: str) -> float:
    """From the system to the function, in a process that has done nothing like it before."""
    command = [sys.executable, __file__, "--build", name]
    completed = subprocess.run(
        command, env=os.environ | {"MULTIBODY_CACHE_MODE": "off"}, capture_output=True, text=True, check=True
    )
    return float(completed.stdout)


def build(name: str) -> float:
    """What a process of `seconds` does."""
    x = sp.Symbol("x")
    sp.lambdify([x], [x], modules="numpy", cse=True)
    mb.compile(np.sin, 3)
    start = time.perf_counter()
    BUILDERS[name]()
    return time.perf_counter() - start


# ---- operations ------------------------------------------------------------------------------------------------------


def operations(kernel: Kernel) -> int:
    """Arithmetic, a fused multiply-add as two, and functions."""
    return flops(kernel.ops) + sum(kernel.ops[f] for f in ("sin", "cos", "neg"))


def dense_solution(n: int) -> int:
    """Operations of LU factors of n × n numbers and of one solution with them."""
    return sum((n - k) + 2 * (n - k) ** 2 for k in range(1, n)) + n * (2 * n - 1)


def traced(expressions: list[Any], finish: Callable[..., Any]) -> Kernel:
    """SymPy's expressions as a kernel."""
    function = function_of([entry for e in expressions for entry in e])

    def flat(*arrays: Any) -> Any:
        none = np.zeros_like(arrays[0][..., 0])
        entries = iter(function(*(x[..., k] for x in arrays for k in range(x.shape[-1]))))
        return finish(*(vector(*(none + next(entries) for _ in e)) for e in expressions))

    return mb.compile(flat, 3, 3, 3, len(PARAMETERS), names=["q", "v", "tau", "parameters"])


def solved(M: Any, forcing: Any) -> Any:
    rows = np.stack([M[..., 6 * k : 6 * k + 6] for k in range(6)], -2)
    return np.linalg.solve(rows, forcing[..., None])[..., 3:, 0]


def check(kernels: dict[str, Kernel], reference: Kernel) -> None:
    """That all are the same function."""
    rng = np.random.default_rng(0)
    samples = [rng.uniform(-1, 1, (100, 3)) for _ in range(3)] + [rng.uniform(0.5, 1.5, (100, len(PARAMETERS)))]
    expected = reference(*samples)
    for name, kernel in kernels.items():
        error = np.abs(kernel(*samples) - expected).max() / np.abs(expected).max()
        if error > 1e-10:
            raise SystemExit(f"{name}: {error:.1e} away from {reference}")


def inverse_dynamics() -> float:
    """The largest ratio to the traced algorithm."""
    reference = recursive(rnea)
    derived = {method: derive.equations(system(), method).simplify() for method in METHODS}
    kernels = {method: equations.kernel("inverse_dynamics") for method, equations in derived.items()}
    check(kernels, reference)
    print(f"inverse dynamics, operations: rnea {operations(reference)}")
    ratios = {method: operations(kernel) / operations(reference) for method, kernel in kernels.items()}
    for method, kernel in kernels.items():
        print(f"    {method:<24}{operations(kernel):4d} ({ratios[method]:.2f}x of rnea)")
    return max(ratios.values())


def forward_dynamics() -> float:
    """The least ratio of SymPy's operations, as its documentation has them, to ours."""
    reference = recursive(aba)
    ours = {method: derived(method) for method in METHODS}
    M, rhs = matrices(), right_hand_side()
    theirs = {
        "SymPy, matrices": traced(M, solved),
        "SymPy, rhs()": traced(rhs, lambda x: x[..., 3:]),
    }
    check(ours | theirs, reference)
    usual = {"SymPy, matrices": count(M) + dense_solution(6), "SymPy, rhs()": count(rhs)}
    most = max(map(operations, ours.values()))
    print(f"forward dynamics, operations: aba {operations(reference)}")
    for name, kernel in (ours | theirs).items():
        rest = f"   as it stands {usual[name]} ({usual[name] / most:.2f}x of ours)" if name in usual else ""
        print(f"    {name:<24}{operations(kernel):4d} ({operations(kernel) / most:.2f}x of ours){rest}")
    return usual["SymPy, matrices"] / most


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5, help="processes for each time")
    parser.add_argument("--build", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.build:
        print(build(options.build))
        return 0
    inverse, saving = inverse_dynamics(), forward_dynamics()
    times = dict.fromkeys(BUILDERS, math.inf)
    for _ in range(options.rounds):
        for name in times:
            times[name] = min(times[name], seconds(name))
    slowest = max(times[method] for method in METHODS)
    print("from the system to a compiled right-hand side, s:")
    for name, t in times.items():
        print(f"    {name:<24}{t:.3f} ({t / slowest:.2f}x of ours)")
    speedup = min(t for name, t in times.items() if name not in METHODS) / slowest
    broken = (inverse > MOST_OPERATIONS) + (saving < LEAST_SAVING) + (speedup < LEAST_SPEEDUP)
    print(f"{broken} claims do not hold")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
