"""Percussions of a time step, friction cones, rows that are switched off, and projection onto constraints."""

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms import constrained_dynamics as dynamics
from multibody.algorithms.constraints import ConstraintSet, PointClosure, PointContact
from multibody.algorithms.percussion import FrictionCone, percussion_step
from multibody.errors import InputError

from .test_constraints import FEET, QUADRUPED, closed, four_bar, state

STANDING = ConstraintSet(QUADRUPED, [PointContact(f, f) for f in FEET])


def test_a_step_in_kindrs_notation():
    """M (u⁺ - u⁻) - h Δt = W P with Kindr's h, which is τ minus ours. [Kindr §Equations of Motion with Impulses]"""
    robot = mb.Robot(QUADRUPED)
    q, u, tau = state(QUADRUPED)
    dt = 1e-2
    found = percussion_step(STANDING, q, u, tau, dt)
    W, M, h = STANDING.jacobian(q).T, robot.mass_matrix(q), tau - robot.bias(q, u)
    np.testing.assert_allclose(M @ (found.velocity - u) - h * dt, W @ found.percussion, atol=1e-9)
    assert np.abs(W.T @ found.velocity).max() < 1e-9
    # a step without time is an impact
    instant = percussion_step(STANDING, q, u, tau, 1e-12)
    np.testing.assert_allclose(instant.percussion, dynamics.impact(STANDING, q, u).impulse, atol=1e-6)
    with pytest.raises(InputError, match="expected a positive time step"):
        percussion_step(STANDING, q, u, tau, 0.0)


def test_rows_that_are_off_have_no_force():
    q, v, tau = state(QUADRUPED)
    J = STANDING.jacobian(q)
    v = v - np.linalg.pinv(J) @ (J @ v)
    mask = np.repeat([1.0, 0.0, 1.0, 0.0], 3)
    kept = ConstraintSet(QUADRUPED, [STANDING.constraints[0], STANDING.constraints[2]])
    expected = dynamics.constrained_dynamics(kept, q, v, tau)
    for method in dynamics.METHODS:
        found = dynamics.constrained_dynamics(STANDING, q, v, tau, method=method, active=mask)
        np.testing.assert_allclose(found.acceleration, expected.acceleration, atol=1e-6)
        np.testing.assert_allclose(found.force[mask == 1], expected.force, atol=1e-5)
        assert not found.force[mask == 0].any()
    kernel = mb.compile(
        lambda q, v, tau, on: dynamics.constrained_dynamics(STANDING, q, v, tau, method="exact", active=on),
        19,
        18,
        18,
        12,
    )
    masks = np.stack([mask, np.ones(12), np.zeros(12)])
    a, f = kernel(q, v, tau, masks)
    np.testing.assert_allclose(a[0], expected.acceleration, atol=1e-6)
    np.testing.assert_allclose(a[2], mb.Robot(QUADRUPED).forward_dynamics(q, v, tau), atol=1e-6)
    assert not f[2].any()


def test_projection_closes_a_loop():
    model = four_bar()
    loop = ConstraintSet(model, [PointClosure("loop", "end", "pin")])
    q = dynamics.projected_configuration(loop, closed(model) + 0.05)
    assert np.abs(loop.error(q)).max() < 1e-12
    v = dynamics.projected_velocity(loop, q, np.ones(3))
    assert np.abs(loop.jacobian(q) @ v).max() < 1e-12
    far = ConstraintSet(model, [PointContact("far", "end", anchor=(9.0, 0.0, 0.0))])
    with pytest.raises(InputError, match="cannot be met from here, an error of"):
        dynamics.projected_configuration(far, q)


def test_derivatives_of_constrained_dynamics():
    """By automatic differentiation through the kernel's own source, beside finite differences."""
    model = four_bar()
    loop, q = ConstraintSet(model, [PointClosure("loop", "end", "pin")]), closed(four_bar())
    v, tau, eps = np.array([0.3, -0.2, 0.5]), np.array([0.1, 0.2, -0.3]), 1e-6

    def f(q, v, tau):
        return dynamics.constrained_dynamics(loop, q, v, tau).acceleration

    kernel = mb.compile(lambda q, v, tau: mb.jacobian(f, (0, 1, 2))(q, v, tau), 3, 3, 3)
    for k, by in enumerate(kernel(q, v, tau)):
        args = [
            [x + (k == j) * sign * eps * e for j, x in enumerate((q, v, tau))] for e in np.eye(3) for sign in (1, -1)
        ]
        values = [f(*each) for each in args]
        fd = np.stack([(values[2 * j] - values[2 * j + 1]) / (2 * eps) for j in range(3)], axis=1)
        np.testing.assert_allclose(by, fd, atol=1e-6 * max(1.0, np.abs(fd).max()))


def test_friction_cones():
    cone = FrictionCone(0.5, (0.0, 0.6, 0.8))
    rng = np.random.default_rng(0)
    f = rng.standard_normal((2000, 3))
    inside = cone.distance(f) >= 0
    for sides, share in ((4, 0.55), (8, 0.8), (32, 0.97)):
        held = (f @ cone.pyramid(sides).T >= 0).all(axis=1)
        assert not (held & ~inside).any()  # the pyramid lies within the cone
        assert held.sum() >= share * inside.sum()
    with pytest.raises(InputError, match="a normal of length one"):
        FrictionCone(0.5, (0.0, 0.0, 2.0))
