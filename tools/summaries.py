"""The first lines of public docstrings: full sentences in the imperative, or the equation of a formula.

    python tools/summaries.py [ROOM ...]    the violations of some rooms, or of the whole library
    python tools/summaries.py --clean       of the rooms that are free of them

ruff's D401 checks private functions too, and reads formulas as sentences, so it is off. language.toml has the verbs.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from language import ROOT, RULES, SOURCES
from public_names import public_functions

VERBS = RULES["summaries"]["verbs"]
EQUATION = re.compile(r"[^\s(]+.* (=|≈|<=|>=) |\[(RD|QT|MDN|Kindr|F|From)\b")
"""A formula has its equation in the first line, or the equation's number in a document; an option `(x=1)` is none."""


def summary(docstring: str) -> str:
    """Return the first paragraph of a docstring in one line."""
    return " ".join(docstring.split("\n\n")[0].split())


def is_allowed(line: str) -> bool:
    """Whether a first line begins with a verb, or is a formula."""
    return line.split()[0] in VERBS or bool(EQUATION.search(line))


def violations(rooms: list[str]) -> Iterator[str]:
    """The public functions of some rooms whose first lines are neither."""
    places = [SOURCES / room for room in rooms]
    for name, path, line, docstring in public_functions():
        if any(Path(path).is_relative_to(place) for place in places) and not is_allowed(summary(docstring)):
            yield f"{Path(path).relative_to(ROOT)}:{line}: {name}: begin with a verb: {summary(docstring)}"


def main(arguments: list[str]) -> int:
    """Print the violations; the exit status says whether there are any."""
    rooms = RULES["summaries"]["clean"] if arguments == ["--clean"] else arguments or ["."]
    found = list(violations(rooms))
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
