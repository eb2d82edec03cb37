"""Transposition between rows of samples in arrays, and slots with one vector per element.

Four samples and four elements at a time are transposed in registers; the last four may overlap the four before. Short
rows, which are most, have functions without loops. Lanes beyond the last sample read the last sample again.
`store_outputs` has the way back.
"""

from collections.abc import Callable, Sequence

from multibody.compiler.codegen.builder import Builder, Index
from multibody.compiler.ir.program import MAX_UNROLLED_ROW
from multibody.compiler.ir.tiling import Tiling

_SHUFFLE_BYTES = 16
"""Bytes within which shuffles are cheap."""


def loader(length: int) -> str:
    """The name of the function that loads rows of that length."""
    return f"load_rows{length}" if length <= MAX_UNROLLED_ROW else "load_rows"


def functions(tiling: Tiling, lengths: set[int]) -> str:
    """The functions that load rows of these lengths."""
    texts = []
    for n in sorted(length for length in lengths if length <= MAX_UNROLLED_ROW):

        def unrolled(b: Builder, rows: list[str], slots: str, n: int = n) -> None:
            for j, width in groups(tiling, n):
                _load_group(b, rows, j, width, slots)

        texts.append(over_rows(loader(n), tiling, unrolled, tiling.stride))
    if any(n > MAX_UNROLLED_ROW for n in lengths):

        def packed(b: Builder, rows: list[str], slots: str) -> None:
            b.emit(f"call void @pack(ptr {slots}, i64 %length, {row_list(rows)})")

        texts += [_pack(tiling), over_rows("load_rows", tiling, packed, tiling.stride)]
    return "\n".join(texts)


def row_list(rows: Sequence[str]) -> str:
    """Pointers to the rows of all lanes, as parameters or arguments of a function."""
    return ", ".join(f"ptr {row}" for row in rows)


def row_parameters(tiling: Tiling) -> list[str]:
    """The names of the parameters that are rows."""
    return [f"%r{lane}" for lane in range(tiling.lanes)]


def over_rows(name: str, tiling: Tiling, copy: Callable[[Builder, list[str], str], None], stride: int) -> str:
    """A function that visits the rows of an argument, for each vector of the tile.

    Args:
        name: of the function.
        tiling: of the kernel.
        copy: writes the code for a vector, given the rows of its lanes and the address of the vector's block.
        stride: bytes from one block to the next.
    """
    b, lanes = Builder(tiling), range(tiling.lanes)
    direct = b.let("icmp eq ptr %table, null")
    for v in b.count("%count"):
        sample = b.add("%t", b.mul(v, tiling.lanes))
        inside = b.let(f"icmp ule i64 {b.add(sample, tiling.lanes - 1)}, %last")
        b.branch(b.let(f"and i1 {direct}, {inside}"), "regular", "careful")
        b.begin("regular")
        regular = b.each_lane(b.mul(sample, "%stride"), lambda before, _: b.add(before, "%stride"))
        b.jump("copy")
        b.begin("careful")
        samples = [b.add(sample, lane) for lane in lanes]
        exist = [b.let(f"icmp ult i64 {x}, %last") for x in samples]
        samples = [b.let(f"select i1 {e}, i64 {x}, i64 %last") for e, x in zip(exist, samples, strict=True)]
        b.branch(direct, "strided", "tabled")
        b.begin("strided")
        strided = [b.mul(x, "%stride") for x in samples]
        b.jump("copy")
        b.begin("tabled")
        tabled = [b.load(b.gep("%table", x, "i64"), "i64") for x in samples]
        b.enter("copy")
        offsets = [
            b.phi("i64", (x, "regular"), (y, "strided"), (z, "tabled"))
            for x, y, z in zip(regular, strided, tabled, strict=True)
        ]
        rows = [b.gep("%base", offset) for offset in offsets]
        copy(b, rows, b.gep("%to", b.mul(v, stride), inbounds=True))
    parameters = "ptr %to, ptr %base, i64 %stride, ptr %table, i64 %t, i64 %count, i64 %last, i64 %length"
    return b.function(f"internal void @{name}({parameters})")


def _pack(tiling: Tiling) -> str:
    """The function for rows of any length beyond the short ones."""
    b, rows = Builder(tiling), row_parameters(tiling)
    step = 4 if tiling.lanes % 4 == 0 else 1
    last = b.let(f"sub i64 %count, {step}")
    b.enter("loop")
    b.emit("%j = phi i64 [ 0, %entry ], [ %next, %loop ]")
    _load_group(b, rows, "%j", step, "%slots")
    ahead = b.add("%j", step)
    fits = b.let(f"icmp ult i64 {ahead}, {last}")
    b.let(f"select i1 {fits}, i64 {ahead}, i64 {last}", "%next")
    b.branch(b.let(f"icmp ult i64 %j, {last}"), "loop", "done")
    b.begin("done")
    return b.function(f"internal void @pack(ptr noalias %slots, i64 %count, {row_list(rows)})")


