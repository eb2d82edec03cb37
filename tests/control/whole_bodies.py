"""An oracle for whole-body control: the problem in its full form, (tau, f), as a cascade of quadratic programs.

And the tasks and limits of the quadruped that the tests ask it for.
"""

import numpy as np

from multibody import control

from .cascades import cascade

COM, TRUNK = control.CenterOfMassTask("com"), control.OrientationTask("base", "trunk")
MU, MINIMUM = 0.6, 1.0
LIMITS = (control.TorqueLimits(), control.FrictionCones(MU, minimum=MINIMUM))


def full_form(robot, contacts, q, v, tasks, mu, minimum=0.0, active=None, faces=4):
    """Rows of (tau, f): levels [(A, b), ...] from still contacts on, the bounds, and (A, b) of a = A (tau, f) + b.

    Args:
        robot: on point contacts, with z as the normal.
        contacts: on it.
        q: (nq,).
        v: (nv,).
        tasks: lists of (task, wanted acceleration).
        mu: of friction.
        minimum: the least normal force.
        active: ones and zeros, one for each contact.
        faces: of the pyramids.
    """
    held, first = robot.constraints(contacts), 6 if robot.tree.floating else 0
    rows = np.repeat(np.ones(len(contacts)) if active is None else active, [c.rows for c in contacts])
    J, drift = held.jacobian(q) * rows[:, None], held.bias(q, v) * rows
    S = np.eye(robot.nv)[first:]
    M = robot.mass_matrix(q)
    X, fall = np.linalg.solve(M, np.vstack([S, J]).T), -np.linalg.solve(M, robot.bias(q, v))
    levels = [(J @ X, -drift - J @ fall)]
    for level in tasks:
        parts = []
        for task, a in level:
            own, root = task.on(robot.tree), np.sqrt(task.weight)
            R = own.jacobian(robot.tree, q)
            parts.append((root * (R @ X), root * (a - own.bias(robot.tree, q, v) - R @ fall)))
        levels.append((np.vstack([A for A, _ in parts]), np.concatenate([b for _, b in parts])))
    n, k = len(S), len(J)
    turn = 2 * np.pi * np.arange(faces) / faces
    pyramid = np.stack([np.cos(turn), np.sin(turn), -mu * np.cos(np.pi / faces) * np.ones(faces)], axis=1)
    cone = np.kron(np.eye(k // 3), np.vstack([pyramid, [[0, 0, -1.0]]]))
    least = np.concatenate([np.append(np.zeros(faces), -minimum * on) for on in rows[::3]])
    limit = robot.tree.effort_limits[first:]
    C = np.block([[np.eye(n), np.zeros((n, k))], [np.zeros((len(cone), n)), cone]])
    bounds = C, np.concatenate([-limit, np.full(len(cone), -1e30)]), np.concatenate([limit, least])
    return levels, bounds, (X, fall)


def oracle(robot, contacts, q, v, tasks, mu, **options):
    """tau of the actuated joints, f and a by a cascade, least torque and then least force last."""
    levels, bounds, (X, fall) = full_form(robot, contacts, q, v, tasks, mu, **options)
    n = X.shape[1] - sum(contact.rows for contact in contacts)
    one = np.eye(X.shape[1])
    z, norms = cascade([*levels, (one[:n], np.zeros(n)), (one[n:], np.zeros(len(one) - n))], *bounds)
    return z[:n], z[n:], X @ z + fall, norms
