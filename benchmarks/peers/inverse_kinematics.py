"""Other solvers of inverse kinematics, each a function of one target that tells whether it succeeded.

All begin at the middle of the limits, and are to be within 1e-4 m, 1e-3 rad and the limits.
"""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pinocchio as pin

import multibody as mb
from multibody.model.layouts import PinocchioLayout

POSITION, ROTATION = 1e-4, 1e-3
Solve = Callable[[mb.Pose], bool]


def peers(robot: mb.Robot, frame: str, file: Path) -> dict[str, Solve]:
    """Those that are installed, by name."""
    made: dict[str, Solve] = {"Pinocchio's CLIK": clik(robot, frame, file)}
    if find_spec("roboticstoolbox"):
        made["robotics-toolbox"] = robotics_toolbox(robot, frame)
    return made


def clik(robot: mb.Robot, frame: str, file: Path) -> Solve:
    """Pinocchio's closed loop in Python: 100 rounds of damped steps, clamped to the limits, at most 20 restarts."""
    model = pin.buildModelFromUrdf(str(file))
    held = [model.getJointId(n) for n in model.names[1:] if n not in {joint.name for joint in robot.joints}]
    model = pin.buildReducedModel(model, held, pin.neutral(model))
    layout, data, number = PinocchioLayout(robot.model, model), model.createData(), model.getFrameId(frame)
    middle = layout.q_to(0.5 * (robot.tree.lower + robot.tree.upper))
    rng = np.random.default_rng(0)

    def solve(target: mb.Pose) -> bool:
        goal = pin.SE3(np.array(target.rotation.matrix), np.array(target.position))
        q = middle
        for _ in range(20):
            for _ in range(100):
                pin.framesForwardKinematics(model, data, q)
                error = pin.log6(data.oMf[number].actInv(goal)).vector
                if np.linalg.norm(error[:3]) < POSITION and np.linalg.norm(error[3:]) < ROTATION:
                    return True
                J = pin.computeFrameJacobian(model, data, q, number, pin.LOCAL)
                step = J.T @ np.linalg.solve(J @ J.T + 1e-6 * np.eye(6), error)
                q = np.clip(pin.integrate(model, q, step), model.lowerPositionLimit, model.upperPositionLimit)
            q = layout.q_to(robot.random(rng))
        return False

    return solve


def robotics_toolbox(robot: mb.Robot, frame: str) -> Solve:
    """Its Levenberg-Marquardt in C++, with restarts, on the same chain: joints that turn about their z axes."""
    import roboticstoolbox as rtb

    chain = rtb.ETS([])
    for joint in robot.tree.joints:
        limits = np.array([robot.tree.lower[joint.q][0], robot.tree.upper[joint.q][0]])
        chain = chain * rtb.ET.SE3(joint.placement.matrix) * rtb.ET.Rz(qlim=limits)
    chain = chain * rtb.ET.SE3(robot.tree.frame(frame)[1].matrix)
    middle = 0.5 * (robot.tree.lower + robot.tree.upper)
    assert np.allclose(np.asarray(chain.fkine(middle)), robot.pose(frame, middle).matrix, atol=1e-6)
    within = 0.5 * POSITION**2  # of half the squared error

    def solve(target: mb.Pose) -> bool:
        return bool(chain.ik_LM(target.matrix, q0=middle, tol=within).success)

    return solve
