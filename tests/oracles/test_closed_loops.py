"""Closed loops beside Pinocchio and MuJoCo: four-bars with each kind of cut, and a mechanism in space.

One MJCF text makes a mechanism in all three libraries. MuJoCo's constraints are soft and leave J' v out: so its rows
(`efc_J`) and its unconstrained dynamics are compared exactly, and the result of its solver as far as it is stiff.

Pinocchio's `impulseDynamics` (4.1.0) takes the velocity of a loop's first frame alone for the slip: it solves
J (v⁺ - v⁻) = -(1 + e) J_1 v⁻, so that J v⁺ is not zero after a plastic impact when the second frame moves before it. So
it is compared where the second frame rests before the impact: always for cuts on the world, and at such velocities for
those between moving bodies. For all others there are the laws of impacts.
"""

import functools

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from multibody.algorithms import constrained_dynamics as dynamics
from multibody.algorithms import crba, jacobian, kinematics, regressor
from multibody.algorithms import impact as impacts
from multibody.algorithms.constraints import (
    Constraint,
    ConstraintSet,
    Distance,
    HingeClosure,
    JointCoupling,
    PointClosure,
    Weld,
)
from multibody.model import configuration
from multibody.model.layouts import MujocoLayout, PinocchioLayout
from multibody.model.loaders import mjcf

from ..every_law import each_case

FOUR_BAR = """
<body name="rod0"><joint name="h0" axis="0 0 1"/><geom type="capsule" size="0.02" fromto="0 0 0 1 0 0"/>
  <body name="rod1" pos="1 0 0"><joint name="h1" axis="0 0 1"/><geom type="capsule" size="0.02" fromto="0 0 0 1.2 0 0"/>
    <body name="rod2" pos="1.2 0 0"><joint name="h2" axis="0 0 1"/>
      <geom type="box" size="0.225 0.02 0.02" pos="0.225 0 0"/><geom type="box" size="0.225 0.02 0.02" pos="0.675 0 0"/>
      <site name="one" pos="0.9 0 0"/><site name="one z" pos="0.9 0 0.1"/></body></body></body>
<site name="two" pos="1.1 0 0"/><site name="two z" pos="1.1 0 0.1"/>
"""
CUT_ROD = """
<body name="ground"><body name="rod0"><joint name="h0" axis="0 0 1"/>
  <geom type="capsule" size="0.02" fromto="0 0 0 1 0 0"/>
  <body name="rod1" pos="1 0 0"><joint name="h1" axis="0 0 1"/><geom type="capsule" size="0.02" fromto="0 0 0 1.2 0 0"/>
    <body name="rod2" pos="1.2 0 0"><joint name="h2" axis="0 0 1"/>
      <geom type="box" size="0.225 0.02 0.02" pos="0.225 0 0"/>
      <site name="one" pos="0.45 0 0"/><site name="one z" pos="0.45 0 0.1"/></body></body></body>
<body name="rest" pos="1.1 0 0"><joint name="h3" axis="0 0 1"/><geom type="box" size="0.225 0.02 0.02" pos="0.225 0 0"/>
  <site name="two" pos="0.45 0 0" euler="0 0 180"/><site name="two z" pos="0.45 0 0.1"/></body></body>
"""
IN_SPACE = """
<body name="hull" pos="0 0 1"><freejoint name="free"/><geom type="box" size="0.3 0.2 0.1"/>
  <body name="left" pos="0.3 0.1 0"><joint name="l1" axis="1 2 0"/><geom type="box" size="0.1 0.2 0.1" pos="0.1 0.1 0"/>
    <body name="left hand" pos="0.3 0.1 0"><joint name="l2" type="ball"/>
      <geom type="box" size="0.2 0.1 0.1" pos="0.1 0 0"/>
      <site name="one" pos="0.3 0 0.1" quat="1 1 2 3"/><site name="one z" pos="0.5 0.2 0.2"/></body></body>
  <body name="right" pos="0.3 -0.1 0"><joint name="r1" axis="0 1 1"/><geom type="box" size="0.1 0.1 0.2" pos="0 0.1 0"/>
    <body name="right arm" pos="0.2 0 0.2"><joint name="r2" type="slide" axis="1 0 0.5"/>
      <geom size="0.1" pos="0.1 0 0"/>
      <body name="right hand" pos="0.2 0.1 0"><joint name="r3" type="ball"/><geom type="box" size="0.1 0.2 0.3"/>
        <site name="two" pos="0.1 0.2 0.1" quat="1 1 1 0"/><site name="two z" pos="0.3 0 0"/></body></body></body>
</body>
"""
"""The sites "one z" and "two z" are as far from "one" and "two" on their z axes."""
MECHANISMS = {"four-bar": FOUR_BAR, "cut rod": CUT_ROD, "in space": IN_SPACE}
NEAR = {"four-bar": [1.2, -1.3, -1.0], "cut rod": [1.2, -1.3, -1.5, 1.5]}
STIFF = 'solref="0.01 1" solimp="0.9999 0.9999 0.001 0.5 2"'
CLOSURES: dict[str, tuple[type[Constraint], str]] = {
    "point": (PointClosure, f'<connect site1="one" site2="two" {STIFF}/>'),
    "weld": (Weld, f'<weld site1="one" site2="two" {STIFF}/>'),
    "hinge": (
        HingeClosure,
        f'<connect site1="one" site2="two" {STIFF}/><connect site1="one z" site2="two z" {STIFF}/>',
    ),
    "distance": (Distance, f'<tendon tendon1="rod" {STIFF}/>'),
    "coupling": (JointCoupling, f'<joint joint1="{{}}" joint2="{{}}" polycoef="0.2 -0.7 0 0 0" {STIFF}/>'),
}
COUPLED = {"four-bar": ("h2", "h0"), "cut rod": ("h3", "h1"), "in space": ("r2", "l1")}
CASES = [(m, k) for m in MECHANISMS for k in CLOSURES if (m, k) != ("four-bar", "weld")]
"""A weld at the end of the four-bar would leave it nothing to move."""


