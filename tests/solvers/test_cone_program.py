"""Circular friction cones: programs beside SciPy's, whole bodies beside ever finer pyramids, and their kernels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

import multibody as mb
from multibody import control
from multibody.model.joint import Limits
from multibody.solvers.cone_program import solve_feasible
from multibody.solvers.cones import Cones
from multibody.solvers.program import Bounds

MU = 0.6
COM, TRUNK = control.CenterOfMassTask("com"), control.OrientationTask("base", "trunk")


def inside(K, k, u):
    """How far each cone's point is within it."""
    x = (K @ u + k).reshape(-1, 3)
    return x[:, 0] - np.sqrt(x[:, 1] ** 2 + x[:, 2] ** 2 + 1e-24)


def cone_program(seed):
    """Objectives of any rank, and a feasible origin at the edge of some cones."""
    rng = np.random.default_rng(seed)
    n, m, p = 6, 5, 3
    B = rng.standard_normal((rng.integers(1, n + 1), n))
    H, g = B.T @ B, -3 * B.T @ rng.standard_normal(len(B))
    G = rng.standard_normal((m, n))
    G /= np.linalg.norm(G, axis=1)[:, None]
    upper, lower = rng.uniform(0, 1, m), -rng.uniform(0, 1, 2)
    K, k = rng.standard_normal((3 * p, n)) / 2, 0.3 * rng.standard_normal((p, 3))
    k[:, 0] = np.hypot(k[:, 1], k[:, 2]) + rng.uniform(0, 0.5, p) * (rng.random(p) > 0.4)
    return H, g, G, lower, upper, K, k.ravel()


def margins(program, u):
    """How far a point is within each constraint."""
    _, _, G, lower, upper, K, k = program
    return np.concatenate([upper - G @ u, (G @ u)[:2] - lower, inside(K, k, u)])


def certified_optimum(program):
    """The objective that SLSQP finds where it converges to a point that is feasible; None if it does from no start.

    SLSQP knows nothing of cones. Where it stops early, as at the apex of a cone, its objective says nothing.
    """
    H, g = program[:2]
    for start in (1e-3, 0.0, -1e-2, 3e-2):
        other = minimize(
            lambda u: u @ H @ u / 2 + g @ u,
            np.full(len(g), start),
            jac=lambda u: H @ u + g,
            constraints=[{"type": "ineq", "fun": lambda u: margins(program, u)}],
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-13},
        )
        if other.status == 0 and margins(program, other.x).min() > -1e-9:
            return other.fun
    return None


def test_programs_are_as_good_as_those_of_another_method():
    compared = 0
    for seed in range(16):
        program = H, g, G, lower, upper, K, k = cone_program(seed)
        bounds = Bounds(G[None], lower[None], upper[None], Cones(K[None], k[None]))
        u = solve_feasible(H[None], g[None], bounds, np.array([False]))[0].u[0]
        assert margins(program, u).min() > -1e-9
        optimum = certified_optimum(program)
        if optimum is not None:
            assert_allclose(u @ H @ u / 2 + g @ u, optimum, atol=1e-8, err_msg=f"seed {seed}")
            compared += 1
    assert compared >= 12


@pytest.mark.parametrize("active", [None, (1.0, 1.0, 1.0, 0.0)])
def test_pyramids_of_more_sides_come_near_to_it(dog, feet, active):
    """What they miss of a task beyond it falls with the square of the number of sides."""
    rng = np.random.default_rng(3)
    q, v = np.tile(dog.home(), (2, 1)), 0.2 * rng.standard_normal((2, 18))
    q[:, 7:] += 0.1 * rng.standard_normal((2, 12))
    pushes = np.array([[8.0, 5.0, 0.0], [0.0, 0.0, -12.0]])  # beyond friction, and beyond gravity: no foot can pull
    values = {"q": q, "v": v, "com_acceleration": pushes, "base_acceleration": np.zeros((2, 3))}
    values |= {"rest_acceleration": np.zeros((2, 12))} | ({} if active is None else {"active": np.tile(active, (2, 1))})

    def missed(sides):
        levels = [[COM, TRUNK], [control.PostureTask("rest")]]
        cones = control.FrictionCones(MU, sides=sides)
        body = control.WholeBody(dog, feet, levels, (control.TorqueLimits(), cones))
        with np.errstate(all="ignore"):
            answer = body.problem.solution(values, body.problem.plan(active is not None))
        f = answer.f.reshape(2, 4, 3)
        assert (np.hypot(f[..., 0], f[..., 1]) <= MU * f[..., 2] + (1e-6 if sides == np.inf else 1e-7)).all()
        assert answer.residuals.max() <= 1e-8
        assert (np.abs(answer.tau) <= dog.tree.effort_limits + 1e-7).all()
        return np.linalg.norm(answer.slacks[:, :6], axis=1)

    exact, coarse, fine = missed(np.inf), missed(16), missed(256)
    assert (coarse >= exact - 1e-6).all()
    assert (fine >= exact - 1e-6).all()
    assert coarse[0] - exact[0] > 5e-3
    assert fine[0] - exact[0] < (coarse[0] - exact[0]) / 20


def test_a_kernel_is_the_numpy_alone_and_in_batches():
    arm = mb.load("planar-arm")
    arm = arm.change(limits={joint.name: Limits(-3.0, 3.0, 10.0, 30.0) for joint in arm.joints})
    wall = mb.constraints.PointContact("tip", "tool")
    cones = control.FrictionCones(0.5, normal=(-1.0, 0.0, 0.0), sides=np.inf, minimum=1.0)
    levels = [[control.ForceTask("push", "tip")]]
    body = control.WholeBody(arm, [wall], levels, (control.TorqueLimits(), cones))
    rng = np.random.default_rng(1)
    q, v, push = arm.random(rng, 5), np.zeros((5, 3)), 10 * rng.standard_normal((5, 3))
    answer = body(q, v, push=push)
    with np.errstate(all="ignore"):
        plain = body.problem.solution({"q": q, "v": v, "push": push}, body.problem.plan(False))
    assert_allclose(answer.tau, plain.tau, atol=1e-6)
    assert_array_equal(body(q[3], v[3], push=push[3]).tau, answer.tau[3])
    along = -answer.f[:, 0]
    assert (np.hypot(answer.f[:, 1], answer.f[:, 2]) <= 0.5 * along + 1e-6).all()
    assert (along >= 1.0 - 1e-6).all()
