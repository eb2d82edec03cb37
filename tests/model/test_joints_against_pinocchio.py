"""Kinds of joints against Pinocchio's: poses, velocities, biases, steps and differences."""

import numpy as np
import pinocchio as pin

from multibody.model.joints import (
    Continuous,
    Floating,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Translational,
    Universal,
)

from ..every_law import each_case
from ..laws.tools import near


def _same(q):
    return q


def _wxyz_last(q):
    return np.concatenate([q[:-4], q[-3:], q[-4:-3]])


def _circle_last(q):
    return np.concatenate([q[:-1], [np.cos(q[-1]), np.sin(q[-1])]])


A = np.array([1.0, 2.0, -2.0]) / 3
B = np.array([0.6, 0.0, 0.8])
C = np.cross(A, B) / np.linalg.norm(np.cross(A, B))
PEERS = {
    "revolute": (Revolute(A), pin.JointModelRevoluteUnaligned(A), _same),
    "revolute y": (Revolute("y"), pin.JointModelRY(), _same),
    "continuous": (Continuous("z"), pin.JointModelRUBZ(), _circle_last),
    "prismatic": (Prismatic(B), pin.JointModelPrismaticUnaligned(B), _same),
    "helical": (Helical(A, pitch=0.3), pin.JointModelHelicalUnaligned(A, 0.3), _same),
    "universal": (Universal(A, C), pin.JointModelUniversal(A, C), _same),
    "spherical": (Spherical(), pin.JointModelSpherical(), _wxyz_last),
    "planar": (Planar(), pin.JointModelPlanar(), _circle_last),
    "translational": (Translational(), pin.JointModelTranslation(), _same),
    "floating": (Floating(), pin.JointModelFreeFlyer(), _wxyz_last),
}


@each_case("name", PEERS)
def test_pinocchio_moves_alike(name):
    rng = np.random.default_rng(21)
    kind, peer, theirs = PEERS[name]
    model = pin.Model()
    model.addJoint(0, peer, pin.SE3.Identity(), "joint")
    data = model.createData()
    for _ in range(5):
        none = np.full(kind.nq, np.inf)
        q, q1 = kind.random(rng, -none, none, (2,))
        v = rng.uniform(-1, 1, kind.nv)
        pin.forwardKinematics(model, data, theirs(q), v, np.zeros(kind.nv))
        near(kind.pose(q).matrix, data.oMi[1].homogeneous, 1e-14)
        near((kind.subspace(q) @ v).vector, data.v[1].vector, 1e-14)
        bias = kind.bias(q, v)
        near(np.zeros(6) if bias is None else bias.vector, data.a[1].vector, 1e-14)
        end = pin.integrate(model, theirs(q), v)
        ours = theirs(kind.integrate(q, v))
        if kind.quaternion is not None:
            ours[-4:] *= np.sign(ours[-4:] @ end[-4:])
        near(ours, end, 1e-14)
        near(kind.difference(q, q1), pin.difference(model, theirs(q), theirs(q1)), 1e-12)