class Loop:
    """A mechanism that is closed, with a velocity that it allows, and the same in MuJoCo."""

    def __init__(self, mechanism: str, closure: str) -> None:
        kind, equality = CLOSURES[closure]
        coupled = COUPLED[mechanism]
        self.text = f"""<mujoco model="{mechanism}"><option gravity="1 2 -9"/><compiler boundmass="0.01"/>
            <worldbody>{MECHANISMS[mechanism]}</worldbody>
            <tendon><spatial name="rod"><site site="one"/><site site="two"/></spatial></tendon>
            <equality>{equality.format(*coupled)}</equality></mujoco>"""
        self.model = mjcf.read(self.text, snap=0.0).model()
        names = (*coupled, -0.7, 0.2) if kind is JointCoupling else ("one", "two")
        self.set = ConstraintSet(self.model, [kind("loop", *names, *([0.8] if kind is Distance else []))])
        self.rng = np.random.default_rng(8)
        self.q = self.closed(NEAR.get(mechanism))
        J = self.set.jacobian(self.q)
        v = self.rng.standard_normal(self.model.nv)
        allowed = v - np.linalg.pinv(J, rcond=1e-9) @ (J @ v)
        self.v, self.tau = allowed / np.abs(allowed).max(), self.rng.standard_normal(self.model.nv)

    def closed(self, near: list[float] | None) -> np.ndarray:
        """A configuration without error, by Newton's method."""
        q = configuration.random(self.model.tree, self.rng) if near is None else np.array(near)
        for _ in range(100):
            step = np.linalg.pinv(self.set.jacobian(q), rcond=1e-9) @ self.set.error(q)
            q = configuration.integrate(self.model.tree, q, -step / max(1.0, 2 * np.abs(step).max()))
        assert np.abs(self.set.error(q)).max() < 1e-12
        return q


@functools.cache
def loop(mechanism: str, closure: str) -> Loop:
    return Loop(mechanism, closure)


class Peer:
    """The loop in MuJoCo, at rest or moving."""

    def __init__(self, one: Loop, v: np.ndarray) -> None:
        self.model = mujoco.MjModel.from_xml_string(one.text)
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT.value
        self.model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE.value
        self.model.opt.tolerance = 0.0
        self.model.opt.iterations = 200
        self.model.tendon_length0[:] = 0.8  # what the tendon's equality holds
        self.layout = MujocoLayout(one.model, self.model)
        self.data = mujoco.MjData(self.model)
        self.data.qpos[:], self.data.qvel[:] = self.layout.q_to(one.q), self.layout.v_to(one.q, v)
        self.data.qfrc_applied[:] = self.layout.tau_to(one.q, one.tau)
        mujoco.mj_forward(self.model, self.data)

    def rows(self, ahead: float = 0.0) -> np.ndarray:
        """The rows of the constraint, dense, after some time with the same velocity."""
        data = mujoco.MjData(self.model)
        data.qpos[:] = self.data.qpos
        mujoco.mj_integratePos(self.model, data.qpos, self.data.qvel, ahead)
        mujoco.mj_forward(self.model, data)
        return data.efc_J.reshape(-1, self.model.nv).copy()


def close(found: np.ndarray, expected: np.ndarray, within: float = 1e-9) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=within * np.abs(expected).max(initial=1.0))


