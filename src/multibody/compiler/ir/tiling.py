"""Tiling: the lanes of a vector, and the vectors of a tile."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from multibody.compiler.ir.formats import FORMATS, Format
from multibody.compiler.ir.program import Program

L1_TILE_BYTES, L2_TILE_BYTES = 24 * 1024, 96 * 1024
"""Bytes per tile that fit the first-level data cache and, for programs of many segments, the second-level one."""
INSTRUCTION_CACHE_NODES = 2600
"""Programs up to this size stay in an instruction cache of 32 KB from one tile to the next."""
MAX_PREFETCH_BYTES = 32 * 1024
"""Results are prefetched if the slots and rows of one vector fit into this: they are then still cached when stored."""
MIN_PARALLEL_NODES = 200
"""Programs of at least this many nodes have enough instruction-level parallelism with one vector per tile."""
MAX_STACKED_BYTES = 16 * 1024 * 1024
"""Bound on the buffer of loops that stack outputs, unless one vector needs more."""
MAX_STREAMS = 8
"""Maximum vectors per tile when loops store their carries: each is one memory stream."""
MIN_VECTOR_BYTES = 32
"""Vectors up to this size are not halved."""


@dataclass(frozen=True)
class Tiling:
    """The layout of samples in vectors, and of vectors in a tile."""

    lanes: int
    """Samples per vector."""
    dtype: str
    slots: int = 1
    tile: int = 1
    """Vectors per tile."""
    fma: bool = True
    """Whether the machine has fused multiply-adds."""

    @cached_property
    def format(self) -> Format:
        return FORMATS[self.dtype]

    @cached_property
    def scalar(self) -> str:
        return self.format.real

    @cached_property
    def size(self) -> int:
        """Bytes of a scalar."""
        return self.format.width // 8

    @cached_property
    def vector(self) -> str:
        return f"<{self.lanes} x {self.scalar}>"

    @cached_property
    def mask(self) -> str:
        return f"<{self.lanes} x i1>"

    @cached_property
    def suffix(self) -> str:
        """The suffix of LLVM's intrinsics for these vectors."""
        return f"v{self.lanes}f{self.format.width}"

    @cached_property
    def bytes(self) -> int:
        """Bytes of a vector."""
        return self.lanes * self.size

    @cached_property
    def stride(self) -> int:
        """Bytes of all slots of one vector; no multiple of 4096, which would alias in the cache."""
        stride = -(-self.slots * self.bytes // 64) * 64
        return stride + 64 if stride % 4096 == 0 else stride

    def splat(self, element: str) -> str:
        """The constant vector with an element in every lane."""
        return f"<{', '.join([element] * self.lanes)}>"

    def constant(self, number: float) -> str:
        """The constant vector of a number, in hexadecimal so that no digit is lost."""
        return self.splat(self.format.spell(number))

    def array(self, numbers: Sequence[float]) -> str:
        """A constant array of scalars: its type and value."""
        return f"[{len(numbers)} x {self.scalar}] [{', '.join(map(self.format.spell, numbers))}]"


def choose_tiling(program: Program, lanes: int, dtype: str, *, fma: bool, once: bool = True) -> Tiling:
    """The tiling for batches: the slots of a tile, and the rows that it reads and writes, stay in cache.

    Long vectors are halved if storing results is most of the work and results can then be prefetched. They are not if
    the program runs repeatedly (`once` is False, as in a scan) or has loops. If samples stop loops, the samples of a
    tile wait for each other. A tile is then one vector, or two if one alone has too little parallelism.
    """
    tiling = Tiling(lanes, dtype, max(1, program.slots), 1, fma)
    nodes = sum(len(segment.nodes) for segment in program.segments)
    half = replace(tiling, lanes=lanes // 2)
    straight = once and all(isinstance(step, int) for step in program.steps)
    work = sum(segment.work for segment in program.segments)
    crowded = straight and tiling.bytes > MIN_VECTOR_BYTES and _working_set(program, tiling) > L1_TILE_BYTES
    if crowded and work < 4 * len(program.outputs) and prefetches_results(program, half):
        tiling = half
    if program.stops:
        return replace(tiling, tile=2 if nodes < MIN_PARALLEL_NODES else 1)
    near = min(64, L1_TILE_BYTES // _working_set(program, tiling))
    if program.stacked:
        near = min(near, MAX_STREAMS, MAX_STACKED_BYTES // tiling.stride)
    resident = nodes <= INSTRUCTION_CACHE_NODES or len(program.segments) == 1
    far = 1 if resident else min(8, L2_TILE_BYTES // tiling.stride)
    return replace(tiling, tile=max(1, near, far))


def scalar_tiling(program: Program, dtype: str, *, fma: bool) -> Tiling:
    """The tiling for one sample."""
    return Tiling(1, dtype, max(1, program.slots), 1, fma)


def prefetches_results(program: Program, tiling: Tiling) -> bool:
    """Whether the slots and rows of one vector fit into the first-level cache together."""
    return _working_set(program, tiling) <= MAX_PREFETCH_BYTES


def _working_set(program: Program, tiling: Tiling) -> int:
    """Bytes of the slots and rows of one vector, without the stacked outputs that loops stream through."""
    rows = len(program.inputs) + len(program.outputs)
    return tiling.stride + (rows - program.stacked) * tiling.bytes
