"""Virtual model control: balance of the notes, cones, masks, standing in simulation, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import multibody as mb
from multibody import control, simulate
from multibody.algorithms.friction import FrictionCone

DOG = mb.load("quadruped")
TREE = DOG.tree
NAMES = ("foot-lf", "foot-rh", "foot-rf", "foot-lh")
FEET = [mb.constraints.PointContact(f, f) for f in NAMES]
MODEL = control.VirtualModel(DOG, FEET)
GRIPPING = control.VirtualModel(DOG, FEET, friction=0.5, minimum=2.0)


def states(n=4):
    rng = np.random.default_rng(0)
    q = np.concatenate([np.tile(DOG.home()[:7], (n, 1)), DOG.home()[7:] + 0.1 * rng.standard_normal((n, 12))], axis=1)
    return q, rng.standard_normal((n, 6)) * [20, 20, 50, 3, 3, 3]


def test_balance_of_forces_and_moments_as_printed():
    """Sums over all forces on the robot and their moments about the base vanish. [RD 3.116-3.120]"""
    q, F = (x[0] for x in states())
    _, f = MODEL._balanced(q, wrench_trunk=F)
    f, base = f.reshape(4, 3), DOG.pose("trunk", q).position
    weight = DOG.mass * np.array([0, 0, -9.81])
    assert_allclose(weight - F[:3] + f.sum(axis=0), 0, atol=1e-9)
    arms = [DOG.pose(name, q).position - base for name in NAMES]
    moments = sum(np.cross(r, x) for r, x in zip(arms, f, strict=True))
    assert_allclose(np.cross(DOG.center_of_mass(q) - base, weight) - F[3:] + moments, 0, atol=1e-9)
    hats = [np.cross(r, np.eye(3)).T for r in arms]
    G = np.vstack([np.hstack([np.eye(3)] * 4), np.hstack(hats)])
    right = np.concatenate([F[:3] - weight, F[3:] - np.cross(DOG.center_of_mass(q) - base, weight)])
    assert_allclose(f.ravel(), np.linalg.pinv(G) @ right, atol=1e-9)  # [RD 3.120], f = -F_c


def test_several_wrenches_masks_batches_and_nan():
    """S^T τ + J_c^T f = g + J_v^T F. [RD 3.119, 3.121]"""
    q, F = states()
    pulls = {"trunk": F, "foot-lh": 0.1 * F}
    active = np.array([1.0, 1.0, 1.0, 0.0])
    tau, f = MODEL(q, pulls, active=active)
    assert_array_equal(f[:, 9:], 0)
    J = DOG.constraints(FEET).jacobian(q)
    wanted = DOG.gravity(q) + sum(np.einsum("kij,ki->kj", DOG.jacobian(x, q), w) for x, w in pulls.items())
    assert_allclose(tau + np.einsum("kij,ki->kj", J, f), wanted, atol=1e-9)
    assert_array_equal(tau[:, :6], 0)
    alone = MODEL(q[2], {"trunk": F[2], "foot-lh": 0.1 * F[2]}, active=active)
    assert_array_equal(alone[0], tau[2])
    assert_array_equal(alone[1], f[2])
    F[1, 0] = np.nan
    bad = MODEL(q, {"trunk": F, "foot-lh": 0.1 * F}, active=active)[0]
    assert_array_equal(np.delete(bad, 1, 0), np.delete(tau, 1, 0))


def test_forces_within_cones():
    """Where the least forces are within the cones they stay; else they are the nearest that balance; else the balance
    gives way, and the cones hold."""
    q, F = states()
    q, F = q[:2], np.array([[5.0, 2, 0, 0, 0, 0], [30.0, 0, 0, 0, 0, 0]])
    plain, held = MODEL._balanced(q, wrench_trunk=F)[1], GRIPPING._balanced(q, wrench_trunk=F)
    cone = FrictionCone(0.5)
    assert cone.distance(plain.reshape(2, 4, 3)).min() < 0  # so that the second has something to do
    assert cone.distance(held[1].reshape(2, 4, 3)).min() > -1e-7
    assert held[1].reshape(2, 4, 3)[..., 2].min() > 2 - 1e-7
    J = DOG.constraints(FEET).jacobian(q)
    wanted = DOG.gravity(q) + np.einsum("kij,ki->kj", DOG.jacobian("trunk", q), F)
    assert_allclose(held[0] + np.einsum("kij,ki->kj", J, held[1]), wanted, atol=1e-6)
    tau, f = GRIPPING._balanced(q, wrench_trunk=np.array([[500.0, 0, 0, 0, 0, 0], [0, 0, -500.0, 0, 0, 0]]))
    assert cone.distance(f.reshape(2, 4, 3)).min() > -1e-6
    assert np.isfinite(tau).all()


def test_a_fixed_base_needs_no_contacts():
    arm = mb.load("double-pendulum")
    F = np.array([1.0, 0, 2, 0, 0, 0])
    tau, f = control.VirtualModel(arm, [])(np.array([0.3, 0.2]), {arm.frames[-1]: F})
    assert_allclose(tau, arm.gravity([0.3, 0.2]) + arm.jacobian(arm.frames[-1], [0.3, 0.2]).T @ F, atol=1e-12)
    assert f.shape == (0,)


@pytest.mark.slow
def test_it_stands_by_springs_of_the_trunk():
    """A virtual spring and damper carry the trunk to its place, in simulation with contact, pushed on the way."""
    height = 0.02 - DOG.pose("foot-lf", DOG.home()).position[2]
    q = DOG.home() + np.concatenate([[0, 0, height], np.zeros(16)])
    home = DOG.pose("trunk", q)

    def stand(_t, q, v):
        at, w = DOG.pose("trunk", q), DOG.velocity("trunk", q, v)
        off = np.concatenate([home.position - at.position, home.rotation.boxminus(at.rotation)], axis=-1)
        return MODEL(q, {"trunk": np.array([600.0] * 3 + [60.0] * 3) * off - np.array([60.0] * 3 + [6.0] * 3) * w})[0]

    simulator = simulate.Simulator(
        DOG,
        dt=0.002,
        contacts=[simulate.SphereContact(x, radius=0.02) for x in NAMES],
        ground=simulate.Ground(friction=0.8),
        controller=stand,
    )
    push = np.zeros((500, 6))
    push[50:100, 1] = 20.0
    run = simulator(q, seconds=1.0, wrenches={"trunk": push})
    aside = run.q[:, 1] - q[1]
    assert 2e-3 < aside.max() < 0.05
    assert np.abs(run.last[0][:3] - q[:3]).max() < 2e-3
    feet = np.array([DOG.pose(x, run.last[0]).position - DOG.pose(x, q).position for x in NAMES])
    assert np.abs(feet).max() < 5e-3


def test_bad_input():
    q = DOG.home()
    for message, call in (
        ("contacts: expected at least one", lambda: control.VirtualModel(DOG, [])),
        ("robot: expected a Robot", lambda: control.VirtualModel(DOG.model, FEET)),
        ("contacts: expected constraints", lambda: control.VirtualModel(DOG, ["foot-lf"])),
        ("friction", lambda: control.VirtualModel(DOG, FEET, friction=-1.0)),
        ("minimum: expected a force", lambda: control.VirtualModel(DOG, FEET, minimum=1.0)),
        ("sides", lambda: control.VirtualModel(DOG, FEET, friction=0.5, sides=2)),
        (
            "friction: expected contacts of points",
            lambda: control.VirtualModel(DOG, [mb.constraints.FrameContact("x", "foot-lf")], friction=0.5),
        ),
        ("hoof", lambda: MODEL(q, {"hoof": np.zeros(6)})),
        ("the wrench at 'trunk'", lambda: MODEL(q, {"trunk": np.zeros(3)})),
        ("wrenches: expected", lambda: MODEL(q, np.zeros(6))),
    ):
        with pytest.raises(mb.InputError, match=message):
            call()
