"""WholeBody with circular friction cones: beside ever finer pyramids, and its kernels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import multibody as mb
from multibody import control
from multibody.model.joint import Limits

MU = 0.6
COM, TRUNK = control.CenterOfMassTask("com"), control.OrientationTask("base", "trunk")


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
            answer = body.problem.solution(values)
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
        plain = body.problem.solution({"q": q, "v": v, "push": push})
    assert_allclose(answer.tau, plain.tau, atol=1e-6)
    assert_array_equal(body(q[3], v[3], push=push[3]).tau, answer.tau[3])
    along = -answer.f[:, 0]
    assert (np.hypot(answer.f[:, 1], answer.f[:, 2]) <= 0.5 * along + 1e-6).all()
    assert (along >= 1.0 - 1e-6).all()
