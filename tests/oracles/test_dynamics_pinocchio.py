"""Kinematics and dynamics against Pinocchio, on robots of example-robot-data, fixed and floating.

Two small robots run compiled. The others run as plain NumPy, which is what is compiled: two by default, all of them as
slow tests. Their kernels are in `test_kernels_pinocchio.py`.
"""

from collections.abc import Mapping

import numpy as np
import pinocchio as pin
import pytest

import multibody as mb
from multibody.textbook import projected_newton_euler

from ..plain import Plain
from .pinocchio_peer import CONDITION, REFERENCES, STILL, Peer, close, named, peer
from .robot_data import REFUSED, urdf, urdfs

PENDULUM = "double_pendulum_description/urdf/double_pendulum.urdf"
ARM = "ur_description/urdf/ur5_robot.urdf"
QUADRUPED = "anymal_b_simple_description/robots/anymal.urdf"
SAMPLE = ((QUADRUPED, True), ("kinova_description/robots/kinova.urdf", False))
MIMICS = ("baxter_description/urdf/baxter.urdf", "panda_description/urdf/panda.urdf")
MORE_MIMICS = (
    "pr2_description/urdf/pr2.urdf",
    "romeo_description/urdf/romeo.urdf",
    "talos_data/robots/talos_full_v2.urdf",
    "tiago_pro_description/robots/tiago_pro.urdf",
)


def check_frames(p: Peer) -> None:
    """Pose, velocity, both accelerations, Jacobian and its rate, in three representations."""
    r, m, d, T = p.robot, p.model, p.data, p.T
    pin.forwardKinematics(m, d, p.y, p.w, p.b)
    pin.updateFramePlacements(m, d)
    pin.computeJointJacobiansTimeVariation(m, d, p.y, p.w)
    for name in p.leaves:
        k = m.getFrameId(name)
        close(r.pose(name, p.q).matrix, d.oMf[k].homogeneous, f"pose of {name}")
        for representation, reference in REFERENCES.items():
            what = f"{representation} of {name}"
            V = pin.getFrameVelocity(m, d, k, reference).vector
            A = pin.getFrameAcceleration(m, d, k, reference).vector
            J = pin.getFrameJacobian(m, d, k, reference)
            close(r.velocity(name, p.q, p.v, representation), V, f"velocity, {what}")
            close(r.jacobian(name, p.q, representation), J @ T, f"Jacobian, {what}")
            close(r.acceleration(name, p.q, p.v, p.a, representation, intrinsic=True), A, f"intrinsic, {what}")
            classical = pin.getFrameClassicalAcceleration(m, d, k, pin.LOCAL_WORLD_ALIGNED).vector
            apparent = classical if representation == "mixed" else A
            close(r.acceleration(name, p.q, p.v, p.a, representation), apparent, f"apparent, {what}")
            J_dot = r.jacobian_dot(name, p.q, p.v, representation)
            close(r.jacobian(name, p.q, representation) @ p.a + J_dot @ p.v, apparent, f"J a + J' v, {what}")
            if r.model.velocity == "left":
                theirs = pin.getFrameJacobianTimeVariation(m, d, k, reference)
                close(J_dot, theirs @ T, f"rate of the Jacobian, {what}")
        local = pin.getFrameClassicalAcceleration(m, d, k, pin.LOCAL).linear
        ours = r.point_acceleration(name, p.q, p.v, p.a, np.zeros(3))
        close(r.pose(name, p.q).rotation.inverse() @ ours, local, f"classical acceleration of {name}")


def check_forces(p: Peer) -> None:
    """Inverse and forward dynamics with and without wrenches, M, bias, gravity, C."""
    r, m, d, q, v, T = p.robot, p.model, p.data, p.q, p.v, p.T
    M, h = r.mass_matrix(q), r.bias(q, v)
    close(M, T.T @ p.M @ T, "mass matrix")
    close(r.inverse_dynamics(q, v, p.a), T.T @ pin.rnea(m, d, p.y, p.w, p.b), "inverse dynamics")
    close(h, T.T @ (pin.nonLinearEffects(m, d, p.y, p.w) + p.M @ p.still), "bias")
    close(r.gravity(q), T.T @ pin.computeGeneralizedGravity(m, d, p.y), "gravity")
    close(M @ p.a + h, r.inverse_dynamics(q, v, p.a), "M a + h")
    close(r.coriolis(q, v) @ v + r.gravity(q), h, "C v + g")
    wrenches, outer = external(p)
    close(r.inverse_dynamics(q, v, p.a, wrenches), T.T @ pin.rnea(m, d, p.y, p.w, p.b, outer), "wrenches")
    if p.regular:
        for given, theirs in (
            (None, pin.aba(m, d, p.y, p.w, p.f).copy()),
            (wrenches, pin.aba(m, d, p.y, p.w, p.f, outer).copy()),
        ):
            a = p.layout.a_from(p.y, p.w, theirs)
            close(r.forward_dynamics(q, v, p.tau, given), a, "forward dynamics", 1e-8)


