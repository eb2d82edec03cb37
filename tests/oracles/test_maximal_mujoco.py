"""Velocities and forces of bodies exchanged with MuJoCo: hinges, slides, balls and free joints.  [QT §6-6.2]"""

import functools

import mujoco
import numpy as np
import pytest

from multibody.algorithms import forward_dynamics
from multibody.algorithms.maximal_coordinates import forces, velocities
from multibody.errors import InputError
from multibody.model import configuration
from multibody.model.layouts import MujocoLayout
from multibody.model.loaders import mjcf
from multibody.model.loaders.mjcf_names import body_names

from ..model.mjcf_texts import MODELS
from .smooth_mujoco import smooth

CHAIN = """
<mujoco model="chain">
  <worldbody>
    <body name="cart"><joint name="rail" type="slide" axis="1 0 0.2"/><geom type="box" size="0.1 0.2 0.1"/>
      <body name="pole" pos="0 0 0.1"><joint name="tilt" axis="0 1 0" armature="0.2"/>
        <geom type="capsule" size="0.05 0.2" pos="0 0 0.3"/>
        <body name="ball" pos="0 0 0.6"><joint name="neck" type="ball"/>
          <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0"/>
          <body name="drawer" pos="0 0.2 0"><joint name="out" type="slide" axis="0 1 1"/>
            <geom size="0.1" pos="0 0.2 0"/></body></body></body></body>
    <body name="kite" pos="0 0 3"><freejoint name="loose"/><geom type="ellipsoid" size="0.1 0.2 0.3" pos="0.1 0.2 0"/>
      <body name="tail" pos="0 0 -0.3"><joint name="flap" axis="1 0 0"/><geom type="capsule" size="0.02 0.2"/></body>
    </body>
  </worldbody>
</mujoco>
"""
TEXTS = {**MODELS, "chain": CHAIN}


class Exchange:
    """A robot of ours in MuJoCo, with smooth dynamics alone, at one state."""

    def __init__(self, text: str, velocity: str) -> None:
        self.model = mjcf.read(text, snap=0.0).model(velocity=velocity)
        self.peer = smooth(text)
        self.layout = MujocoLayout(self.model, self.peer)
        rng = np.random.default_rng(21)
        self.q = configuration.random(self.model.tree, rng)
        self.v, self.tau = rng.normal(size=(2, self.model.nv))
        self.data = self.fresh()
        mujoco.mj_forward(self.peer, self.data)
        self.names = velocities.link_names(self.model)
        index = {name: k for k, name in enumerate(body_names(self.peer))}
        self.ids = [index[name] for name in self.names]

    def fresh(self) -> mujoco.MjData:
        data = mujoco.MjData(self.peer)
        data.qpos[:], data.qvel[:] = self.layout.q_to(self.q), self.layout.v_to(self.q, self.v)
        return data

    def cvel(self) -> np.ndarray:
        """`cvel` as V: it is angular first, at the centre of mass of the whole tree that the body belongs to."""
        V = []
        for k in self.ids:
            angular, linear = self.data.cvel[k, :3], self.data.cvel[k, 3:]
            arm = self.data.xipos[k] - self.data.subtree_com[self.peer.body_rootid[k]]
            V.append([*(linear + np.cross(angular, arm)), *angular])
        return np.array(V)


@functools.cache
def exchange(name: str, velocity: str) -> Exchange:
    return Exchange(TEXTS[name], velocity)


@pytest.fixture(params=[(name, velocity) for name in TEXTS for velocity in ("kindr", "left", "mixed")], ids="-".join)
def e(request: pytest.FixtureRequest) -> Exchange:
    return exchange(*request.param)


def close(ours: np.ndarray, theirs: np.ndarray, within: float = 1e-9) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=within * np.abs(theirs).max(initial=1.0))


