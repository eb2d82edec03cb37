"""How a kernel holds numbers: vectors of lanes, tiles of vectors."""

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from multibody.compiler.ir.segments import Program

NEAR, FAR = 24 * 1024, 96 * 1024
"""Bytes per tile: what the first-level cache holds, and for programs of many segments the second-level one."""
RESIDENT = 2600
"""Nodes whose code stays in an instruction cache of 32 KB from one tile to the next."""
REACH = 32 * 1024
"""Bytes of slots and rows of one vector up to which results can be fetched early and are still there when written."""
ALONE = 200
"""Nodes from which on one vector has enough to do side by side."""
MEMORY = 16 * 1024 * 1024
"""Bytes of a buffer in which loops keep what they carry, unless one vector needs more."""
STREAMS = 8
"""Vectors of a tile whose loops keep what they carry: as many streams of numbers come and go at once."""
HALF = 32
"""Bytes of a vector that is not halved."""


class Shape(NamedTuple):
    """How the numbers are held."""

    lanes: int
    """Samples in a vector."""
    dtype: str
    slots: int
    tile: int
    """Vectors of samples that are worked on together."""
    fma: bool

    @property
    def scalar(self) -> str:
        return "double" if self.dtype == "float64" else "float"

    @property
    def size(self) -> int:
        return 8 if self.dtype == "float64" else 4

    @property
    def vector(self) -> str:
        return f"<{self.lanes} x {self.scalar}>"

    @property
    def mask(self) -> str:
        return f"<{self.lanes} x i1>"

    @property
    def bytes(self) -> int:
        """Bytes of one vector."""
        return self.lanes * self.size

    @property
    def row(self) -> int:
        """Bytes of all slots of one vector of samples; no multiple of 4096, which would crowd one set of the cache."""
        row = -(-self.slots * self.bytes // 64) * 64
        return row + 64 if row % 4096 == 0 else row

    def constant(self, number: float) -> str:
        """A vector of one number, spelled in hexadecimal so that no digit is lost."""
        return f"<{', '.join([self._spell(number)] * self.lanes)}>"

    def array(self, numbers: Sequence[float]) -> str:
        """An array of numbers."""
        return f"[{', '.join(map(self._spell, numbers))}]"

    def _spell(self, number: float) -> str:
        if self.dtype == "float32":
            with np.errstate(over="ignore"):
                number = float(np.float32(number))
        return f"{self.scalar} 0x{struct.unpack('Q', struct.pack('d', number))[0]:016X}"


def choose_shape(program: Program, lanes: int, dtype: str, *, fma: bool, once: bool = True) -> Shape:
    """For batches: a tile that keeps the slots, and the rows that pass by, in cache.

    Long vectors are halved where writing results is most of the work, and they can then be fetched early. It is not
    where a program runs more than `once` for its results, as in a scan, or has loops. Where samples stop loops, those
    of a tile wait for each other: then a tile is one vector, or two where the code is so short that one would wait for
    its own results.
    """
    shape = Shape(lanes, dtype, max(1, program.slots), 1, fma)
    nodes = sum(len(segment.nodes) for segment in program.segments)
    half = shape._replace(lanes=lanes // 2)
    straight = once and all(isinstance(step, int) for step in program.steps)
    work = sum(segment.work for segment in program.segments)
    crowded = straight and shape.bytes > HALF and _near(program, shape) > NEAR
    if crowded and work < 4 * len(program.outputs) and within_reach(program, half):
        shape = half
    if program.stops:
        return shape._replace(tile=2 if nodes < ALONE else 1)
    near = min(64, NEAR // _near(program, shape))
    if program.stored:
        near = min(near, STREAMS, MEMORY // shape.row)
    far = min(8, FAR // shape.row) if nodes > RESIDENT and len(program.segments) > 1 else 1
    return shape._replace(tile=max(1, near, far))


def lone_shape(program: Program, dtype: str, *, fma: bool) -> Shape:
    """For one sample."""
    return Shape(1, dtype, max(1, program.slots), 1, fma)


def within_reach(program: Program, shape: Shape) -> bool:
    """Whether slots and rows of one vector fit into the first-level cache together."""
    return _near(program, shape) <= REACH


def _near(program: Program, shape: Shape) -> int:
    """Bytes of slots and rows of one vector, without those slots that loops go over from end to end."""
    return shape.row - program.stored * shape.bytes + (len(program.inputs) + len(program.outputs)) * shape.bytes