@pytest.mark.parametrize(
    ("mechanism", "closure"),
    [pytest.param(*case, marks=pytest.mark.slow if k % 2 else ()) for k, case in enumerate(CASES)],
)
def test_rows_of_mujoco(mechanism: str, closure: str) -> None:
    """The same rows, and, where MuJoCo writes them otherwise, the same velocities that are allowed."""
    one = loop(mechanism, closure)
    peer = Peer(one, one.v)
    T = peer.layout.v_to(one.q, np.eye(one.model.nv)).T
    ours, theirs = one.set.jacobian(one.q), peer.rows() @ T
    close(peer.data.efc_pos, np.zeros(len(theirs)), 1e-9)
    if closure in ("point", "distance", "coupling"):
        close(ours, theirs)
    if closure == "weld":
        close(ours[:3], theirs[:3])
    close(*(np.linalg.pinv(J, rcond=1e-9) @ J for J in (ours, theirs)), 1e-8)


@pytest.mark.parametrize(("mechanism", "closure"), CASES)
def test_accelerations_from_mujoco(mechanism: str, closure: str) -> None:
    """MuJoCo's free acceleration, moved by its own rows and mass matrix as far as the constraint asks."""
    one = loop(mechanism, closure)
    peer = Peer(one, one.v)
    M = np.zeros((peer.model.nv, peer.model.nv))
    mujoco.mj_fullM(peer.model, peer.data, M)
    J, h = peer.rows(), 1e-4
    drift = (8 * (peer.rows(h) - peer.rows(-h)) - (peer.rows(2 * h) - peer.rows(-2 * h))) @ peer.data.qvel / (12 * h)
    M_inv_J_T = np.linalg.solve(M, J.T)
    force = np.linalg.pinv(J @ M_inv_J_T, rcond=1e-9, hermitian=True) @ (-drift - J @ peer.data.qacc_smooth)
    theirs = peer.layout.a_from(peer.data.qpos, peer.data.qvel, peer.data.qacc_smooth + M_inv_J_T @ force)
    ours = dynamics.constrained_dynamics(one.set.tree, one.set, one.q, one.v, one.tau).acceleration
    assert np.abs(M_inv_J_T @ force).max() > 0.01
    close(ours, theirs, 1e-7)


@each_case("mechanism, closure", CASES)
def test_solver_of_mujoco(mechanism: str, closure: str) -> None:
    """At rest, where nothing drifts, MuJoCo's stiff solution is ours up to the softness that it insists on."""
    one = loop(mechanism, closure)
    still = np.zeros(one.model.nv)
    peer = Peer(one, still)
    ours = dynamics.constrained_dynamics(one.set.tree, one.set, one.q, still, one.tau).acceleration
    close(peer.layout.a_from(peer.data.qpos, peer.data.qvel, peer.data.qacc), ours, 1e-2)


RIGID = [case for case in CASES if case[1] in ("point", "weld")]
"""Of those, Pinocchio has the rows: CONTACT_3D and CONTACT_6D between two joints."""
SETTINGS = pin.ProximalSettings(1e-14, 1e-10, 100)


