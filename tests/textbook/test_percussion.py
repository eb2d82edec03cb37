"""Percussions of a time step, friction cones, rows that are switched off, and projection onto constraints."""

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms import constrained_dynamics as dynamics
from multibody.algorithms import constraint_projection as projection
from multibody.algorithms import impact as impacts
from multibody.algorithms.constraints import ConstraintSet, PointClosure, PointContact
from multibody.algorithms.friction import FrictionCone
from multibody.control import FrictionCones
from multibody.errors import InputError
from multibody.textbook.percussion import percussion_step

from ..algorithms.test_constraints import FEET, QUADRUPED, closed, four_bar, state
from ..every_law import each_case

STANDING = ConstraintSet(QUADRUPED, [PointContact(f, f) for f in FEET])


def test_a_step_in_kindrs_notation():
    """M (u⁺ - u⁻) - h Δt = W P with Kindr's h, which is τ minus ours. [Kindr §Equations of Motion with Impulses]"""
    robot = mb.Robot(QUADRUPED)
    q, u, tau = state(QUADRUPED)
    dt = 1e-2
    found = percussion_step(STANDING.tree, STANDING, q, u, tau, dt)
    W, M, h = STANDING.jacobian(q).T, robot.mass_matrix(q), tau - robot.bias(q, u)
    np.testing.assert_allclose(M @ (found.velocity - u) - h * dt, W @ found.percussion, atol=1e-9)
    assert np.abs(W.T @ found.velocity).max() < 1e-9
    # a step without time is an impact
    instant = percussion_step(STANDING.tree, STANDING, q, u, tau, 1e-12)
    np.testing.assert_allclose(instant.percussion, impacts.impact(STANDING.tree, STANDING, q, u).impulse, atol=1e-6)


def test_a_step_with_restitution_wrenches_and_open_contacts():
    """Newton's law W^T u⁺ = -e W^T u⁻ at the rows that are on; no percussion at the others."""
    robot = mb.Robot(QUADRUPED)
    q, u, tau = state(QUADRUPED)
    on, push, dt, e = [1.0, 0.0, 1.0, 1.0], {"trunk": np.arange(6.0)}, 1e-2, 0.4
    found = percussion_step(STANDING.tree, STANDING, q, u, tau, dt, push, restitution=e, active=on)
    W, rows = STANDING.jacobian(q).T, np.repeat(on, 3) == 1
    h = tau - robot.inverse_dynamics(q, u, np.zeros(18), push)
    np.testing.assert_allclose(robot.mass_matrix(q) @ (found.velocity - u) - h * dt, W @ found.percussion, atol=1e-9)
    np.testing.assert_allclose((W.T @ found.velocity)[rows], -e * (W.T @ u)[rows], atol=1e-9)
    assert not found.percussion[~rows].any()
    wrench = {"trunk": mb.Wrench.from_vector(push["trunk"])}
    same = percussion_step(STANDING.tree, STANDING, q, u, tau, dt, wrench, restitution=e, active=np.repeat(on, 3))
    np.testing.assert_array_equal(same.velocity, found.velocity)
    # a step without time is an impact
    instant = percussion_step(STANDING.tree, STANDING, q, u, tau, 1e-12, restitution=e, active=on)
    impact = impacts.impact(STANDING.tree, STANDING, q, u, e, active=on)
    np.testing.assert_allclose(instant.velocity, impact.velocity, atol=1e-6)
    np.testing.assert_allclose(instant.percussion, impact.impulse, atol=1e-6)


def test_what_rests_stays_at_rest():
    """Gravity of a step does not bounce, however large the restitution is."""
    robot = mb.Robot(QUADRUPED)
    q = robot.home()
    W = STANDING.jacobian(q).T
    f = np.linalg.lstsq(W[:6], robot.gravity(q)[:6], rcond=None)[0]
    tau = np.concatenate([np.zeros(6), (robot.gravity(q) - W @ f)[6:]])
    found = percussion_step(STANDING.tree, STANDING, q, np.zeros(18), tau, 5e-3, restitution=0.9)
    assert np.abs(found.velocity).max() < 1e-9
    np.testing.assert_allclose(found.percussion[2::3].sum(), robot.mass * 9.81 * 5e-3, rtol=1e-9)


