"""Builder of LLVM IR: instructions with unique names, basic blocks, and loops.

A loop is a generator: the body of `for i in builder.count("%n"):` is written once, with the name of its index.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from multibody.compiler.ir.tiling import Tiling

Index = str | int
"""The name of an i64, or its value."""


class Builder:
    """The body of an LLVM function under construction.

    Args:
        tiling: the vectors that it works on.
        block: the basic block that it begins in.
        prefix: of all names that it makes.
    """

    def __init__(self, tiling: Tiling, block: str = "entry", prefix: str = "n") -> None:
        self.tiling = tiling
        self.lines: list[str] = []
        self.block = block
        """The current basic block."""
        self._prefix = prefix
        self._names = 0

    # ---- instructions ------------------------------------------------------------------------------------------------

    def name(self) -> str:
        """A new name, without its %."""
        self._names += 1
        return f"{self._prefix}{self._names}"

    def emit(self, instruction: str) -> None:
        """Append an instruction without a value."""
        self.lines.append(f"  {instruction}")

    def let(self, instruction: str, name: str = "") -> str:
        """Append an instruction; return the name of its value, a new one by default."""
        if not name:
            self._names += 1
            name = f"%{self._prefix}{self._names}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def add(self, a: Index, b: Index) -> str:
        """The sum of two i64."""
        return self.let(f"add i64 {a}, {b}")

    def mul(self, a: Index, b: Index) -> str:
        """The product of two i64."""
        return self.let(f"mul i64 {a}, {b}")

    def binary(self, op: str, a: str, b: str) -> str:
        """An operation on two vectors."""
        return self.let(f"{op} {self.tiling.vector} {a}, {b}")

    def select(self, mask: str, a: str, b: str) -> str:
        """The vector of a where the mask holds, of b elsewhere."""
        v = self.tiling.vector
        return self.let(f"select {self.tiling.mask} {mask}, {v} {a}, {v} {b}")

    def intrinsic(self, name: str, *vectors: str) -> str:
        """One of LLVM's functions of vectors."""
        return self.call(f"llvm.{name}.{self.tiling.suffix}", *vectors)

    def call(self, function: str, *vectors: str) -> str:
        """A function from vectors to a vector."""
        v = self.tiling.vector
        return self.let(f"call {v} @{function}({', '.join(f'{v} {x}' for x in vectors)})")

    def multiply_add(self, a: str, b: str, c: str, *, negate: bool = False) -> str:
        """a b + c, or c - a b; with one rounding if the machine has fused multiply-adds."""
        if not self.tiling.fma:
            product = self.binary("fmul", a, b)
            return self.binary("fsub", c, product) if negate else self.binary("fadd", product, c)
        return self.intrinsic("fma", self.let(f"fneg {self.tiling.vector} {a}") if negate else a, b, c)

    # ---- memory ------------------------------------------------------------------------------------------------------

    def gep(self, pointer: str, index: Index, kind: str = "i8", *, inbounds: bool = False) -> str:
        """The address of an element of an array of that type; offsets are in bytes by default."""
        return self.let(f"getelementptr {'inbounds ' * inbounds}{kind}, ptr {pointer}, i64 {index}")

    def load(self, pointer: str, kind: str = "") -> str:
        """The vector at an address, or a value of another type."""
        return self.let(f"load {kind or self.tiling.vector}, ptr {pointer}, align {self._alignment(kind)}")

    def store(self, value: str, pointer: str, kind: str = "") -> None:
        """Store a vector, or a value of another type."""
        self.emit(f"store {kind or self.tiling.vector} {value}, ptr {pointer}, align {self._alignment(kind)}")

    def _alignment(self, kind: str) -> int:
        return self.tiling.bytes if not kind else 8 if kind in ("i64", "ptr") else self.tiling.size

    def each_lane(self, first: str, following: Callable[[str, int], str]) -> list[str]:
        """A value for every lane: the first, then each made from the one before and its lane."""
        values = [first]
        for lane in range(1, self.tiling.lanes):
            values.append(following(values[-1], lane))
        return values

    # ---- basic blocks ------------------------------------------------------------------------------------------------

    def begin(self, block: str) -> None:
        """Begin a basic block."""
        self.lines.append(f"{block}:")
        self.block = block

    def jump(self, block: str) -> None:
        """End the basic block with a jump."""
        self.emit(f"br label %{block}")

    def enter(self, block: str) -> None:
        """Jump to a basic block that begins here."""
        self.jump(block)
        self.begin(block)

    def branch(self, condition: str, then: str, otherwise: str) -> None:
        """End the basic block with a conditional jump."""
        self.emit(f"br i1 {condition}, label %{then}, label %{otherwise}")

    def phi(self, kind: str, *incoming: tuple[Index, str]) -> str:
        """The value that belongs to the basic block that control comes from."""
        return self.let(_phi(kind, incoming))

    # ---- loops -------------------------------------------------------------------------------------------------------

    def count(self, bound: Index, *, step: int = 1, done: str = "") -> Iterator[str]:
        """A loop over 0, step, ... below the bound, which runs at least once: the test is at its end.

        Args:
            bound: of the index.
            step: of the index.
            done: the block after the loop; it is begun unless it is named here.
        """
        before, block = self.block, self.name()
        self.enter(block)
        at, index = len(self.lines), f"%{self.name()}"
        yield index
        following = self.add(index, step)
        self.lines.insert(at, f"  {index} = {_phi('i64', [(0, before), (following, self.block)])}")
        more, after = self.let(f"icmp ult i64 {following}, {bound}"), done or self.name()
        self.branch(more, block, after)
        if not done:
            self.begin(after)

    def vectors(self, pointer: str, stride: int | None = None, *, inbounds: bool = True) -> Iterator[tuple[str, str]]:
        """A loop over the %count vectors of a tile: the number of each, and its address."""
        for v in self.count("%count"):
            yield v, self.gep(pointer, self.mul(v, stride or self.tiling.stride), inbounds=inbounds)

    def loop(self, bound: Index, *, first: Index = 0, step: int = 1) -> Iterator[str]:
        """A loop over first, first + step, ... below the bound: the test is at its beginning."""
        for index, _, _ in self._loop(bound, (), first, step):
            yield index

    def fold(
        self, bound: Index, body: Callable[..., Sequence[str]], carries: Sequence[tuple[str, str]], first: Index = 0
    ) -> list[str]:
        """A loop over first, first + 1, ... below the bound that carries values.

        Args:
            bound: of the index.
            body: writes an iteration, given the index and the carries; returns the new carries.
            carries: the type and the initial value of each.
            first: the first index.

        Returns:
            The carries after the last iteration.
        """
        values: list[str] = []
        for index, values, new in self._loop(bound, carries, first, 1):
            new += body(index, *values)
        return values

    def _loop(
        self, bound: Index, carries: Sequence[tuple[str, str]], first: Index, step: int
    ) -> Iterator[tuple[str, list[str], list[str]]]:
        """The index, the carries, and the list that takes the new ones."""
        before, block, inside, after = self.block, self.name(), self.name(), self.name()
        index, *values = [f"%{self.name()}" for _ in range(len(carries) + 1)]
        new: list[str] = []
        self.enter(block)
        at = len(self.lines)
        self.branch(self.let(f"icmp slt i64 {index}, {bound}"), inside, after)
        self.begin(inside)
        yield index, values, new
        kinds, initial = zip(("i64", first), *carries, strict=True)
        phis = zip([index, *values], kinds, initial, [self.add(index, step), *new], strict=True)
        self.lines[at:at] = [f"  {name} = {_phi(kind, [(a, before), (b, self.block)])}" for name, kind, a, b in phis]
        self.jump(block)
        self.begin(after)

    # ---- functions ---------------------------------------------------------------------------------------------------

    def function(self, head: str, attributes: str = "nounwind", result: str = "void") -> str:
        """The text of the function, which returns here."""
        opening = " ".join(filter(None, ("define", head, attributes, "{")))
        return "\n".join([opening, "entry:", *self.lines, f"  ret {result}", "}"])


def _phi(kind: str, incoming: Iterable[tuple[Index, str]]) -> str:
    return f"phi {kind} {', '.join(f'[ {value}, %{block} ]' for value, block in incoming)}"