def external(p: Peer) -> tuple[Mapping[str, np.ndarray], pin.StdVec_Force]:
    """Wrenches at the leaves, ours at frames along the axes of the world, Pinocchio's in the frames of joints."""
    pin.framesForwardKinematics(p.model, p.data, p.y)
    outer = pin.StdVec_Force()
    outer.extend(pin.Force.Zero() for _ in range(p.model.njoints))
    wrenches = {}
    for name in p.leaves:
        f = p.rng.normal(size=6)
        k = p.model.getFrameId(name)
        joint = p.model.frames[k].parentJoint
        at = pin.SE3(np.eye(3), p.data.oMf[k].translation)
        outer[joint] = outer[joint] + p.data.oMi[joint].actInv(at.act(pin.Force(f)))
        wrenches[name] = f
    return wrenches, outer


def check_momenta_and_energy(p: Peer) -> None:
    """CoM, its Jacobian, centroidal momentum, its matrix and their rates, energies."""
    r, m, d, q, v, T = p.robot, p.model, p.data, p.q, p.v, p.T
    close(r.center_of_mass(q), pin.centerOfMass(m, d, p.y), "centre of mass")
    close(r.com_jacobian(q), pin.jacobianCenterOfMass(m, d, p.y) @ T, "Jacobian of the centre of mass")
    pin.centerOfMass(m, d, p.y, p.w)
    close(r.com_velocity(q, v), d.vcom[0], "velocity of the centre of mass")
    A = pin.ccrba(m, d, p.y, p.w).copy()
    close(r.centroidal_momentum_matrix(q), A @ T, "centroidal momentum matrix")
    close(r.centroidal_momentum(q, v), d.hg.vector, "centroidal momentum")
    close(r.centroidal_inertia(q), d.Ig.matrix(), "centroidal inertia")
    pin.computeCentroidalMomentumTimeVariation(m, d, p.y, p.w, p.b)
    close(r.centroidal_momentum_rate(q, v, p.a), d.dhg.vector, "rate of the centroidal momentum")
    A_dot = r.centroidal_momentum_matrix_dot(q, v)
    close(r.centroidal_momentum_matrix(q) @ p.a + A_dot @ v, d.dhg.vector, "A a + A' v")
    if r.model.velocity == "left":
        close(A_dot, pin.dccrba(m, d, p.y, p.w) @ T, "rate of the centroidal momentum matrix")
    close(r.kinetic_energy(q, v), pin.computeKineticEnergy(m, d, p.y, p.w), "kinetic energy")
    close(r.potential_energy(q), pin.computePotentialEnergy(m, d, p.y), "potential energy")


def check_regressor(p: Peer) -> None:
    """Pinocchio's bodies are ours in the order of its joints, with the same ten parameters."""
    r, n = p.robot, len(p.robot.bodies)
    theirs = pin.computeJointTorqueRegressor(p.model, p.data, p.y, p.w, p.b).reshape(p.model.nv, -1, 10)
    names = {name: k for k, name in enumerate(list(p.model.names)[1:])}
    order = [names.get(body.joint.name, 0) for body in r.bodies]
    ours = r.regressor(p.q, p.v, p.a).reshape(r.nv, n, 10)
    close(ours, np.einsum("kr,kbc->rbc", p.T, theirs[:, order]), "regressor")
    parameters = np.stack([p.model.inertias[k + 1].toDynamicParameters() for k in order])
    close(r.parameters(), parameters, "parameters")


def check_derivatives(p: Peer) -> None:
    """Of inverse and forward dynamics, when both robots have left-trivialised velocities."""
    r, m, d, T = p.robot, p.model, p.data, p.T
    assert r.model.velocity == "left"
    pin.computeRNEADerivatives(m, d, p.y, p.w, p.b)
    by_q, by_v, by_a = r.inverse_dynamics_derivatives(p.q, p.v, p.a)
    close(by_q, T.T @ d.dtau_dq @ T, "dτ/dq")
    close(by_v, T.T @ d.dtau_dv @ T, "dτ/dv")
    close(by_a, T.T @ p.M @ T, "dτ/da")
    if p.regular:
        pin.computeABADerivatives(m, d, p.y, p.w, p.f)
        inverse = np.triu(d.Minv) + np.triu(d.Minv, 1).T
        for ours, theirs, what in zip(
            r.forward_dynamics_derivatives(p.q, p.v, p.tau), (d.ddq_dq, d.ddq_dv, inverse), ("q", "v", "τ"), strict=True
        ):
            close(ours, T.T @ theirs @ T, f"da/d{what}", 1e-7)


