"""The report of a whole body: violated tasks, contacts and limits, and unsolved programs."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry._arrays import is_traced

MAX_PROGRAM_RESIDUAL = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 2e-4}
"""The residual above which a program is not solved; ten times the one at which it ends."""


@dataclass(eq=False, repr=False, slots=True)
class Report:
    """The slacks of tasks, contacts and limits; `violated` names those that are missed.

    What had to be decided by a quadratic program was solved, but for those programs that `unsolved` names.

    >>> names = {"com": 2, "foot": 1}, ("level 1",)
    >>> report = Report(*names, np.array([0.0, 0.5, 0.0]), np.array([1.0, 0.0]), np.array([1e-3]))
    >>> report.violated, report.slack("com"), report.unsolved
    (['com'], array([0. , 0.5]), ['level 1'])
    >>> report, Report(*names, np.zeros(3), np.zeros(2), np.array([1e-10]))
    (<Report: com by 0.5; not solved: level 1>, <Report: all is met>)
    """

    sizes: Mapping[str, int]
    """The number of rows of each task, contact and limit."""
    programs: tuple[str, ...]
    """The names of the quadratic programs, one after the other: "contacts", which are to stand still, "limits" of
    velocities and joints, "level 1" and so on of tasks, "least torque", and "least force" where torques leave forces
    open."""
    rows: NDArray[Any]
    """(..., all rows): the slacks, name after name."""
    missed: NDArray[Any]
    """(..., names): ones for what could not be met to 1e-6 of its scale, in single precision 1e-2, else zeros."""
    residuals: NDArray[Any]
    """(..., programs): by how much each misses the conditions of optimality, relative to what they are made of.

    Zero where nothing had to be decided; a program ends at 1e-9, in single precision 2e-5, or after 40 iterations.
    """
    multipliers: NDArray[Any] | None = None
    """(rows,): of the bounds, from which DAQP starts at a similar state; None where it did not answer."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all tasks, contacts and limits."""
        return tuple(self.sizes)

    @property
    def slacks(self) -> dict[str, NDArray[Any]]:
        """The slacks by name, (..., rows): actual minus wanted, in the units of the rows."""
        ends = np.cumsum([0, *self.sizes.values()]).tolist()
        return {name: self.rows[..., start:end] for name, (start, end) in zip(self.sizes, pairwise(ends), strict=True)}

    def slack(self, name: str) -> NDArray[Any]:
        """(..., rows): of one task, contact or limit; of a limit positive above the upper bound, and zero within."""
        if name not in self.sizes:
            raise InputError(f"report: nothing is called {name!r}; there are {', '.join(self.sizes)}")
        return self.slacks[name]

    @property
    def unsolved(self) -> Any:
        """The names of programs with a residual above 1e-8, in single precision 2e-4: a list, or nested as the batch.

        Torques, forces and cones hold as far as the residual tells, but what follows may not be the best there is.
        """
        return _names_of(self._is_unsolved, self.programs, "residuals")

    @property
    def violated(self) -> Any:
        """The names of what could not be met: a list, or lists nested as the batch."""
        return _names_of(self.missed, self.names, "missed")

    def __repr__(self) -> str:
        if is_traced(self.missed):
            return f"<Report of {', '.join(self.names)}>"
        if self.missed.ndim > 1:
            unsolved = int(self._is_unsolved.any(axis=-1).sum())
            more = f", {unsolved} are not solved" if unsolved else ""
            return f"<Report of {self.missed.shape[:-1]}: {int(self.missed.any(axis=-1).sum())} miss something{more}>"
        worst = [f"{name} by {np.abs(self.slack(name)).max():.3g}" for name in self.violated]
        more = f"; not solved: {', '.join(self.unsolved)}" if self.unsolved else ""
        return f"<Report: {', '.join(worst) or 'all is met'}{more}>"

    @property
    def _is_unsolved(self) -> NDArray[Any]:
        return ~(self.residuals <= MAX_PROGRAM_RESIDUAL[self.residuals.dtype])


def _names_of(missed: NDArray[Any], names: tuple[str, ...], numbers: str) -> list[Any]:
    """The names of what is missed; in a traced function there are `numbers` alone."""
    if is_traced(missed):
        raise InputError(f"report: names are for results; in a traced function, use report.{numbers}")
    if missed.ndim > 1:
        return [_names_of(each, names, numbers) for each in missed]
    return [name for name, one in zip(names, missed.tolist(), strict=True) if one]