def test_steps_of_a_batch():
    """Each sample has a time step, a restitution and open contacts of its own; compiled, the same."""
    rng = np.random.default_rng(3)
    q, (u, tau) = mb.Robot(QUADRUPED).random(rng, (3,)), rng.standard_normal((2, 3, 18))
    dt, e, on = np.array([1e-3, 2e-3, 5e-2]), np.array([0.0, 0.5, 1.0]), np.array([[1, 1, 1, 1], [0, 1, 1, 0], [0] * 4])
    push = {"trunk": rng.standard_normal((3, 6))}
    whole = percussion_step(STANDING.tree, STANDING, q, u, tau, dt, push, restitution=e, active=on)
    for k in range(3):
        state_k, options = (x[k].tolist() for x in (q, u, tau)), {"restitution": e[k], "active": on[k]}
        single = percussion_step(STANDING.tree, STANDING, *state_k, dt[k], {"trunk": push["trunk"][k]}, **options)
        for whole_part, part in zip(whole, single, strict=True):
            np.testing.assert_allclose(whole_part[k], part, rtol=1e-9, atol=1e-9)
    broadcast = percussion_step(STANDING.tree, STANDING, q[0], u[0], tau[0], dt)
    np.testing.assert_allclose(
        broadcast.velocity[1], percussion_step(STANDING.tree, STANDING, q[0], u[0], tau[0], dt[1]).velocity, atol=1e-9
    )

    pair = ConstraintSet(QUADRUPED, STANDING.constraints[:2])

    def step(q, u, tau, dt, e, on, push):
        return percussion_step(pair.tree, pair, q, u, tau, dt, {"trunk": push}, restitution=e, active=on)

    given = (q, u, tau, dt, e, on[:, :2].astype(float), push["trunk"])
    for part, expected in zip(mb.compile(step, 19, 18, 18, (), (), 2, 6)(*given), step(*given), strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-9, atol=1e-9)


@each_case(
    "changed, message",
    [
        ({"dt": 0.0}, "dt: expected a positive time step in s, finite, got 0"),
        ({"dt": np.inf}, "dt: expected a positive time step .* got inf"),
        ({"dt": np.nan}, "dt: expected a positive time step .* got nan"),
        ({"dt": [0.1, -0.2]}, r"dt \(sample 1\): expected a positive time step .* got -0.2"),
        ({"dt": "a"}, "dt: expected real floats"),
        ({"dt": [0.1, 0.2, 0.3], "q": 2}, r"q, v, tau, dt, restitution: batch shapes \(2,\), .* do not broadcast"),
        ({"v": 2, "active": np.ones((3, 4))}, "q, v, tau, active, dt, restitution: batch shapes .* do not broadcast"),
        ({"q": np.zeros(18)}, r"quadruped: q needs the shape \(..., 19\)"),
        ({"q": np.ones(19)}, "the quaternion .* has the length 2"),
        ({"q": "a"}, "q: expected real floats"),
        ({"tau": np.zeros(19)}, r"quadruped: tau needs the shape \(..., 18\)"),
        ({"restitution": 1.5}, "restitution: expected 0, plastic, to 1, without loss, got 1.5"),
        ({"restitution": "a"}, "restitution: expected real floats"),
        ({"active": [1, 2, 1, 1]}, "active: expected ones and zeros"),
        ({"wrenches": [1]}, r"wrenches: expected \{frame: \(\.\.\., 6\)\}, got list"),
        ({"wrenches": {"trunk": [1, 2]}}, r"the wrench at 'trunk': expected .* \(..., 6\), got shape \(2,\)"),
        ({"wrenches": {"tail": np.zeros(6)}}, "'tail'"),
        ({"constraints": ()}, r"percussion_step: expected constraints, got \(\)"),
        ({"tree": QUADRUPED}, "expected the Tree of a robot, such as robot.tree, got Model"),
    ],
)
def test_steps_that_are_refused(changed, message):
    q, u, tau = state(QUADRUPED)
    given = {"tree": STANDING.tree, "constraints": STANDING, "q": q, "v": u, "tau": tau, "dt": 1e-2}
    wide = {name: np.stack([given[name]] * n) for name, n in changed.items() if isinstance(n, int)}
    with pytest.raises(InputError, match=message):
        percussion_step(**{**given, **changed, **wide})


