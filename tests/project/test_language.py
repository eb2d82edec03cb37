"""The countable rules of language hold in the rooms that tools/language.toml lists; each rule can fail."""

import importlib.util
from pathlib import Path

import pytest

from ..every_law import each_case

ROOT = Path(__file__).parents[2]


def _load_tool():
    spec = importlib.util.spec_from_file_location("language", ROOT / "tools" / "language.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


tool = _load_tool()


@pytest.mark.parametrize("room", tool.RULES["rooms"]["checked"])
def test_rooms_keep_the_rules(room):
    assert list(tool.of_room(tool.room_texts(room))) == []


@each_case(
    "texts, expected",
    [
        ({"a.py": '"""What a module is."""'}, "docstring of the module begins with 'What'"),
        ({"a.py": 'class A:\n    """That of another."""'}, "docstring of A begins with 'That of'"),
        (
            {"a.py": 'class A:\n    def f(self):\n        """The same, squared."""'},
            "docstring of f begins with 'The same'",
        ),
        ({"a.py": "MOST_ROWS: int = 3"}, "constant MOST_ROWS"),
        ({"a.py": "class A:\n    _TINY = 1e-9"}, "constant _TINY"),
        ({"a.py": "SHORT, LENGTH = 1, 2"}, "constant SHORT"),
        ({"a.py": "\n" * 401}, "401 lines"),
        ({"x/a.py": "", "y/a.py": ""}, "file name a.py is used 2 times"),
        ({"a.py": "class A: ...", "b.py": "class A: ..."}, "class A is used 2 times"),
    ],
)
def test_violations_are_reported(texts, expected):
    (line,) = tool.of_room({Path(name): text for name, text in texts.items()})
    assert expected in line


def test_what_the_rules_allow():
    text = '"""Bypass the cache."""\nMAX_ROWS = 3\nHALF_PI = 1.57\n\n\ndef f():\n    """Offset of a row."""\n'
    assert list(tool.of_room({Path("x/a.py"): text, Path("x/__init__.py"): "", Path("y/__init__.py"): ""})) == []
