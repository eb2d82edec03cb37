"""Trajectory control of a frame, as RD prints it.  [RD §2.9.4]"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.algorithms import jacobian, kinematics
from multibody.control._checks import check_gain, check_pose, check_robot
from multibody.control.pose_error import ROWS, pose_error
from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.geometry._arrays import choice, floats, matvec, numbers
from multibody.robot import Robot
from multibody.robot.function import RobotFunction
from multibody.solvers.pseudo_inverse import inverse


def track_pose(
    robot: Robot,
    frame: str,
    q: ArrayLike,
    target: Pose,
    twist: ArrayLike = 0.0,
    *,
    position_gain: ArrayLike = 1.0,
    rotation_gain: ArrayLike = 1.0,
    rows: str = "pose",
) -> NDArray[Any]:
    """v = J^+ (w* + k Δ), (..., nv): follows a pose that moves at the twist w*.  [RD 2.256-2.258]

    Args:
        robot: any; a floating base moves, too.
        frame: one of its frames.
        q: (..., nq).
        target: where the frame is to be now.
        twist: w*, (..., 6), mixed: how the target moves, linear first; with rows "position" or
            "rotation" its half (..., 3) is enough. Zero by default: a target that stands still.
        position_gain: k, (...) in 1/s, of Δr = r* - r.
        rotation_gain: k, (...) in 1/s, of Δφ, the rotation vector of R* R^T.
        rows: "pose" for both; "position" for the first three rows of J alone [RD 2.257],
            "rotation" for the last [RD 2.258].

    Raises:
        InputError: when an argument does not fit.

    >>> import multibody as mb
    >>> robot = mb.load("panda")
    >>> q = robot.home()
    >>> ahead = robot.pose("tool", q).integrate([0.0, 0.0, 0.1, 0.0, 0.0, 0.0], 1.0, "mixed")
    >>> v = track_pose(robot, "tool", q, ahead, position_gain=2.0)
    >>> (robot.jacobian("tool", q) @ v).round(9) + 0.0
    array([0. , 0. , 0.2, 0. , 0. , 0. ])
    """
    check_robot(robot, frame)
    check_pose(target)
    height = ROWS[choice(rows, "rows", tuple(ROWS))]
    w = np.zeros(6) if type(twist) in (int, float) and twist == 0 else floats(twist, "twist")
    count = height.stop - height.start
    if not w.ndim or w.shape[-1] not in (6, count):
        raise InputError(f"twist: expected (..., 6){f' or (..., {count})' * (count < 6)}, got shape {w.shape}")
    w = w[..., height] if w.shape[-1] == 6 else w
    k_P = check_gain(numbers(position_gain, "position_gain", w), "position_gain")
    k_R = check_gain(numbers(rotation_gain, "rotation_gain", w), "rotation_gain")
    return _controller(robot, frame, rows)(q, target, w, k_P, k_R)


@lru_cache(maxsize=64)
def _controller(robot: Robot, frame: str, rows: str) -> RobotFunction:
    """The controller as a kernel."""
    tree, chosen = robot.tree, ROWS[rows]

    def law(q: NDArray[Any], target: Pose, w: NDArray[Any], k_P: NDArray[Any], k_R: NDArray[Any]) -> NDArray[Any]:
        gain = np.stack([k_P, k_P, k_P, k_R, k_R, k_R], axis=-1)
        error = gain * pose_error(target, kinematics.pose(tree, frame, q))
        J = jacobian.jacobian(tree, frame, q, "mixed")
        return matvec(inverse(J[..., chosen, :]), w + error[..., chosen])

    inputs = {"q": "configuration", "target": "pose", "twist": chosen.stop - chosen.start}
    inputs |= {"position_gain": "number", "rotation_gain": "number"}
    return robot.function(law, key=f"control.track_pose {frame!r} {rows}", **inputs)
