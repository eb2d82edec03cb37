"""The equation index: where each equation of the five documents lives in the code, and which test shows it.

`equations.csv` lists every entry of the documents with a state. Tags in docstrings and comments of `src` and `tests`
say where it is: `[RD 2.57]`, `[RD §2.5]`, `[Kindr item 8]`, `[RD Ex. 2.4.1]`, `[From Prop. 5.1]`. A tag may hold
several entries, with `,` or `;` between them, and ranges: `[RD 2.57-2.61, 2.64; Kindr items 2-3, §Derivatives]`.
A document holds until the next one; the word for a kind (`§`, `item`, `Ex.`, ...) until the next word or document.
Equations have no word, so they come first, or after the document again: `[RD Ex. 2.4.1; RD 2.65]`.

    python docs/equation_index.py --check    print what is wrong, and fail if anything is
    python docs/equation_index.py --write    write the page docs/equations.md
"""

import argparse
import ast
import csv
import io
import re
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
DATA = "docs/equations.csv"
PAGE = "docs/equations.md"

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
    document: str
    kind: str
    number: str
    title: str
    state: str
    line: int  # in the data file

    @property
    def label(self) -> str:
        return MARKS[self.kind] + self.number

    @property
    def name(self) -> str:
        """What a tag calls the entry, such as `RD §2.5`."""
        return f"{self.document} {self.label}"


class Tag(NamedTuple):
    text: str  # with its brackets, on one line
    path: str
    line: int
    scope: str  # the function or class around it; empty at the level of the module


class TagError(ValueError):
    """A tag that is malformed, or that names what does not exist."""


class Index(NamedTuple):
    entries: dict[str, Entry]  # by name, in the order of the documents
    code: dict[str, list[Tag]]  # the tags in src, by name of the entry
    tests: dict[str, list[Tag]]  # the tags in tests, by name of the entry
    problems: list[str]


# The data file


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
            problems.append(f"{DATA}:{line}: {problem}")
    return entries, problems


def _row_problem(row: list[str]) -> str | None:
    if len(row) != len(COLUMNS):
        return f"{len(row)} fields, expected {', '.join(COLUMNS)}"
    document, kind, _, _, state = row
    for column, value, known in (("document", document, DOCUMENTS), ("kind", kind, MARKS), ("state", state, STATES)):
        if value not in known:
            return f"unknown {column} {value!r}, expected one of {', '.join(known)}"
    return None


# Tags


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


# The index


def build(data: str, code: dict[str, str], tests: dict[str, str]) -> Index:
    """The index from the text of the data file and the Python sources, given by path."""
    entries, row_problems = read_entries(data)
    in_code, code_problems = _tags_by_entry(code, entries)
    in_tests, test_problems = _tags_by_entry(tests, entries)
    state_problems = list(_state_problems(entries, in_code, in_tests))
    return Index(entries, in_code, in_tests, row_problems + code_problems + test_problems + state_problems)


def _tags_by_entry(sources: dict[str, str], entries: dict[str, Entry]) -> tuple[dict[str, list[Tag]], list[str]]:
    """The tags of each entry, and what is wrong with the other tags."""
    tags = defaultdict(list)
    problems = []
    for tag in (tag for path, source in sources.items() for tag in find_tags(source, path)):
        try:
            for name in expand(tag.text, entries):
                tags[name].append(tag)
        except TagError as error:
            problems.append(f"{tag.path}:{tag.line}: {tag.text}: {error}")
    return dict(tags), problems


def _state_problems(
    entries: dict[str, Entry], code: dict[str, list[Tag]], tests: dict[str, list[Tag]]
) -> Iterator[str]:
    for name, entry in entries.items():
        where = f"{DATA}:{entry.line}"
        # A worked example is code that runs in a test.
        if entry.state == "code" and entry.kind != "example" and name not in code:
            yield f"{where}: {name} is 'code', but no tag in src says where"
        if entry.state == "code" and name not in tests:
            yield f"{where}: {name} is 'code', but no tag in tests says which test shows it"
        if entry.state == "later":
            for tag in code.get(name, []):
                yield f"{tag.path}:{tag.line}: {tag.text}: {name} is 'later' in {where}"


