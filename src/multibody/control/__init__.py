"""Control: priorities, tasks, inverse kinematics, trajectories."""

from multibody._foreign_names import public_room
from multibody.control import trajectories
from multibody.control.floating_base_inverse_dynamics import floating_inverse_dynamics
from multibody.control.inverse_kinematics import InverseKinematics
from multibody.control.inverse_kinematics.analytic.analytic_solutions import analytic_solutions
from multibody.control.inverse_kinematics.textbook_iteration import History, iterate
from multibody.control.joint_space import (
    friction_compensation,
    gains,
    gravity_compensation,
    inverse_dynamics_control,
    joint_impedance,
)
from multibody.control.limits import FrictionCones, JointLimits, Limit, TorqueLimits, VelocityLimits
from multibody.control.multi_task_inverse_dynamics import multi_task_control
from multibody.control.operational_space import OperationalSpace
from multibody.control.pid import PID
from multibody.control.pose_tracking import track_pose
from multibody.control.tasks import (
    AxisTask,
    CenterOfMassTask,
    ForceTask,
    GazeTask,
    LoadTask,
    MomentumTask,
    OrientationTask,
    PoseTask,
    PositionTask,
    PostureTask,
    RelativePoseTask,
    Task,
    TorqueTask,
)
from multibody.control.velocity_control import VelocityControl
from multibody.control.virtual_model import VirtualModel
from multibody.control.whole_body import WholeBody
from multibody.solvers.hierarchical_least_squares import hierarchical_least_squares, prioritised, prioritized  # noqa: F401  the first, as before
from multibody.solvers.hierarchical_qp import Level, hierarchical_qp
from multibody.solvers.program import Status
from multibody.solvers.pseudo_inverse import null_space_projector, pseudo_inverse
from multibody.solvers.qp_answer import Multipliers, QPAnswer, Residuals
from multibody.solvers.quadratic_program import qp

__all__ = [
    "PID",
    "AxisTask",
    "CenterOfMassTask",
    "ForceTask",
    "FrictionCones",
    "GazeTask",
    "History",
    "InverseKinematics",
    "JointLimits",
    "Level",
    "Limit",
    "LoadTask",
    "MomentumTask",
    "Multipliers",
    "OperationalSpace",
    "OrientationTask",
    "PoseTask",
    "PositionTask",
    "PostureTask",
    "QPAnswer",
    "RelativePoseTask",
    "Residuals",
    "Status",
    "Task",
    "TorqueLimits",
    "TorqueTask",
    "VelocityControl",
    "VelocityLimits",
    "VirtualModel",
    "WholeBody",
    "analytic_solutions",
    "floating_inverse_dynamics",
    "friction_compensation",
    "gains",
    "gravity_compensation",
    "hierarchical_least_squares",
    "hierarchical_qp",
    "inverse_dynamics_control",
    "iterate",
    "joint_impedance",
    "multi_task_control",
    "null_space_projector",
    "prioritized",
    "pseudo_inverse",
    "qp",
    "track_pose",
    "trajectories",
]

__getattr__ = public_room(__name__)
