"""A gizmo to drag in a viewer, which inverse kinematics follows."""

from collections.abc import Callable
from typing import Any

import numpy as np

from multibody.control import InverseKinematics
from multibody.geometry import Pose, Rotation
from multibody.robot import Robot


def add_drag_target(
    server: Any, robot: Robot, frame: str, q: Any, size: float, follow: Callable[[Callable[[Any], Any]], None]
) -> None:
    """Add a gizmo at a frame, of a size in m; once dragged, `follow` is called with a function from q0 to the next q.

    The gizmo is read when that function is called: of several drags that wait, the last one counts.
    """
    solver = InverseKinematics(robot, frame, base="fixed" if robot.tree.bases else "free")
    pose = robot.pose(frame, q)
    place = {"wxyz": pose.rotation.quaternion, "position": pose.position}
    gizmo = server.scene.add_transform_controls(f"/target/{frame}", scale=size, depth_test=False, **place)

    def reached(q0: Any) -> Any:
        turn, position = np.array(gizmo.wxyz, float), np.array(gizmo.position, float)
        if not (np.isfinite(turn).all() and np.isfinite(position).all() and np.linalg.norm(turn) > 0.5):
            return q0
        return solver(Pose(Rotation.from_quaternion(turn / np.linalg.norm(turn)), position), q0=q0).q

    gizmo.on_update(lambda _: follow(reached))