def check_differences(p: Peer) -> None:
    """What Pinocchio does not give: the Hessian, M' - 2 C, and the step back from an integration."""
    r, q, v, h = p.robot, p.q, p.v, 1e-6
    ahead, behind = r.integrate(q, h * np.eye(r.nv)), r.integrate(q, -h * np.eye(r.nv))
    for representation in REFERENCES:
        J = [r.jacobian(p.leaves[0], moved, representation) for moved in (ahead, behind)]
        H = r.hessian(p.leaves[0], q, representation)
        close(H, (J[0] - J[1]) / (2 * h), f"Hessian, {representation}", 2e-5)
        close(r.jacobian_dot(p.leaves[0], q, v, representation), np.einsum("kij,k->ij", H, v), "J' from the Hessian")
    M = [r.mass_matrix(r.integrate(q, t * v)) for t in (h, -h)]
    S = (M[0] - M[1]) / (2 * h) - 2 * r.coriolis(q, v)
    close((S + S.T) / max(1.0, np.abs(M[0]).max()), np.zeros_like(S), "M' - 2 C is skew", 2e-5)
    close(r.difference(q, r.integrate(q, 0.2 * v)), 0.2 * v, "difference")


def check(p: Peer) -> None:
    check_frames(p)
    check_forces(p)
    check_momenta_and_energy(p)
    check_regressor(p)
    check_differences(p)
    if p.robot.model.velocity == "left":
        check_derivatives(p)


@pytest.mark.slow
def test_kernels_agree() -> None:
    check(peer(PENDULUM, True, "kindr", compiled=True))


def test_kernels_of_an_arm_agree() -> None:
    p = peer(ARM, False, "left", compiled=True)
    check_forces(p)
    check_derivatives(p)


@pytest.mark.parametrize(
    ("path", "floating"),
    [
        pytest.param(*case, id=named(*case), marks=() if case in SAMPLE else pytest.mark.slow)
        for case in ((path, floating) for path in urdfs() for floating in (False, True))
        if case[0] not in REFUSED and (case[1] or case[0] not in STILL)
    ],
)
def test_algorithms_agree(path: str, floating: bool) -> None:
    for velocity in ("kindr", "left") if floating else ("left",):
        check(peer(path, floating, velocity))


@pytest.mark.parametrize("velocity", ["right", "mixed"])
def test_other_velocities_of_the_base_agree(velocity: str) -> None:
    check(peer(PENDULUM, True, velocity))


@pytest.mark.parametrize(("path", "floating"), [(PENDULUM, True), (ARM, False)])
def test_armature_agrees(path: str, floating: bool) -> None:
    """On the diagonal of M, in kinetic energy and in every derivative; the regressor is of the bodies alone."""
    p = peer(path, floating, "left", armature=0.2)
    assert p.robot.model.armature.any()
    check_forces(p)
    check_momenta_and_energy(p)
    check_derivatives(p)


def test_a_batch_is_its_samples_bit_for_bit() -> None:
    robot = peer(ARM, False, "left", compiled=True).robot
    rng = np.random.default_rng(3)
    q, (v, a) = robot.random(rng, (2, 3)), rng.normal(size=(2, 2, 3, robot.nv))
    frame = robot.frames[-1]
    for ours, one in (
        (robot.inverse_dynamics(q, v, a), robot.inverse_dynamics(q[1, 2], v[1, 2], a[1, 2])),
        (robot.forward_dynamics(q, v, a), robot.forward_dynamics(q[1, 2], v[1, 2], a[1, 2])),
        (robot.mass_matrix(q), robot.mass_matrix(q[1, 2])),
        (robot.pose(frame, q).matrix, robot.pose(frame, q[1, 2]).matrix),
    ):
        np.testing.assert_array_equal(ours[1, 2], one)


