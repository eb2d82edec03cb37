"""Control: priorities, tasks, inverse kinematics, trajectories."""

from multibody.control import trajectories
from multibody.control.inverse_kinematics import InverseKinematics
from multibody.control.priorities import hierarchical_least_squares, prioritised
from multibody.control.pseudo_inverse import null_space_projector, pseudo_inverse
from multibody.control.tasks import (
    AxisTask,
    CenterOfMassTask,
    GazeTask,
    MomentumTask,
    OrientationTask,
    PoseTask,
    PositionTask,
    PostureTask,
    RelativePoseTask,
    Task,
)
from multibody.control.tracking import track_pose

__all__ = [
    "AxisTask",
    "CenterOfMassTask",
    "GazeTask",
    "InverseKinematics",
    "MomentumTask",
    "OrientationTask",
    "PoseTask",
    "PositionTask",
    "PostureTask",
    "RelativePoseTask",
    "Task",
    "hierarchical_least_squares",
    "null_space_projector",
    "prioritised",
    "pseudo_inverse",
    "track_pose",
    "trajectories",
]
