"""Where the matrices of operations in loops lie in the slots.

The results of an operation have slots of their own, side by side. An operand that lies in the slots with constant steps
from row to row and from column to column, as an argument, the result of another operation or the transpose of one, is
read where it is. Any other gets a block: what a segment computes is stored straight into it, the rest is copied there
by a loop over a table, before the operation.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.tracing.dense_kinds import Operand


class Place(NamedTuple):
    """A matrix in the slots: entry (i, j) is in slot first + i row + j column."""

    first: int
    row: int
    column: int

    @property
    def T(self) -> "Place":
        return Place(self.first, self.column, self.row)

    def moved(self, i: int, j: int) -> "Place":
        """The part of it from entry (i, j) on."""
        return Place(self.first + i * self.row + j * self.column, self.row, self.column)


class Dense(NamedTuple):
    """An operation on matrices, as a step of a program."""

    kind: str
    sizes: tuple[int, ...]
    operands: list[Place]
    copies: list[tuple[int, int]]
    """(from, to): slots that are copied before."""
    first: int
    """The slot of the first result; scratch lies behind the last."""


def place(operand: Operand, slots: NDArray[Any]) -> Place | None:
    """Where an operand is, when its entries lie with constant steps; a slot of -1 is of one that has none yet."""
    read = operand.read()
    if (slots[read] < 0).any():
        return None
    first = int(slots[0, 0])
    row, column = _step(slots, read), _step(slots.T, read.T)
    i, j = np.indices(slots.shape)
    return Place(first, row, column) if (slots == first + i * row + j * column)[read].all() else None


def _step(slots: NDArray[Any], read: NDArray[Any]) -> int:
    """The slots from the first row to the next, where an entry of both is read."""
    pairs = np.argwhere(read[1:] & read[:-1])
    if not len(pairs):
        return 0
    i, j = pairs[0]
    return int(slots[i + 1, j] - slots[i, j])
