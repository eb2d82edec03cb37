"""The motion and the mass of a robot, worked out from its links one by one, and a gripper with coupled fingers."""

import numpy as np

from multibody.geometry import Pose
from multibody.model.actuator import Equality
from multibody.model.builder import Builder
from multibody.model.joint import Mimic
from multibody.model.joints import Prismatic, Revolute
from multibody.model.model import Model

from .by_hand import jacobians
from .trees import random_inertia, world_poses


def poses(model: Model, q) -> dict[str, Pose]:
    W_H_i = world_poses(model, q)
    return {name: W_H_i[index] @ pose for name, (index, pose) in zip(model.frames, model.tree.frame_poses, strict=True)}


def mass_matrix(model: Model, q, without=()) -> np.ndarray:
    """The sum of J^T M J over the links, without some, for left-trivialised velocities; no armature."""
    J, M = jacobians(model, q), np.zeros((model.nv, model.nv))
    for link in model.links:
        if link.inertia is not None and link.name not in without:
            index, i_H_link = model.tree.frame(link.name)
            J_link = i_H_link.inverse().adjoint @ J[index]
            M += J_link.T @ link.inertia.matrix @ J_link
    return M


def carried(old: Model, q, new: Model):
    """q of the new model where joints of the same name are as in the old one."""
    parts = [old.joint(j.name).coordinates(q) for j in new.joints if j.mimic is None]
    return np.concatenate([np.zeros(0), *parts])


def columns(old: Model, new: Model) -> list[int]:
    """Where the velocities of the new model are in the old one."""
    own = (old.joint(j.name).v for j in new.joints if j.mimic is None)
    return [k for v in own for k in range(v.start, v.stop)]


def own_joints(model: Model):
    return [joint for joint in model.joints if joint.mimic is None]


def assert_same_poses(found: dict[str, Pose], expected: dict[str, Pose]):
    for name, pose in found.items():
        np.testing.assert_allclose(pose.matrix, expected[name].matrix, atol=1e-12, err_msg=name)


def gripper(home=None, actuators=False) -> Model:
    b = Builder("gripper").body("palm", random_inertia(np.random.default_rng(0)))
    rng = np.random.default_rng(1)
    for k, mimic in enumerate((None, Mimic("f0", -2.0, 0.1), Mimic("f1", 0.5, -0.3), Mimic("f0", 3.0, 0.4))):
        b.body(f"finger{k}", random_inertia(rng))
        b.joint(f"f{k}", Prismatic("y"), parent="palm", child=f"finger{k}", placement=Pose.random(rng), mimic=mimic)
    b.body("thumb", random_inertia(rng)).joint("t", Revolute("x"), parent="palm", child="thumb")
    b.frame("tip", "finger2", [0.0, 0.0, 0.1])
    b.equality(Equality("joint", "f0", "t", (0.0, 1.0), name="tie"))
    b.equality(Equality("connect", "finger0", "thumb", (0.0, 0.0, 0.0), name="loop"))
    if actuators:
        b.actuator("motor", "f0", gear=10.0, rotor_inertia=1e-3).actuator("thumb motor", "t")
    return b.model(home=home)
