"""Claim: whole bodies in microseconds: python benchmarks/whole_body.py

ANYmal on four feet, from (q, v) to torques: one, two and three levels of tasks under contacts, torque limits and
friction cones, and least torque last, in a batch on one core and alone, and alone by `solver="daqp"`. DAQP and PIQP
solve the first level alone, weighted with least accelerations and forces, from matrices that are given: (a, f), 30
unknowns, 18 equations and 32 rows, as TSID has it. TSID does all of it, from (q, v) to torques, in an environment of
its own, whose Python $MULTIBODY_TSID names (`_tsid_loop.py` says how it is made); without it, it is left out. Exit
status 1 when a claim does not hold.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import daqp
import numpy as np
import piqp
from _robots import least, load, one_core, plain_urdf

import multibody as mb
from multibody import control

FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")
BATCH = 64
MU, MINIMUM = 0.6, 5.0
BATCH_WITHIN = {1: 12e-6, 2: 25e-6, 3: 45e-6}
"""Seconds for a state of a batch within reach, by the number of levels of tasks."""
ALONE_WITHIN, DAQP_WITHIN = 35e-6, 20e-6
"""Seconds for one state and one level, with either solver."""
TSID_IN_A_BATCH, TSID_ALONE = 4.0, 2.0
"""How many times as long TSID takes."""


def program(robot: mb.Robot, contacts: list[Any], q: Any, v: Any, com: Any) -> tuple[Any, ...]:
    """H, g, A, b, C, lower, upper of the first level, in (a, f)."""
    held, n, k = robot.constraints(contacts), robot.nv, 12
    M, h, J = robot.mass_matrix(q), robot.bias(q, v), held.jacobian(q)
    turn = control.OrientationTask("turn", "base")
    rows = np.vstack([robot.com_jacobian(q), turn.jacobian(robot.tree, q)])
    bias = np.concatenate([control.CenterOfMassTask("com").bias(robot.tree, q, v), turn.bias(robot.tree, q, v)])
    T, t = np.hstack([rows, np.zeros((6, k))]), np.concatenate([com, np.zeros(3)]) - bias
    side = MU / np.sqrt(2)
    faces = [[1, 0, -side], [-1, 0, -side], [0, 1, -side], [0, -1, -side], [0, 0, -1.0]]
    cone, limit = np.kron(np.eye(4), faces), robot.tree.effort_limits[6:]
    A = np.block([[M[:6], -J.T[:6]], [J, np.zeros((k, k))]])
    C = np.block([[M[6:], -J.T[6:]], [np.zeros((20, n)), cone]])
    lower = np.concatenate([-limit - h[6:], np.full(20, -1e30)])
    upper = np.concatenate([limit - h[6:], np.tile([0, 0, 0, 0, -MINIMUM], 4)])
    return T.T @ T + 1e-6 * np.eye(30), -T.T @ t, A, np.concatenate([-h[:6], -held.bias(q, v)]), C, lower, upper


def peers(given: tuple[Any, ...]) -> dict[str, Any]:
    H, g, A, b, C, lower, upper = given
    rows, low, high = np.vstack([A, C]), np.concatenate([b, lower]), np.concatenate([b, upper])
    sense = np.where(np.arange(50) < 18, 5, 0).astype(np.int32)
    solver = piqp.DenseSolver()
    solver.setup(H, g, A, b, C, lower, upper, None, None)
    return {"daqp": lambda: daqp.solve(H, g, rows, high, low, sense, is_avi=False), "piqp": solver.solve}


def by_tsid(q: Any, v: Any, com: Any, turn: Any) -> float | None:
    """Seconds for one state by TSID, in the same run; None where there is none."""
    python = os.environ.get("MULTIBODY_TSID")
    if not python:
        return None
    problem = {"urdf": plain_urdf("anymal"), "feet": FEET, "mu": MU, "minimum": MINIMUM, "budget": 1.5}
    problem |= {name: x.tolist() for name, x in (("q", q), ("v", v), ("com", com), ("turn", turn))}
    script = Path(__file__).with_name("_tsid_loop.py")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(
        [python, "-W", "ignore", str(script)],
        input=json.dumps(problem),
        capture_output=True,
        text=True,
        env=environment,
    )
    if ran.returncode:
        raise SystemExit(f"TSID: {ran.stderr[-500:]}")
    told = json.loads(ran.stdout.splitlines()[-1])
    if told["status"] or np.abs(np.array(told["com"]) - com).max() > 1e-2:
        raise SystemExit(f"TSID: not the accelerations that are asked for: {told}")
    return told["seconds"]


def main() -> int:
    robot = load("anymal")
    contacts = [mb.constraints.PointContact(foot, foot) for foot in FEET]
    rng = np.random.default_rng(0)
    home = np.concatenate([[0, 0, 0.5, 1, 0, 0, 0], np.tile([0, 0.7, -1.2], 4) * np.repeat([1, 1, -1, -1], 3)])
    q = np.tile(home, (BATCH, 1))
    q[:, 7:] += 0.1 * rng.standard_normal((BATCH, 12))
    v = 0.2 * rng.standard_normal((BATCH, 18))
    levels = [
        [control.CenterOfMassTask("com"), control.OrientationTask("turn", "base")],
        [control.PostureTask("rest")],
        [control.ForceTask("push", FEET[0])],
    ]
    limits = (control.TorqueLimits(), control.FrictionCones(MU, minimum=MINIMUM))
    wants = {
        "com_acceleration": rng.uniform(-1, 1, (BATCH, 3)),
        "turn_acceleration": rng.uniform(-2, 2, (BATCH, 3)),
        "rest_acceleration": np.zeros((BATCH, 12)),
        "push": np.tile([0.0, 0.0, 60.0], (BATCH, 1)),
    }
    far = wants | {"com_acceleration": np.tile([30.0, 0, 0], (BATCH, 1))}
    calls = peers(program(robot, contacts, q[0], v[0], wants["com_acceleration"][0]))
    for count, names in ((1, 2), (2, 3), (3, 4)):
        body = control.WholeBody(robot, contacts, levels[:count], limits)
        own = list(wants)[:names]
        for what, values in (("within reach", wants), ("out of reach", far)):
            batch, one = {n: values[n] for n in own}, {n: values[n][0] for n in own}
            calls[f"{count} levels, {what}, batch"] = lambda body=body, given=batch: body(q, v, **given)
            calls[f"{count} levels, {what}, alone"] = lambda body=body, given=one: body(q[0], v[0], **given)
            calls[f"{count} levels, {what}, by daqp"] = lambda body=body, given=one: body(
                q[0], v[0], solver="daqp", **given
            )
    tsid = by_tsid(q[0], v[0], wants["com_acceleration"][0], wants["turn_acceleration"][0])
    # one after the other, each in a loop, as a controller's is and as TSID is measured
    times = {name: seconds for name, call in calls.items() for seconds in least({"": call}, budget=1.0).values()}
    each = {name: seconds / (BATCH if name.endswith("batch") else 1) for name, seconds in times.items()}
    for name, seconds in (({} if tsid is None else {"tsid": tsid}) | each).items():
        print(f"{name:34s} {1e6 * seconds:8.1f} µs   {times['daqp'] / seconds:6.2f} times DAQP's speed")
    claims = [
        (f"{k} levels, in a batch", each[f"{k} levels, within reach, batch"], bar) for k, bar in BATCH_WITHIN.items()
    ]
    batch, alone, one = (each[f"1 levels, within reach, {how}"] for how in ("batch", "alone", "by daqp"))
    claims += [("1 level, alone", alone, ALONE_WITHIN), ("1 level, alone, by daqp", one, DAQP_WITHIN)]
    if tsid is None:
        print("TSID is not measured: $MULTIBODY_TSID names no Python that has it")
    else:
        claims += [("a share of TSID's time, in a batch", batch, tsid / TSID_IN_A_BATCH)]
        claims += [("a share of TSID's time, alone, by daqp", one, tsid / TSID_ALONE)]
    for what, value, bar in claims:
        print(f"{'ok   ' if value <= bar else 'SHORT'} {what}: {1e6 * value:.1f} µs (at most {1e6 * bar:.1f})")
    return int(any(value > bar for _, value, bar in claims))


if __name__ == "__main__":
    one_core()
    sys.exit(main())
