"""Elements of a page of equations, before it is written in some format."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    """A title; level 1 is that of the page."""

    text: str
    level: int = 1


@dataclass(frozen=True)
class Sentence:
    """Words, with formulas in LaTeX between dollar signs, and where it is in the documents."""

    text: str
    tag: str = ""


@dataclass(frozen=True)
class Formula:
    """A rule in general, in LaTeX."""

    latex: str


@dataclass(frozen=True)
class Equality:
    """Something, and what it is equal to, in LaTeX: one line, or a sum over several."""

    left: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A name and the matrix that it is equal to, entry by entry in LaTeX."""

    left: str
    entries: tuple[tuple[str, ...], ...]


Block = Heading | Sentence | Formula | Equality | Table
