"""Kinematics and dynamics against MuJoCo, on MJCF models with ball, slide, hinge and free joints."""

import functools
from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
import pytest

import multibody as mb
from multibody.algorithms import (
    centroidal,
    coriolis,
    crba,
    energy,
    forward_dynamics,
    hessian,
    jacobian,
    kinematics,
    rnea,
)
from multibody.model import configuration
from multibody.model.layouts import MujocoLayout
from multibody.model.loaders import mjcf
from multibody.model.loaders.mjcf_names import body_names
from multibody.textbook import projected_newton_euler

from ..model.mjcf_texts import MODELS
from .smooth_mujoco import smooth

CHAIN = """
<mujoco model="chain">
  <option gravity="0 0 -9.81"/>
  <worldbody>
    <body name="a"><joint name="j1" axis="0 0 1"/><geom type="capsule" size="0.05 0.1" pos="0 0 0.2"/>
      <body name="b" pos="0 0 0.4"><joint name="j2" type="slide" axis="1 0 0"/><geom type="box" size="0.1 0.1 0.2"/>
        <body name="c" pos="0 0 0.3"><joint name="j3" type="ball"/><geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0"/>
          <body name="d" pos="0 0.2 0"><joint name="j4" axis="0 1 0" armature="0.7"/><geom size="0.1" pos="0 0.2 0"/>
            <body name="e" pos="0 0.4 0"><joint name="j5" axis="1 0 0"/><joint name="j6" type="slide" axis="0 1 0"/>
              <geom type="ellipsoid" size="0.1 0.2 0.3"/><site name="tool" pos="0.1 0.2 0.3" quat="1 1 2 3"/>
              <body name="f" pos="0 0 0.2"><joint name="j7" axis="1 1 1"/><geom type="box" size="0.05 0.1 0.15"/></body>
            </body></body></body></body></body>
  </worldbody>
</mujoco>
"""
TEXTS = {**MODELS, "chain": CHAIN}
WITHIN = 1e-9


class Peer:
    """A model of ours, the same in MuJoCo with smooth dynamics alone, and a state in both layouts."""

    def __init__(self, text: str, velocity: str) -> None:
        self.model = mjcf.read(text, snap=0.0).model(velocity=velocity)
        self.peer = smooth(text)
        self.peer.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY.value
        self.data = mujoco.MjData(self.peer)
        layout = MujocoLayout(self.model, self.peer)
        rng = np.random.default_rng(11)
        self.q = configuration.random(self.model.tree, rng)
        self.v, self.a, self.tau = rng.normal(size=(3, self.model.nv))
        self.y, self.w = layout.q_to(self.q), layout.v_to(self.q, self.v)
        self.b, self.f = layout.a_to(self.q, self.v, self.a), layout.tau_to(self.q, self.tau)
        self.T = layout.v_to(self.q, np.eye(self.model.nv)).T  # v of MuJoCo is T v
        self.layout = layout
        self.data.qpos[:], self.data.qvel[:] = self.y, self.w
        mujoco.mj_forward(self.peer, self.data)

    def bodies(self) -> Iterator[tuple[int, str]]:
        """Of the bodies that can move, the index in MuJoCo and the name."""
        for k, name in enumerate(body_names(self.peer)):
            if self.model.tree.frame(name)[0]:
                yield k, name


@functools.cache
def peer(name: str, velocity: str) -> Peer:
    return Peer(TEXTS[name], velocity)


@pytest.fixture(params=[(name, velocity) for name in TEXTS for velocity in ("kindr", "left")], ids="-".join)
def p(request: pytest.FixtureRequest) -> Peer:
    return peer(*request.param)


def close(ours: Any, theirs: Any, what: str, within: float = WITHIN) -> None:
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape, what
    atol = within * np.abs(theirs).max(initial=1.0)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=atol, err_msg=what)


def stacked(linear: np.ndarray, angular: np.ndarray) -> np.ndarray:
    return np.concatenate([linear, angular])


def test_inverse_dynamics(p: Peer) -> None:
    """mj_inverse, without contacts, limits, springs, dampers and friction."""
    p.data.qacc[:] = p.b
    mujoco.mj_inverse(p.peer, p.data)
    close(rnea.rnea(p.model.tree, p.q, p.v, p.a), p.T.T @ p.data.qfrc_inverse, "inverse dynamics")


def test_mass_matrix_with_armature(p: Peer) -> None:
    M = full_mass_matrix(p)
    close(crba.crba(p.model.tree, p.q), p.T.T @ M @ p.T, "M")
    close(
        crba.crba(p.model.tree, p.q),
        projected_newton_euler.projected_newton_euler(p.model.tree, p.q, p.v).M,
        "[RD 3.46]",
    )


