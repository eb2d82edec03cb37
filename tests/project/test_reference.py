"""The reference lists every public name, and nothing that does not exist."""

import importlib
import re
from pathlib import Path
from typing import Any

from ..every_law import each_case

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
LISTED = set(re.findall(r"^(?:   |\.\. autoclass:: )(multibody[\w.]+)$", TEXT, re.MULTILINE))
WITHOUT_PAGE = {"__version__", "config", "linalg", "METHODS"}
"""Public names that need none: objects whose classes and functions are listed."""


def found(path: str) -> Any:
    """What a dotted name stands for: a name of the package around it, or else a module."""
    package, _, name = path.rpartition(".")
    if not package:
        return importlib.import_module(path)
    around = found(package)
    return getattr(around, name) if name in dir(around) else importlib.import_module(path)


def test_every_entry_exists() -> None:
    assert len(LISTED) > 150
    for path in sorted(LISTED):
        assert found(path) is not None, path


@each_case("room", ["control", "simulate", "view", "sweep", "derive", "geometry.groups", ""])
def test_every_public_name_is_listed(room: str) -> None:
    module = importlib.import_module(".".join(filter(None, ["multibody", room])))
    listed = [found(path) for path in sorted(LISTED)]

    def is_listed(name: str) -> bool:
        value = getattr(module, name)
        there = any(value is each for each in listed) or getattr(value, "__module__", None) in LISTED
        return there or any(path.startswith(f"{module.__name__}.{name}.") for path in LISTED)

    missing = [name for name in module.__all__ if name not in WITHOUT_PAGE and not is_listed(name)]
    assert not missing, missing
