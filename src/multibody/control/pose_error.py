"""The error of a pose, the rows of it that control chooses, and the errors of rotation by name.  [RD §2.9.3]"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Pose, rates

ROWS = {"pose": slice(0, 6), "position": slice(0, 3), "rotation": slice(3, 6)}
ROTATION_VECTOR = "rotation-vector"
"""The rotation vector of R* R^T, with the geometric Jacobian: the shortest rotation.  [RD 2.248-2.255]"""
DIFFERENCE = "rotation-vector-difference"
ERRORS = (ROTATION_VECTOR, DIFFERENCE, *(name for name in rates.ORIENTATIONS if name != ROTATION_VECTOR))
"""The shortest rotation, and differences χ* - χ of parameters, with analytical Jacobians.  [RD 2.242, Ex. 2.9.7]"""


def pose_error(target: Pose, actual: Pose) -> NDArray[Any]:
    """(..., 6): p* - p and log(R* R^T), along the axes of the frame that both poses are in.  [RD 2.251, 2.256]"""
    turn = target.rotation.boxminus(actual.rotation)
    return np.concatenate([np.broadcast_to(target.position - actual.position, turn.shape), turn], axis=-1)
