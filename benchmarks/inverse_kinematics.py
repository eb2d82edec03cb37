"""Claim: every reachable target within limits, in microseconds: python benchmarks/inverse_kinematics.py [--quick]

30,000 random poses of Panda within 1e-4 m, 1e-3 rad and joint limits, and 10,000 of each of ten other arms and legs
with five to nine joints, half of them with every joint within 1 % of a limit. Beside them, in the same run, from the
same first guess: Pinocchio's CLIK with 20 restarts in a Python loop and, where it is installed, robotics-toolbox's LM
in C++. Exit status 1 when a claim does not hold.
"""

import sys
import time
from collections.abc import Callable

import numpy as np
from _robots import robot_data
from peers.inverse_kinematics import peers

import multibody as mb
from multibody.control import InverseKinematics

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
        missed = 0
        for kind, q in sets.items():
            target = robot.pose(frame, q)
            answer = solver(target)
            batch = least(lambda solver=solver, target=target: solver(target), 3) / len(q)
            print(f"  {kind}: {1e6 * batch:.2f} us a target in a batch, {answer.rounds.mean():.1f} rounds")
            missed += int(np.sum(~answer.success))
            if (name, kind) == ("panda", "random"):
                claim("panda, random poses: missed", missed, 0)
                beside_peers(robot, frame, solver, target, batch)
        claim(f"{name}: share missed", missed / sum(map(len, sets.values())), 1e-4)
    print("a claim does not hold: " + ", ".join(failed) if failed else "all claims hold")
    return bool(failed)


def beside_peers(robot: mb.Robot, frame: str, solver: InverseKinematics, target: mb.Pose, batch: float) -> None:
    """Times of single targets, ours and those of peers, and the ratios: the machine may be slow, or busy."""
    singles = [mb.Pose(mb.Rotation.from_matrix(target.rotation.matrix[k]), target.position[k]) for k in range(200)]
    median, late = alone(solver, singles)
    print(f"  alone: {median:.1f} us median, {late:.0f} us at the 95th percentile (meant: 20 and 150; a batch: 6)")
    best, best_late = np.inf, np.inf
    for name, solve in peers(robot, frame, robot_data() / ARMS["panda"][0]).items():
        share = np.mean([solve(each) for each in singles[:60]])
        times = alone(solve, singles[:60])
        print(f"  {name}: {100 * share:.1f} %, {times[0]:.0f} us median, {times[1]:.0f} us at the 95th percentile")
        best, best_late = min(best, times[0]), min(best_late, times[1])
    claim("ahead of the best peer here, batch against its median", best / (1e6 * batch), 10.0, most=False)
    claim("ahead of the best peer here, median", best / median, 10.0, most=False)
    claim("ahead of the best peer here, 95th percentile", best_late / late, 4.0, most=False)


if __name__ == "__main__":
    sys.exit(main("--quick" in sys.argv))
