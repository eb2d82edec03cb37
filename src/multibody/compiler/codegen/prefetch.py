"""The text that asks for rows while segments compute, so that they are near when they are written or read.

Rows of a large batch lie beyond the second-level cache. A store waits until the line that it writes to has come, a load
for its number, and a core waits for few lines at a time. The lines of a tile's results, and those of the next tile's
arguments where they are many, are therefore asked for in between the arithmetic. Where there is nothing to gain, as in
a call with fewer samples than a vector has lanes, lines from the buffer on are asked for instead; asking harms nothing.
"""

from typing import NamedTuple

from multibody.compiler.ir.segments import MANY, Program
from multibody.compiler.ir.tiling import Shape, within_reach

LINE = 64
"""Bytes of a line of the cache."""
INTRINSIC = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"


class Line(NamedTuple):
    """A line of the rows of a vector's samples."""

    rows: int
    """Whose rows: the number of a result, or after all results that of an argument."""
    at: int
    """Bytes from the beginning of the first row."""


class Plan(NamedTuple):
    """Which rows are asked for, and by which segment."""

    results: list[int]
    """The elements per sample."""
    arguments: list[int]
    lines: list[list[Line]]
    """What every segment asks for."""


def plan(program: Program, shape: Shape, sizes: list[int]) -> Plan:
    """What to ask for.

    Args:
        program: what is computed.
        shape: how numbers are held.
        sizes: the elements per sample of every result.
    """
    once = {step for step in program.steps if isinstance(step, int)}
    weights = [len(segment.nodes) * (k in once) for k, segment in enumerate(program.segments)]
    if shape.lanes == 1 or not any(weights):
        return nothing(program)
    results = sizes if within_reach(program, shape) else []
    lengths: dict[int, int] = {}
    for argument, element, _ in program.inputs:
        lengths[argument] = max(lengths.get(argument, 0), element + 1)
    arguments = sorted(lengths) if len(program.inputs) >= MANY else []
    extents = [*results, *(lengths[k] for k in arguments)]
    lines = [Line(k, at) for k, size in enumerate(extents) for at in range(0, size * shape.bytes, LINE)]
    total, done, shares = sum(weights), 0, []
    for weight in weights:
        shares.append(lines[done * len(lines) // total : (done + weight) * len(lines) // total])
        done += weight
    return Plan(results, arguments, shares)


def nothing(program: Program) -> Plan:
    """The plan that asks for nothing."""
    return Plan([], [], [[] for _ in program.segments])


def bases(plan: Plan, segment: int) -> list[str]:
    """Where the rows of a vector's samples begin, for those of which a segment asks for lines."""
    text = []
    for k in sorted({line.rows for line in plan.lines[segment]}):
        text += [
            f"  %rows{k}.a = getelementptr [2 x i64], ptr %rows, i64 {k}",
            f"  %rows{k}.p = load ptr, ptr %rows{k}.a, align 8",
            f"  %rows{k}.b = getelementptr i64, ptr %rows{k}.a, i64 1",
            f"  %rows{k}.s = load i64, ptr %rows{k}.b, align 8",
            f"  %rows{k}.o = mul i64 %i, %rows{k}.s",
            f"  %rows{k} = getelementptr i8, ptr %rows{k}.p, i64 %rows{k}.o",
        ]
    return text


def ask(plan: Plan, line: Line) -> list[str]:
    """Lines of text that ask for one."""
    k, at = line
    ask_for = to_write if k < len(plan.results) else to_read
    return [f"  %rows{k}.{at} = getelementptr i8, ptr %rows{k}, i64 {at}", ask_for(f"%rows{k}.{at}")]


def to_write(address: str) -> str:
    """Ask for a line, all the way to the first-level cache."""
    return f"  call void @llvm.prefetch.p0(ptr {address}, i32 1, i32 3, i32 1)"


def to_read(address: str) -> str:
    """Ask for a line, to the second-level cache: arguments may be more than the first one holds."""
    return f"  call void @llvm.prefetch.p0(ptr {address}, i32 0, i32 2, i32 1)"


def table(plan: Plan) -> str:
    """The memory, made once, in which segments find where rows begin and how far apart those of two vectors are."""
    return f"  %rows = alloca [{2 * (len(plan.results) + len(plan.arguments)) + 1} x i64], align 8"


def tile(plan: Plan, shape: Shape, buffer: str) -> list[str]:
    """Lines that fill that table for a tile."""
    text = []
    for m, size in enumerate(plan.results):
        text += [
            f"  %far{m}.n = icmp uge i64 %left, {shape.lanes}",
            f"  %far{m}.o = mul i64 %t, {size * shape.size}",
            f"  %far{m}.p = getelementptr i8, ptr %out{m}, i64 %far{m}.o",
            *_entry(m, buffer, str(size * shape.bytes)),
        ]
    for position, argument in enumerate(plan.arguments, start=len(plan.results)):
        text += [
            f"  %far{position}.r = icmp eq ptr %of{argument}, null",
            f"  %far{position}.d = icmp ne i64 %st{argument}, 0",
            f"  %far{position}.u = and i1 %far{position}.r, %far{position}.d",
            f"  %far{position}.n = and i1 %far{position}.u, %whole",
            f"  %far{position}.t = add i64 %t, {shape.tile * shape.lanes}",
            f"  %far{position}.o = mul i64 %far{position}.t, %st{argument}",
            f"  %far{position}.p = getelementptr i8, ptr %in{argument}, i64 %far{position}.o",
            f"  %far{position}.s = mul i64 %st{argument}, {shape.lanes}",
            *_entry(position, buffer, f"%far{position}.s"),
        ]
    return text


def _entry(k: int, buffer: str, step: str) -> list[str]:
    return [
        f"  %far{k} = select i1 %far{k}.n, ptr %far{k}.p, ptr {buffer}",
        f"  %far{k}.a = getelementptr [2 x i64], ptr %rows, i64 {k}",
        f"  store ptr %far{k}, ptr %far{k}.a, align 8",
        f"  %far{k}.b = getelementptr i64, ptr %far{k}.a, i64 1",
        f"  store i64 {step}, ptr %far{k}.b, align 8",
    ]
