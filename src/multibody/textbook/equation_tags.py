"""Entries of the five documents, and the tags in code, tests and pages that name them.

`equations.csv` lists every entry of the documents with a state. Tags in square brackets say where an entry is, in
docstrings, comments and pages: `RD 2.57`, `RD §2.5`, `Kindr item 8`, `RD Ex. 2.4.1`, `From Prop. 5.1`. A tag may hold
several entries, with `,` or `;` between them, and ranges: `RD 2.57-2.61, 2.64; Kindr items 2-3, §Derivatives`.

A document holds until the next one; the word for a kind (`§`, `item`, `Ex.`, ...) until the next word or document.
Equations have no word, so they come first, or after the document again: `RD Ex. 2.4.1; RD 2.65`.
"""

import ast
import csv
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).with_name("equations.csv")
DOCUMENTS = {
    "Kindr": "Gehring et al., Kindr Library: Kinematics and Dynamics for Robotics",
    "RD": "ETH Zurich, Robot Dynamics Lecture Notes, HS 2023",
    "QT": "Liu and Jain, A Quick Tutorial on Multibody Dynamics",
    "MDN": "Traversaro and Saccon, Multibody Dynamics Notation, version 2",
    "From": "From, An Explicit Formulation of Singularity-Free Dynamic Equations, part one",
}
MARKS = {
    "equation": "",
    "section": "§",
    "item": "item ",
    "example": "Ex. ",
    "algorithm": "Alg. ",
    "proposition": "Prop. ",
    "lemma": "Lemma ",
    "definition": "Def. ",
    "table": "Table ",
}
WORDS = {mark: mark for mark in MARKS.values() if mark} | {"items ": "item "}
STATES = {
    "code": "in code",
    "definition": "definition",
    "derivation": "derivation step",
    "prose": "text",
    "later": "to come",
}
COLUMNS = ["document", "kind", "number", "title", "state"]
TAG = re.compile(rf"\[(?:{'|'.join(DOCUMENTS)})(?![A-Za-z])[^\[\]]*\]?")


class Entry(NamedTuple):
    """An entry of a document: a row of the data file."""

    document: str
    kind: str
    number: str
    title: str
    state: str
    line: int  # in the data file

    @property
    def label(self) -> str:
        """The entry within its document, such as `§2.5`."""
        return MARKS[self.kind] + self.number

    @property
    def name(self) -> str:
        """The entry in a tag, such as `RD §2.5`."""
        return f"{self.document} {self.label}"

    @property
    def anchor(self) -> str:
        """The anchor of the entry on the page of the index: `rd-2.57`, `rd-section-2.5`."""
        parts = [self.document, *([] if self.kind == "equation" else [self.kind]), self.number]
        return re.sub(r"[^a-z0-9.]+", "-", "-".join(parts).lower())


class Tag(NamedTuple):
    """A tag, and its place."""

    text: str  # with its brackets, on one line
    path: str
    line: int
    scope: str  # the function or class around it; empty at the level of the module


class TagError(ValueError):
    """A tag that is malformed, or that names what does not exist."""


def read_entries(text: str) -> tuple[dict[str, Entry], list[str]]:
    """The entries of the data file, by name, and what is wrong with its rows."""
    entries: dict[str, Entry] = {}
    problems = []
    for line, row in enumerate(csv.reader(io.StringIO(text)), start=1):
        if line == 1 and row == COLUMNS:
            continue
        problem = _row_problem(row)
        if not problem:
            entry = Entry(*row, line)
            if entries.setdefault(entry.name, entry) is not entry:
                problem = f"{entry.name} is already on line {entries[entry.name].line}"
        if problem:
            problems.append(f"{DATA.name}:{line}: {problem}")
    return entries, problems


def _row_problem(row: list[str]) -> str | None:
    if len(row) != len(COLUMNS):
        return f"{len(row)} fields, expected {', '.join(COLUMNS)}"
    document, kind, _, _, state = row
    for column, value, known in (("document", document, DOCUMENTS), ("kind", kind, MARKS), ("state", state, STATES)):
        if value not in known:
            return f"unknown {column} {value!r}, expected one of {', '.join(known)}"
    return None


def find_tags(source: str, path: str) -> list[Tag]:
    """The tags in the docstrings and comments of Python source, well formed or not."""
    if not TAG.search(source):
        return []
    tree = ast.parse(source, filename=path)
    tags = []
    for first_line, text in _prose(source, tree):
        for match in TAG.finditer(text):
            line = first_line + text.count("\n", 0, match.start())
            tags.append(Tag(" ".join(match[0].split()), path, line, _scope(tree, line)))
    return sorted(tags, key=lambda tag: tag.line)


def _prose(source: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every docstring and every comment, with its first line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _scope(tree: ast.Module, line: int) -> str:
    """The dotted name of the innermost function or class, its decorators included, that holds the line."""
    names, body = [], tree.body
    while True:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                first_line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                if first_line <= line <= (node.end_lineno or line):
                    names.append(node.name)
                    body = node.body
                    break
        else:
            return ".".join(names)


def expand(tag: str, entries: dict[str, Entry]) -> list[str]:
    """The names of the entries that a tag, given with its brackets, stands for."""
    if not tag.endswith("]"):
        raise TagError("the bracket does not close")
    names, document, mark = [], None, ""
    for item in re.split("[,;]", tag[1:-1]):
        number = item.strip()
        first, _, rest = number.partition(" ")
        if first in DOCUMENTS:
            document, mark, number = first, "", rest.strip()
        if document is None:
            raise TagError(f"{first!r} is not a document, expected one of {', '.join(DOCUMENTS)} and a space")
        word = next((word for word in WORDS if number.startswith(word)), None)
        if word:
            mark, number = WORDS[word], number.removeprefix(word).strip()
        if not number:
            raise TagError(f"{item!r} names no entry")
        names += _expand_range(f"{document} {mark}", number, entries)
    return names


def _expand_range(prefix: str, number: str, entries: dict[str, Entry]) -> list[str]:
    """One entry, or the entries from the first to the last of a range. Names of sections may hold a hyphen."""
    if prefix + number in entries:
        return [prefix + number]
    ends = [prefix + end.strip() for end in re.split("[-–]", number)]
    unknown = [name for name in ends if name not in entries]
    if len(ends) != 2:
        raise TagError(f"no entry {prefix}{number}")
    if unknown:
        raise TagError(f"no entry {' nor '.join(unknown)}")
    first = entries[ends[0]]
    names = [name for name, e in entries.items() if (e.document, e.kind) == (first.document, first.kind)]
    start, stop = names.index(ends[0]), names.index(ends[1])
    if stop <= start:
        raise TagError(f"the range {prefix}{number} runs backwards")
    return names[start : stop + 1]
