"""Operational space: laws of Λ and null spaces, hybrid control, impedance, singularities, loops, and refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import multibody as mb
from multibody import control, simulate
from multibody.control.operational_space_laws import Laws, along, spring
from multibody.control.pose_tracking import ROWS

from ..plain import Plain

ARM = mb.load("panda")
SPACE = control.OperationalSpace(ARM, "tool")
TREE = ARM.tree
PLAIN = Laws("tool", ROWS["pose"], (), "joint", "rotation-vector", 1e9)
PLANAR = mb.load("planar-arm")
PANDA = Plain(ARM)


def states(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng, ARM.home() + 0.3 * rng.standard_normal((n, 7)), rng.standard_normal((n, 7))


def test_dynamically_consistent():
    """J J̄ = 1, N^T N^T = N^T, J M^-1 N^T = 0, J̄^T M J̄ = Λ; F = J̄^T τ undoes τ = J^T F. [RD 3.85-3.87]"""
    rng, q, _ = states(1)
    q = q[0]
    J, M = PANDA.jacobian("tool", q), PANDA.mass_matrix(q)
    inertia, inverse, N_T = (f(TREE, q) for f in (PLAIN.inertia, PLAIN.inverse, PLAIN.null_space_projector))
    assert_allclose(J @ inverse, np.eye(6), atol=1e-10)
    assert_allclose(N_T @ N_T, N_T, atol=1e-10)
    assert_allclose(J @ np.linalg.solve(M, N_T), 0, atol=1e-9)
    assert_allclose(inverse.T @ M @ inverse, inertia, atol=1e-10 * np.abs(inertia).max())
    F = rng.standard_normal(6)
    assert_allclose(inverse.T @ J.T @ F, F, atol=1e-10)


def test_end_effector_dynamics():
    """Λ w' + μ + p = F for τ = J^T F, and 3.90 with them. [RD 3.86-3.90]"""
    rng, q, v = states(1, 1)
    q, v, F = q[0], v[0], 10 * rng.standard_normal(6)
    J = PANDA.jacobian("tool", q)
    w_dot = PANDA.acceleration("tool", q, v, PANDA.forward_dynamics(q, v, J.T @ F))
    inertia, mu, p = PLAIN.inertia(TREE, q), PLAIN.bias(TREE, q, v), PLAIN.gravity(TREE, q)
    assert_allclose(inertia @ w_dot + mu + p, F, atol=1e-9)
    task = Laws("tool", ROWS["pose"], (), "task", "rotation-vector", 1e9)
    assert_allclose(task.torques(TREE, q, v, acceleration=w_dot), J.T @ (inertia @ w_dot + mu + p), atol=1e-9)


def test_selections_in_rotated_axes():
    """S_M + S_F = 1, both are projectors of symmetric matrices along the axes. [RD 3.98-3.99]"""
    rng = np.random.default_rng(2)
    axes, sigma, x = mb.Rotation.random(rng), np.array([1.0, 0, 1, 0, 0, 1]), rng.standard_normal(6)
    C = axes.matrix.T  # RD's
    S_M = np.kron(np.eye(2), C.T) @ np.diag(sigma) @ np.kron(np.eye(2), C)
    assert_allclose(along(axes, sigma, x), S_M @ x, atol=1e-12)
    assert_allclose(along(axes, sigma, x) + along(axes, 1 - sigma, x), x, atol=1e-12)


def test_gains_are_along_the_axes_and_rows_can_be_chosen():
    rng, q, v = states(1, 3)
    q, v = q[0], v[0]
    axes, kp = mb.Rotation.random(rng), np.arange(1.0, 7.0)
    target = PANDA.pose("tool", PANDA.home())
    off = control.PoseTask("hand", "tool").error(TREE, q, target)
    C = np.kron(np.eye(2), axes.matrix)
    wanted = C @ np.diag(kp) @ C.T @ off - 3 * PANDA.velocity("tool", q, v)
    tau = PLAIN.torques(TREE, q, v, pose=target, kp=kp, kd=np.full(6, 3.0), axes=axes)
    assert_allclose(tau, PLAIN.torques(TREE, q, v, acceleration=wanted), atol=1e-10)
    for name, part in (("position", slice(0, 3)), ("rotation", slice(3, 6))):
        laws = Laws("tool", ROWS[name], (), "joint", "rotation-vector", 1e9)
        tau = laws.torques(TREE, q, v, pose=target, kp=kp[part])
        moved = PANDA.acceleration("tool", q, v, PANDA.forward_dynamics(q, v, tau))[part]
        assert_allclose(moved, kp[part] * off[part], atol=1e-8)


