"""An LLVM function while it is being written."""

from multibody.compiler.codegen.vector_math.formats import Format


class Function:
    """The lines of the body, and what they refer to outside."""

    def __init__(self, fmt: Format, lanes: int, *, fma: bool) -> None:
        self.fmt = fmt
        self.lanes = lanes
        self.fma = fma
        self.lines: list[str] = []
        self.globals: set[str] = set()
        """Declarations and constants, each one line of the module."""
        self.helpers: set[str] = set()
        """Operations of the library that the body calls."""
        self._constants: dict[int, str] = {}

    def vector(self, element: str) -> str:
        """The type of the vectors of an element type."""
        return f"<{self.lanes} x {element}>"

    def repeat(self, element: str) -> str:
        """A vector with this constant in every lane."""
        return f"<{', '.join([element] * self.lanes)}>"

    def results(self, count: int) -> str:
        """The type of what a function with so many results returns."""
        real = self.vector(self.fmt.real)
        return real if count == 1 else f"{{{', '.join([real] * count)}}}"

    def symbol(self, operation: str) -> str:
        """The name of the function of an operation."""
        return f"mb_{operation}_v{self.lanes}{self.fmt.suffix}"

    def write(self, line: str) -> None:
        """Add an instruction without a value."""
        self.lines.append(f"  {line}")

    def assign(self, instruction: str) -> str:
        """Add an instruction; the name of its value."""
        name = f"%v{len(self.lines)}"
        self.write(f"{name} = {instruction}")
        return name

    def constant(self, number: float) -> str:
        """The name of a number in every lane.

        It is loaded from memory, because LLVM fuses loads with arithmetic; literals cost an instruction each on AVX2.
        """
        pattern = self.fmt.bits(number)
        if pattern not in self._constants:
            kind, size = self.vector(self.fmt.real), self.lanes * self.fmt.width // 8
            name = f"@{self.symbol('constant')}_{pattern:x}"
            self.globals.add(f"{name} = private constant {kind} {self.repeat(self.fmt.spell(number))}, align {size}")
            self._constants[pattern] = self.assign(f"load {kind}, ptr {name}, align {size}")
        return self._constants[pattern]

    def call(self, symbol: str, kind: str, *arguments: str) -> str:
        """Call an external function whose arguments and result have one type; the name of the result."""
        self.globals.add(f"declare {kind} @{symbol}({', '.join([kind] * len(arguments))})")
        return self.assign(f"call {kind} @{symbol}({', '.join(f'{kind} {a}' for a in arguments)})")

    def intrinsic(self, name: str, *arguments: str) -> str:
        """Call one of LLVM's operations on vectors of reals."""
        return self.call(f"llvm.{name}.v{self.lanes}{self.fmt.suffix}", self.vector(self.fmt.real), *arguments)