def load(root: Path = ROOT) -> Index:
    """The index of the tree at `root`."""

    def sources(folder: str) -> dict[str, str]:
        paths = sorted((root / folder).rglob("*.py"))
        return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths}

    return build((root / DATA).read_text(encoding="utf-8"), sources("src"), sources("tests"))


# The page


def render(index: Index) -> str:
    """The page of the index, in Markdown."""
    lines = [
        "# Equation index",
        "",
        "Every numbered equation, section, example and algorithm of the five documents, with the functions that",
        "compute it and the tests that show it. Definitions and steps of a derivation need no code. This page is",
        f"generated from `{DATA}` and from the tags in the code: `make check` fails when a tag names what",
        "does not exist, and when an entry is *in code* here without a tag in the code and in a test.",
        "",
        *_table(["document", "entries", *STATES.values(), "in code and tested"], _summary(index)),
    ]
    for document, title in DOCUMENTS.items():
        rows = [_row(entry, index) for entry in index.entries.values() if entry.document == document]
        lines += ["", f"## {document}", "", f"{title}.", ""]
        lines += _table(["entry", "title", "where in the code", "which test shows it", "state"], rows)
    return "\n".join(lines) + "\n"


def _summary(index: Index) -> Iterator[list[str]]:
    for document in DOCUMENTS:
        entries = [entry for entry in index.entries.values() if entry.document == document]
        counts = [sum(entry.state == state for entry in entries) for state in STATES]
        tested = sum(entry.state == "code" and entry.name in index.tests for entry in entries)
        yield [document, *(str(count) for count in (len(entries), *counts, tested))]


def _row(entry: Entry, index: Index) -> list[str]:
    code = [_link(_code_place(tag), tag) for tag in index.code.get(entry.name, [])]
    tests = [_link(_test_place(tag), tag) for tag in index.tests.get(entry.name, [])]
    places = ["<br>".join(dict.fromkeys(where)) for where in (code, tests)]
    return [entry.label, entry.title, *places, STATES[entry.state]]


def _link(place: str, tag: Tag) -> str:
    """Leads to the page that docs/source_pages.py makes of the file; no line numbers, which change when tags do not."""
    anchor = f"#{tag.scope}" if tag.scope else ""
    return f'<a href="sources/{tag.path}.html{anchor}">`{place}`</a>'


def tagged(index: Index) -> list[str]:
    """The files to which the page leads."""
    tags = [tag for where in (index.code, index.tests) for each in where.values() for tag in each]
    return sorted({tag.path for tag in tags})


def _code_place(tag: Tag) -> str:
    """`geometry.so3.exp` for the function `exp` of src/multibody/geometry/so3.py."""
    module = tag.path.removeprefix("src/multibody/").removesuffix(".py").removesuffix("/__init__")
    return ".".join(filter(None, [*module.split("/"), tag.scope]))


def _test_place(tag: Tag) -> str:
    """The name that pytest gives to a test, without the folder `tests`."""
    return "::".join(filter(None, [tag.path.removeprefix("tests/"), *tag.scope.split(".")]))


def _table(header: list[str], rows: Iterable[list[str]]) -> list[str]:
    return ["| " + " | ".join(cells) + " |" for cells in (header, ["---"] * len(header), *rows)]


def write(root: Path = ROOT) -> None:
    """Write the page of the tree at `root`."""
    (root / PAGE).write_text(render(load(root)), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description="Check the equation index, or write its page.")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", action="store_true", help="print what is wrong, and fail if anything is")
    action.add_argument("--write", action="store_true", help=f"write {PAGE}")
    if parser.parse_args().write:
        write()
        return 0
    index = load()
    print(*index.problems, sep="\n", end="\n" if index.problems else "")
    return 1 if index.problems else 0


if __name__ == "__main__":
    sys.exit(main())
