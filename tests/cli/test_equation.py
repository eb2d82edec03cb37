"""`multibody equation`: entries by tag, number and words, their places, and what it says about other tags."""

import ast
import json
from pathlib import Path

import pytest

from multibody.cli import equation
from multibody.textbook.equation_tags import DATA, read_entries

from .running import run, widest

ROOT = Path(__file__).resolve().parents[2]
ENTRIES, _ = read_entries(DATA.read_text(encoding="utf-8"))


def records(*tag: str) -> list[dict[str, object]]:
    done = run("equation", *tag, "--json")
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


def test_an_equation_has_code_a_test_and_pages() -> None:
    done = run("equation", "RD", "2.57")
    assert (done.code, done.err) == (0, "")
    assert widest(done.out) <= 80
    (record,) = records("RD", "2.57")
    assert record["title"] == ENTRIES["RD 2.57"].title
    places = [*record["code"], *record["tests"]]  # type: ignore[misc]
    assert any("geometry/quaternions.py" in place for place in places)
    assert any(place.startswith("tests/") for place in places)
    for place in places:
        where, _, scope = place.partition(" ")
        path, line = where.split(":")
        assert " ".join(place.split()) in " ".join(done.out.split())
        source = (ROOT / path).read_text(encoding="utf-8")
        assert "RD" in "".join(source.splitlines()[int(line) - 1 :][:1])
        names = {node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        assert set(filter(None, scope.split("."))) <= names
    for page in record["pages"]:  # type: ignore[attr-defined]
        assert "[RD" in (ROOT / page).read_text(encoding="utf-8")
    assert "equations.html#rd-2.57" in done.out


@pytest.mark.parametrize(
    ("tag", "names"),
    [
        (["rd", "2.57"], ["RD 2.57"]),
        (["[RD 2.57]"], ["RD 2.57"]),
        (["rd-2.57"], ["RD 2.57"]),
        (["RD", "2.57-2.59"], ["RD 2.57", "RD 2.58", "RD 2.59"]),
        (["RD", "2.5"], ["RD 2.5", "RD §2.5"]),
        (["2.57"], ["RD 2.57"]),
        (["Kindr", "item", "8"], ["Kindr item 8"]),
        (["kindr", "8"], ["Kindr 8", "Kindr item 8"]),
        (["§7.2"], ["QT §7.2"]),
        (["boxplus"], None),
        (["box", "plus"], ["Kindr item 8"]),
    ],
)
def test_tags_numbers_anchors_and_words_name_entries(tag: list[str], names: list[str] | None) -> None:
    if names is None:
        assert run("equation", *tag).code == 1
    else:
        assert [record["name"] for record in records(*tag)] == names


def test_many_entries_are_a_list_of_titles() -> None:
    done = run("equation", "cross", "product")
    assert done.code == 0
    assert widest(done.out) <= 80
    expected = [e.name for e in ENTRIES.values() if "cross" in e.title.lower() and "product" in e.title.lower()]
    assert len(expected) > equation.MAX_DETAILED
    assert all(name in done.out for name in expected)
    assert "src/" not in done.out


@pytest.mark.parametrize(("tag", "hint"), [("RD 2.999", "Did you mean RD 2.99"), ("xyzzy", "Documents: Kindr, RD")])
def test_unknown_tags_get_suggestions(tag: str, hint: str) -> None:
    done = run("equation", *tag.split())
    assert done.code == 1
    assert f"got '{tag}'" in done.err
    assert hint in done.err


def test_a_package_without_its_repository_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(equation, "CLONE", tmp_path)
    done = run("equation", "RD", "2.57")
    assert "multibody/geometry/quaternions.py" in done.out
    assert "which this installation does not have" in done.out
    assert "pages" not in done.out
