"""Robots that differ, and the regressor: python benchmarks/parameters.py [robot ...]

10,000 robots with numbers of their own beside 10,000 states of one robot, each for inverse dynamics; the regressor in
a batch, beside Pinocchio's called from Python in a loop. Each is checked before it is timed. Times are least ones of
turns on one core. The claims: robots that differ in masses, inertias and link lengths ("inertias" and "positions", from
joint to joint; feet and tools do not enter inverse dynamics) take at most twice the time of one robot's states, and the
regressor is at least ten times as fast as Pinocchio's. Exit status 1 when one does not hold. Shown besides:
"placements", where rotations differ too and fewer constants fold; how long it takes to fill the regressor's array with
zeros, which bounds it; and Pinocchio's time when its results are kept in an array, as ours are.
"""

import argparse
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
from _robots import CASES, least, load, one_core, pinocchio_model

import multibody as mb
from multibody.geometry import log_cholesky
from multibody.model.layouts import PinocchioLayout

COUNT = 10_000
FEW = 256
"""States for the regressor: a row of it has thousands of numbers."""
MOST_RATIO, LEAST_SPEEDUP = 2.0, 10.0
CLAIMED = ("inertias", "positions", "inertias+positions")


def randomised(robot: mb.Robot, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Inertias of bodies that can exist, and placements that are some centimetres and degrees away."""
    spread = np.array([0.2, 0.2, 0.2, 0.2, 0.0, 0.0, 0.0, 0.01, 0.01, 0.01])
    theta = log_cholesky.from_parameters(robot.parameters())
    inertias = log_cholesky.parameters(theta + rng.uniform(-spread, spread, (COUNT, *theta.shape)))
    places = robot.placements() + rng.uniform(-0.02, 0.02, (COUNT, len(robot.bodies), 7))
    places[..., 3:] /= np.linalg.norm(places[..., 3:], axis=-1, keepdims=True)
    return inertias, places


def robots_that_differ(robot: mb.Robot, budget: float) -> dict[str, float]:
    """Seconds for one sample of inverse dynamics, by what differs."""
    rng = np.random.default_rng(0)
    state = (robot.random(rng, (COUNT,)), *rng.standard_normal((2, COUNT, robot.nv)))
    inertias, places = randomised(robot, rng)
    lengths = np.ascontiguousarray(places[..., :3])
    cases: dict[str, tuple[Any, ...]] = {
        "states alone": (),
        "inertias": (inertias,),
        "positions": (lengths,),
        "inertias+positions": (inertias, lengths),
        "placements": (places,),
        "inertias+placements": (inertias, places),
    }
    own = {"inertias": robot.parameters(), "positions": robot.positions(), "placements": robot.placements()}
    calls: dict[str, Callable[[], Any]] = {}
    for case, values in cases.items():
        names = tuple(case.split("+")) if values else ()
        kernel = robot.kernel("inverse_dynamics", parameters=names)
        if not np.allclose(kernel(*state, *(own[name] for name in names)), robot.inverse_dynamics(*state)):
            raise SystemExit(f"{robot.name}: a robot given its own numbers is another one")
        out = np.empty((COUNT, robot.nv))
        calls[case] = lambda kernel=kernel, values=values, out=out: kernel(*state, *values, out=out)
    return {case: t / COUNT for case, t in least(calls, budget).items()}


def regressors(name: str, robot: mb.Robot, budget: float) -> dict[str, float]:
    """Seconds for one regressor: ours, Pinocchio's dropped and kept, and as many zeros in the place of ours."""
    rng = np.random.default_rng(1)
    model = pinocchio_model(name)
    data, layout = model.createData(), PinocchioLayout(robot.model, model)
    Q, V, A = robot.random(rng, (FEW,)), *rng.standard_normal((2, FEW, robot.nv))
    q, v, a = layout.q_to(Q[0]), layout.v_to(Q[0], V[0]), layout.a_to(Q[0], V[0], A[0])
    kernel = robot.kernel("regressor")
    out = kernel(Q, V, A)
    own = np.concatenate([inertia.toDynamicParameters() for inertia in list(model.inertias)[1:]])
    theirs = layout.tau_from(q, pin.computeJointTorqueRegressor(model, data, q, v, a) @ own)
    np.testing.assert_allclose(out[0] @ robot.parameters().ravel(), theirs, atol=1e-9 * np.abs(theirs).max())
    states = [(layout.q_to(q), layout.v_to(q, v), layout.a_to(q, v, a)) for q, v, a in zip(Q, V, A, strict=True)]
    stack = np.empty_like(out)

    def drop() -> None:
        for state in states:
            pin.computeJointTorqueRegressor(model, data, *state)

    def keep() -> None:
        for k, state in enumerate(states):
            stack[k] = pin.computeJointTorqueRegressor(model, data, *state)

    ours: dict[str, Callable[[], Any]] = {"ours": lambda: kernel(Q, V, A, out=out), "zeros": lambda: out.fill(0.0)}
    times = least(ours, budget) | least({"dropped": drop, "kept": keep}, budget)  # each finds its own array in cache
    return {case: t / FEW for case, t in times.items()}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("robots", nargs="*", default=list(CASES), help=", ".join(CASES))
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for each figure")
    options = parser.parse_args()
    one_core()
    broken = 0
    for name in options.robots:
        robot = load(name)
        times = robots_that_differ(robot, options.budget)
        alone = times.pop("states alone")
        ratios = {case: t / alone for case, t in times.items()}
        shown = "   ".join(f"{case} {times[case] * 1e6:.3f} ({ratio:.2f}x)" for case, ratio in ratios.items())
        print(f"{name}: RNEA, µs a sample of {COUNT}: one robot {alone * 1e6:.3f}   other {shown}", flush=True)
        seconds = regressors(name, robot, options.budget)
        ours = seconds["ours"]
        shown = "   ".join(f"{case} {t * 1e6:.3f} ({t / ours:.2f}x)" for case, t in seconds.items() if case != "ours")
        print(f"{name}: regressor, µs: ours {ours * 1e6:.3f}   {shown}", flush=True)
        broken += max(ratios[case] for case in CLAIMED) > MOST_RATIO
        broken += seconds["dropped"] < LEAST_SPEEDUP * ours
    print(f"{broken} claims do not hold")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
