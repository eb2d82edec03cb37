"""The equation index: where each equation of the five documents lives in the code, and which test shows it.

`multibody.textbook.equation_tags` has the entries of the documents and the grammar of tags.

    python docs/equation_index.py --check    print what is wrong, and fail if anything is
    python docs/equation_index.py --write    write the page docs/equations.md
"""

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from multibody.textbook.equation_tags import DOCUMENTS, STATES, Entry, Tag, TagError, expand, find_tags, read_entries

ROOT = Path(__file__).resolve().parent.parent
DATA = "src/multibody/textbook/equations.csv"
PAGE = "docs/equations.md"


FILTER = """\
<p id="equation-filter" hidden>
<label>Filter: <input type="search" placeholder="RD 2.57, quaternion, so3.exp"></label> <output></output>
</p>
<script src="_static/equation_filter.js" defer></script>
""".splitlines()
"""A box that keeps the rows with all words; shown by its script."""


class Index(NamedTuple):
    entries: dict[str, Entry]  # by name, in the order of the documents
    code: dict[str, list[Tag]]  # the tags in src, by name of the entry
    tests: dict[str, list[Tag]]  # the tags in tests, by name of the entry
    problems: list[str]


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
        where = f"equations.csv:{entry.line}"
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
        "In a terminal, `multibody equation RD 2.57` prints one entry.",
        "",
        *_table(["document", "entries", *STATES.values(), "in code and tested"], _summary(index)),
        "",
        *FILTER,
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
    label = f'<a id="{entry.anchor}" href="#{entry.anchor}">{entry.label}</a>'
    return [label, entry.title, *places, STATES[entry.state]]


def _link(place: str, tag: Tag) -> str:
    """Leads to the page that docs/source_pages.py makes of the file; no line numbers, which change when tags do not."""
    anchor = f"#{tag.scope}" if tag.scope else ""
    breakable = re.sub(r"(::|[/.](?!py))", r"\1<wbr>", place)
    return f'<a href="sources/{tag.path}.html{anchor}"><code>{breakable}</code></a>'


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
