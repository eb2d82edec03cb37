"""The equation index: every problem that it must report, its page, and the state of this repository."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ..every_law import each_case
from ..textbook.test_equation_tags import DATA

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "docs" / "equation_index.py"


def _load_tool():
    spec = importlib.util.spec_from_file_location("equation_index", TOOL)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


tool = _load_tool()

CODE = {"src/multibody/a.py": 'def f():\n    """Computes.  [RD §1.1; RD 2.1]"""\n'}
TESTS = {"tests/test_a.py": '"""[RD §1.1]"""\n\n\ndef test_f():\n    """[RD 2.1, Ex. 2.1.1]"""\n'}


# This repository


@pytest.fixture(scope="module")
def index():
    return tool.load(ROOT)


def test_this_repository_has_no_problems(index):
    assert not index.problems, "\n".join(index.problems)


def test_every_entry_has_an_anchor_of_its_own(index):
    anchors = [entry.anchor for entry in index.entries.values()]
    assert len(anchors) == len(set(anchors)) > 900
    assert all(re.fullmatch(r"[a-z0-9.-]+", anchor) for anchor in anchors)


def test_titles_are_short(index):
    assert [entry.name for entry in index.entries.values() if not 0 < len(entry.title) <= 60] == []


@each_case(
    "document, numbers",
    [
        ("Kindr", [str(i) for i in range(1, 19)]),
        ("RD", [f"2.{i}" for i in range(1, 277)] + [f"3.{i}" for i in range(1, 122)]),
        ("QT", [str(i) for i in range(1, 86)]),
        ("MDN", [str(i) for i in range(1, 95)]),
        ("From", [str(i) for i in range(1, 113)]),
    ],
)
def test_every_equation_of_the_documents_is_listed_once_and_in_order(index, document, numbers):
    assert [e.number for e in index.entries.values() if (e.document, e.kind) == (document, "equation")] == numbers


# The problems


def test_a_tree_where_all_is_tagged_has_no_problems():
    assert tool.build(DATA, CODE, TESTS).problems == []


@each_case(
    "row, message",
    [
        ("RD,equation,2.1,First again,code", "equations.csv:12: RD 2.1 is already on line 3"),
        ("RD,theorem,1,A,prose", "equations.csv:12: unknown kind 'theorem'"),
        ("RD,equation,2.4,A,done", "equations.csv:12: unknown state 'done'"),
        ("Book,equation,2.4,A,code", "equations.csv:12: unknown document 'Book'"),
        ("RD,equation,2.4,A, B,code", "equations.csv:12: 6 fields"),
    ],
)
def test_a_wrong_row_is_reported_with_its_line(row, message):
    (problem,) = tool.build(DATA + row + "\n", CODE, TESTS).problems
    assert problem.startswith(message)


@pytest.mark.parametrize("folder", ["src/multibody", "tests"])
@pytest.mark.parametrize(("tag", "message"), [("[RD 7.7]", "no entry RD 7.7"), ("[RD7.7]", "is not a document")])
def test_a_tag_that_names_nothing_is_reported_with_its_place(folder, tag, message):
    source = {f"{folder}/b.py": f"x = 1\n# {tag}\n"}
    code, tests = (CODE | source, TESTS) if folder != "tests" else (CODE, TESTS | source)
    (problem,) = tool.build(DATA, code, tests).problems
    assert problem.startswith(f"{folder}/b.py:2: {tag}: ")
    assert message in problem


def test_an_entry_in_code_without_a_tag_in_src_is_reported():
    code = {"src/multibody/a.py": '"""[RD §1.1]"""'}
    assert tool.build(DATA, code, TESTS).problems == ["equations.csv:3: RD 2.1 is 'code', but no tag in src says where"]


def test_an_entry_in_code_without_a_tag_in_tests_is_reported():
    tests = {"tests/test_a.py": '"""[RD §1.1; RD Ex. 2.1.1]"""'}
    assert tool.build(DATA, CODE, tests).problems == [
        "equations.csv:3: RD 2.1 is 'code', but no tag in tests says which test shows it"
    ]


def test_a_worked_example_needs_a_test_and_no_code():
    tests = {"tests/test_a.py": '"""[RD §1.1; RD 2.1]"""'}
    (problem,) = tool.build(DATA, CODE, tests).problems
    assert "RD Ex. 2.1.1 is 'code', but no tag in tests" in problem


def test_an_entry_to_come_that_is_tagged_in_src_is_reported():
    code = CODE | {"src/multibody/b.py": "\n# [RD 2.3]\n"}
    assert tool.build(DATA, code, TESTS).problems == [
        "src/multibody/b.py:2: [RD 2.3]: RD 2.3 is 'later' in equations.csv:7"
    ]


# The page and the commands


def link(anchor, text):
    return f'<a id="{anchor}" href="#{anchor}">{text}</a>'


def test_the_page_shows_places_and_states():
    page = tool.render(tool.build(DATA, CODE, TESTS)).splitlines()
    f = '<a href="sources/src/multibody/a.py.html#f"><code>a.<wbr>f</code></a>'
    test_f = '<a href="sources/tests/test_a.py.html#test_f"><code>test_a.py::<wbr>test_f</code></a>'
    module = '<a href="sources/tests/test_a.py.html"><code>test_a.py</code></a>'
    assert f"| {link('rd-section-1.1', '§1.1')} | Operators | {f} | {module} | in code |" in page
    assert f"| {link('rd-2.1', '2.1')} | First | {f} | {test_f} | in code |" in page
    assert f"| {link('rd-example-2.1.1', 'Ex. 2.1.1')} | Numbers |  | {test_f} | in code |" in page
    assert f"| {link('rd-2.2', '2.2')} | Second |  |  | derivation step |" in page
    assert f"| {link('rd-2.3', '2.3')} | Third |  |  | to come |" in page
    assert f"| {link('rd-section-1.2', '§1.2')} | Names |  |  | text |" in page
    assert f"| {link('kindr-item-1', 'item 1')} | One |  |  | definition |" in page
    assert "| RD | 6 | 3 | 0 | 1 | 1 | 1 | 3 |" in page


def test_a_place_is_shown_once_and_without_its_line():
    code = {"src/multibody/geometry/__init__.py": '"""[RD §1.1]"""\n# [RD 2.1; RD §1.1]\n'}
    page = tool.render(tool.build(DATA, code, TESTS)).splitlines()
    assert sum("<code>geometry</code>" in line for line in page) == 2  # §1.1 and 2.1
    assert not any(line.count("<code>geometry</code>") > 1 for line in page)


def test_every_place_is_an_anchor_of_a_page_of_sources(index):
    spec = importlib.util.spec_from_file_location("source_pages", ROOT / "docs" / "source_pages.py")
    source_pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(source_pages)
    places = {(tag.path, tag.scope) for tags in (index.code, index.tests) for each in tags.values() for tag in each}
    names = {p: source_pages.scopes((ROOT / p).read_text(encoding="utf-8")) for p in tool.tagged(index)}
    assert len(places) > 500
    assert not [(path, scope) for path, scope in places if scope and scope not in names[path].values()]
    source = "class A:\n    def f(self):\n        return '<'\n"
    page = source_pages.page("src/a/b.py", source)
    assert '<span id="A.f">' in page
    assert "&lt;" in page
    assert 'href="../../../equations.html"' in page


@pytest.fixture
def tree(tmp_path):
    """A copy of the tool in a small tree of its own."""
    for path, text in {
        "src/multibody/textbook/equations.csv": DATA,
        "docs/equation_index.py": TOOL.read_text(encoding="utf-8"),
        **CODE,
        **TESTS,
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


def _run(tree, option):
    return subprocess.run([sys.executable, tree / "docs/equation_index.py", option], capture_output=True, text=True)


def test_check_is_silent_when_all_is_well_and_fails_when_not(tree):
    assert (_run(tree, "--check").returncode, _run(tree, "--check").stdout) == (0, "")
    (tree / "src/multibody/sub").mkdir()
    (tree / "src/multibody/sub/b.py").write_text("# [RD 7.7]\n")
    result = _run(tree, "--check")
    assert (result.returncode, result.stdout) == (1, "src/multibody/sub/b.py:1: [RD 7.7]: no entry RD 7.7\n")


def test_write_writes_the_page(tree):
    assert _run(tree, "--write").returncode == 0
    assert (tree / "docs/equations.md").read_text(encoding="utf-8") == tool.render(tool.load(tree))
