"""`multibody equation`: where an equation of the documents is in the code, in the tests and on the pages."""

import difflib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

import multibody
from multibody.cli._tables import show, table, terminal
from multibody.errors import InputError
from multibody.textbook.equation_tags import (
    DATA,
    DOCUMENTS,
    STATES,
    TAG,
    Entry,
    TagError,
    expand,
    find_tags,
    read_entries,
)

MAX_DETAILED = 5
"""Entries that are printed with their places; more are a list of titles."""
SOURCES = Path(multibody.__file__).parent
CLONE = SOURCES.parents[1]


def equation(
    tag: Annotated[
        list[str], typer.Argument(help="A tag, as RD 2.57, RD §2.5 or Kindr item 8; a number; or words of a title.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")] = False,
) -> None:
    """Show an equation of the documents: its code, its tests, and the pages that cite it."""
    entries, _ = read_entries(DATA.read_text(encoding="utf-8"))
    matches = _matches(" ".join(tag).strip("[] "), entries)
    detailed = as_json or len(matches) <= MAX_DETAILED
    places = _places({entry.name for entry in matches}, entries) if detailed else {}
    if as_json:
        records = [
            entry._asdict() | {"name": entry.name, "anchor": entry.anchor} | places[entry.name] for entry in matches
        ]
        typer.echo(json.dumps([{k: v for k, v in record.items() if k != "line"} for record in records], indent=2))
        return
    console = terminal()
    for entry in matches if detailed else []:
        show(console, _details(entry, places[entry.name]), f"{entry.name}: {entry.title}")
    if not detailed:
        show(console, _titles(matches), f"{len(matches)} entries", "multibody equation TAG shows the places of one")


def _matches(text: str, entries: dict[str, Entry]) -> list[Entry]:
    """The entries that a tag stands for, or that have a number, an anchor, or all words in their titles."""
    first, _, number = text.partition(" ")
    document = next((name for name in DOCUMENTS if name.lower() == first.lower()), first)
    numbered = [entry for entry in entries.values() if (entry.document, entry.number) == (document, number)]
    try:
        tagged = [entries[name] for name in expand(f"[{document} {number}]", entries)]
        return list(dict.fromkeys(tagged + numbered))
    except TagError:
        words = [re.compile(rf"\b{re.escape(word)}", re.IGNORECASE) for word in text.split()]
        lower = text.lower()
        named = [
            entry for entry in entries.values() if lower in (entry.anchor, entry.number.lower(), entry.label.lower())
        ]
        titled = [
            entry for entry in entries.values() if all(word.search(f"{entry.document} {entry.title}") for word in words)
        ]
        if matches := numbered or named or titled:
            return matches
    near = difflib.get_close_matches(f"{document} {number}", entries, n=3, cutoff=0.5)
    hint = f"Did you mean {', '.join(near)}?" if near else f"Documents: {', '.join(DOCUMENTS)}"
    raise InputError(f"TAG: expected an entry such as RD 2.57, a number, or words of a title; got {text!r}. {hint}")


def _places(names: set[str], entries: dict[str, Entry]) -> dict[str, dict[str, list[str]]]:
    """The places in code, tests and pages of some entries; a package without its repository has no tests or pages."""
    folders = {"code": SOURCES, "tests": CLONE / "tests", "pages": CLONE / "docs"}
    if not (CLONE / "docs" / "equation_index.py").exists():
        folders = {"code": SOURCES}
    places = {name: {what: list[str]() for what in folders} for name in names}
    for what, folder in folders.items():
        for path in sorted(folder.glob("*.md") if what == "pages" else folder.rglob("*.py")):
            for name, place in _cited(path, names, entries):
                if place not in places[name][what]:
                    places[name][what].append(place)
    return places


def _cited(path: Path, names: set[str], entries: dict[str, Entry]) -> Iterator[tuple[str, str]]:
    """The entries that a file has tags of, with the place of each."""
    text = path.read_text(encoding="utf-8")
    if not any(_stands_for(match[0], entries) & names for match in TAG.finditer(text)):
        return
    shown = path.relative_to(CLONE if path.is_relative_to(CLONE) else SOURCES.parent).as_posix()
    if path.suffix == ".md":
        for match in TAG.finditer(text):
            for name in _stands_for(match[0], entries) & names:
                yield name, shown
        return
    for tag in find_tags(text, shown):
        for name in _stands_for(tag.text, entries) & names:
            yield name, f"{shown}:{tag.line}" + (f" {tag.scope}" if tag.scope else "")


def _stands_for(tag: str, entries: dict[str, Entry]) -> set[str]:
    try:
        return set(expand(re.sub(r"\s+", " ", tag), entries))
    except TagError:
        return set()


def _details(entry: Entry, places: dict[str, list[str]]) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_row("document", DOCUMENTS[entry.document])
    grid.add_row("state", STATES[entry.state])
    for what, where in places.items():
        grid.add_row(what, "\n".join(where) or "none")
    if "tests" not in places:
        grid.add_row("tests", "in the repository, which this installation does not have")
    grid.add_row("site", f"equations.html#{entry.anchor}")
    return grid


def _titles(matches: list[Entry]) -> Table:
    rows = table("entry", "title", "state")
    for entry in matches:
        rows.add_row(entry.name, entry.title, STATES[entry.state])
    return rows
