"""Software prefetch: segments prefetch the cache lines of upcoming inputs and outputs.

The rows of a large batch lie beyond the second-level cache. A store waits for its cache line, a load for its value, and
a core waits for few lines at a time. So segments prefetch the lines of the tile's results in between the arithmetic,
and those of the next tile's arguments if these are many. If there is nothing to gain, as in a call with fewer samples
than lanes, they prefetch lines of the buffer instead, which is harmless.
"""

from typing import NamedTuple

from multibody.compiler.codegen.builder import Builder
from multibody.compiler.ir.program import Program
from multibody.compiler.ir.segments import MIN_STREAMED_INPUTS
from multibody.compiler.ir.tiling import Tiling, prefetches_results

LINE_BYTES = 64
"""Bytes of a cache line."""
INTRINSIC = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"


class Line(NamedTuple):
    """A cache line of the rows of a vector's samples."""

    rows: int
    """The number of a result or, after all results, of an argument."""
    offset: int
    """Bytes from the beginning of the first row."""


class PrefetchPlan(NamedTuple):
    """The prefetched rows, and the segments that prefetch them."""

    results: list[int]
    """The elements per sample."""
    arguments: list[int]
    lines: list[list[Line]]
    """The lines that every segment prefetches."""


def plan(program: Program, tiling: Tiling, sizes: list[int]) -> PrefetchPlan:
    """The cache lines that each segment prefetches.

    Args:
        program: to generate code for.
        tiling: of the kernel.
        sizes: the elements per sample of every result.
    """
    once = {step for step in program.steps if isinstance(step, int)}
    weights = [len(segment.nodes) * (k in once) for k, segment in enumerate(program.segments)]
    if tiling.lanes == 1 or not any(weights):
        return nothing(program)
    results = sizes if prefetches_results(program, tiling) else []
    lengths: dict[int, int] = {}
    for argument, element, _ in program.inputs:
        lengths[argument] = max(lengths.get(argument, 0), element + 1)
    arguments = sorted(lengths) if len(program.inputs) >= MIN_STREAMED_INPUTS else []
    extents = [*results, *(lengths[k] for k in arguments)]
    lines = [Line(k, at) for k, size in enumerate(extents) for at in range(0, size * tiling.bytes, LINE_BYTES)]
    total, done, shares = sum(weights), 0, []
    for weight in weights:
        shares.append(lines[done * len(lines) // total : (done + weight) * len(lines) // total])
        done += weight
    return PrefetchPlan(results, arguments, shares)


def nothing(program: Program) -> PrefetchPlan:
    """The plan without prefetches."""
    return PrefetchPlan([], [], [[] for _ in program.segments])


def row_addresses(b: Builder, lines: list[Line], vector: str) -> dict[int, str]:
    """The addresses of the rows of a vector's samples, for the rows of these lines."""
    addresses: dict[int, str] = {}
    for k in sorted({line.rows for line in lines}):
        entry = b.gep("%rows", k, "[2 x i64]")
        base = b.load(entry, "ptr")
        stride = b.load(b.gep(entry, 1, "i64"), "i64")
        addresses[k] = b.gep(base, b.mul(vector, stride))
    return addresses


def prefetch(b: Builder, plan: PrefetchPlan, line: Line, addresses: dict[int, str]) -> None:
    """Prefetch a line: of a result for writing, of an argument for reading."""
    address = b.gep(addresses[line.rows], line.offset)
    (prefetch_write if line.rows < len(plan.results) else _prefetch_read)(b, address)


def prefetch_write(b: Builder, address: str) -> None:
    """Prefetch a line for writing, to the first-level cache."""
    b.emit(f"call void @llvm.prefetch.p0(ptr {address}, i32 1, i32 3, i32 1)")


def _prefetch_read(b: Builder, address: str) -> None:
    """Prefetch a line for reading, to the second-level cache: arguments may exceed the first one."""
    b.emit(f"call void @llvm.prefetch.p0(ptr {address}, i32 0, i32 2, i32 1)")


def allocate_table(b: Builder, plan: PrefetchPlan) -> None:
    """Allocate the table of the rows' addresses, and of their strides from vector to vector."""
    b.let(f"alloca [{2 * (len(plan.results) + len(plan.arguments)) + 1} x i64], align 8", "%rows")


def fill_table(b: Builder, plan: PrefetchPlan, buffer: str) -> None:
    """Fill that table for a tile."""
    tiling = b.tiling
    for m, size in enumerate(plan.results):
        useful = b.let(f"icmp uge i64 %left, {tiling.lanes}")
        rows = b.gep(f"%out{m}", b.mul("%t", size * tiling.size))
        _fill_entry(b, m, useful, rows, buffer, size * tiling.bytes)
    for position, k in enumerate(plan.arguments, start=len(plan.results)):
        regular = b.let(f"icmp eq ptr %of{k}, null")
        distinct = b.let(f"icmp ne i64 %st{k}, 0")
        useful = b.let(f"and i1 {b.let(f'and i1 {regular}, {distinct}')}, %whole")
        rows = b.gep(f"%in{k}", b.mul(b.add("%t", tiling.tile * tiling.lanes), f"%st{k}"))
        _fill_entry(b, position, useful, rows, buffer, b.mul(f"%st{k}", tiling.lanes))


def _fill_entry(b: Builder, k: int, useful: str, rows: str, buffer: str, stride: str | int) -> None:
    address = b.let(f"select i1 {useful}, ptr {rows}, ptr {buffer}")
    entry = b.gep("%rows", k, "[2 x i64]")
    b.store(address, entry, "ptr")
    b.store(str(stride), b.gep(entry, 1, "i64"), "i64")
