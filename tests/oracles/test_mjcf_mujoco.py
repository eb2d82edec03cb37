"""MJCF models against MuJoCo itself: coordinates, poses of bodies and sites, masses, energy, motion on the manifold."""

import functools
import math
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pytest
from lxml import etree

from multibody.geometry import Pose
from multibody.model import base_velocity, configuration
from multibody.model.loaders import mjcf
from multibody.model.loaders.mjcf_names import body_names, joint_names
from multibody.model.model import Model

from ..model.mjcf_texts import MODELS
from .robot_data import urdf, urdfs

SAMPLE = {
    "anymal_c_simple_description/urdf/anymal.urdf",
    "baxter_description/urdf/baxter.urdf",
    "panda_description/urdf/panda.urdf",
    "so_arm_description/urdf/so101.urdf",
    "talos_data/robots/talos_full_v2.urdf",
}
REFUSED = ("ur3.urdf", "romeo_laas_small.urdf", "tiago.urdf", "tiago_dual.urdf", "tiago_no_hand.urdf")
"""URDF files that MuJoCo does not compile: no link, or a link whose inertia is zero or negative."""

COMPILER = {"fusestatic": "false", "boundmass": "1e-3", "boundinertia": "1e-6", "balanceinertia": "true"}


@functools.cache
def saved(path: str, floating: bool) -> str:
    """A URDF file as MuJoCo saves it, its shapes left out."""
    root = etree.parse(urdf(path), etree.XMLParser(remove_comments=True, recover=True)).getroot()
    for link in root.iter("link"):
        for name in ("visual", "collision"):
            for shape in link.findall(name):
                link.remove(shape)
    for extension in root.findall("mujoco"):
        root.remove(extension)
    etree.SubElement(etree.SubElement(root, "mujoco"), "compiler", COMPILER)
    spec = quietly(lambda: mujoco.MjSpec.from_string(etree.tostring(root, encoding="unicode")))
    if floating:
        for body in spec.worldbody.bodies:
            if not body.joints:
                body.add_freejoint()
    quietly(spec.compile)
    return spec.to_xml().replace("<compiler ", '<compiler balanceinertia="true" ', 1)


def quietly(function: Callable[[], Any]) -> Any:
    """MuJoCo writes its warnings about URDF files to a file in the working directory."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda _: None)
    try:
        return function()
    finally:
        mujoco.set_mju_user_warning(before)


def forward(model: Model, q: np.ndarray) -> list[Pose]:
    W_H = [Pose.identity()]
    for _, p, body in model.tree.outward():
        W_H.append(W_H[p] @ body.joint.pose(q))
    return W_H


def kinetic_energy(model: Model, q: np.ndarray, v: np.ndarray) -> float:
    left = base_velocity.to_left(model.tree, q, v)
    twists, energy = [np.zeros(6)], 0.5 * float(np.sum(model.armature * v**2))
    for _, p, body in model.tree.outward():
        own = body.joint.subspace(q).matrix @ body.joint.rates(left)
        twists.append(body.joint.pose(q).inverse().adjoint @ twists[p] + own)
        energy += float(body.inertia.kinetic_energy(twists[-1]))
    return energy


def compare(text: str, *, snap: float, within: float, samples: int = 3) -> None:
    peer = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(peer)
    model = mjcf.read(text, snap=snap).model()
    rng = np.random.default_rng(5)

    assert (model.nq, model.nv) == (peer.nq, peer.nv)
    for k, name in enumerate(joint_names(peer)):
        joint = model.joint(name)
        assert (joint.q.start, joint.v.start) == (peer.jnt_qposadr[k], peer.jnt_dofadr[k])
    assert model.gravity == tuple(peer.opt.gravity)
    for k, name in enumerate(body_names(peer)):
        inertia = model.link(name).inertia
        assert (0.0 if inertia is None else inertia.mass) == pytest.approx(peer.body_mass[k], rel=1e-12)
    np.testing.assert_allclose(model.home or configuration.neutral(model.tree), peer.qpos0, atol=0)

    for _ in range(samples):
        q, v = configuration.random(model.tree, rng), rng.normal(size=model.nv)
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(peer, data)
        W_H = forward(model, q)

        def placed(frame: str, W_H: list[Pose] = W_H) -> Pose:
            i, i_H_frame = model.tree.frame(frame)
            return W_H[i] @ i_H_frame

        named = [(data.xpos[k], data.xmat[k], name) for k, name in enumerate(body_names(peer))]
        sites = [(data.site_xpos[k], data.site_xmat[k], peer.site(k).name) for k in range(peer.nsite)]
        for position, matrix, name in named + [site for site in sites if site[2]]:
            W_H_frame = placed(name)
            np.testing.assert_allclose(W_H_frame.position, position, atol=within, err_msg=name)
            np.testing.assert_allclose(W_H_frame.rotation.matrix, matrix.reshape(3, 3), atol=within, err_msg=name)

        Mv = np.zeros(peer.nv)
        mujoco.mj_mulM(peer, data, Mv, v)
        assert kinetic_energy(model, q, v) == pytest.approx(0.5 * v @ Mv, rel=max(within, 1e-10))

        moved, way = q.copy(), np.zeros(peer.nv)
        mujoco.mj_integratePos(peer, moved, v, 0.1)
        np.testing.assert_allclose(configuration.integrate(model.tree, q, 0.1 * v), moved, atol=1e-12)
        mujoco.mj_differentiatePos(peer, way, 1.0, q, moved)
        np.testing.assert_allclose(configuration.difference(model.tree, q, moved), way, atol=1e-11)


@pytest.mark.parametrize("snap", [0.0, 1e-10])
@pytest.mark.parametrize("name", MODELS)
def test_hand_written_models(name: str, snap: float) -> None:
    compare(MODELS[name], snap=snap, within=1e-12)


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=() if path in SAMPLE else pytest.mark.slow, id=path.rsplit("/", 1)[1])
        for path in urdfs()
        if not path.endswith(REFUSED)
    ],
)
def test_saved_urdfs(path: str, floating: bool) -> None:
    text = saved(path, floating)
    compare(text, snap=0.0, within=1e-12, samples=2)
    compare(text, snap=1e-10, within=1e-9, samples=1)


def test_limits_and_passive_forces_are_those_of_mujoco() -> None:
    text = MODELS["joints"]
    peer, model = mujoco.MjModel.from_xml_string(text), mjcf.read(text).model()
    for k, name in enumerate(joint_names(peer)):
        joint, dof = model.joint(name), peer.jnt_dofadr[k]
        if peer.jnt_limited[k] and joint.kind.nq == 1:
            assert (joint.limits.lower[0], joint.limits.upper[0]) == tuple(peer.jnt_range[k])
        else:
            assert set(joint.limits.lower) == {-math.inf}
        passive = joint.passive
        assert (passive.damping, passive.friction, passive.armature, passive.stiffness) == (
            *(peer.dof_damping[dof], peer.dof_frictionloss[dof], peer.dof_armature[dof], peer.jnt_stiffness[k]),
        )
        if passive.stiffness:
            assert passive.rest == (peer.qpos_spring[peer.jnt_qposadr[k]],)
    assert model.joint("hip").limits.effort == (30.0,)