@pytest.mark.parametrize("error", ["euler-zyx", "euler-xyz", "quaternion", "rotation-vector-difference", "angle-axis"])
def test_difference_of_parameters_approximates_small_rotations(error):
    """E_R (χ* - χ) is the rotation vector but for squares of it. [RD 3.92, §2.9.3]"""
    q = PANDA.home() + np.linspace(-0.3, 0.4, 7)
    actual = PANDA.pose("tool", q)
    approximate = Laws("tool", ROWS["pose"], (), "joint", error, 1e9)
    one, still, worst = np.ones(6), np.zeros(7), []
    for size in (1e-2, 1e-3):
        target = actual.integrate([0.1, 0.0, 0.2, size, -size, 2 * size], 1.0, "mixed")
        tau = [laws.torques(TREE, q, still, pose=target, kp=one) for laws in (PLAIN, approximate)]
        a = [PANDA.acceleration("tool", q, still, PANDA.forward_dynamics(q, still, x)) for x in tau]
        assert_allclose(a[0][3:], [size, -size, 2 * size], atol=1e-9)
        assert_allclose(a[1][:3], a[0][:3], atol=1e-9)
        worst.append(np.abs(a[1] - a[0]).max())
    assert worst[0] < 5e-3
    assert worst[1] < worst[0] / 50 + 1e-9


def test_finite_at_singularities_and_exact_away_from_them():
    """Straight up, the Panda has lost rows of J; Λ is damped there, and not where its trace is less than heaviest."""
    up = np.zeros(7)
    assert np.linalg.matrix_rank(ARM.jacobian("tool", up), tol=1e-9) < 6
    rng, q, v = states(4, 4)
    near = np.concatenate([up + np.array([[0.0], [1e-12], [1e-9], [1e-6], [1e-3]]), q])
    inertia = SPACE.inertia(near)
    assert np.isfinite(inertia).all()
    assert np.linalg.eigvalsh(inertia).max() < 1.4 * 1e3 * ARM.mass
    assert np.linalg.eigvalsh(inertia).min() > 0
    tau = SPACE(near, np.concatenate([rng.standard_normal((5, 7)), v]), acceleration=np.ones(6))
    assert np.isfinite(tau).all()
    assert np.abs(tau).max() < 1e5
    J, M = ARM.jacobian("tool", q), ARM.mass_matrix(q)
    exact = np.linalg.inv(J @ np.linalg.solve(M, np.swapaxes(J, 1, 2)))
    assert_allclose(inertia[5:], exact, atol=1e-9 * np.abs(exact).max())


def test_a_planar_arm_and_its_lost_rows():
    """Three joints, six rows: what the arm cannot do is left out, what it can comes out but for the damping."""
    laws = Laws("tool", ROWS["pose"], (), "joint", "rotation-vector", 1e6)
    q, v = np.array([0.3, 0.5, 0.7]), np.array([1.0, -1.0, 0.5])
    w = PLANAR.acceleration("tool", q, v, [1.0, 2.0, 3.0])  # possible
    tau = laws.torques(PLANAR.tree, q, v, acceleration=w)
    assert_allclose(PLANAR.forward_dynamics(q, v, tau), [1.0, 2.0, 3.0], rtol=1e-3)
    assert np.isfinite(laws.torques(PLANAR.tree, q, v, acceleration=np.ones(6))).all()


def test_spring_is_the_gradient_of_its_energy():
    """For stiffnesses that differ about the axes, too."""
    rng = np.random.default_rng(5)
    A = rng.standard_normal((6, 6))
    K, target, actual = A @ A.T, mb.Pose.random(rng), mb.Pose.random(rng)
    off = lambda pose: np.concatenate([target.position - pose.position, target.rotation.boxminus(pose.rotation)])
    energy = lambda pose: off(pose) @ K @ off(pose) / 2
    force = np.empty(6)
    for k, unit in enumerate(np.eye(6)):
        ends = [energy(actual.integrate(s * 1e-6 * unit, 1.0, "mixed")) for s in (1, -1)]
        force[k] = -(ends[0] - ends[1]) / 2e-6
    # the linear part of a spring that couples both follows from the gradient by Δ alone
    assert_allclose(spring(K, off(actual)), force, atol=1e-6 * np.abs(force).max())