def full_mass_matrix(p: Peer) -> np.ndarray:
    M = np.zeros((p.peer.nv, p.peer.nv))
    mujoco.mj_fullM(p.peer, p.data, M)
    return M


def test_bias(p: Peer) -> None:
    """qfrc_bias, which is for an acceleration of zero in MuJoCo's velocities."""
    still = p.layout.a_to(p.q, p.v, np.zeros(p.model.nv))
    h = p.T.T @ (p.data.qfrc_bias + full_mass_matrix(p) @ still)
    close(coriolis.bias(p.model.tree, p.q, p.v), h, "bias")
    close(coriolis.coriolis(p.model.tree, p.q, p.v) @ p.v + coriolis.gravity(p.model.tree, p.q), h, "C v + g")


def test_forward_dynamics(p: Peer) -> None:
    """mj_forward's qacc under generalized forces and a wrench on every body, by both ways that we have."""
    data = mujoco.MjData(p.peer)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = p.y, p.w, p.f
    rng = np.random.default_rng(12)
    wrenches = {}
    for k, name in p.bodies():
        f = rng.normal(size=6)
        data.xfrc_applied[k] = f  # at the centre of mass of the body
        arm = p.data.xipos[k] - p.data.xpos[k]
        wrenches[name] = stacked(f[:3], f[3:] + np.cross(arm, f[:3]))
    mujoco.mj_forward(p.peer, data)
    a = p.layout.a_from(p.y, p.w, data.qacc)
    close(forward_dynamics.forward_dynamics(p.model.tree, p.q, p.v, p.tau, wrenches), a, "the chosen way", 1e-8)
    close(forward_dynamics.by_factors(p.model.tree, p.q, p.v, p.tau, wrenches), a, "by factors", 1e-8)
    close(forward_dynamics.aba(p.model.tree, p.q, p.v, p.tau, wrenches), a, "by articulated bodies", 1e-8)


def test_jacobians_of_bodies_and_sites(p: Peer) -> None:
    """mj_jacBody, mj_jacSite, and mj_jac of points, along the axes of the world."""
    rng = np.random.default_rng(13)
    for k, name in p.bodies():
        linear, angular = np.zeros((2, 3, p.peer.nv))
        mujoco.mj_jacBody(p.peer, p.data, linear, angular, k)
        close(jacobian.jacobian(p.model.tree, name, p.q), stacked(linear, angular) @ p.T, name)
        point = rng.normal(size=3)
        mujoco.mj_jac(p.peer, p.data, linear, angular, kinematics.pose(p.model.tree, name, p.q) @ point, k)
        close(jacobian.point_jacobian(p.model.tree, name, p.q, point), linear @ p.T, f"point of {name}")
    for k in range(p.peer.nsite):
        name = p.peer.site(k).name
        if name:
            linear, angular = np.zeros((2, 3, p.peer.nv))
            mujoco.mj_jacSite(p.peer, p.data, linear, angular, k)
            close(jacobian.jacobian(p.model.tree, name, p.q), stacked(linear, angular) @ p.T, name)


def test_rates_of_jacobians(p: Peer) -> None:
    """mj_jacDot is the rate for MuJoCo's velocities: with v = T u, J' of ours is J' T + J T'."""
    h = 1e-6

    def T(t: float) -> np.ndarray:
        return p.layout.v_to(configuration.integrate(p.model.tree, p.q, t * p.v), np.eye(p.model.nv)).T

    T_dot = (T(h) - T(-h)) / (2 * h)
    for k, name in p.bodies():
        linear, angular, linear_dot, angular_dot = np.zeros((4, 3, p.peer.nv))
        point = p.data.xpos[k].copy()
        mujoco.mj_jac(p.peer, p.data, linear, angular, point, k)
        mujoco.mj_jacDot(p.peer, p.data, linear_dot, angular_dot, point, k)
        ours = jacobian.jacobian_dot(p.model.tree, name, p.q, p.v)
        theirs = stacked(linear_dot, angular_dot) @ p.T + stacked(linear, angular) @ T_dot
        close(ours, theirs, name, 1e-7)
        H = hessian.hessian(p.model.tree, name, p.q)
        close(hessian.jacobian_dot_from_hessian(H, p.v), ours, f"by the Hessian of {name}")


def test_velocities_of_bodies(p: Peer) -> None:
    """mj_objectVelocity: the mixed and, in the axes of the body, the left-trivialised velocity."""
    for k, name in p.bodies():
        found = np.zeros(6)
        for representation, local in (("mixed", 0), ("left", 1)):
            mujoco.mj_objectVelocity(p.peer, p.data, mujoco.mjtObj.mjOBJ_XBODY, k, found, local)
            ours = kinematics.velocity(p.model.tree, name, p.q, p.v, representation)
            close(ours, stacked(found[3:], found[:3]), f"{representation} of {name}")


