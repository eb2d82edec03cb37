"""The text with which segments read the rows of arguments themselves, past the slots.

A robot whose masses and lengths are arguments has hundreds of them, and uses each once or twice. Brought into slots
first, they would push all other slots out of the first-level cache. A segment that alone uses an element reads it where
it is first needed: four elements at a time, transposed in registers as `rows_ir` has it. For every tile there is a
table of where the rows of its samples begin.
"""

from typing import NamedTuple

from multibody.compiler.codegen import transpose
from multibody.compiler.ir.liveness import runs_of
from multibody.compiler.ir.segments import Program, Segment
from multibody.compiler.ir.tiling import Shape

WORD = 8
"""Bytes of an address."""


class Group(NamedTuple):
    """Elements side by side that are read together."""

    argument: int
    first: int
    nodes: list[int | None]
    """The input node of each, or None where it is not used here."""

    @property
    def tag(self) -> str:
        """What makes names unique."""
        return f"g{self.argument}.{self.first}."


def groups(segment: Segment, shape: Shape) -> dict[int, Group]:
    """node -> the group that it is read with: four elements, or one where there are fewer or lanes are few."""
    nodes = {place: k for k, place in segment.rows.items()}
    group_of: dict[int, Group] = {}
    for argument, first, last in runs_of(sorted(nodes)):
        starts = transpose.fours(shape, last - first + 1)
        width = 4 if starts else 1
        for start in starts or range(last - first + 1):
            members = [nodes.get((argument, first + start + k)) for k in range(width)]
            group = Group(argument, first + start, members)
            group_of.update((k, group) for k in members if k is not None and k not in group_of)
    return group_of


def arguments(program: Program) -> list[int]:
    """Those of which segments read rows."""
    return sorted({argument for argument, _, slot in program.inputs if slot < 0})


def read(group: Group, position: int, shape: Shape) -> tuple[list[str], list[str]]:
    """Lines that read a group of the argument with that position in the table, and the names of its vectors."""
    tag, lines = group.tag, []
    for lane in range(shape.lanes):
        lines += [
            f"  %{tag}p{lane} = getelementptr ptr, ptr %addresses.v, i64 {position * shape.lanes + lane}",
            f"  %{tag}r{lane} = load ptr, ptr %{tag}p{lane}, align {WORD}",
        ]
    if len(group.nodes) == 1:
        text, name = transpose.one_value(shape, str(group.first), tag, f"%{tag}r")
        return lines + text, [name]
    text, names = transpose.four_values(shape, str(group.first), tag, f"%{tag}r")
    return lines + text, names


def vector(program: Program, shape: Shape) -> list[str]:
    """Lines of a segment that find the table's part for vector %i of the tile."""
    return [
        f"  %addresses.o = mul i64 %i, {_part(program, shape)}",
        "  %addresses.v = getelementptr i8, ptr %addresses, i64 %addresses.o",
    ]


def size(program: Program, shape: Shape) -> int:
    """Bytes of the table, which lies behind the slots."""
    return shape.tile * _part(program, shape)


def tile(program: Program, shape: Shape) -> list[str]:
    """Lines that fill the table for a tile."""
    lines = []
    for position, k in enumerate(arguments(program)):
        lines += [
            f"  %addresses{k} = getelementptr ptr, ptr %addresses, i64 {position * shape.lanes}",
            f"  call void @point_rows(ptr %addresses{k}, ptr %in{k}, i64 %st{k}, ptr %of{k}, i64 %t, i64 %count, "
            "i64 %last, i64 0)",
        ]
    return lines


def function(program: Program, shape: Shape) -> str:
    """The function that a kernel needs for it."""
    if not arguments(program):
        return ""
    lines = []
    for lane in range(shape.lanes):
        lines += [
            f"  %z{lane} = getelementptr ptr, ptr %d, i64 {lane}",
            f"  store ptr %r{lane}, ptr %z{lane}, align {WORD}",
        ]
    return transpose.over_rows("point_rows", shape, lines, _part(program, shape))


def _part(program: Program, shape: Shape) -> int:
    """Bytes of the table for one vector of samples."""
    return WORD * shape.lanes * len(arguments(program))