def test_impedance_with_an_inertia():
    """I (w' - w'*) + D (w - w*) - F_K = F, with F on the tool. [RD §3.9.3]"""
    rng, q, v = states(1, 6)
    q, v = q[0], v[0]
    I, D, K = np.diag([4.0, 5.0, 6.0, 0.3, 0.2, 0.1]), 30 * np.eye(6), np.diag([300.0, 200.0, 100.0, 20, 20, 20])
    twist, acceleration, F = rng.standard_normal((3, 6))
    target = PANDA.pose("tool", PANDA.home())
    tau = PLAIN.impedance(TREE, q, v, target, K, D, twist=twist, acceleration=acceleration, inertia=I, external=10 * F)
    a = PANDA.forward_dynamics(q, v, tau, wrenches={"tool": 10 * F})
    w, w_dot = PANDA.velocity("tool", q, v), PANDA.acceleration("tool", q, v, a)
    F_K = spring(K, control.PoseTask("hand", "tool").error(TREE, q, target))
    assert_allclose(I @ (w_dot - acceleration) + D @ (w - twist) - F_K, 10 * F, atol=1e-7)


@pytest.fixture(scope="module")
def pushed():
    """A planar arm on a spring at its tool, in a batch of two, pushed for a while."""
    K, D = np.diag([200.0, 300.0, 100.0, 6.0, 4.0, 8.0]), np.diag([10.0, 10.0, 10.0, 0.6, 0.5, 0.4])
    home = np.array([0.3, 0.5, 0.7])
    space, target = control.OperationalSpace(PLANAR, "tool"), PLANAR.pose("tool", home)
    law = lambda _t, q, v: space.impedance(q, v, target, stiffness=K, damping=D)
    push = np.zeros((300, 6))
    push[100:150] = [10.0, -5.0, 8.0, 0.5, 0.3, -0.2]
    simulator = simulate.Simulator(PLANAR, dt=0.002, method="rk4", controller=law)
    start = home + np.array([[0.3, -0.2, 0.4], [-0.2, 0.1, 0.3]])
    return simulator, start, simulator(start, seconds=0.6, wrenches={"tool": push}), push, K, D, target


def test_energy_balance_and_passivity_of_impedance(pushed):
    """Kinetic energy + spring changes by the work from outside less that of the damper, and never rises but by it."""
    _, _, run, push, K, D, target = pushed
    off = control.PoseTask("hand", "tool").error(PLANAR.tree, run.q, target)
    storage = PLANAR.kinetic_energy(run.q, run.v) + np.einsum("...i,ij,...j->...", off, K, off) / 2
    w = PLANAR.velocity("tool", run.q, run.v)
    power, loss = (push * w).sum(axis=-1), np.einsum("...i,ij,...j->...", w, D, w)
    work = lambda x: 0.002 * (x[:, :-2] + 4 * x[:, 1:-1] + x[:, 2:]) / 3  # over two steps, by Simpson's rule
    change = storage[:, 2:] - storage[:, :-2]
    inside = np.r_[0:97, 101:147, 151:297]  # where the push does not jump
    assert np.abs((change - work(power - loss))[:, inside]).max() < 2e-6
    assert (change - work(power))[:, inside].max() < 0
    assert power.max() > 0.1


def test_runs_alone_as_in_a_batch(pushed):
    simulator, start, run, push, *_ = pushed
    alone = simulator(start[1], seconds=0.6, wrenches={"tool": push})
    assert_array_equal(alone.q, run.q[1])


def test_one_as_in_a_batch_threads_out_and_nan():
    rng, q, v = states(9, 8)
    w = rng.standard_normal((9, 6))
    tau = SPACE(q, v, acceleration=w)
    assert_array_equal(SPACE(q[4], v[4], acceleration=w[4]), tau[4])
    out = np.empty_like(tau)
    assert SPACE(q, v, acceleration=w, out=out, threads=2) is out
    assert_array_equal(out, tau)
    w[2, 3] = np.nan
    bad = SPACE(q, v, acceleration=w)
    assert np.isnan(bad[2]).any()
    assert_array_equal(np.delete(bad, 2, 0), np.delete(tau, 2, 0))


