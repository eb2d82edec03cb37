"""Every law of torques as a controller of a simulation, a part of its kernel, beside what theory says of the motion."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import multibody as mb
from multibody import control, simulate

ARM = mb.load("double-pendulum")
W, SECONDS, DT = 6.0, 0.6, 0.002
"""The frequency of all laws in rad/s, critically damped."""
TARGET = np.array([0.4, -0.3])


def critically_damped(t, start):
    """e'' + 2 w e' + w² e = 0 from rest."""
    return start * ((1 + W * t) * np.exp(-W * t))[:, None]


def wanted(q, v):
    """The acceleration of springs and dampers to the target."""
    return W * W * (TARGET - q) - 2 * W * v


def inverse_dynamics(q, v):
    return control.inverse_dynamics_control(ARM, q, v, TARGET, kp=W * W, kd=2 * W)


def multi_task(q, v):
    return control.multi_task_control(ARM, q, v, [[(control.PostureTask("rest"), wanted(q, v))]])


BODY = control.WholeBody(ARM, (), [[control.PostureTask("rest")]], (control.TorqueLimits(),))


def whole_body(q, v):
    return BODY(q, v, rest=TARGET, rest_kp=W * W).tau


def hierarchy(q, v):
    """The equations of motion and the wish are two levels of (a, tau), box constraints the first."""
    M, h = ARM.mass_matrix(q), ARM.bias(q, v)
    motion = np.concatenate([M, -np.eye(2)], axis=1)
    wish = np.concatenate([np.eye(2), np.zeros((2, 2))], axis=1)
    limits = control.Level(C=wish[:, [2, 3, 0, 1]], lower=[-100.0] * 2, upper=[100.0] * 2)
    levels = [limits, control.Level(motion, -h), control.Level(wish, wanted(q, v))]
    return control.hierarchical_qp(levels)[0][2:]


def program(q, v):
    M, h = ARM.mass_matrix(q), ARM.bias(q, v)
    answer = control.qp(np.eye(2), -(M @ wanted(q, v) + h), C=np.eye(2), lower=[-100.0] * 2, upper=[100.0] * 2)
    return answer.x


@pytest.mark.parametrize(
    "law", [inverse_dynamics, multi_task, whole_body, hierarchy, program], ids=lambda f: f.__name__
)
def test_errors_decay_as_theory_says(law):
    """[RD 3.76-3.80, 3.82-3.83, 3.108-3.111]"""
    simulator = simulate.Simulator(ARM, dt=DT, method="rk4", controller=lambda _, q, v: law(q, v))
    q = np.array([[0.0, 0.0], [0.6, 0.5]])
    run = simulator(q, seconds=SECONDS, every=30)
    for k in range(2):
        assert_allclose(TARGET - run.q[k], critically_damped(run.t, TARGET - q[k]), atol=1e-6)


def test_a_robot_stands_by_floating_inverse_dynamics_and_squeezes_the_ground(dog, feet):
    """Torques that load feet against each other move nothing, and the ground feels them.  [RD 3.100-3.101]"""
    home = dog.home()
    home[2] -= dog.pose(feet[0].frame, home).position[2]
    inward = np.array([-np.sign(dog.pose(foot.frame, home).position) * [0, 1, 0] for foot in feet]).ravel()

    def stand(t, q, v, squeeze):
        del t
        a = 400.0 * dog.difference(q, home) - 40.0 * v
        return control.floating_inverse_dynamics(dog, feet, q, v, a, forces=squeeze)

    contacts = [simulate.SphereContact(foot.frame) for foot in feet]
    simulator = simulate.Simulator(dog, DT, contacts=contacts, ground=simulate.Ground(friction=0.8), controller=stand)
    inputs = np.stack([0 * inward, 4.0 * inward])[:, None]
    run = simulator(np.tile(home, (2, 1)), seconds=0.1, inputs=inputs)
    assert_allclose(run.q[:, -1], np.tile(home, (2, 1)), atol=1e-5)
    forces = run.forces[:, -1]
    assert_allclose(forces.sum(axis=1), np.tile([0, 0, 9.81 * dog.mass], (2, 1)), atol=1e-2)
    assert_allclose((forces[1] - forces[0]).ravel(), 4.0 * inward, atol=0.05)
