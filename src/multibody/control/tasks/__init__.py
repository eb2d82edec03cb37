"""Tasks: one small interface, a file for each. `control` lists those that users name."""

from multibody.control.tasks._task import Task
from multibody.control.tasks.axis import AxisTask
from multibody.control.tasks.center_of_mass import CenterOfMassTask
from multibody.control.tasks.forces_and_torques import ForceTask, LoadTask, TorqueTask
from multibody.control.tasks.gaze import GazeTask
from multibody.control.tasks.momentum import MomentumTask
from multibody.control.tasks.orientation import OrientationTask
from multibody.control.tasks.pose import PoseTask
from multibody.control.tasks.position import PositionTask
from multibody.control.tasks.posture import PostureTask
from multibody.control.tasks.relative_pose import RelativePoseTask
