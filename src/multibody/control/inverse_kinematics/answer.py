"""The result of inverse kinematics."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody._reprs import html_table, short_fields


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

    def _repr_html_(self) -> str:
        """The answer for one target as it is; of a batch, its success, and the errors' medians and maxima."""
        names = ("position error [m]", "rotation error [rad]", "iterations")
        columns = (self.position_error, self.rotation_error, self.rounds.astype(int))
        count = self.success.size
        if not self.success.ndim or not count:
            rows = [("q", self.q), *zip(names, columns, strict=True), ("restarted", self.restarted)]
            return html_table("Reached" if self.success.all() else "Not reached", ("", ""), rows)
        title = f"{self.success.sum()} of {count} targets reached, {self.restarted.sum()} of them after a restart"
        rows = [(name, np.median(column), column.max()) for name, column in zip(names, columns, strict=True)]
        return html_table(title, ("", "median", "largest"), rows)
