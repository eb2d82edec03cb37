"""Large results stay readable: sums over several lines, matrices entry by entry, names for common parts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from multibody.derive.printing.abbreviations import Names, Naming
from multibody.derive.printing.latex_expressions import Writer, joined
from multibody.derive.printing.page_elements import Block, Equality, Sentence, Table
from multibody.derive.printing.symbol_names import latex_name
from multibody.derive.printing.unicode_text import text, width
from multibody.derive.results.steps import term


@dataclass(frozen=True)
class Layout:
    """How results are written.

    Args:
        columns: the width of a line of text; formulas of other formats are broken where their text would be.
        write: expressions in LaTeX.
    """

    columns: int
    write: Writer
    velocity: str = "v"
    """The velocities in LaTeX, on which b depends."""
    long: int = 4
    """Lines of an entry from which on parts of it get names."""
    names: Names = field(default_factory=Names, compare=False)
    """Those of the parts of long results, all over the page."""

    def result(self, name: str, value: Any) -> list[Block]:
        """A name in LaTeX and its value, an expression or a matrix, as blocks."""
        head, equals, rule = (part.strip() for part in name.partition("="))
        head = term(head, value, self.velocity)
        name = f"{head} = {rule}" if equals else head
        blocks: list[Block] = []
        if equals and isinstance(value, sp.MatrixBase) and not self._fits(name, value):
            blocks.append(Equality(head, (rule,)))
            name = head
        definitions, value = self._named(value)
        blocks += self._matrix(name, value) if isinstance(value, sp.MatrixBase) else [self.sum(name, value)]
        parts = [self.sum(latex_name(symbol.name), x) for symbol, x in definitions]
        return [*blocks, Sentence("with"), *parts] if parts else blocks

    def sum(self, name: str, value: Any) -> Equality:
        """A name and an expression, over as many lines as its terms take."""
        return self.equality(name, self.write.terms(value))

    def equality(self, name: str, terms: Sequence[str], right: Sequence[str] | None = None) -> Equality:
        """A name, or the terms on the left, and terms with their signs, over as many lines as they take."""
        lines, line = [], ""
        space = self.columns - min(width(text(name)) + 3, self.columns // 3) - 1  # for a space after the first sign
        parts = list(terms) if right is None else [*terms, "=" + joined(list(right))]
        for part in parts or ["+0"]:
            longer = f"{line} {part[0]} {part[1:]}" if line else part.removeprefix("+")
            if line and width(text(longer)) > space:
                lines.append(line)
                longer = f"{part[0]} {part[1:]}"
            line = longer
        return Equality(name, (*lines, line))

    def _fits(self, name: str, value: Any) -> bool:
        cells = [[width(text(self.write(x))) for x in value.row(i)] for i in range(value.rows)]
        widths = [max(column) for column in zip(*cells, strict=True)]
        return width(text(name)) + 7 + sum(widths) + 2 * (len(widths) - 1) <= self.columns

    def _matrix(self, name: str, value: Any) -> list[Block]:
        if 0 in value.shape:
            return []
        if value.is_zero_matrix and value.rows * value.cols > 1:
            return [Equality(name, ("0",))]
        if self._fits(name, value):
            return [Table(name, tuple(tuple(self.write(x) for x in value.row(i)) for i in range(value.rows)))]
        symmetric = value.rows == value.cols > 1 and value == value.T
        blocks: list[Block] = []
        zeros = 0
        for i in range(value.rows):
            for j in range(i if symmetric else 0, value.cols):
                if value[i, j] == 0:
                    zeros += 1
                    continue
                blocks.append(self.sum(entry(name, (i, j) if value.cols > 1 else (i,)), value[i, j]))
        notes = [f"${name}$ is symmetric"] * symmetric
        if zeros:
            notes.append("its other entries are zeros" if symmetric else f"The other entries of ${name}$ are zeros")
        return [*blocks, Sentence(f"{', and '.join(notes)}.")] if notes else blocks

    def readable(self, blocks: Sequence[Equality]) -> bool:
        """Whether none of them takes many lines, or has a term that is wider than a line."""
        whole = (width(text(" ".join(block.lines))) for block in blocks)
        lines = (width(text(line)) for block in blocks for line in block.lines)
        return max(whole, default=0) <= self.long * self.columns and max(lines, default=0) <= self.columns

    def _named(self, value: Any) -> tuple[list[tuple[Any, Any]], Any]:
        """Names for parts of a long value, and the value with them."""
        naming = Naming(lambda x: width(text(self.write(x))), self.columns, self.long, self.names)
        if not isinstance(value, sp.MatrixBase):
            definitions, (value,) = naming([sp.sympify(value)])
            return definitions, value
        definitions, entries = naming(value.flat())
        return definitions, sp.ImmutableMatrix(*value.shape, entries)


def entry(name: str, indices: tuple[int, ...]) -> str:
    r"""The name of an entry, counted from 1.

    >>> entry("M(q)", (0, 1)), entry("J_{S}", (0,))
    ('M_{12}(q)', '\\left[J_{S}\\right]_{1}')
    """
    letter, bracket, arguments = name.partition("(q")
    between = "," if max(indices) > 8 else ""
    index = between.join(str(i + 1) for i in indices)
    if re.fullmatch(r"[A-Za-z]|\\[A-Za-z]+", letter):
        return f"{letter}_{{{index}}}{bracket}{arguments}"
    return f"\\left[{name}\\right]_{{{index}}}"
