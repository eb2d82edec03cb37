"""How a kernel holds numbers: vectors of lanes, tiles of vectors."""

import struct
from typing import NamedTuple

import numpy as np

from multibody.compiler.program import Program

NEAR, FAR = 24 * 1024, 96 * 1024
"""Bytes per tile: what the first-level cache holds, and for programs of many segments the second-level one."""
RESIDENT = 2600
"""Nodes whose code stays in an instruction cache of 32 KB from one tile to the next."""

WIDE = 64 * 1024
"""Bytes of slots of one long vector beyond which half a vector is taken: a single call goes through all of them."""
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
        """Of one vector."""
        return self.lanes * self.size

    @property
    def row(self) -> int:
        """Bytes of all slots of one vector of samples; no multiple of 4096, which would crowd one set of the cache."""
        row = -(-self.slots * self.bytes // 64) * 64
        return row + 64 if row % 4096 == 0 else row

    def constant(self, number: float) -> str:
        """A vector of one number, spelled in hexadecimal so that no digit is lost."""
        if self.dtype == "float32":
            with np.errstate(over="ignore"):
                number = float(np.float32(number))
        text = f"{self.scalar} 0x{struct.unpack('Q', struct.pack('d', number))[0]:016X}"
        return f"<{', '.join([text] * self.lanes)}>"


def choose_shape(program: Program, lanes: int, dtype: str, *, fma: bool) -> Shape:
    """A tile that keeps the slots, and the rows that pass by, in cache."""
    shape = Shape(lanes, dtype, max(1, program.slots), 1, fma)
    if shape.bytes > HALF and shape.row > WIDE:
        shape = shape._replace(lanes=lanes // 2)
    rows = (len(program.inputs) + len(program.outputs)) * shape.bytes
    near = min(64, NEAR // (shape.row + rows))
    nodes = sum(len(segment.nodes) for segment in program.segments)
    far = min(8, FAR // shape.row) if nodes > RESIDENT else 1
    return shape._replace(tile=max(1, near, far))
