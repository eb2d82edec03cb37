"""Generalized forces of Cartesian ones against MuJoCo's mj_applyFT, on robots of real files.  [RD §3.5.3]"""

import functools

import mujoco
import numpy as np
import pytest

from multibody.model import configuration
from multibody.model.layouts import MujocoLayout
from multibody.model.load import load
from multibody.model.loaders import mjcf
from multibody.model.model import Model
from multibody.textbook.generalized_forces import Action, generalized_force

from ..model.mjcf_texts import MODELS
from .robot_data import urdf
from .test_mjcf_mujoco import quietly, saved

URDFS = {
    "panda": ("panda_description/urdf/panda.urdf", False),
    "anymal": ("anymal_c_simple_description/urdf/anymal.urdf", True),
    "talos": ("talos_data/robots/talos_full_v2.urdf", True),
}
"""Arm, quadruped and humanoid: the file, and whether the robot floats."""


class Pair:
    """A robot of ours and the same in MuJoCo, at one configuration."""

    def __init__(self, model: Model, text: str) -> None:
        self.model, self.peer = model, quietly(lambda: mujoco.MjModel.from_xml_string(text))
        self.data = mujoco.MjData(self.peer)
        self.layout = MujocoLayout(self.model, self.peer)
        self.q = configuration.random(self.model.tree, np.random.default_rng(31))
        self.data.qpos[:] = self.layout.q_to(self.q)
        mujoco.mj_forward(self.peer, self.data)
        moving = [k for k in range(1, self.peer.nbody) if self.peer.body_weldid[k]]
        self.bodies = [k for k in moving if self.name(k) in self.model.frames]

    def name(self, k: int) -> str:
        return self.peer.body(k).name

    def push(self, total: np.ndarray, k: int, force: np.ndarray, torque: np.ndarray, point: np.ndarray) -> None:
        """Add a force at a point of a body, in its frame, and a torque, to a generalized force."""
        where = self.data.xpos[k] + self.data.xmat[k].reshape(3, 3) @ point
        mujoco.mj_applyFT(self.peer, self.data, force, torque, where, k, total)


@functools.cache
def pair(name: str, velocity: str) -> Pair:
    text = saved(*URDFS[name]) if name in URDFS else MODELS[name]
    return Pair(mjcf.read(text, snap=0.0).model(velocity=velocity), text)


@pytest.fixture(params=[(name, v) for name in (*URDFS, "joints") for v in ("kindr", "left", "mixed")], ids="-".join)
def p(request: pytest.FixtureRequest) -> Pair:
    return pair(*request.param)


def close(p: Pair, tau: np.ndarray, theirs: np.ndarray, within: float = 1e-9) -> None:
    assert np.abs(theirs).max() > 0.1
    np.testing.assert_allclose(p.layout.tau_to(p.q, tau), theirs, rtol=0, atol=within * np.abs(theirs).max())


def test_a_force_and_a_torque_on_each_body(p: Pair) -> None:
    """At a point of the body. [RD 3.49-3.51]"""
    assert len(p.bodies) >= 7
    rng = np.random.default_rng(32)
    for k in p.bodies:
        force, torque, point = rng.normal(size=(3, 3))
        total = np.zeros(p.peer.nv)
        p.push(total, k, force, torque, point)
        close(p, generalized_force(p.model.tree, p.q, [Action(p.name(k), force, torque, point)]), total)


def actuators(p: Pair) -> tuple[list[Action], np.ndarray]:
    """Actuators between bodies, and what MuJoCo makes of all of them."""
    rng, total, actions = np.random.default_rng(33), np.zeros(p.peer.nv), []
    for _ in range(8):
        one, other = rng.choice(p.bodies, 2, replace=False)
        force, torque, point = rng.normal(size=(3, 3))
        p.push(total, one, force, torque, point)
        p.push(total, other, -force, -torque, np.zeros(3))
        actions.append(Action(p.name(one), force, torque, point, reaction=p.name(other)))
    return actions, total


def test_actuators_between_two_bodies(p: Pair) -> None:
    """What they do to one body, they do back to the other, at its origin; many at once add up. [RD 3.52-3.53]"""
    actions, total = actuators(p)
    close(p, generalized_force(p.model.tree, p.q, actions), total)


@pytest.mark.parametrize("name", URDFS)
def test_robots_that_we_read_ourselves(name: str) -> None:
    """The URDF file by our own loader; MuJoCo saves numbers with six digits. [RD 3.49-3.53]"""
    path, floating = URDFS[name]
    p = Pair(load(urdf(path), floating=floating, mimic="independent", snap=0.0), saved(path, floating))
    actions, total = actuators(p)
    close(p, generalized_force(p.model.tree, p.q, actions), total, 1e-5)


def test_a_cable_between_two_bodies_is_a_tendon() -> None:
    """Equal forces along the line between two sites: MuJoCo's own transmission of a spatial tendon. [RD 3.52]"""
    rod = '<geom type="capsule" size="0.02 0.2" pos="0 0 -0.2"/>'
    text = f"""<mujoco model="cable"><worldbody>
      <body name="trunk" pos="0 0 1"><freejoint name="free"/><geom type="box" size="0.2 0.1 0.1"/>
        <body name="thigh" pos="0.2 0 0"><joint name="hip" axis="0 1 0"/>{rod}
          <body name="shank" pos="0 0 -0.4"><joint name="knee" type="ball"/>{rod}
            <site name="low" pos="0.03 0.01 -0.1"/></body></body>
        <site name="high" pos="0.1 0.05 0.1"/></body></worldbody>
      <tendon><spatial name="cable"><site site="high"/><site site="low"/></spatial></tendon>
      <actuator><motor name="pull" tendon="cable"/></actuator></mujoco>"""
    model, peer = mjcf.read(text, snap=0.0).model(), mujoco.MjModel.from_xml_string(text)
    layout, data = MujocoLayout(model, peer), mujoco.MjData(peer)
    q = configuration.random(model.tree, np.random.default_rng(5))
    data.qpos[:], data.ctrl[:] = layout.q_to(q), -30.0  # a tendon pulls when its force is negative
    mujoco.mj_forward(peer, data)
    way = data.site("high").xpos - data.site("low").xpos
    tau = generalized_force(model.tree, q, [Action("low", 30.0 * way / np.linalg.norm(way), reaction="high")])
    np.testing.assert_allclose(layout.tau_to(q, tau), data.qfrc_actuator, rtol=0, atol=1e-9)
    assert np.abs(tau[:6]).max() < 1e-9  # nothing from outside: the base feels no force
    assert np.abs(tau[6:]).max() > 0.1
