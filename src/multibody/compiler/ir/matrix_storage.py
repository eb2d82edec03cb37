"""Where the matrices of operations in loops lie in the slots.

The results of an operation have slots of their own, side by side. An operand that lies in the slots with constant steps
from row to row and from column to column, as an argument, the result of another operation or the transpose of one, is
read where it is. Any other gets a block: what a segment computes is stored straight into it, the rest is copied there
by a loop over a table, before the operation.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.compiler.ir.passes import Block
from multibody.tracing.matrices.kinds import KINDS, Operand, operands


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


class Matrices:
    """The operations on matrices of a program, and where their operands and results are."""

    def __init__(self, block: Block) -> None:
        self.graph = block.graph
        self.results: dict[int, list[int]] = {}  # operation -> its results that are used
        for k in block.order:
            if self.graph.op[k] == "entry":
                self.results.setdefault(self.graph.args[k][0], []).append(k)
        self.blocks: dict[int, Dense] = {}
        self.steps: dict[int, int] = {}
        """segment -> the operation that it is."""

    def begin(self, k: int, slot: dict[int, int], fresh: Callable[[], int]) -> list[int]:
        """Give slots to the results of an operation, and to the constants among its arguments, which are returned."""
        kind, sizes = self.graph.value[k]
        first = _side_by_side(KINDS[kind].results(*sizes) + KINDS[kind].scratch(*sizes), fresh)
        slot.update((entry, first + self.graph.value[entry]) for entry in self.results[k])
        read = [a for operand, ids in self.operands(k) for a in ids[operand.read()].tolist()]
        constants = list(dict.fromkeys(a for a in read if self.graph.op[a] == "const"))
        slot.update((a, fresh()) for a in constants if a not in slot)
        self.blocks[k] = Dense(kind, sizes, [], [], first)
        return constants

    def operands(self, k: int) -> Iterator[tuple[Operand, NDArray[Any]]]:
        """The matrices of an operation, with their nodes."""
        first = 0
        for operand in operands(*self.graph.value[k]):
            size = operand.rows * operand.columns
            yield operand, np.reshape(self.graph.args[k][first : first + size], (operand.rows, operand.columns))
            first += size

    def settle(
        self,
        slot: dict[int, int],
        home: dict[int, int],
        stores: list[list[tuple[int, int]]],
        fresh: Callable[[], int],
    ) -> None:
        """Find places for all operands.

        Args:
            slot: of every node that has one; more get one.
            home: the segment that computes each of the others.
            stores: what every segment stores, to which that is added.
            fresh: makes a slot.
        """
        for k in self.blocks:
            places: list[Place] = []
            copies: list[tuple[int, int]] = []
            for operand, ids in self.operands(k):
                where = place(operand, np.reshape([slot.get(a, -1) for a in ids.ravel().tolist()], ids.shape))
                if where is None:
                    where = Place(_side_by_side(ids.size, fresh), operand.columns, 1)
                    targets = where.first + np.flatnonzero(operand.read())
                    for a, target in zip(ids[operand.read()].tolist(), targets.tolist(), strict=True):
                        if a in slot:
                            copies.append((slot[a], target))
                        else:  # its segment stores it where it is needed
                            slot[a] = target
                            stores[home[a]].append((a, target))
                places.append(where)
            self.blocks[k] = self.blocks[k]._replace(operands=places, copies=copies)


def _side_by_side(count: int, fresh: Callable[[], int]) -> int:
    """The first of new slots."""
    slots = [fresh() for _ in range(count)]
    return slots[0]


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