class Pinocchio:
    """The loop in Pinocchio, whose forces are along the axes of the first frame."""

    def __init__(self, one: Loop, closure: str, folder) -> None:
        (folder / "loop.xml").write_text(one.text)
        self.model = pin.buildModelFromMJCF(str(folder / "loop.xml"))
        self.model.gravity.linear = np.array([1.0, 2.0, -9.0])
        self.layout, self.data, self.one = PinocchioLayout(one.model, self.model), self.model.createData(), one
        self.models, self.datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        if closure in ("point", "weld"):
            places = []
            for name in ("one", "two"):
                index, pose = one.model.tree.frame(name)
                joint = self.model.getJointId(one.model.bodies[index - 1].joint.name) if index else 0
                places += [joint, pin.SE3(pose.matrix)]
            size = pin.ContactType.CONTACT_3D if closure == "point" else pin.ContactType.CONTACT_6D
            self.models.append(pin.RigidConstraintModel(size, self.model, *places, pin.ReferenceFrame.LOCAL))
            self.datas.append(self.models[0].createData())
            pin.initConstraintDynamics(self.model, self.data, self.models, self.datas)

    def state(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.layout.q_to(self.one.q), self.layout.v_to(self.one.q, v)

    def force(self) -> np.ndarray:
        """Of the last solution, along the world's axes."""
        R, force = kinematics.pose(self.one.model.tree, "one", self.one.q).rotation.matrix, self.datas[0].contact_force
        return np.concatenate([R @ force.linear, R @ force.angular])[: self.one.set.rows]


@pytest.mark.parametrize(("mechanism", "closure"), RIGID)
def test_constraint_dynamics_of_pinocchio(mechanism: str, closure: str, tmp_path) -> None:
    one = loop(mechanism, closure)
    peer = Pinocchio(one, closure, tmp_path)
    state, tau = peer.state(one.v), peer.layout.tau_to(one.q, one.tau)
    theirs = pin.constraintDynamics(peer.model, peer.data, *state, tau, peer.models, peer.datas, SETTINGS)
    a, f = dynamics.constrained_dynamics(one.set.tree, one.set, one.q, one.v, one.tau)
    close(a, peer.layout.a_from(*state, theirs), 1e-6)
    close(f, peer.force(), 1e-5)


@pytest.mark.parametrize(("mechanism", "closure"), RIGID)
@pytest.mark.parametrize("restitution", [0.0, 0.4])
def test_impulse_dynamics_of_pinocchio(mechanism: str, closure: str, restitution: float, tmp_path) -> None:
    """Velocities and impulses, with the second frame at rest before the impact: see above.  [RD 3.66-3.70]"""
    one = loop(mechanism, closure)
    peer = Pinocchio(one, closure, tmp_path)
    J_2 = jacobian.jacobian(one.model.tree, "two", one.q)
    u = np.random.default_rng(1).standard_normal(one.model.nv)
    u -= np.linalg.pinv(J_2, rcond=1e-9) @ (J_2 @ u)
    state = peer.state(u)
    theirs = pin.impulseDynamics(peer.model, peer.data, *state, peer.models, peer.datas, restitution, SETTINGS)
    after, impulse, _ = impacts.impact(one.set.tree, one.set, one.q, u, restitution)
    assert np.abs(impulse).max() > 0.1
    close(after, peer.layout.v_from(state[0], theirs), 1e-7)
    close(impulse, peer.force(), 1e-7)


@each_case("mechanism, closure", CASES)
@each_case("restitution", [0.0, 0.4])
def test_impacts_of_loops(mechanism: str, closure: str, restitution: float) -> None:
    """Both bodies move before the impact; what Pinocchio cannot be asked is asked of the laws.  [RD 3.66-3.72]"""
    one = loop(mechanism, closure)
    u = np.random.default_rng(1).standard_normal(one.model.nv)
    after, impulse, loss = impacts.impact(one.set.tree, one.set, one.q, u, restitution)
    M, J = crba.crba(one.model.tree, one.q), one.set.jacobian(one.q)
    close(J @ after, -restitution * (J @ u), 1e-9)
    close(M @ (after - u), J.T @ impulse, 1e-9)
    close(loss, (u @ M @ u - after @ M @ after) / 2, 1e-9)
    assert loss > 0


@pytest.mark.parametrize(("mechanism", "closure"), CASES)
def test_torque_regressor_of_pinocchio(mechanism: str, closure: str, tmp_path) -> None:
    """On motions of the closed loop: the same matrix, and Y π is what torques and the loop's forces give together."""
    one = loop(mechanism, closure)
    peer = Pinocchio(one, closure, tmp_path)
    a, f = dynamics.constrained_dynamics(one.set.tree, one.set, one.q, one.v, one.tau)
    Y = regressor.regressor(one.model.tree, one.q, one.v, a)
    close(Y @ regressor.parameters(one.model.tree).ravel(), one.tau + one.set.force_basis(one.q) @ f, 1e-8)
    state, T = peer.state(one.v), peer.layout.v_to(one.q, np.eye(one.model.nv)).T
    theirs = pin.computeJointTorqueRegressor(peer.model, peer.data, *state, peer.layout.a_to(one.q, one.v, a))
    order = [peer.model.getJointId(body.joint.name) - 1 for body in one.model.bodies]
    theirs = theirs.reshape(one.model.nv, -1, 10)[:, order]
    close(Y, np.einsum("kr,kbc->rbc", T, theirs).reshape(Y.shape), 1e-9)


def test_cuts_agree() -> None:
    """A four-bar moves alike when it is cut in a hinge, as a point or with its axis, and when a rod is cut."""
    whole, halves = loop("four-bar", "point"), loop("cut rod", "weld")
    v = np.linalg.svd(halves.set.jacobian(halves.q))[2][-1]
    q3 = halves.q[:3]
    close(whole.set.error(q3), np.zeros(3), 1e-9)
    tau = np.array([1.0, -2.0, 3.0])
    expected = dynamics.constrained_dynamics(
        halves.set.tree, halves.set, halves.q, v, np.append(tau, 0.0)
    ).acceleration[:3]
    for cut in (whole, loop("four-bar", "hinge")):
        close(dynamics.constrained_dynamics(cut.set.tree, cut.set, q3, v[:3], tau).acceleration, expected, 1e-8)
