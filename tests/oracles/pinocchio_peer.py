"""Robots of example-robot-data in two libraries: ours, and the same in Pinocchio, in one state."""

import functools
from typing import Any

import numpy as np
import pinocchio as pin

import multibody as mb
from multibody.model.joint import Passive
from multibody.model.layouts import PinocchioLayout

from ..plain import Plain
from .robot_data import urdf

REFERENCES = {
    "left": pin.ReferenceFrame.LOCAL,
    "right": pin.ReferenceFrame.WORLD,
    "mixed": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
}
STILL = ("hector_description/robots/quadrotor_base.urdf", "iris_description/robots/iris_simple.urdf")
"""One body: nothing moves when it is fixed."""
WITHIN = 1e-9
CONDITION = 1e9
"""Of mass matrices that can be inverted: files with massless moving links have worse ones."""


class Peer:
    """A robot of ours, the same in Pinocchio, and a state in both layouts: q, v, a, tau are ours."""

    def __init__(self, path: str, *, floating: bool, velocity: str, armature: float, compiled: bool) -> None:
        robot = mb.load(urdf(path), floating=floating, mimic="independent", snap=0.0, velocity=velocity)
        joints = [joint.name for joint in robot.joints if not robot.tree.is_base(joint)]
        if armature:
            robot = robot.change(passive={name: Passive(armature=armature * (k + 1)) for k, name in enumerate(joints)})
        self.robot = robot if compiled else Plain(robot)
        root = (pin.JointModelFreeFlyer(),) if floating else ()
        self.model = pin.buildModelFromUrdf(str(urdf(path)), *root)
        self.layout = PinocchioLayout(robot.model, self.model)
        self.model.armature[:] = self.layout.tau_to(robot.neutral(), robot.model.armature)
        self.data = self.model.createData()
        rng = np.random.default_rng(0)
        self.rng = rng
        self.q = np.fmod(robot.random(rng), 10.0)  # some files have limits of 1e16
        self.v, self.a, self.tau = rng.normal(size=(3, robot.nv))
        self.y = self.layout.q_to(self.q)
        self.w = self.layout.v_to(self.q, self.v)
        self.b = self.layout.a_to(self.q, self.v, self.a)
        self.still = self.layout.a_to(self.q, self.v, np.zeros(robot.nv))
        self.f = self.layout.tau_to(self.q, self.tau)
        self.T = self.layout.v_to(self.q, np.eye(robot.nv)).T  # v of Pinocchio is T v

    @functools.cached_property
    def leaves(self) -> list[str]:
        """Frames at the ends of the tree, at most four."""
        inner = {self.model.parents[j] for j in range(1, self.model.njoints)}
        last = {
            frame.parentJoint: frame.name
            for frame in self.model.frames
            if frame.type == pin.FrameType.BODY and frame.parentJoint and frame.name in self.robot.frames
        }
        names = [name for joint, name in sorted(last.items()) if joint not in inner] or list(last.values())
        return names[:: max(1, len(names) // 4)][:4]

    @functools.cached_property
    def M(self) -> np.ndarray:
        """Pinocchio's mass matrix, in its own velocities."""
        M = pin.crba(self.model, self.data, self.y)
        return np.triu(M) + np.triu(M, 1).T

    @property
    def regular(self) -> bool:
        """Whether the mass matrix can be inverted."""
        return bool(np.linalg.cond(self.M) < CONDITION)


@functools.cache
def peer(path: str, floating: bool, velocity: str, *, armature: float = 0.0, compiled: bool = False) -> Peer:
    return Peer(path, floating=floating, velocity=velocity, armature=armature, compiled=compiled)


def close(ours: Any, theirs: Any, what: str, within: float = WITHIN) -> None:
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape, what
    scale = np.abs(theirs).max(initial=1.0)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=within * scale, err_msg=what)


def named(path: str, floating: bool) -> str:
    return path.rsplit("/", 1)[1].removesuffix(".urdf") + ("-floating" if floating else "")
