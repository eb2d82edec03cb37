"""Laws of joint space: as printed, in closed loop, on floating bases, traced, in batches, and refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import multibody as mb
from multibody import control, simulate

ARM = mb.load("double-pendulum")
HAND = mb.load("planar-arm")
DOG = mb.load("quadruped")


def states(robot, n=6, seed=0):
    rng = np.random.default_rng(seed)
    q = robot.random(rng, (n,))
    return q, rng.standard_normal((n, robot.nv)), robot.random(rng, (n,)), *rng.standard_normal((2, n, robot.nv))


def test_gains_of_arrays():
    """ω = sqrt(kp), D = kd / (2 sqrt(kp)). [RD 3.79-3.80]"""
    frequency, ratio = np.array([0.5, 3.0]), np.array([0.7, 1.2])
    kp, kd = control.gains(frequency, ratio)
    assert_allclose(np.sqrt(kp), 2 * np.pi * frequency)
    assert_allclose(kd / (2 * np.sqrt(kp)), ratio)


def test_step_response_has_the_frequency_and_damping_of_the_gains():
    """Under inverse dynamics control every joint is a unit mass on a spring and a damper. [RD 3.76-3.80, §3.8.1]"""
    kp, kd = control.gains(2.0, 0.5)
    law = lambda _t, q, v: control.inverse_dynamics_control(ARM, q, v, np.zeros(2), kp=kp, kd=kd)
    start = np.array([0.4, -0.3])
    run = simulate.Simulator(ARM, dt=0.001, method="rk4", controller=law)(start, seconds=0.5)
    omega, t = np.sqrt(kp), run.t[:, None]
    slow, fast = 0.5 * omega, omega * np.sqrt(1 - 0.5**2)
    exact = np.exp(-slow * t) * (np.cos(fast * t) + slow / fast * np.sin(fast * t)) * start
    assert np.abs(run.q - exact).max() < 1e-4  # torques are held over stages of a step alone


def test_steady_state_error_of_impedance_is_gravity_over_stiffness():
    """Springs alone sag by g / kp; with gravity compensated the error is gone. [RD 3.73-3.75]"""
    kp, kd, target = 30.0, 8.0, np.array([0.3, 0.2])
    laws = {
        "sags": lambda _t, q, v: control.joint_impedance(ARM, q, v, target, kp=kp, kd=kd),
        "holds": lambda _t, q, v: control.gravity_compensation(ARM, q, v, target, kp=kp, kd=kd),
    }
    ends = {
        name: simulate.Simulator(ARM, dt=0.005, controller=law)(target, seconds=15.0).last for name, law in laws.items()
    }
    q, v = ends["sags"]
    assert np.abs(v).max() < 1e-6
    assert_allclose(kp * (target - q), ARM.gravity(q), atol=1e-4)
    assert np.abs(target - q).max() > 0.05
    assert np.abs(ends["holds"][0] - target).max() < 1e-9


def test_energy_balance_and_passivity_of_joint_impedance():
    """With gravity compensated, kinetic energy + spring never rises but by the work from outside, and their change is
    that work less what the dampers take. [RD 3.75]"""
    kp, kd, target = np.array([20.0, 10.0]), np.array([0.6, 0.3]), np.zeros(2)
    law = lambda _t, q, v: control.gravity_compensation(ARM, q, v, target, kp=kp, kd=kd)
    frame = ARM.frames[-1]
    push = np.zeros((400, 6))
    push[100:200, :3] = [4.0, 0.0, -3.0]
    run = simulate.Simulator(ARM, dt=0.002, method="rk4", controller=law)(
        [0.9, -0.5], seconds=0.8, wrenches={frame: push}
    )
    storage = ARM.kinetic_energy(run.q, run.v) + (kp * (run.q - target) ** 2).sum(axis=-1) / 2
    power = (push * ARM.velocity(frame, run.q, run.v)).sum(axis=-1)
    loss = (kd * run.v**2).sum(axis=-1)
    mean = lambda x: 0.002 * (x[1:] + x[:-1]) / 2
    inside = np.r_[0:98, 101:198, 201:398]  # where the push does not jump
    assert np.abs((np.diff(storage) - mean(power - loss))[inside]).max() < 2e-5
    assert np.diff(storage)[200:].max() < 0
    assert np.abs(power).max() > 0.1


@pytest.mark.parametrize("velocity", ["kindr", "left"])
def test_floating_joints_accelerate_as_wanted_and_the_base_is_free(velocity):
    robot = mb.load("quadruped", velocity=velocity)
    q, v, target, rate, a = states(robot, 3)
    tau = control.inverse_dynamics_control(robot, q, v, target, rate, a, kp=50.0, kd=9.0)
    assert_array_equal(tau[:, :6], 0)
    wanted = a[:, 6:] + 50 * (target - q)[:, 7:] + 9 * (rate - v)[:, 6:]
    assert_allclose(robot.forward_dynamics(q, v, tau)[:, 6:], wanted, atol=1e-8)


def test_floating_laws_act_on_joints_alone():
    q, v, target, rate, _ = states(DOG, 3)
    gain = np.arange(1.0, 13.0)
    pd = np.concatenate([np.zeros((3, 6)), gain * (target - q)[:, 7:] + 2 * (rate - v)[:, 6:]], axis=1)
    assert_allclose(control.joint_impedance(DOG, q, v, target, rate, kp=gain, kd=2.0), pd, atol=1e-12)
    held = control.gravity_compensation(DOG, q, v)
    assert_allclose(held, DOG.gravity(q) * (np.arange(18) > 5), atol=1e-12)


def test_one_as_in_a_batch_in_threads_and_traced():
    q, v, target, rate, a = states(HAND, 9)
    tau = control.inverse_dynamics_control(HAND, q, v, target, rate, a, kp=50.0, kd=9.0)
    assert_array_equal(
        control.inverse_dynamics_control(HAND, q[4], v[4], target[4], rate[4], a[4], kp=50.0, kd=9.0), tau[4]
    )
    out = np.empty_like(tau)
    assert control.inverse_dynamics_control(HAND, q, v, target, rate, a, kp=50.0, kd=9.0, out=out, threads=2) is out
    assert_array_equal(out, tau)
    traced = mb.compile(
        lambda q, v, x: (
            control.inverse_dynamics_control(HAND, q, v, x, kp=50.0, kd=9.0) + control.friction_compensation(HAND, v)
        ),
        3,
        3,
        3,
    )
    still = control.inverse_dynamics_control(HAND, q, v, target, kp=50.0, kd=9.0) + control.friction_compensation(
        HAND, v
    )
    assert_allclose(traced(q, v, target), still, rtol=1e-13, atol=1e-13)


def test_nan_stays_in_its_sample_and_float32():
    q, v, target, rate, a = states(HAND, 9)
    tau = control.inverse_dynamics_control(HAND, q, v, target, rate, a, kp=50.0, kd=9.0)
    v[3, 1] = np.nan
    bad = control.inverse_dynamics_control(HAND, q, v, target, rate, a, kp=50.0, kd=9.0)
    assert np.isnan(bad[3]).any()
    assert_array_equal(np.delete(bad, 3, 0), np.delete(tau, 3, 0))
    single = HAND.astype("float32")
    small = [np.delete(x, 3, 0).astype(np.float32) for x in (q, v, target, rate, a)]
    short = control.inverse_dynamics_control(single, *small, kp=50.0, kd=9.0)
    assert short.dtype == np.float32
    assert_allclose(short, np.delete(tau, 3, 0), rtol=1e-4, atol=1e-3)


def test_friction_compensation_takes_off_most_friction_and_never_drives():
    """The joint as it is felt still takes energy out, at every speed and width."""
    robot = mb.load("puma-560")
    rng = np.random.default_rng(3)
    v = rng.choice([-1.0, 1.0], (50, 6)) * 10.0 ** rng.uniform(-6, 1, (50, 6))
    rest = control.friction_compensation(robot, v, width=0.02) + robot.passive(robot.home(), v)
    assert (rest * v).max() < 1e-9
    fast = np.abs(v) > 1
    friction = np.broadcast_to(robot.tree.friction, v.shape)
    assert (np.abs(rest)[fast] < 1e-3 * friction[fast]).all()
    assert_array_equal(control.friction_compensation(DOG, np.ones(18))[:6], 0)


def test_pid_holds_what_pd_lets_sag_and_does_not_wind_up():
    """The integral learns gravity; while torques are at their limits it waits."""
    pid = control.PID(ARM, kp=60.0, ki=80.0, kd=12.0, dt=0.005)
    simulator = simulate.Simulator(ARM, dt=0.005, controller=pid, state=pid.state)
    target = np.array([0.4, 0.3])
    run = simulator([0.0, 0.0], seconds=15.0, inputs=target)
    assert np.abs(run.last[0] - target).max() < 1e-6
    assert_allclose(80.0 * run.state["memory"], ARM.gravity(target), atol=1e-3)

    weak = control.PID(ARM, kp=60.0, ki=80.0, kd=12.0, dt=0.005, effort=8.0)
    far = np.array([2.5, 0.0])  # held up there with less than gravity asks for
    tau, state = None, weak.state
    for _ in range(400):
        tau, state = weak(0.0, np.zeros(2), np.zeros(2), far, state)
    assert_array_equal(tau, [8.0, 0.0])
    assert np.abs(state).max() == 0.0  # beyond the limit from the first call on
    tau, after = weak(0.0, np.array([2.6, 0.0]), np.zeros(2), far, np.array([5.0, 0.0]))
    assert after[0] < 5.0  # an error that takes it back counts


def test_bad_input():
    q, v = ARM.home(), np.zeros(2)
    for message, call in (
        ("robot: expected a Robot, got Model", lambda: control.joint_impedance(ARM.model, q, v, q, kp=1.0, kd=1.0)),
        ("kp: expected finite .* not negative", lambda: control.joint_impedance(ARM, q, v, q, kp=-1.0, kd=1.0)),
        (r"kd: expected a number, or \(..., 2\)", lambda: control.joint_impedance(ARM, q, v, q, kp=1.0, kd=np.ones(3))),
        ("kp: expected target=", lambda: control.gravity_compensation(ARM, q, v, kp=1.0)),
        ("target_velocity: expected kd", lambda: control.gravity_compensation(ARM, q, v, q, v, kp=1.0)),
        ("target", lambda: control.joint_impedance(ARM, q, v, np.zeros(3), kp=1.0, kd=1.0)),
        ("frequency: expected a positive number, in Hz, got 0.0", lambda: control.gains(0.0)),
        (r"frequency \(sample 1\)", lambda: control.gains([1.0, np.nan])),
        ("damping_ratio", lambda: control.gains(1.0, -0.1)),
        ("width: expected a positive", lambda: control.friction_compensation(ARM, v, width=0.0)),
        ("dt: expected a positive number, a time in s", lambda: control.PID(ARM, 1.0, 1.0, 1.0, 0.0)),
        ("effort: expected positive torques", lambda: control.PID(ARM, 1.0, 1.0, 1.0, 0.1, effort=-1.0)),
        ("target: expected", lambda: control.PID(ARM, 1.0, 1.0, 1.0, 0.1)(0.0, q, v, np.zeros(3), np.zeros(2))),
    ):
        with pytest.raises(mb.InputError, match=message):
            call()
