"""All that takes constraints, once more: derivatives by finite differences, least squares, single precision."""

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms.constraint_projection import contact_inertia
from multibody.algorithms.constraints import PointClosure, PointContact, SurfaceContact

from ..algorithms.states import along_each, by_each
from ..algorithms.test_constraints import four_bar
from ..laws.tools import near

QUADRUPED = mb.load("quadruped")
QUADRUPED = QUADRUPED.lock({j.name: 0.3 for j in QUADRUPED.joints[1:] if j.name[:2] not in ("lf", "rh")})
SOLE = ((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.0))
MACHINES = {
    "four-bar": (mb.Robot(four_bar()), [PointClosure("loop", "end", "pin")]),
    "two feet": (QUADRUPED, [PointContact("lf", "foot-lf"), PointContact("rh", "foot-rh")]),
    "a sole": (QUADRUPED, [SurfaceContact("sole", "foot-lf", SOLE)]),  # nine rows of rank six
}


def case(name):
    robot, constraints = MACHINES[name]
    rng = np.random.default_rng(4)
    return robot, robot.constraints(constraints), robot.random(rng), *rng.standard_normal((2, robot.nv))


@pytest.mark.parametrize("machine", ["four-bar", pytest.param("two feet", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name", ["constraint_error", "constraint_jacobian", "constraint_bias", "impact", "null_space_projector"]
)
def test_derivatives_by_finite_differences(name, machine):
    robot, held, q, v, _ = case(machine)
    kernel = robot.kernel(name, constraints=held)
    moves = [given.name for given in kernel.signature.inputs] == ["q", "v"]
    found = robot.derivatives(name, *((q, v) if moves else (q,)), constraints=held)
    several = isinstance(kernel(*((q, v) if moves else (q,))), tuple)
    for m, by in enumerate(found if several else [found]):

        def function(q, v=v, m=m):
            result = kernel(q, v) if moves else kernel(q)
            return result[m] if several else result

        expected = along_each(robot.model, function, q)
        near(np.moveaxis(by[0], -1, 0), expected, 1e-6 * max(1.0, np.abs(expected).max()))
        if moves:
            expected = by_each(lambda v, function=function: function(q, v), v)
            near(np.moveaxis(by[1], -1, 0), expected, 1e-6 * max(1.0, np.abs(expected).max()))


@pytest.mark.slow
@pytest.mark.parametrize("machine", ["a sole", "two feet"])
def test_support_consistent_motion_is_constrained_least_squares(machine):
    """The least |J_t v - w| of all v with J_c v = 0, for a task that cannot be met, by the KKT conditions."""
    robot, held, q, *_ = case(machine)
    task = np.concatenate([robot.com_jacobian(q), robot.com_jacobian(q)])
    wanted = np.array([0.1, 0.0, 0.2, -0.4, 0.2, 0.0])  # two wishes for one centre of mass
    J, n = held.jacobian(q), robot.nv
    kkt = np.block([[task.T @ task, J.T], [J, np.zeros((len(J), len(J)))]])
    best = np.linalg.lstsq(kkt, np.concatenate([task.T @ wanted, np.zeros(len(J))]), rcond=1e-10)[0][:n]
    found = robot.support_consistent_velocity(held, q, task, wanted)
    near(J @ found, np.zeros(len(J)), 1e-9)
    left = np.linalg.norm(task @ found - wanted)
    assert left > 0.1
    assert left == pytest.approx(np.linalg.norm(task @ best - wanted), rel=1e-7)
    assert np.linalg.norm(found) <= np.linalg.norm(best) * (1 + 1e-7)


def test_contact_inertia_of_redundant_rows():
    robot, held, q, v, _ = case("a sole")
    M, J = robot.mass_matrix(q), held.jacobian(q)
    inertia = contact_inertia(M, J)
    near(inertia, np.linalg.pinv(J @ np.linalg.solve(M, J.T), rcond=1e-9, hermitian=True), 1e-8 * np.abs(inertia).max())
    slip = J @ v
    assert robot.impact(held, q, v).energy_loss == pytest.approx(slip @ inertia @ slip / 2, rel=1e-8)


@pytest.mark.parametrize(
    "machine", ["four-bar", *(pytest.param(machine, marks=pytest.mark.slow) for machine in ("a sole", "two feet"))]
)
def test_single_precision(machine):
    robot, held, *_ = case(machine)
    single, rng = robot.astype("float32"), np.random.default_rng(5)
    q, v, tau = robot.random(rng, (20,)), *rng.standard_normal((2, 20, robot.nv))
    pairs = [
        *zip(single.constrained_dynamics(held, q, v, tau), robot.constrained_dynamics(held, q, v, tau), strict=True),
        *zip(single.impact(held, q, v), robot.impact(held, q, v), strict=True),
        (single.null_space_projector(held, q), robot.null_space_projector(held, q)),
    ]
    for found, expected in pairs:
        assert found.dtype == np.float32
        near(found, expected, 5e-3 * np.abs(expected).max())
    moved = held.jacobian(q) @ single.impact(held, q, v).velocity.astype(float)[..., None]
    near(moved, np.zeros_like(moved), 1e-4 * np.abs(held.jacobian(q) @ v[..., None]).max())
