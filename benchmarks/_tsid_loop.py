"""TSID on whole_body.py's first level, in an environment of its own: python _tsid_loop.py < problem.json

It needs nothing of ours. TSID 1.7.1 is the last that comes as wheels, and these need Pinocchio 3.4.0:

    pip install --only-binary :all: tsid==1.7.1 pin==3.4.0 "cmeel-tinyxml2<11" "cmeel-urdfdom<5"

Contacts, torque limits and friction cones are constraints; accelerations of the center of mass and of the base's
rotation the cost, with little weight on forces. A call is `computeProblemData` and `solve`, from (q, v) to torques.
"""

import json
import sys
import time
from typing import Any

import numpy as np
import pinocchio as pin
import tsid.tsid_pywrap as tsid

FORCES = 1e-6
"""The weight of contact forces, beside tasks of the weight 1."""


def main() -> None:
    given = json.load(sys.stdin)
    model = pin.buildModelFromXML(given["urdf"], pin.JointModelFreeFlyer())
    robot = tsid.RobotWrapper(model, tsid.RootJointType.FLOATING_BASE_SYSTEM, False)
    q, v, com, turn = (np.array(given[name]) for name in ("q", "v", "com", "turn"))
    q = np.concatenate([q[:3], q[4:7], q[3:4], q[7:]])  # x, y, z, w
    rotation = pin.Quaternion(q[3:7]).toRotationMatrix()
    v = np.concatenate([rotation.T @ v[:3], v[3:]])  # the velocity of the base is the body's
    formulation = tsid.InverseDynamicsFormulationAccForce("anymal", robot, False)
    formulation.computeProblemData(0.0, q, v)
    data = formulation.data()
    contacts = []  # TSID keeps references alone
    for foot in given["feet"]:
        contact = tsid.ContactPoint(foot, robot, foot, np.array([0.0, 0.0, 1.0]), given["mu"], given["minimum"], 1e4)
        contact.setKp(np.zeros(3))
        contact.setKd(np.zeros(3))
        contact.useLocalFrame(False)
        contact.setReference(robot.framePosition(data, model.getFrameId(foot)))
        formulation.addRigidContact(contact, FORCES, 1.0, 0)
        contacts.append(contact)
    center = tsid.TaskComEquality("com", robot)
    formulation.addMotionTask(_with(center, 3, tsid.TrajectorySample(3), robot.com(data), com), 1.0, 1, 0.0)
    base = tsid.TaskSE3Equality("turn", robot, "base")
    base.useLocalFrame(True)
    base.setMask(np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]))
    pose = robot.framePosition(data, model.getFrameId("base"))
    place = np.concatenate([pose.translation, pose.rotation.T.ravel()])
    acceleration = np.concatenate([np.zeros(3), rotation.T @ turn])
    formulation.addMotionTask(_with(base, 6, tsid.TrajectorySample(12, 6), place, acceleration), 1.0, 1, 0.0)
    limits = tsid.TaskActuationBounds("torques", robot)
    limits.setBounds(-model.effortLimit[6:], model.effortLimit[6:])
    formulation.addActuationTask(limits, 1.0, 0, 0.0)
    solver = tsid.SolverHQuadProgFast("solver")
    solver.resize(formulation.nVar, formulation.nEq, formulation.nIn)

    def call() -> Any:
        solution = solver.solve(formulation.computeProblemData(0.0, q, v))
        return solution, formulation.getActuatorForces(solution)

    solution, _ = call()
    a = formulation.getAccelerations(solution)
    pin.centerOfMass(model, robot_data := model.createData(), q, v, a)
    times = []
    end = time.perf_counter() + given["budget"]
    while time.perf_counter() < end:
        began = time.perf_counter()
        for _ in range(20):
            call()
        times.append((time.perf_counter() - began) / 20)
    json.dump({"seconds": min(times), "status": int(solution.status), "com": robot_data.acom[0].tolist()}, sys.stdout)


def _with(task: Any, size: int, sample: Any, value: Any, acceleration: Any) -> Any:
    """A task without gains, which only has an acceleration."""
    task.setKp(np.zeros(size))
    task.setKd(np.zeros(size))
    for name, part in (("pos", value), ("vel", np.zeros(size)), ("acc", acceleration)):
        getattr(sample, name)(part)
    task.setReference(sample)
    return task


if __name__ == "__main__":
    main()