def test_rows_that_are_off_have_no_force():
    q, v, tau = state(QUADRUPED)
    J = STANDING.jacobian(q)
    v = v - np.linalg.pinv(J) @ (J @ v)
    mask = np.repeat([1.0, 0.0, 1.0, 0.0], 3)
    kept = ConstraintSet(QUADRUPED, [STANDING.constraints[0], STANDING.constraints[2]])
    expected = dynamics.constrained_dynamics(kept.tree, kept, q, v, tau)
    for method in dynamics.METHODS:
        found = dynamics.constrained_dynamics(STANDING.tree, STANDING, q, v, tau, method=method, active=mask)
        np.testing.assert_allclose(found.acceleration, expected.acceleration, atol=1e-6)
        np.testing.assert_allclose(found.force[mask == 1], expected.force, atol=1e-5)
        assert not found.force[mask == 0].any()
    kernel = mb.compile(
        lambda q, v, tau, on: dynamics.constrained_dynamics(
            STANDING.tree, STANDING, q, v, tau, method="exact", active=on
        ),
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
    q = projection.projected_configuration(loop.tree, loop, closed(model) + 0.05)
    assert np.abs(loop.error(q)).max() < 1e-12
    v = projection.projected_velocity(loop.tree, loop, q, np.ones(3))
    assert np.abs(loop.jacobian(q) @ v).max() < 1e-12
    far = ConstraintSet(model, [PointContact("far", "end", anchor=(9.0, 0.0, 0.0))])
    with pytest.raises(InputError, match="cannot be met from here, an error of"):
        projection.projected_configuration(far.tree, far, q)


def test_derivatives_of_constrained_dynamics():
    """By automatic differentiation through the kernel's own source, beside finite differences."""
    model = four_bar()
    loop, q = ConstraintSet(model, [PointClosure("loop", "end", "pin")]), closed(four_bar())
    v, tau, eps = np.array([0.3, -0.2, 0.5]), np.array([0.1, 0.2, -0.3]), 1e-6

    def f(q, v, tau):
        return dynamics.constrained_dynamics(loop.tree, loop, q, v, tau).acceleration

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


def test_pyramids_of_checks_and_of_controllers_agree():
    for normal in ((0.0, 0.0, 1.0), (0.0, 0.6, 0.8), (0.96, 0.0, -0.28)):
        faces = FrictionCones(0.5, sides=5).faces(np.array(normal))
        np.testing.assert_array_equal(FrictionCone(0.5, normal).pyramid(5), [*-faces, normal])


def test_a_cone_without_friction_holds_the_normal_alone():
    """What is across slips, and what pulls is outside, though μ times it is zero."""
    cone = FrictionCone(0.0)
    distance = cone.distance(np.array([[0.0, 0.0, 3.0], [0.0, 0.0, 0.0], [0.1, 0.0, 3.0], [0.0, 0.0, -5.0]]))
    assert (distance >= 0).tolist() == [True, True, False, False]
    assert (np.array([0.0, 0.0, -5.0]) @ cone.pyramid().T).min() < 0


def test_cones_are_values():
    """Of whatever sequence the normal is; lists, batches and kernels of forces."""
    cone = FrictionCone(np.float32(0.5), [0, 0.6, 0.8])
    assert cone == FrictionCone(0.5, (0.0, 0.6, 0.8))
    assert hash(cone) == hash(FrictionCone(0.5, np.array([0.0, 0.6, 0.8])))
    f = np.random.default_rng(1).standard_normal((2, 3, 3))
    np.testing.assert_array_equal(cone.distance(f.tolist()), cone.distance(f))
    np.testing.assert_allclose(mb.compile(cone.distance, 3)(f), cone.distance(f), atol=1e-14)
    assert cone.distance(f.astype(np.float32)).dtype == np.float32


@each_case(
    "friction, normal, message",
    [
        (0.5, (0.0, 0.0, 2.0), "a normal of length one"),
        (0.5, (np.nan, 0.0, 1.0), "a normal of length one, three numbers, got .nan"),
        (0.5, (0.0, 1.0), r"friction cone, normal: expected .* \(..., 3\), got shape \(2,\)"),
        (0.5, np.eye(3), "a normal of length one, three numbers"),
        (0.5, "up", "friction cone, normal: expected"),
        (np.inf, (0.0, 0.0, 1.0), "friction cone, friction: expected a finite number >= 0, got inf"),
        (-0.1, (0.0, 0.0, 1.0), "friction cone, friction: expected a finite number >= 0, got -0.1"),
        ([0.5, 0.6], (0.0, 0.0, 1.0), "friction cone, friction: expected a finite number"),
        ("x", (0.0, 0.0, 1.0), "friction cone, friction: expected real floats"),
    ],
)
def test_cones_that_are_refused(friction, normal, message):
    with pytest.raises(InputError, match=message):
        FrictionCone(friction, normal)


def test_arguments_of_a_cone_that_are_refused():
    with pytest.raises(InputError, match=r"force: expected .* got shape \(2,\)"):
        FrictionCone(0.5).distance([0.0, 1.0])
    for sides in (2, 4.5, "4"):
        with pytest.raises(InputError, match="pyramid: expected at least three sides"):
            FrictionCone(0.5).pyramid(sides)