def test_float32():
    _, q, v = states(5, 9)
    single = control.OperationalSpace(ARM.astype("float32"), "tool")
    tau = single(
        np.concatenate([q, np.zeros((1, 7))]).astype(np.float32),
        np.zeros((6, 7), np.float32),
        acceleration=np.ones(6, np.float32),
    )
    assert tau.dtype == np.float32
    assert np.isfinite(tau).all()  # the last one is singular
    assert_allclose(tau[:5], SPACE(q, 0 * v, acceleration=np.ones(6)), atol=2e-2)


@pytest.mark.slow
def test_a_wall_is_pushed_and_wiped():
    """Force along the normal of a wall, motion in it, in simulation with contact: the mean force is the one asked for.

    [RD 3.97-3.99, §3.9.3, §3.9.4]"""
    q = ARM.home()
    start = ARM.pose("tool", q)
    wall = simulate.Ground(normal=(-1.0, 0.0, 0.0), offset=-(start.position[0] + 0.02), friction=0.0)
    motion, F = np.array([0.0, 1, 1, 1, 1, 1]), np.array([15.0, 0, 0, 0, 0, 0])

    def wipe(t, q, v):
        zero = 0 * t
        target = mb.Pose(start.rotation, start.position + np.stack([zero, 0.05 * np.sin(3 * t), zero], axis=-1))
        twist = np.stack([zero, 0.15 * np.cos(3 * t), zero, zero, zero, zero], axis=-1)
        rest = control.gravity_compensation(ARM, q, v, kd=2.0) - ARM.gravity(q)
        return SPACE(q, v, pose=target, twist=twist, kp=400.0, kd=40.0, wrench=F, motion=motion, tau0=rest)

    simulator = simulate.Simulator(
        ARM, dt=0.002, contacts=[simulate.SphereContact("tool", radius=0.02)], ground=wall, controller=wipe
    )
    run = simulator(q, seconds=2.0)
    push, place = -run.forces[500:, 0, 0], ARM.pose("tool", run.q[500:]).position
    assert np.abs(push - 15.0).max() < 0.2
    assert np.abs(place[:, 0] - start.position[0]).max() < 1e-4
    assert np.abs(place[:, 1] - start.position[1] - 0.05 * np.sin(3 * run.t[500:])).max() < 5e-3
    assert np.ptp(place[:, 1]) > 0.05


def test_bad_input():
    q, v, H = ARM.home(), np.zeros(7), ARM.pose("tool", ARM.home())
    dog = mb.load("quadruped")
    for message, call in (
        ("gripper9", lambda: control.OperationalSpace(ARM, "gripper9")),
        ("robot: expected a Robot", lambda: control.OperationalSpace(ARM.model, "tool")),
        ("rows: expected one of 'pose'", lambda: control.OperationalSpace(ARM, "tool", rows="all")),
        ("compensation: expected one of 'joint'", lambda: control.OperationalSpace(ARM, "tool", compensation="all")),
        ("error: expected one of", lambda: control.OperationalSpace(ARM, "tool", error="euler-xxx")),
        ("heaviest: expected a positive inertia", lambda: control.OperationalSpace(ARM, "tool", heaviest=0.0)),
        ("contacts: expected at least one", lambda: control.OperationalSpace(dog, "trunk")),
        ("contacts: expected constraints", lambda: control.OperationalSpace(dog, "trunk", contacts=["foot-lf"])),
        ("pose: expected kp", lambda: SPACE(q, v, pose=H)),
        ("twist: expected kd", lambda: SPACE(q, v, twist=np.zeros(6))),
        ("wrench: expected motion=", lambda: SPACE(q, v, acceleration=np.zeros(6), wrench=np.zeros(6))),
        ("motion: expected ones and zeros, got 0.5", lambda: SPACE(q, v, motion=np.full(6, 0.5))),
        ("acceleration", lambda: SPACE(q, v, acceleration=np.zeros(3))),
        ("pose: expected a Pose", lambda: SPACE(q, v, pose=H.matrix, kp=1.0)),
        ("axes: expected a Rotation", lambda: SPACE(q, v, motion=np.ones(6), axes=np.eye(3))),
        (
            "external: expected inertia",
            lambda: SPACE.impedance(q, v, H, stiffness=1.0, damping=1.0, external=np.zeros(6)),
        ),
        ("stiffness: expected a number, 6", lambda: SPACE.impedance(q, v, H, stiffness=np.ones(3), damping=1.0)),
    ):
        with pytest.raises(mb.InputError, match=message):
            call()
