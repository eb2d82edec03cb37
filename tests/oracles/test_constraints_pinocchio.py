"""Constrained dynamics and impacts beside Pinocchio, on walking machines."""

import numpy as np
import pinocchio as pin
import pytest

import multibody as mb
from multibody.algorithms import constrained_dynamics as dynamics
from multibody.algorithms import impact as impacts
from multibody.algorithms.constraints import ConstraintSet, FrameContact, PointContact, SurfaceContact
from multibody.model.layouts import PinocchioLayout

from .robot_data import urdf

ANYMAL = ("anymal_b_simple_description/robots/anymal.urdf", ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"))
TALOS = ("talos_data/robots/talos_reduced.urdf", ("left_sole_link", "right_sole_link"))
CASES = [(*ANYMAL, PointContact), (*TALOS, FrameContact)]


def peers(path, frames, kind, velocity="kindr"):
    robot = mb.load(urdf(path), floating=True, mimic="independent", velocity=velocity)
    model = pin.buildModelFromUrdf(str(urdf(path)), pin.JointModelFreeFlyer())
    size = pin.ContactType.CONTACT_3D if kind is PointContact else pin.ContactType.CONTACT_6D
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for name in frames:
        frame = model.frames[model.getFrameId(name)]
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        models.append(pin.RigidConstraintModel(size, model, frame.parentJoint, frame.placement, axes))
    for one in models:
        datas.append(one.createData())
    data = model.createData()
    pin.initConstraintDynamics(model, data, models, datas)
    constraints = ConstraintSet(robot.model, [kind(name, name) for name in frames])
    return robot, constraints, PinocchioLayout(robot.model, model), model, data, models, datas


@pytest.mark.parametrize(("path", "frames", "kind"), CASES, ids=["anymal", "talos"])
@pytest.mark.parametrize("seed", range(2))
def test_constraint_dynamics(path, frames, kind, seed):
    """[RD 3.57, 3.61-3.62]"""
    robot, constraints, layout, model, data, models, datas = peers(path, frames, kind)
    rng = np.random.default_rng(seed)
    q, v, tau = robot.random(rng), rng.standard_normal(robot.nv), rng.standard_normal(robot.nv)
    J = constraints.jacobian(q)
    v = v - np.linalg.pinv(J) @ (J @ v)
    state = layout.q_to(q), layout.v_to(q, v)
    theirs = pin.constraintDynamics(model, data, *state, layout.tau_to(q, tau), models, datas)
    a, f = dynamics.constrained_dynamics(constraints.tree, constraints, q, v, tau)
    np.testing.assert_allclose(layout.a_from(*state, theirs), a, rtol=1e-7, atol=1e-7 * np.abs(a).max())
    forces = [d.contact_force.vector[: len(f) // len(frames)] for d in datas]
    np.testing.assert_allclose(np.concatenate(forces), f, rtol=1e-7, atol=1e-7 * np.abs(f).max())


@pytest.mark.parametrize(("path", "frames", "kind"), CASES, ids=["anymal", "talos"])
@pytest.mark.parametrize("restitution", [0.0, 0.4])
def test_impulse_dynamics(path, frames, kind, restitution):
    """[RD 3.66-3.70]"""
    robot, constraints, layout, model, data, models, datas = peers(path, frames, kind)
    rng = np.random.default_rng(7)
    q, v = robot.random(rng), rng.standard_normal(robot.nv)
    state = layout.q_to(q), layout.v_to(q, v)
    theirs = pin.impulseDynamics(model, data, *state, models, datas, restitution)
    found = impacts.impact(constraints.tree, constraints, q, v, restitution)
    np.testing.assert_allclose(layout.v_from(state[0], theirs), found.velocity, atol=1e-8 * np.abs(v).max())
    impulses = [d.contact_force.vector[: constraints.rows // len(frames)] for d in datas]
    np.testing.assert_allclose(np.concatenate(impulses), found.impulse, rtol=0, atol=1e-9 * np.abs(found.impulse).max())
    assert found.energy_loss >= 0


@pytest.mark.parametrize(("feet", "rank", "base"), [(1, 3, 3), (2, 6, 5), (3, 9, 6), (4, 12, 6)])
def test_ranks_of_feet(feet, rank, base):
    """The counts of the lecture notes on ANYmal, and by Pinocchio's Jacobians.  [RD 2.271-2.272, §2.10.4]"""
    path, frames = ANYMAL
    robot, constraints, layout, model, data, *_ = peers(path, frames[:feet], PointContact)
    q = robot.random(np.random.default_rng(5), (4,))
    found = constraints.ranks(q)
    assert (found.rank == rank).all()
    assert (found.base == base).all()
    assert (found.internal == rank - base).all()
    for each in q:
        J = np.concatenate([_frame_jacobian(model, data, layout.q_to(each), name)[:3] for name in frames[:feet]])
        assert np.linalg.matrix_rank(J, tol=1e-9) == rank
        assert np.linalg.matrix_rank(J[:, :6], tol=1e-9) == base


@pytest.mark.parametrize(("points", "rank"), [(1, 3), (2, 5), (3, 6), (4, 6)])
def test_ranks_of_points_on_a_sole(points, rank):
    """Of Talos, whose sole is a rectangle: 3/3, 5/5, and 6/6 from the third point on.  [RD §2.10.4]"""
    path, frames = TALOS
    robot, _, layout, model, data, *_ = peers(path, frames[:1], FrameContact)
    corners = ((0.1, 0.06, 0.0), (-0.1, 0.06, 0.0), (-0.1, -0.06, 0.0), (0.1, -0.06, 0.0))[:points]
    sole = SurfaceContact("sole", frames[0], corners)
    q = robot.random(np.random.default_rng(5), (4,))
    found = ConstraintSet(robot.model, [sole]).ranks(q)
    assert found.rows == 3 * points
    assert (found.rank == rank).all()
    assert (found.base == rank).all()
    assert not found.internal.any()
    assert (sole.rank(robot.tree, q) == rank).all()
    for each in q:
        J, R = (
            _frame_jacobian(model, data, layout.q_to(each), frames[0]),
            data.oMf[model.getFrameId(frames[0])].rotation,
        )
        J = np.concatenate([J[:3] - pin.skew(R @ np.array(corner)) @ J[3:] for corner in corners])
        assert np.linalg.matrix_rank(J, tol=1e-9) == rank
        assert np.linalg.matrix_rank(J[:, :6], tol=1e-9) == rank


def _frame_jacobian(model, data, q, name):
    pin.framesForwardKinematics(model, data, q)
    return pin.computeFrameJacobian(model, data, q, model.getFrameId(name), pin.LOCAL_WORLD_ALIGNED)


@pytest.mark.parametrize(("path", "frames", "kind"), CASES, ids=["anymal", "talos"])
def test_constraint_dynamics_derivatives(path, frames, kind):
    """Accelerations and forces by q, v and τ, with velocities of the base in "left", as Pinocchio has them."""
    robot, constraints, layout, model, data, models, datas = peers(path, frames, kind, "left")
    rng = np.random.default_rng(3)
    q, v, tau = robot.random(rng), rng.standard_normal(robot.nv), rng.standard_normal(robot.nv)
    J = constraints.jacobian(q)
    v = v - np.linalg.pinv(J) @ (J @ v)
    pin.constraintDynamics(model, data, layout.q_to(q), layout.v_to(q, v), layout.tau_to(q, tau), models, datas)
    theirs = pin.computeConstraintDynamicsDerivatives(model, data, models, datas)
    with mb.eager():
        ours = robot.constrained_dynamics_derivatives(constraints, q, v, tau)
    order = np.stack([layout.v_to(q, e) for e in np.eye(robot.nv)], axis=-1)  # joints come in another one
    for k, (one, two) in enumerate(zip(ours, theirs, strict=True)):
        two = (order.T @ two if k < 3 else two) @ order
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-7 * np.abs(two).max())
