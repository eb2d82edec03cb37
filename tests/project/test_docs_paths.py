"""Paths of files that the documentation names exist."""

import re
import tomllib
from pathlib import Path

from ..every_law import each_case

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += sorted((ROOT / "docs" / "decisions").glob("*.md"))
PATH = re.compile(r"`((?:[\w.-]+/)+[\w-]+\.(?:py|md|toml|csv))`")
"""A path with a folder, in backquotes, without placeholders."""


@each_case("page", PAGES, ids=lambda page: page.name)
def test_paths_exist(page):
    """Relative to the repository, to the package, or to one of its rooms."""
    roots = [ROOT, ROOT / "src", ROOT / "src" / "multibody", *(ROOT / "src" / "multibody").iterdir()]
    named = set(PATH.findall(page.read_text(encoding="utf-8")))
    assert [path for path in sorted(named) if not any((root / path).exists() for root in roots)] == []


def test_the_glossary_has_a_file_for_each_term():
    rows = [line for line in (ROOT / "docs" / "glossary.md").read_text().splitlines() if line.startswith("| ")]
    terms = [row for row in rows if row != "| term | meaning | file |"]
    assert len(terms) > 60
    assert [row for row in terms if not PATH.search(row) and "`identification.py`" not in row] == []


def test_rooms_are_listed_below_those_that_they_import():
    """As CONTRIBUTING.md says; the layers are those that `lint-imports` proves."""
    tree = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("src/multibody/\n")[1].split("    tests/ ")[0]
    rooms = re.findall(r"^ {6}(\w+)(?:/|\.py) ", tree, re.MULTILINE)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = [re.findall(r"multibody\.(\w+)", layer) for layer in reversed(settings["contracts"][0]["layers"])]
    assert sorted(rooms) == sorted(room for layer in layers for room in layer)
    places = [[rooms.index(room) for room in layer] for layer in layers]
    assert [layers[k] for k in range(1, len(layers)) if min(places[k]) < max(places[k - 1])] == []