# ---- elements in registers -------------------------------------------------------------------------------------------


def groups(tiling: Tiling, length: int) -> list[tuple[int, int]]:
    """(first, width) of the elements that are moved together: fours, of which the last may overlap, or ones."""
    starts = list(range(0, length - 3, 4)) if tiling.lanes % 4 == 0 else []
    if not starts:
        return [(j, 1) for j in range(length)]
    return [(j, 4) for j in [*starts, *([length - 4] if length % 4 else [])]]


def slot(b: Builder, slots: str, j: Index, k: int = 0) -> str:
    """The address of the slot of element j + k."""
    offset = (j + k) * b.tiling.bytes if isinstance(j, int) else b.mul(b.add(j, k), b.tiling.bytes)
    return b.gep(slots, offset, inbounds=True)


def _load_group(b: Builder, rows: list[str], j: Index, width: int, slots: str) -> None:
    for k, value in enumerate(read(b, rows, j, width)):
        b.store(value, slot(b, slots, j, k))


def read(b: Builder, rows: list[str], j: Index, width: int) -> list[str]:
    """The vectors of element j, or of elements j to j + 3, of the rows of all lanes.

    Pieces of rows are put side by side as they are loaded, because only one port shuffles.
    """
    s = b.tiling.scalar
    if width == 1:
        vector = "undef"
        for lane, row in enumerate(rows):
            number = b.load(b.gep(row, j, s, inbounds=True), s)
            vector = b.let(f"insertelement {b.tiling.vector} {vector}, {s} {number}, i32 {lane}")
        return [vector]
    piece = 2 if b.tiling.bytes == 2 * _SHUFFLE_BYTES and b.tiling.size == 8 else 4
    results: list[str] = []
    for start in range(0, 4, piece):
        joined = []
        for i in range(piece):
            pieces = []
            for row in rows[i::piece]:
                address = b.gep(b.gep(row, j, s, inbounds=True), start, s, inbounds=True)
                pieces.append(b.load(address, f"<{piece} x {s}>"))
            joined.append(_concatenate(b, pieces, piece))
        results += _transpose(b, joined)
    return results


def write(b: Builder, rows: list[str], j: Index, values: list[str]) -> None:
    """Store the vector of element j, or of elements j to j + 3, to the rows of all lanes."""
    s, v = b.tiling.scalar, b.tiling.vector
    if len(values) == 1:
        for lane, row in enumerate(rows):
            number = b.let(f"extractelement {v} {values[0]}, i32 {lane}")
            b.store(number, b.gep(row, j, s, inbounds=True), s)
        return
    across = _transpose(b, values)
    for lane, row in enumerate(rows):
        four = across[lane % 4]
        if b.tiling.lanes > 4:
            mask = ", ".join(f"i32 {i}" for i in range(lane - lane % 4, lane - lane % 4 + 4))
            four = b.let(f"shufflevector {v} {four}, {v} undef, <4 x i32> <{mask}>")
        b.store(four, b.gep(row, j, s, inbounds=True), f"<4 x {s}>")


def _transpose(b: Builder, vectors: list[str]) -> list[str]:
    """Transpose squares of lanes in two vectors, or in four."""
    v, lanes = b.tiling.vector, b.tiling.lanes

    def shuffle(x: str, y: str, pick: Callable[[int], int]) -> str:
        mask = ", ".join(f"i32 {pick(lane)}" for lane in range(lanes))
        return b.let(f"shufflevector {v} {x}, {v} {y}, <{lanes} x i32> <{mask}>")

    for span in (1, 2)[: len(vectors) // 2]:
        # blocks of `span` lanes with even numbers, or with odd ones, from both vectors alternately
        def even(lane: int, span: int = span) -> int:
            return lane - span + lanes if lane & span else lane

        def odd(lane: int, span: int = span) -> int:
            return lane + lanes if lane & span else lane + span

        swapped = list(vectors)
        for k in range(len(vectors)):
            if not k & span:
                x, y = vectors[k], vectors[k + span]
                swapped[k], swapped[k + span] = shuffle(x, y, even), shuffle(x, y, odd)
        vectors = swapped
    return vectors


def _concatenate(b: Builder, parts: list[str], width: int) -> str:
    """One vector of one, two or four vectors of that width."""
    while len(parts) > 1:
        kind, mask = f"<{width} x {b.tiling.scalar}>", ", ".join(f"i32 {i}" for i in range(2 * width))
        parts = [
            b.let(f"shufflevector {kind} {x}, {kind} {y}, <{2 * width} x i32> <{mask}>")
            for x, y in zip(parts[::2], parts[1::2], strict=True)
        ]
        width *= 2
    return parts[0]
