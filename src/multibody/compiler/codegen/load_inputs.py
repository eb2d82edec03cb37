"""Loads of input elements straight from the rows of arguments, bypassing the slots.

A robot whose masses and lengths are arguments has hundreds of inputs, each used once or twice. In slots they would
evict all other slots from the first-level cache. An element that only one segment uses is therefore loaded by that
segment, before its first use: four elements at a time, transposed in registers. A table per tile has the addresses of
its samples' rows.
"""

from typing import NamedTuple

from multibody.compiler.codegen import transpose
from multibody.compiler.codegen.builder import Builder
from multibody.compiler.ir.liveness import runs_of
from multibody.compiler.ir.program import Program, Segment
from multibody.compiler.ir.tiling import Tiling

POINTER_BYTES = 8


class Group(NamedTuple):
    """Adjacent elements that are loaded together."""

    argument: int
    first: int
    nodes: list[int | None]
    """The input node of each element, or None if the segment does not use it."""


def groups(segment: Segment, tiling: Tiling) -> dict[int, Group]:
    """node -> its group: four elements, or one if there are fewer elements or lanes."""
    nodes = {element: k for k, element in segment.rows.items()}
    group_of: dict[int, Group] = {}
    for argument, first, last in runs_of(sorted(nodes)):
        for start, width in transpose.groups(tiling, last - first + 1):
            members = [nodes.get((argument, first + start + k)) for k in range(width)]
            group = Group(argument, first + start, members)
            group_of.update((k, group) for k in members if k is not None and k not in group_of)
    return group_of


def arguments(program: Program) -> list[int]:
    """The arguments whose rows segments load themselves."""
    return sorted({argument for argument, _, slot in program.inputs if slot < 0})


def read(b: Builder, addresses: str, group: Group, position: int) -> list[str]:
    """The vectors of a group of the argument at that position of the address table."""
    lanes = b.tiling.lanes
    rows = [b.load(b.gep(addresses, position * lanes + lane, "ptr"), "ptr") for lane in range(lanes)]
    return transpose.read(b, rows, group.first, len(group.nodes))


def vector_bytes(program: Program, tiling: Tiling) -> int:
    """Bytes of the address table for one vector of samples."""
    return POINTER_BYTES * tiling.lanes * len(arguments(program))


def fill_table(b: Builder, program: Program) -> None:
    """Fill the address table for a tile."""
    for position, k in enumerate(arguments(program)):
        to = b.gep("%addresses", position * b.tiling.lanes, "ptr")
        b.emit(
            f"call void @point_rows(ptr {to}, ptr %in{k}, i64 %st{k}, ptr %of{k}, i64 %t, i64 %count, i64 %last, i64 0)"
        )


def function(program: Program, tiling: Tiling) -> str:
    """The function that `fill_table` calls."""

    def point(b: Builder, rows: list[str], to: str) -> None:
        for lane, row in enumerate(rows):
            b.store(row, b.gep(to, lane, "ptr"), "ptr")

    stride = vector_bytes(program, tiling)
    return transpose.over_rows("point_rows", tiling, point, stride) if stride else ""
