"""What could not be met, and by how much."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry._arrays import is_traced


class Report:
    """By how much tasks, contacts and limits are missed; `violated` names those that are.

    >>> report = Report({"com": 2, "foot": 1}, np.array([0.0, 0.5, 0.0]), np.array([1.0, 0.0]))
    >>> report.violated, report.slack("com")
    (['com'], array([0. , 0.5]))
    """

    __slots__ = ("_missed", "_multipliers", "_sizes", "_slacks")

    def __init__(
        self,
        sizes: Mapping[str, int],
        slacks: NDArray[Any],
        missed: NDArray[Any],
        multipliers: NDArray[Any] | None = None,
    ) -> None:
        self._sizes = sizes
        self._slacks = slacks
        self._missed = missed
        self._multipliers = multipliers

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all tasks, contacts and limits."""
        return tuple(self._sizes)

    @property
    def slacks(self) -> dict[str, NDArray[Any]]:
        """By name, (..., rows): what there is less what was asked for, in the units of the rows."""
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
            return f"<Report of {self._missed.shape[:-1]}: {int(self._missed.any(axis=-1).sum())} miss something>"
        worst = [f"{name} by {sizes_of.max():.3g}" for name, sizes_of in self._largest(sizes)]
        return f"<Report: {', '.join(worst) or 'all is met'}>"

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
