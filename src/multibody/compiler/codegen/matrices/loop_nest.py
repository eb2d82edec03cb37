"""Builder of loop nests over matrices: addresses of entries, and sums of products in register tiles.

A matrix occupies the slots of one vector of samples (`MatrixView`), so each of its entries is a vector. A register tile
of a result is accumulated over a loop: an iteration loads each row and each column of the tile once.
"""

from collections.abc import Iterator

from multibody.compiler.codegen.builder import Builder, Index
from multibody.compiler.ir.matrix_storage import MatrixView
from multibody.compiler.ir.tiling import Tiling

Tile = dict[tuple[int, int], str]
"""(row, column) -> the name of a vector."""
Address = tuple[str, MatrixView]
"""The address of an entry, and the strides from there."""


class LoopNestBuilder(Builder):
    """The body of a matrix operation, for the vector of samples whose slots are at `slots`."""

    slots: str

    @property
    def registers(self) -> int:
        """Vectors that fit into registers at a time."""
        return 30 if self.tiling.bytes == 64 else 15

    @property
    def edge(self) -> int:
        """Rows and columns of a square tile."""
        return 4 if self.registers > 16 else 3

    def tile_shape(self, m: int, n: int) -> tuple[int, int]:
        """Rows and columns of the tiles of an m x n result; oblong if the result is."""
        if n < self.edge:
            return min(m, 8, (self.registers - n) // (n + 1)), n
        if m < self.edge:
            return m, min(n, 8, (self.registers - m) // (m + 1))
        return self.edge, self.edge

    def blocks(self, length: int, size: int) -> Iterator[tuple[str, int]]:
        """Loops over the blocks of a dimension, whole ones and then the remainder: the first index and the size."""
        for first, last, step in parts(length, size):
            for i in self.loop(last, first=first, step=step):
                yield i, step

    def tiles(self, m: int, n: int) -> Iterator[tuple[str, int, str, int]]:
        """Loops over the tiles of an m x n result: first row, rows, first column, columns."""
        height, width = self.tile_shape(m, n)
        for i, rows in self.blocks(m, height):
            for j, columns in self.blocks(n, width):
                yield i, rows, j, columns

    def reciprocal(self, x: str) -> str:
        return self.binary("fdiv", self.tiling.constant(1.0), x)

    # ---- entries of matrices -----------------------------------------------------------------------------------------

    def at(self, matrix: MatrixView, i: Index = 0, j: Index = 0) -> str:
        """The address of entry (i, j)."""
        size = self.tiling.bytes
        address, constant = self.slots, matrix.offset * size
        for index, step in ((i, matrix.row_stride * size), (j, matrix.column_stride * size)):
            if isinstance(index, int):
                constant += index * step
            elif step:
                address = self.gep(address, self.mul(index, step))
        return self.ahead(address, constant)

    def ahead(self, address: str, offset: int) -> str:
        """The address that many bytes further on."""
        return self.gep(address, offset) if offset else address

    def entry(self, address: str, matrix: MatrixView, i: int, j: int = 0) -> str:
        """The address i rows and j columns on."""
        return self.ahead(address, (i * matrix.row_stride + j * matrix.column_stride) * self.tiling.bytes)

    def store_tile(self, tile: Tile, address: str, matrix: MatrixView) -> None:
        """Store a tile at an address of its first entry."""
        for (r, c), value in tile.items():
            self.store(value, self.entry(address, matrix, r, c))

    def row_offsets(self, numbers: str, matrix: MatrixView) -> str:
        """Per lane, the offset in bytes of the row whose number it holds, and of the lane itself."""
        lanes, whole = self.tiling.lanes, f"<{self.tiling.lanes} x i64>"
        row = self.let(f"fptosi {self.tiling.vector} {numbers} to {whole}")
        stride = self.tiling.splat(f"i64 {matrix.row_stride * self.tiling.bytes}")
        within = f"<{', '.join(f'i64 {lane * self.tiling.size}' for lane in range(lanes))}>"
        return self.let(f"add {whole} {self.let(f'mul {whole} {row}, {stride}')}, {within}")

    def gather(self, address: str, offsets: str) -> str:
        """Load one entry per lane from rows at these offsets, in the column that begins at the address."""
        v, at = self.tiling.vector, self._addresses(address, offsets)
        return self.let(f"call {v} @llvm.masked.gather.{self._suffix}({at}, {self._size}, {self._all}, {v} poison)")

    def scatter(self, vector: str, address: str, offsets: str) -> None:
        """Store one entry per lane to rows at these offsets."""
        v, at = self.tiling.vector, self._addresses(address, offsets)
        self.emit(f"call void @llvm.masked.scatter.{self._suffix}({v} {vector}, {at}, {self._size}, {self._all})")

    def _addresses(self, address: str, offsets: str) -> str:
        lanes = self.tiling.lanes
        return f"<{lanes} x ptr> {self.let(f'getelementptr i8, ptr {address}, <{lanes} x i64> {offsets}')}"

    @property
    def _suffix(self) -> str:
        return f"{self.tiling.suffix}.v{self.tiling.lanes}p0"

    @property
    def _size(self) -> str:
        return f"i32 {self.tiling.size}"

    @property
    def _all(self) -> str:
        return f"{self.tiling.mask} {self.tiling.splat('i1 true')}"

    # ---- tiles -------------------------------------------------------------------------------------------------------

    def sums(
        self,
        tile: Tile,
        count: Index,
        left: Address,
        right: Address,
        *,
        minus: bool = False,
        weights: Address | None = None,
    ) -> Tile:
        """The tile plus sums of `count` products: entry (r, c) gets left(r, k) right(k, c), for each k in order.

        Args:
            tile: initial values.
            count: of the products.
            left: entry (0, 0) of the left matrix.
            right: entry (0, 0) of the right matrix.
            minus: subtract the products.
            weights: a column by which the left entries are multiplied, one for every k.
        """
        keys, size = list(tile), self.tiling.bytes
        rows, columns = sorted({r for r, _ in keys}), sorted({c for _, c in keys})
        bases = [left, right, *([weights] if weights else [])]
        steps = [left[1].column_stride, *(base[1].row_stride for base in bases[1:])]

        def iteration(_: str, *values: str) -> list[str]:
            addresses, totals = values[: len(bases)], dict(zip(keys, values[len(bases) :], strict=True))
            a = {r: self.load(self.entry(addresses[0], left[1], r)) for r in rows}
            if weights:
                weight = self.load(addresses[2])
                a = {r: self.binary("fmul", x, weight) for r, x in a.items()}
            for c in columns:
                b = self.load(self.entry(addresses[1], right[1], 0, c))
                for r in rows:
                    if (r, c) in totals:
                        totals[r, c] = self.multiply_add(a[r], b, totals[r, c], negate=minus)
            return [*(self.gep(p, s * size) for p, s in zip(addresses, steps, strict=True)), *totals.values()]

        carries = [("ptr", base[0]) for base in bases] + [(self.tiling.vector, tile[key]) for key in keys]
        after = self.fold(count, iteration, carries)
        return dict(zip(keys, after[len(bases) :], strict=True))


def intrinsics(tiling: Tiling) -> str:
    """Declarations that matrix operations need besides those of all segments."""
    v, addresses, kind = tiling.vector, f"<{tiling.lanes} x ptr>", f"{tiling.suffix}.v{tiling.lanes}p0"
    return (
        f"declare {v} @llvm.masked.gather.{kind}({addresses}, i32, {tiling.mask}, {v})\n"
        f"declare void @llvm.masked.scatter.{kind}({v}, {addresses}, i32, {tiling.mask})"
    )


def parts(length: int, step: int) -> list[tuple[int, int, int]]:
    """(first, last, step): whole steps, then the remainder."""
    whole = length // step * step
    return [(a, b, n) for a, b, n in ((0, whole, step), (whole, length, length - whole)) if a < b]
