"""The result of inverse kinematics."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from multibody._reprs import short_fields


@dataclass(frozen=True, eq=False)
class Answer:
    """Configurations for targets; with the batch shape (...) of the targets.

    Where a solver has a list of frames, the errors have a last axis for them.
    """

    q: NDArray[Any]
    """(..., nq), within the limits: a solution, or the nearest that was reached."""
    success: NDArray[Any]
    """(...): whether all errors are within their tolerances."""
    position_error: NDArray[Any]
    """(...) in m: the distance of the frame from its target; 0 where no position is wanted."""
    rotation_error: NDArray[Any]
    """(...) in rad: the angle of the turn that is left; 0 where no rotation is wanted."""
    rounds: NDArray[Any]
    """(...): the iterations of all attempts; 0 where the first guess is a solution."""
    restarted: NDArray[Any]
    """(...): True if q was reached from a seed, or by a jump from a given q0: over five times as far as the damped
    pseudo-inverse steps."""
    __repr__ = short_fields