def test_accelerations_of_bodies(p: Peer) -> None:
    """mj_objectAcceleration of a body's origin: the classical acceleration less gravity, along the world's axes."""
    p.data.qacc[:] = p.b
    mujoco.mj_rnePostConstraint(p.peer, p.data)
    for k, name in p.bodies():
        found = np.zeros(6)
        mujoco.mj_objectAcceleration(p.peer, p.data, mujoco.mjtObj.mjOBJ_XBODY, k, found, 0)
        ours = kinematics.acceleration(p.model.tree, name, p.q, p.v, p.a)
        close(ours[3:], found[:3], f"angular of {name}")
        close(ours[:3] - p.peer.opt.gravity, found[3:], f"linear of {name}")


def test_momentum_of_every_subtree(p: Peer) -> None:
    """subtree_com, subtree_linvel and subtree_angmom: of the whole tree of each root body, and so of all of them."""
    mujoco.mj_subtreeVel(p.peer, p.data)
    roots = [k for k, _ in p.bodies() if p.model.tree.frame(body_names(p.peer)[p.peer.body_parentid[k]])[0] == 0]
    mass = sum(p.peer.body_subtreemass[k] for k in roots)
    com = sum(p.peer.body_subtreemass[k] * p.data.subtree_com[k] for k in roots) / mass
    linear = sum(p.peer.body_subtreemass[k] * p.data.subtree_linvel[k] for k in roots)
    angular = sum(
        p.data.subtree_angmom[k]
        + p.peer.body_subtreemass[k] * np.cross(p.data.subtree_com[k] - com, p.data.subtree_linvel[k])
        for k in roots
    )
    close(centroidal.center_of_mass(p.model.tree, p.q), com, "centre of mass")
    close(centroidal.com_jacobian(p.model.tree, p.q) @ p.v, linear / mass, "its velocity")
    h = stacked(linear, angular)
    close(centroidal.centroidal_momentum(p.model.tree, p.q, p.v), h, "centroidal momentum")
    close(centroidal.centroidal_momentum_matrix(p.model.tree, p.q) @ p.v, h, "A v")
    about_world = stacked(linear, angular + np.cross(com, linear))
    close(centroidal.momentum(p.model.tree, p.q, p.v), about_world, "momentum about the world's origin")


def test_jacobian_of_the_centre_of_mass() -> None:
    """mj_jacSubtreeCom of the root of a chain."""
    p = peer("chain", "kindr")
    J = np.zeros((3, p.peer.nv))
    mujoco.mj_jacSubtreeCom(p.peer, p.data, J, p.peer.body("a").id)
    close(centroidal.com_jacobian(p.model.tree, p.q), J @ p.T, "Jacobian")


def test_energy(p: Peer) -> None:
    """mj_energyVel counts armature; mj_energyPos is over all bodies, ours without those that are fixed to the world."""
    mujoco.mj_energyVel(p.peer, p.data)
    mujoco.mj_energyPos(p.peer, p.data)
    potential, kinetic = p.data.energy
    close(energy.kinetic_energy(p.model.tree, p.q, p.v), kinetic, "kinetic")
    moving = {k for k, _ in p.bodies()}
    still = [k for k in range(p.peer.nbody) if k not in moving]
    fixed = -sum(p.peer.body_mass[k] * p.peer.opt.gravity @ p.data.xipos[k] for k in still)
    close(energy.potential_energy(p.model.tree, p.q), potential - fixed, "potential")


def test_kernels_agree() -> None:
    """The same numbers from compiled kernels, in a batch."""
    p = peer("chain", "kindr")
    robot = mb.Robot(p.model)
    rng = np.random.default_rng(14)
    q, (v, a) = robot.random(rng, (3,)), rng.normal(size=(2, 3, robot.nv))
    tau, M = robot.inverse_dynamics(q, v, a), robot.mass_matrix(q)
    back = robot.forward_dynamics(q, v, tau)
    for k in range(3):
        data = mujoco.MjData(p.peer)
        data.qpos[:], data.qvel[:] = p.layout.q_to(q[k]), p.layout.v_to(q[k], v[k])
        data.qacc[:] = p.layout.a_to(q[k], v[k], a[k])
        mujoco.mj_inverse(p.peer, data)
        close(tau[k], p.layout.tau_from(data.qpos, data.qfrc_inverse), "inverse dynamics")
        full = np.zeros((p.peer.nv, p.peer.nv))
        mujoco.mj_fullM(p.peer, data, full)
        close(M[k], full, "mass matrix")
        close(back[k], a[k], "forward dynamics", 1e-8)
