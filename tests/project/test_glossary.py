"""Every term of the glossary is found in the file that its row names."""

import re
from pathlib import Path

from ..every_law import each_case

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| (?P<term>[^|]+) \| (?P<meaning>[^|]+) \| `(?P<file>[\w/]+\.py)` \|$")
HEADER = ("| term |", "|---")


def rows() -> list[str]:
    """The rows of all tables."""
    lines = (ROOT / "docs/glossary.md").read_text().splitlines()
    return [line for line in lines if line.startswith("|") and not line.startswith(HEADER)]


def test_there_are_rows():
    assert len(rows()) > 60


@each_case("row", rows())
def test_the_file_of_a_term_has_its_words(row):
    """Its longer words, without endings: an identifier or a comment of the file has them."""
    match = ROW.match(row)
    assert match is not None
    file = ROOT / "src/multibody" / match["file"]
    text = f"{file} {file.read_text()}".lower()
    words = re.findall(r"[a-z]+", re.sub(r"\(.*?\)", "", match["term"].lower()))
    missing = [word for word in words if re.sub(r"(ed|ing|s|isation|ation)$", "", word) not in text]
    assert missing == []
