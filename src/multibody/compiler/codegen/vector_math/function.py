"""Builder of the functions of the vector library."""

from multibody.compiler.codegen.builder import Builder
from multibody.compiler.ir.formats import Format
from multibody.compiler.ir.tiling import Tiling


class Function(Builder):
    """An elementary function under construction, and its references to other symbols."""

    def __init__(self, tiling: Tiling) -> None:
        super().__init__(tiling)
        self.globals: set[str] = set()
        """Declarations and constants, each one line of the module."""
        self.helpers: set[str] = set()
        """Operations of the library that the body calls."""
        self._constants: dict[int, str] = {}

    @property
    def fmt(self) -> Format:
        """The format of the lanes."""
        return self.tiling.format

    def results(self, count: int) -> str:
        """The return type of a function with that many results."""
        real = self.tiling.vector
        return real if count == 1 else f"{{{', '.join([real] * count)}}}"

    def symbol(self, operation: str) -> str:
        """The name of an operation's function."""
        return f"mb_{operation}_{self.tiling.suffix}"

    def constant(self, number: float) -> str:
        """The name of a number in every lane.

        It is loaded from memory, because LLVM fuses loads with arithmetic; literals cost an instruction each on AVX2.
        """
        pattern = self.fmt.bits(number)
        if pattern not in self._constants:
            name = f"@{self.symbol('constant')}_{pattern:x}"
            vector = f"{self.tiling.vector} {self.tiling.constant(number)}"
            self.globals.add(f"{name} = private constant {vector}, align {self.tiling.bytes}")
            self._constants[pattern] = self.load(name)
        return self._constants[pattern]

    def call(self, function: str, *vectors: str, kind: str = "") -> str:
        """Call an external function from vectors to a vector, or of another type; the name of the result."""
        kind = kind or self.tiling.vector
        self.globals.add(f"declare {kind} @{function}({', '.join([kind] * len(vectors))})")
        return self.let(f"call {kind} @{function}({', '.join(f'{kind} {a}' for a in vectors)})")
