"""The embedded Panda beside the file of example-robot-data: the same places of joints, and kernels as lean."""

import numpy as np
import pinocchio as pin

import multibody as mb

from ..laws.tools import near
from .robot_data import urdf

FILE = "panda_description/urdf/panda.urdf"


def test_the_joints_are_where_pinocchio_has_those_of_the_file():
    robot, model = mb.load("panda"), pin.buildModelFromUrdf(str(urdf(FILE)))
    data, rng = model.createData(), np.random.default_rng(0)
    for _ in range(5):
        q = robot.random(rng)
        pin.forwardKinematics(model, data, np.concatenate([q, np.zeros(model.nq - 7)]))
        for k in range(1, 8):
            pose = robot.pose(f"link{k}", q)
            near(pose.rotation.matrix, data.oMi[k].rotation, 1e-9)  # the file writes angles with twelve digits
            near(pose.position, data.oMi[k].translation, 1e-9)


def test_inverse_dynamics_is_that_of_pinocchio_with_the_same_numbers():
    robot = mb.load("panda")
    model = pin.buildModelFromUrdf(str(urdf(FILE)))
    model = pin.buildReducedModel(model, list(range(8, model.njoints)), pin.neutral(model))
    for k, body in enumerate(robot.bodies, start=1):
        model.inertias[k] = pin.Inertia.FromDynamicParameters(body.inertia.parameters())
    rng = np.random.default_rng(1)
    q, v, a = robot.random(rng), *rng.standard_normal((2, 7))
    near(robot.inverse_dynamics(q, v, a), pin.rnea(model, model.createData(), q, v, a), 1e-8)


def test_its_kernels_are_as_lean_as_those_of_the_file():
    arm = mb.load(urdf(FILE)).lock({"panda_finger_joint1": 0.0})
    embedded, of_file = (each.kernel("inverse_dynamics").ops.total() for each in (mb.load("panda"), arm))
    assert embedded <= of_file
