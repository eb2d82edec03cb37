"""Writing loops over matrices as LLVM's text: counters, addresses, and sums of products in register tiles.

A matrix lies in the slots of one vector of samples (`dense_blocks.Place`), so each of its entries is a vector. A tile
of a result is summed in registers over a loop: each row and column of it is loaded once per round.
"""

from collections.abc import Callable, Sequence

from multibody.compiler.ir.matrix_storage import Place
from multibody.compiler.ir.tiling import Shape

Tile = dict[tuple[int, int], str]
"""(row, column) -> the name of a vector."""


class Nest:
    """The lines of a function body."""

    FIRST = "matrix"
    """The block in which they begin."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.lines: list[str] = []
        self.label = self.FIRST
        self.names = 0
        self.suffix = f"v{shape.lanes}f{8 * shape.size}"

    @property
    def registers(self) -> int:
        """Vectors that can be held at a time."""
        return 30 if self.shape.bytes == 64 else 15

    @property
    def edge(self) -> int:
        """The rows and columns of a square tile."""
        return 4 if self.registers > 16 else 3

    def tile(self, m: int, n: int) -> tuple[int, int]:
        """The rows and columns of tiles for a result of m rows and n columns; long where the result is."""
        if n < self.edge:
            return min(m, 8, (self.registers - n) // (n + 1)), n
        if m < self.edge:
            return m, min(n, 8, (self.registers - m) // (m + 1))
        return self.edge, self.edge

    # ---- lines -------------------------------------------------------------------------------------------------------

    def name(self) -> str:
        self.names += 1
        return f"%n{self.names}"

    def line(self, text: str) -> str:
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def start(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.label = label

    def loop(
        self,
        last: str | int,
        body: Callable[..., Sequence[str]],
        carried: Sequence[tuple[str, str]] = (),
        *,
        first: str | int = 0,
        step: int = 1,
    ) -> list[str]:
        """A counter from `first` up to before `last`, in steps.

        Args:
            last: the first number that is past the end.
            body: writes a round, given the counter and the carried values, and returns their new names.
            carried: (type, first value) of what goes from round to round.
            first: of the counter.
            step: of the counter.

        Returns:
            What is carried, after the last round.
        """
        self.names += 1
        here, before = f"l{self.names}", self.label
        values = [f"%{here}.v{k}" for k in range(len(carried))]
        self.lines.append(f"  br label %{here}")
        self.start(here)
        at = len(self.lines)
        self.lines += [
            f"  %{here}.more = icmp slt i64 %{here}.i, {last}",
            f"  br i1 %{here}.more, label %{here}.body, label %{here}.end",
        ]
        self.start(f"{here}.body")
        after = body(f"%{here}.i", *values)
        self.lines += [f"  %{here}.next = add i64 %{here}.i, {step}", f"  br label %{here}"]
        phis = [f"  %{here}.i = phi i64 [ {first}, %{before} ], [ %{here}.next, %{self.label} ]"]
        phis += [
            f"  {value} = phi {kind} [ {initial}, %{before} ], [ {new}, %{self.label} ]"
            for value, (kind, initial), new in zip(values, carried, after, strict=True)
        ]
        self.lines[at:at] = phis
        self.start(f"{here}.end")
        return values

    # ---- numbers -----------------------------------------------------------------------------------------------------

    def plus(self, a: str | int, b: str | int) -> str:
        return str(a) if b in (0, "0") else self.line(f"add i64 {a}, {b}")

    def binary(self, op: str, a: str, b: str) -> str:
        return self.line(f"{op} {self.shape.vector} {a}, {b}")

    def reciprocal(self, x: str) -> str:
        return self.binary("fdiv", self.shape.constant(1.0), x)

    def root(self, x: str) -> str:
        return self.line(f"call {self.shape.vector} @llvm.sqrt.{self.suffix}({self.shape.vector} {x})")

    def add_product(self, total: str, a: str, b: str, *, minus: bool = False) -> str:
        """total + a b, or total - a b, with one rounding where the machine has it."""
        v = self.shape.vector
        if not self.shape.fma:
            return self.binary("fsub" if minus else "fadd", total, self.binary("fmul", a, b))
        factor = self.line(f"fneg {v} {a}") if minus else a
        return self.line(f"call {v} @llvm.fma.{self.suffix}({v} {factor}, {v} {b}, {v} {total})")

    # ---- entries of matrices -----------------------------------------------------------------------------------------

    def at(self, matrix: Place, i: str | int = 0, j: str | int = 0) -> str:
        """The address of entry (i, j)."""
        size = self.shape.bytes
        address, constant = "%p", matrix.first * size
        for index, step in ((i, matrix.row * size), (j, matrix.column * size)):
            if isinstance(index, int):
                constant += index * step
            elif step:
                offset = self.line(f"mul i64 {index}, {step}")
                address = self.line(f"getelementptr i8, ptr {address}, i64 {offset}")
        return self.ahead(address, constant)

    def ahead(self, address: str, offset: int) -> str:
        return self.line(f"getelementptr i8, ptr {address}, i64 {offset}") if offset else address

    def load(self, address: str, matrix: Place | None = None, i: int = 0, j: int = 0) -> str:
        """The vector at an address, or that of the entry i rows and j columns on."""
        offset = (i * matrix.row + j * matrix.column) * self.shape.bytes if matrix else 0
        return self.line(f"load {self.shape.vector}, ptr {self.ahead(address, offset)}, align {self.shape.bytes}")

    def store(self, value: str, address: str, matrix: Place | None = None, i: int = 0, j: int = 0) -> None:
        offset = (i * matrix.row + j * matrix.column) * self.shape.bytes if matrix else 0
        to = self.ahead(address, offset)
        self.lines.append(f"  store {self.shape.vector} {value}, ptr {to}, align {self.shape.bytes}")

    def rows(self, numbers: str, matrix: Place) -> str:
        """How far the row is, in bytes, whose number each lane has, with the place of the lane."""
        lanes, whole = range(self.shape.lanes), f"<{self.shape.lanes} x i64>"
        row = self.line(f"fptosi {self.shape.vector} {numbers} to {whole}")
        step = f"<{', '.join([f'i64 {matrix.row * self.shape.bytes}'] * self.shape.lanes)}>"
        places = f"<{', '.join(f'i64 {lane * self.shape.size}' for lane in lanes)}>"
        return self.line(f"add {whole} {self.line(f'mul {whole} {row}, {step}')}, {places}")

    def gather(self, address: str, rows: str) -> str:
        """The vector of what each lane has in a row of its own, in the column that begins at the address."""
        return self.line(
            f"call {self.shape.vector} @llvm.masked.gather.{self.suffix}.v{self.shape.lanes}p0("
            f"{self._addresses(address, rows)}, i32 {self.shape.size}, {self._all}, {self.shape.vector} poison)"
        )

    def scatter(self, vector: str, address: str, rows: str) -> None:
        """Put every lane's number into a row of its own."""
        self.lines.append(
            f"  call void @llvm.masked.scatter.{self.suffix}.v{self.shape.lanes}p0({self.shape.vector} {vector}, "
            f"{self._addresses(address, rows)}, i32 {self.shape.size}, {self._all})"
        )

    def _addresses(self, address: str, rows: str) -> str:
        lanes = self.shape.lanes
        return f"<{lanes} x ptr> {self.line(f'getelementptr i8, ptr {address}, <{lanes} x i64> {rows}')}"

    @property
    def _all(self) -> str:
        return f"{self.shape.mask} <{', '.join(['i1 true'] * self.shape.lanes)}>"

    # ---- tiles -------------------------------------------------------------------------------------------------------

    def sums(
        self,
        tile: Tile,
        count: str | int,
        left: tuple[str, Place],
        right: tuple[str, Place],
        *,
        minus: bool = False,
        weights: tuple[str, Place] | None = None,
    ) -> Tile:
        """The tile with sums of `count` products added: entry (r, c) gets left(r, k) right(k, c), each k in turn.

        Args:
            tile: where the sums begin.
            count: of the products.
            left: the address of entry (0, 0) of the left matrix, and how it lies.
            right: the same of the right one.
            minus: subtract them.
            weights: of a column by which the left entries are multiplied, one for every k.
        """
        keys, size = list(tile), self.shape.bytes
        rows, columns = sorted({r for r, _ in keys}), sorted({c for _, c in keys})
        bases = [left, right, *([weights] if weights else [])]
        steps = [left[1].column * size, right[1].row * size, *([weights[1].row * size] if weights else [])]

        def round_(_: str, *values: str) -> list[str]:
            addresses, totals = values[: len(bases)], dict(zip(keys, values[len(bases) :], strict=True))
            a = {r: self.load(addresses[0], left[1], r, 0) for r in rows}
            if weights:
                weight = self.load(addresses[2])
                a = {r: self.binary("fmul", x, weight) for r, x in a.items()}
            for c in columns:
                b = self.load(addresses[1], right[1], 0, c)
                for r in rows:
                    if (r, c) in totals:
                        totals[r, c] = self.add_product(totals[r, c], a[r], b, minus=minus)
            on = [self.line(f"getelementptr i8, ptr {p}, i64 {s}") for p, s in zip(addresses, steps, strict=True)]
            return [*on, *(totals[key] for key in keys)]

        carried = [("ptr", base[0]) for base in bases] + [(self.shape.vector, tile[key]) for key in keys]
        after = self.loop(count, round_, carried)
        return dict(zip(keys, after[len(bases) :], strict=True))


def intrinsics(shape: Shape) -> str:
    """What functions of operations on matrices call, beside what all code does."""
    v, addresses, kind = shape.vector, f"<{shape.lanes} x ptr>", f"v{shape.lanes}f{8 * shape.size}.v{shape.lanes}p0"
    return (
        f"declare {v} @llvm.masked.gather.{kind}({addresses}, i32, {shape.mask}, {v})\n"
        f"declare void @llvm.masked.scatter.{kind}({v}, {addresses}, i32, {shape.mask})"
    )


def parts(length: int, step: int) -> list[tuple[int, int, int]]:
    """(first, last, step): whole steps, then what is left."""
    whole = length // step * step
    return [(a, b, n) for a, b, n in ((0, whole, step), (whole, length, length - whole)) if a < b]