class Coupled:
    """A robot with coupled joints, and the same with all joints on their own, in ours and Pinocchio's layout.

    Full coordinates are G y + g0; `to` takes them, and velocities, to Pinocchio's order.
    """

    def __init__(self, path: str) -> None:
        self.robot = Plain(mb.load(urdf(path), snap=0.0))
        self.peer = peer(path, False, "left")
        full = self.peer.robot
        G, self.g0 = np.zeros((full.nv, self.robot.nv)), np.zeros(full.nv)
        places = {joint.name: joint.v.start for joint in full.joints}
        for joint in self.robot.joints:
            G[places[joint.name], joint.v.start] = joint.mimic.ratio if joint.mimic else 1.0
            self.g0[places[joint.name]] = joint.mimic.offset if joint.mimic else 0.0
        assert self.robot.nv < full.nv
        self.G = G
        self.to = self.peer.layout.v_to(full.neutral(), np.eye(full.nv)).T @ G
        rng = np.random.default_rng(4)
        self.y, (self.u, self.b, self.tau) = self.robot.random(rng), rng.normal(size=(3, self.robot.nv))
        self.wrench = rng.normal(size=6)
        self.full = self.peer.layout.q_to(G @ self.y + self.g0)
        M = pin.crba(self.peer.model, self.peer.data, self.full)
        self.M = self.to.T @ (np.triu(M) + np.triu(M, 1).T) @ self.to
        self.h = self.to.T @ pin.nonLinearEffects(self.peer.model, self.peer.data, self.full, self.to @ self.u)

    def derivatives(self, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """dτ/dy and dτ/du at an acceleration, from Pinocchio."""
        m, d = self.peer.model, self.peer.data
        pin.computeRNEADerivatives(m, d, self.full, self.to @ self.u, self.to @ b)
        return self.to.T @ d.dtau_dq @ self.to, self.to.T @ d.dtau_dv @ self.to


@pytest.mark.parametrize("path", [*MIMICS, *(pytest.param(path, marks=pytest.mark.slow) for path in MORE_MIMICS)])
def test_coupled_joints_are_the_independent_ones_projected(path: str) -> None:
    """M is G^T M G, forces are G^T τ, and y'' solves the projected equations."""
    c = Coupled(path)
    r, y, u, b, tau, M, h = c.robot, c.y, c.u, c.b, c.tau, c.M, c.h
    close(r.mass_matrix(y), M, "mass matrix")
    close(r.bias(y, u), h, "bias")
    close(r.inverse_dynamics(y, u, b), M @ b + h, "inverse dynamics")
    close(r.coriolis(y, u) @ u + r.gravity(y), h, "C u + g")
    close(r.kinetic_energy(y, u), 0.5 * u @ M @ u, "kinetic energy")
    for ours, theirs in zip(r.inverse_dynamics_derivatives(y, u, b), (*c.derivatives(b), M), strict=True):
        close(ours, theirs, "derivatives of inverse dynamics")
    frame = r.bodies[-1].name
    J = r.jacobian(frame, y)
    close(J, c.peer.robot.jacobian(frame, c.G @ y + c.g0) @ c.G, "Jacobian")
    close(r.inverse_dynamics(y, u, b, {frame: c.wrench}), M @ b + h - J.T @ c.wrench, "wrenches")
    A = pin.ccrba(c.peer.model, c.peer.data, c.full, c.to @ u).copy()
    close(r.centroidal_momentum_matrix(y), A @ c.to, "centroidal momentum matrix")
    A_dot = pin.dccrba(c.peer.model, c.peer.data, c.full, c.to @ u)
    close(r.centroidal_momentum_matrix_dot(y, u), A_dot @ c.to, "its rate")
    if np.linalg.cond(M) < CONDITION:
        a = np.linalg.solve(M, tau - h)
        close(r.forward_dynamics(y, u, tau), a, "forward dynamics", 1e-7)
        back = np.linalg.inv(M)
        by_y, by_u = c.derivatives(a)
        for ours, theirs in zip(
            r.forward_dynamics_derivatives(y, u, tau), (-back @ by_y, -back @ by_u, back), strict=True
        ):
            close(ours, theirs, "derivatives of forward dynamics", 1e-6)


def test_the_sums_over_the_bodies_agree() -> None:
    """[RD 3.43-3.48]: the projected Newton-Euler sums, on a quadruped."""
    p = peer(QUADRUPED, True, "kindr")
    M, b, g = projected_newton_euler.projected_newton_euler(p.robot.tree, p.q, p.v)
    close(M, p.T.T @ p.M @ p.T, "M")
    close(b + g, p.T.T @ (pin.nonLinearEffects(p.model, p.data, p.y, p.w) + p.M @ p.still), "b + g")
    close(g, p.T.T @ pin.computeGeneralizedGravity(p.model, p.data, p.y), "g")
