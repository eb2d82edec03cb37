"""Claim: every reachable target within limits, in microseconds: python benchmarks/inverse_kinematics.py [--quick]

30,000 random poses of Panda within 1e-4 m, 1e-3 rad and joint limits, and 10,000 of each of ten other arms and legs
with five to nine joints, half of them with every joint within 1 % of a limit. Beside them, in the same run, from the
same first guess: Pinocchio's CLIK with 20 restarts in a Python loop. Exit status 1 when a claim does not hold.
"""

import sys
import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin
from _robots import robot_data

import multibody as mb
from multibody.control import InverseKinematics
from multibody.model.layouts import PinocchioLayout

ARMS = {  # urdf, frame, how the names of the joints that move begin
    "panda": ("panda_description/urdf/panda.urdf", "panda_hand_tcp", "panda_joint"),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", "tool0", ""),
    "ur10": ("ur_description/urdf/ur10_robot.urdf", "tool0", ""),
    "kinova": ("kinova_description/robots/kinova.urdf", "j2s6s200_end_effector", "j2s6s200_joint"),
    "tiago": ("tiago_description/robots/tiago_no_hand.urdf", "arm_tool_link", "arm_"),
    "tiago with torso": ("tiago_description/robots/tiago_no_hand.urdf", "arm_tool_link", ("arm_", "torso")),
    "talos arm": ("talos_data/robots/talos_reduced.urdf", "gripper_left_base_link", "arm_left"),
    "talos leg": ("talos_data/robots/talos_reduced.urdf", "left_sole_link", "leg_left"),
    "xarm7": ("xarm_description/urdf/xarm7.urdf", "link_eef", "joint"),
    "z1": (
        "z1_description/urdf/z1.urdf",
        "gripperStator",
        ("joint1", "joint2", "joint3", "joint4", "joint5", "joint6"),
    ),
    "so100": ("so_arm_description/urdf/so100.urdf", "gripper", ("shoulder", "elbow", "wrist")),
    "baxter": ("baxter_description/urdf/baxter.urdf", "left_gripper", "left_"),
    "icub arm with torso": (
        "icub_description/robots/icub_reduced.urdf",
        "l_gripper",
        ("torso_y", "torso_p", "l_s", "l_e", "l_w"),
    ),
    "g1 arm": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", "left_wrist_yaw_link", ("left_s", "left_e", "left_w")),
    "pr2 arm": ("pr2_description/urdf/pr2.urdf", "r_gripper_tool_frame", ("r_s", "r_u", "r_e", "r_f", "r_w")),
}
POSITION, ROTATION = 1e-4, 1e-3
failed: list[str] = []


def claim(what: str, value: float, bar: float, *, most: bool = True) -> None:
    """Print a figure beside its bar."""
    holds = value <= bar if most else value >= bar
    print(f"  {'ok  ' if holds else 'FAIL'} {what}: {value:.6g} ({'at most' if most else 'at least'} {bar:g})")
    if not holds:
        failed.append(what)


def load(name: str) -> tuple[mb.Robot, mb.Robot, str]:
    """The whole robot, the arm alone, and its frame."""
    path, frame, keep = ARMS[name]
    whole = mb.load(robot_data() / path, mimic="independent")
    locked = {joint.name: 0.0 for joint in whole.joints if not joint.name.startswith(keep)}
    return whole, whole.lock(locked) if locked else whole, frame


def near_the_limits(robot: mb.Robot, rng: np.random.Generator, count: int) -> np.ndarray:
    """Configurations with every joint within 1 % of a limit."""
    finite = np.isfinite(robot.tree.lower) & np.isfinite(robot.tree.upper)
    low, high = np.where(finite, robot.tree.lower, -np.pi), np.where(finite, robot.tree.upper, np.pi)
    inset = 0.01 * rng.random((count, robot.nq)) * (high - low)
    return np.where(rng.random((count, robot.nq)) < 0.5, low + inset, high - inset)


def least(function: Callable[[], object], repeats: int) -> float:
    """Seconds, the least of some runs."""
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        function()
        times.append(time.perf_counter() - begun)
    return min(times)


def alone(solve: Callable[[mb.Pose], object], targets: list[mb.Pose]) -> tuple[float, float]:
    """The median and the 95th percentile of the times of single targets, in µs."""
    times = [1e6 * least(lambda target=target: solve(target), 3) for target in targets]
    return float(np.median(times)), float(np.percentile(times, 95))


def clik(robot: mb.Robot, frame: str) -> Callable[[mb.Pose], bool]:
    """Pinocchio's closed loop in Python: 100 rounds of damped steps, clamped to the limits, at most 20 restarts."""
    model = pin.buildModelFromUrdf(str(robot_data() / ARMS["panda"][0]))
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


def main(quick: bool) -> int:
    """Measure, print, and say whether the claims hold."""
    scale = 10 if quick else 1
    for name in ARMS:
        path = robot_data() / ARMS[name][0]
        if not path.exists():
            print(f"{name}: not in this version of example-robot-data")
            continue
        _, robot, frame = load(name)
        solver, rng = InverseKinematics(robot, frame), np.random.default_rng(0)
        count = (30_000 if name == "panda" else 10_000) // scale
        print(f"{name}, {robot.nq} joints")
        if name == "panda":
            sets = {"random": robot.random(rng, (count,)), "near limits": near_the_limits(robot, rng, 10_000 // scale)}
        else:
            half = count // 2
            sets = {"random": robot.random(rng, (half,)), "near limits": near_the_limits(robot, rng, half)}
        for kind, q in sets.items():
            target = robot.pose(frame, q)
            answer = solver(target)
            share = float(np.mean(~answer.success))
            batch = least(lambda solver=solver, target=target: solver(target), 3) / len(q)
            print(f"  {kind}: {1e6 * batch:.2f} us a target in a batch, {answer.rounds.mean():.1f} rounds")
            claim(f"{name}, {kind}: share missed", share, 0.0 if (name, kind) == ("panda", "random") else 1e-4)
            if (name, kind) == ("panda", "random"):
                beside_peers(robot, frame, solver, target, batch)
    print("a claim does not hold: " + ", ".join(failed) if failed else "all claims hold")
    return bool(failed)


def beside_peers(robot: mb.Robot, frame: str, solver: InverseKinematics, target: mb.Pose, batch: float) -> None:
    """Times of single targets, ours and those of peers, and the ratios."""
    singles = [mb.Pose(mb.Rotation.from_matrix(target.rotation.matrix[k]), target.position[k]) for k in range(200)]
    median, late = alone(solver, singles)
    print(f"  alone: {median:.1f} us median, {late:.0f} us at the 95th percentile")
    peer_median, peer_late = alone(clik(robot, frame), singles[:60])
    print(f"  Pinocchio's CLIK with restarts: {peer_median:.0f} us median, {peer_late:.0f} us at the 95th percentile")
    claim("time in a batch, us", 1e6 * batch, 6.0)
    claim("time alone, median, us", median, 20.0)
    claim("time alone, 95th percentile, us", late, 150.0)
    claim("ahead of the best peer here, batch against its median", peer_median / (1e6 * batch), 10.0, most=False)
    claim("ahead of the best peer here, median", peer_median / median, 10.0, most=False)
    claim("ahead of the best peer here, 95th percentile", peer_late / late, 4.0, most=False)


if __name__ == "__main__":
    sys.exit(main("--quick" in sys.argv))