def test_every_body_with_mass_is_a_link(e: Exchange) -> None:
    """The links by default are the bodies of MuJoCo that move."""
    moving = [k for k in range(1, e.peer.nbody) if e.peer.body_weldid[k] != 0]
    assert sorted(e.ids) == moving


def test_velocities_of_bodies(e: Exchange) -> None:
    """[QT 60]: mj_objectVelocity of mjOBJ_BODY, at the centre of mass, and `cvel`."""
    V = velocities.link_velocities(e.model, e.q, e.v)
    found = np.zeros(6)
    for k, body in enumerate(e.ids):
        mujoco.mj_objectVelocity(e.peer, e.data, mujoco.mjtObj.mjOBJ_BODY, body, found, 0)
        close(V[k], np.concatenate([found[3:], found[:3]]))
    close(V, e.cvel())


def test_velocities_of_the_robot(e: Exchange) -> None:
    """[QT 61-66]: from `cvel` to v, and to qvel, by all three ways."""
    V = e.cvel()
    for way in (velocities.joint_velocities, velocities.joint_velocities_by_joint, velocities.check_velocities):
        v = way(e.model, e.q, V)
        close(v, e.v, 1e-8)
        close(e.layout.v_to(e.q, v), e.data.qvel, 1e-8)


def test_a_body_that_is_torn_off(e: Exchange) -> None:
    """A velocity that MuJoCo's joints forbid is refused."""
    held = {"joints": "hand", "generated": "end0", "chain": "drawer"}
    k = e.names.index(held[e.model.name])
    V = e.cvel()
    V[k, :3] += [0.1, 0.2, 0.3]
    with pytest.raises(InputError, match=f"no velocity of .* '{e.names[k]}' would leave"):
        velocities.check_velocities(e.model, e.q, V)


def test_jacobians_of_bodies(e: Exchange) -> None:
    """[QT 60]: mj_jacBodyCom."""
    J = velocities.link_jacobian(e.model, e.q)
    T = e.layout.v_to(e.q, np.eye(e.model.nv)).T
    for k, body in enumerate(e.ids):
        linear, angular = np.zeros((2, 3, e.peer.nv))
        mujoco.mj_jacBodyCom(e.peer, e.data, linear, angular, body)
        close(J[k], np.concatenate([linear, angular]) @ T)


@pytest.mark.parametrize("way", [forces.applied_forces, forces.least_forces])
def test_generalized_forces_through_xfrc_applied(e: Exchange, way) -> None:
    """[QT 67-71]: the acceleration under τ in the joints is that under forces on the bodies, and that of ours."""
    F = way(e.model, e.q, e.tau)
    pushed, driven = e.fresh(), e.fresh()
    pushed.xfrc_applied[e.ids] = F  # force and torque at the centre of mass, along the axes of the world
    driven.qfrc_applied[:] = e.layout.tau_to(e.q, e.tau)
    for data in (pushed, driven):
        mujoco.mj_forward(e.peer, data)
    assert np.abs(driven.qacc - e.data.qacc).max() > 0.1  # the forces matter
    close(pushed.qacc, driven.qacc, 1e-8)
    ours = forward_dynamics.forward_dynamics(e.model.tree, e.q, e.v, e.tau)
    close(e.layout.a_from(pushed.qpos, pushed.qvel, pushed.qacc), ours, 1e-8)


def test_forces_on_bodies_as_generalized_forces(e: Exchange) -> None:
    """[QT 67]: mj_applyFT of forces at points of the bodies, and torques."""
    rng = np.random.default_rng(22)
    F, points = rng.normal(size=(len(e.ids), 6)), rng.normal(size=(len(e.ids), 3))
    total = np.zeros(e.peer.nv)
    for k, body in enumerate(e.ids):
        mujoco.mj_applyFT(e.peer, e.data, F[k, :3], F[k, 3:], points[k], body, total)
    Q = forces.generalized_force(e.model, e.q, F, points=points)
    close(e.layout.tau_to(e.q, Q), total)
