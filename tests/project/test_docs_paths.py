"""Paths of files that the documentation names exist."""

import re
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
