"""Claim: joint velocities of two levels within limits in microseconds: python benchmarks/velocity_control.py [--quick]

Panda, the pose of its hand before a posture, velocity and joint limits, as a function from q and targets to v. Beside
it in the same run, one sample at a time: Pinocchio's kinematics with DAQP for each of the two levels, from Python, and,
where it is installed, Pink with DAQP, whose two tasks have weights instead of priorities. Half of the samples ask for
so much that limits hold. Exit status 1 when a claim does not hold.
"""

import sys
import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
import pinocchio as pin
from _robots import robot_data

import multibody as mb
from multibody import control
from multibody.model.layouts import PinocchioLayout

URDF, FRAME, OWN = "panda_description/urdf/panda.urdf", "panda_hand_tcp", "panda_joint"
READY = np.array([0, -np.pi / 4, 0, -3 * np.pi / 4, 0, np.pi / 2, np.pi / 4])
DT, GAINS = 0.01, (2.0, 40.0)
BATCH_WITHIN, ALONE_WITHIN = 1 / 20, 1 / 4
"""Shares of the time that Pinocchio and DAQP take; 4 and 15 microseconds on an idle core."""
failed: list[str] = []


def claim(what: str, value: float, bar: float) -> None:
    """Print a figure beside its bar."""
    print(f"  {'ok  ' if value <= bar else 'FAIL'} {what}: {value:.3g} (at most {bar:.3g})")
    if not value <= bar:
        failed.append(what)


def least(function: Callable[[], object], repeats: int) -> float:
    """The least CPU time of some calls, in s."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        function()
        times.append(time.process_time() - began)
    return min(times)


def reduced() -> pin.Model:
    """Pinocchio's arm, with the fingers held."""
    model = pin.buildModelFromUrdf(str(robot_data() / URDF))
    locked = [joint for joint, name in enumerate(model.names) if joint and not name.startswith(OWN)]
    return pin.buildReducedModel(model, locked, pin.neutral(model))


def by_programs(robot: mb.Robot) -> Callable[[np.ndarray, mb.Pose, float], np.ndarray]:
    """Pinocchio and DAQP, a program a level: the hand within limits, then the posture with what the hand does held."""
    import daqp

    model = reduced()
    data, frame, layout = model.createData(), model.getFrameId(FRAME), PinocchioLayout(robot.model, model)
    lower, upper, top = robot.tree.lower, robot.tree.upper, robot.tree.velocity_limits
    box, senses = np.eye(7), (np.zeros(7, np.int32), np.where(np.arange(13) < 6, 5, 0).astype(np.int32))

    def solve(q: np.ndarray, target: mb.Pose, gain: float) -> np.ndarray:
        J = pin.computeFrameJacobian(model, data, layout.q_to(q), frame, pin.LOCAL_WORLD_ALIGNED)
        placement = pin.updateFramePlacement(model, data, frame)
        turn = pin.log3(target.rotation.matrix @ placement.rotation.T)
        w = gain * np.concatenate([target.position - placement.translation, turn])
        low, high = np.maximum(-top, (lower - q) / DT), np.minimum(top, (upper - q) / DT)
        v = daqp.solve(J.T @ J + 1e-8 * box, -J.T @ w, box, high, low, senses[0])[0]
        held = J @ v
        rows = np.ascontiguousarray(np.vstack([J, box]))
        return daqp.solve(box, q - READY, rows, np.r_[held, high], np.r_[held, low], senses[1])[0]

    return solve


def by_pink(robot: mb.Robot) -> Callable[[np.ndarray, mb.Pose, float], np.ndarray]:
    """Pink: one program with weights, and its configuration and velocity limits."""
    import pink
    from pink.tasks import FrameTask, PostureTask

    model = reduced()
    layout, data = PinocchioLayout(robot.model, model), model.createData()
    configuration = pink.Configuration(model, data, layout.q_to(READY))
    hand, rest = FrameTask(FRAME, position_cost=1.0, orientation_cost=1.0), PostureTask(cost=1e-3)
    rest.set_target(layout.q_to(READY))

    def solve(q: np.ndarray, target: mb.Pose, gain: float) -> np.ndarray:
        configuration.update(layout.q_to(q))
        hand.gain = min(1.0, gain * DT)
        hand.set_target(pin.SE3(np.array(target.rotation.matrix), np.array(target.position)))
        return pink.solve_ik(configuration, [hand, rest], DT, solver="daqp")

    return solve


def main(quick: bool) -> int:
    """Print figures beside peers."""
    whole = mb.load(str(robot_data() / URDF), mimic="independent")
    robot = whole.lock({joint.name: 0.0 for joint in whole.joints if not joint.name.startswith(OWN)})
    levels = [[control.PoseTask("hand", FRAME)], [control.PostureTask("rest")]]
    motion = control.VelocityControl(robot, levels, limits=(control.VelocityLimits(), control.JointLimits()))
    count, repeats = (512, 3) if quick else (8192, 15)
    rng = np.random.default_rng(0)
    q = READY + 0.1 * rng.standard_normal((count, 7))
    gains = np.tile(GAINS, count // 2)
    target = robot.pose(FRAME, READY + 0.1)
    peer, some = by_programs(robot), range(64)

    def ours() -> np.ndarray:
        return motion(q, hand=target, rest=READY, hand_gain=gains, dt=DT, threads=1)

    singles = [(q[k].copy(), float(gains[k])) for k in some]
    batch = least(ours, repeats) / count
    alone = least(lambda: [motion(x, hand=target, rest=READY, hand_gain=k, dt=DT) for x, k in singles], repeats) / 64
    theirs = least(lambda: [peer(x, target, k) for x, k in singles], repeats) / 64
    v, J = ours(), robot.jacobian(FRAME, q)
    w = gains[:, None] * control.PoseTask("hand", FRAME).error(robot.tree, q, target)
    ahead = [
        np.linalg.norm(J[k] @ v[k] - w[k]) - np.linalg.norm(J[k] @ peer(q[k], target, gains[k]) - w[k]) for k in some
    ]
    at_limits = np.mean((np.abs(v) > 0.999 * robot.tree.velocity_limits).any(axis=1))
    print(f"Panda, two levels and limits, {count} samples, {100 * at_limits:.0f} % of them at a limit")
    print(f"  a sample in a batch {batch * 1e6:.2f} us, alone {alone * 1e6:.1f} us")
    print(f"  Pinocchio and DAQP {theirs * 1e6:.0f} us")
    claim("residual of the hand beyond that of Pinocchio and DAQP", max(ahead), 1e-5)
    claim("time in a batch, as a share of theirs", batch / theirs, BATCH_WITHIN)
    claim("time alone, as a share of theirs", alone / theirs, ALONE_WITHIN)
    if find_spec("pink") is None:
        print("  Pink is not installed: no figure beside it")
    else:
        pink = by_pink(robot)
        theirs = least(lambda: [pink(x, target, k) for x, k in singles], repeats) / 64
        print(f"  Pink and DAQP {theirs * 1e6:.0f} us")
        claim("time in a batch, as a share of Pink's", batch / theirs, 1 / 20)
        claim("time alone, as a share of Pink's", alone / theirs, 1 / 8)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main("--quick" in sys.argv))
