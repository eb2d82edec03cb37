"""Whole-body control of ANYmal on four feet, from (q, v) to torques, beside DAQP and PIQP.

Ours are one, two and three levels of tasks under contacts, torque limits and friction cones, and least torque last, in
a batch on one core and alone. The peers solve the first level alone, weighted with least accelerations and forces, from
matrices that are given: (a, f), 30 unknowns, 18 equations and 32 rows, as TSID has it. TSID itself needs an older
Pinocchio than ours and is not run.
"""

from typing import Any

import daqp
import numpy as np
import piqp
from _robots import least, load, one_core

import multibody as mb
from multibody import control

FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")
BATCH = 64
MU, MINIMUM = 0.6, 5.0


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
    return {"daqp": lambda: daqp.solve(H, g, rows, high, low, sense), "piqp": solver.solve}


def main() -> None:
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
    times = least(calls, budget=1.5)
    for name, seconds in times.items():
        each = seconds / (BATCH if name.endswith("batch") else 1)
        print(f"{name:32s} {1e6 * each:8.1f} µs   {times['daqp'] / each:6.2f} times DAQP's speed")


if __name__ == "__main__":
    one_core()
    main()
