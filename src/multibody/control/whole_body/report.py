"""The violations of tasks, contacts and limits."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry._arrays import is_traced

MAX_PROGRAM_RESIDUAL = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 2e-4}
"""The residual above which a program is not solved; ten times the one at which it ends."""


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

    __slots__ = ("_missed", "_multipliers", "_programs", "_residuals", "_sizes", "_slacks")

    def __init__(
        self,
        sizes: Mapping[str, int],
        programs: tuple[str, ...],
        slacks: NDArray[Any],
        missed: NDArray[Any],
        residuals: NDArray[Any],
        multipliers: NDArray[Any] | None = None,
    ) -> None:
        self._sizes = sizes
        self._programs = programs
        self._slacks = slacks
        self._missed = missed
        self._residuals = residuals
        self._multipliers = multipliers

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all tasks, contacts and limits."""
        return tuple(self._sizes)

    @property
    def slacks(self) -> dict[str, NDArray[Any]]:
        """The slacks by name, (..., rows): actual minus wanted, in the units of the rows."""
        return {name: self.slack(name) for name in self._sizes}

    def slack(self, name: str) -> NDArray[Any]:
        """(..., rows): of one task, contact or limit; of a limit positive above the upper bound, and zero within."""
        start = 0
        for known, size in self._sizes.items():
            if known == name:
                return self._slacks[..., start : start + size]
            start += size
        raise InputError(f"report: nothing is called {name!r}; there are {', '.join(self._sizes)}")

    @property
    def missed(self) -> NDArray[Any]:
        """(..., names): ones for what could not be met to 1e-6 of its scale, in single precision 1e-2, else zeros."""
        return self._missed

    @property
    def programs(self) -> tuple[str, ...]:
        """The names of the quadratic programs, one after the other.

        "contacts", which are to stand still, "limits" of velocities and joints, "level 1" and so on of tasks, "least
        torque", and "least force" where torques leave forces open.
        """
        return self._programs

    @property
    def residuals(self) -> NDArray[Any]:
        """(..., programs): by how much each misses the conditions of optimality, relative to what they are made of.

        Zero where nothing had to be decided; a program ends at 1e-9, in single precision 2e-5, or after 40 rounds.
        """
        return self._residuals

    @property
    def unsolved(self) -> Any:
        """The names of programs with a residual above 1e-8, in single precision 2e-4: a list, or nested as the batch.

        Torques, forces and cones hold as far as the residual tells, but what follows may not be the best there is.
        """
        if is_traced(self._residuals):
            raise InputError("report: names are for results; in a traced function, use report.residuals")
        return _named(~(self._residuals <= MAX_PROGRAM_RESIDUAL[self._residuals.dtype]), self._programs)

    @property
    def multipliers(self) -> NDArray[Any] | None:
        """(rows,): of the bounds, from which DAQP starts at a similar state; None where it did not answer."""
        return self._multipliers

    @property
    def violated(self) -> Any:
        """The names of what could not be met: a list, or lists nested as the batch."""
        if is_traced(self._missed):
            raise InputError("report: names are for results; in a traced function, use report.missed")
        return _named(self._missed, self.names)

    def __repr__(self) -> str:
        if is_traced(self._missed):
            return f"<Report of {', '.join(self.names)}>"
        sizes = np.abs(self._slacks)
        if self._missed.ndim > 1:
            unsolved = int((~(self._residuals <= MAX_PROGRAM_RESIDUAL[self._residuals.dtype])).any(axis=-1).sum())
            more = f", {unsolved} are not solved" if unsolved else ""
            return f"<Report of {self._missed.shape[:-1]}: {int(self._missed.any(axis=-1).sum())} miss something{more}>"
        worst = [f"{name} by {sizes_of.max():.3g}" for name, sizes_of in self._largest(sizes)]
        more = f"; not solved: {', '.join(self.unsolved)}" if self.unsolved else ""
        return f"<Report: {', '.join(worst) or 'all is met'}{more}>"

    def _largest(self, sizes: NDArray[Any]) -> list[tuple[str, NDArray[Any]]]:
        start, parts = 0, []
        for name, size in self._sizes.items():
            parts.append((name, sizes[start : start + size]))
            start += size
        return [part for part in parts if part[0] in self.violated]


def _named(missed: NDArray[Any], names: tuple[str, ...]) -> list[Any]:
    if missed.ndim > 1:
        return [_named(each, names) for each in missed]
    return [name for name, one in zip(names, missed.tolist(), strict=True) if one]
