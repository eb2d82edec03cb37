"""Control: priorities, tasks, inverse kinematics, trajectories."""

from multibody.control.priorities import hierarchical_least_squares, prioritised
from multibody.control.pseudo_inverse import null_space_projector, pseudo_inverse

__all__ = [
    "hierarchical_least_squares",
    "null_space_projector",
    "prioritised",
    "pseudo_inverse",
]
