"""Storage of the operands and results of matrix operations in slots.

The results of an operation have adjacent slots. An operand whose slots have constant strides, such as an argument, the
result of another operation or a transpose, is read in place. Any other operand gets a block: segments store the entries
that they compute directly into it, and the others are copied before the operation by a loop over a table.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.compiler.ir.passes import Block
from multibody.tracing.matrices.kinds import KINDS, Operand, argument_slices


class MatrixView(NamedTuple):
    """A matrix in the slots: entry (i, j) is in slot offset + i row_stride + j column_stride."""

    offset: int
    row_stride: int
    column_stride: int

    @property
    def T(self) -> "MatrixView":
        return MatrixView(self.offset, self.column_stride, self.row_stride)

    @property
    def diagonal(self) -> "MatrixView":
        """The diagonal, as a column."""
        return MatrixView(self.offset, self.row_stride + self.column_stride, 0)


class Dense(NamedTuple):
    """A matrix operation of a program."""

    kind: str
    sizes: tuple[int, ...]
    operands: list[MatrixView]
    copies: list[tuple[int, int]]
    """(from, to): slots that are copied before the operation."""
    first: int
    """The slot of the first result; scratch follows the last."""


class Matrices:
    """The matrix operations of a program, and the slots of their operands and results."""

    def __init__(self, block: Block) -> None:
        self.graph = block.graph
        self.results: dict[int, list[int]] = {}  # operation -> its used results
        for k in block.order:
            if self.graph.op[k] == "entry":
                self.results.setdefault(self.graph.args[k][0], []).append(k)
        self.blocks: dict[int, Dense] = {}
        self.steps: dict[int, int] = {}
        """segment -> its operation."""

    def begin(self, k: int, slot: dict[int, int], fresh: Callable[[], int]) -> list[int]:
        """Allocate slots for the results of an operation, and for its constant arguments, which are returned."""
        kind, sizes = self.graph.value[k]
        first = _allocate_block(KINDS[kind].results(*sizes) + KINDS[kind].scratch(*sizes), fresh)
        slot.update((entry, first + self.graph.value[entry]) for entry in self.results[k])
        read = [a for operand, ids in self.operands(k) for a in ids[operand.read()].tolist()]
        constants = list(dict.fromkeys(a for a in read if self.graph.op[a] == "const"))
        slot.update((a, fresh()) for a in constants if a not in slot)
        self.blocks[k] = Dense(kind, sizes, [], [], first)
        return constants

    def operands(self, k: int) -> Iterator[tuple[Operand, NDArray[Any]]]:
        """The operands of an operation, with their nodes."""
        for operand, at in argument_slices(*self.graph.value[k]):
            yield operand, np.reshape(self.graph.args[k][at], (operand.rows, operand.columns))

    def place_operands(
        self,
        slot: dict[int, int],
        home: dict[int, int],
        stores: list[list[tuple[int, int]]],
        fresh: Callable[[], int],
    ) -> None:
        """Allocate the storage of all operands.

        Args:
            slot: of every node that has one; it is extended.
            home: the segment that computes each of the other nodes.
            stores: the stores of every segment; they are extended.
            fresh: allocates a slot.
        """
        for k in self.blocks:
            views: list[MatrixView] = []
            copies: list[tuple[int, int]] = []
            for operand, ids in self.operands(k):
                view = strided_view(operand, np.reshape([slot.get(a, -1) for a in ids.ravel().tolist()], ids.shape))
                if view is None:
                    view = MatrixView(_allocate_block(ids.size, fresh), operand.columns, 1)
                    targets = view.offset + np.flatnonzero(operand.read())
                    for a, target in zip(ids[operand.read()].tolist(), targets.tolist(), strict=True):
                        if a in slot:
                            copies.append((slot[a], target))
                        else:  # its segment stores it there
                            slot[a] = target
                            stores[home[a]].append((a, target))
                views.append(view)
            self.blocks[k] = self.blocks[k]._replace(operands=views, copies=copies)


def _allocate_block(count: int, fresh: Callable[[], int]) -> int:
    """The first of new, adjacent slots."""
    slots = [fresh() for _ in range(count)]
    return slots[0]


def strided_view(operand: Operand, slots: NDArray[Any]) -> MatrixView | None:
    """The view of an operand whose slots have constant strides; a slot of -1 is not allocated yet."""
    read = operand.read()
    if (slots[read] < 0).any():
        return None
    first = int(slots[0, 0])
    row, column = _row_stride(slots, read), _row_stride(slots.T, read.T)
    i, j = np.indices(slots.shape)
    return MatrixView(first, row, column) if (slots == first + i * row + j * column)[read].all() else None


def _row_stride(slots: NDArray[Any], read: NDArray[Any]) -> int:
    """The slots between two rows, from the first column in which both are read."""
    pairs = np.argwhere(read[1:] & read[:-1])
    if not len(pairs):
        return 0
    i, j = pairs[0]
    return int(slots[i + 1, j] - slots[i, j])
