"""The Python examples of README.md and docs/**/*.md run, and print what they say.

The ```python blocks of a page run in one namespace, from top to bottom, as a reader would type them: blocks with `>>>`
prompts as doctests, others as they stand.
"""

import doctest
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
NOT_OURS = {"_build", "generated"}
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEGATIVE_ZERO = re.compile(r"-(?=0\.?0*(?![\d.]))")


class Checker(doctest.OutputChecker):
    """As the usual one, but blind to spaces and to the sign of zero, which is the processor's choice."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        want, got = (NEGATIVE_ZERO.sub("", re.sub(r"\s", "", text)) for text in (want, got))
        return super().check_output(want, got, optionflags)


def pages() -> dict[str, str]:
    """The text of the pages that have Python blocks, by path."""
    paths = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    return {name: text for name, text in found.items() if BLOCK.search(text) and not NOT_OURS & set(name.split("/"))}


PAGES = pages()
LONG = {
    "docs/a-million-robots.md",
    "docs/contacts-as-algebra.md",
    "docs/derivations/branching-hinges.md",
    "docs/drop-a-robot.md",
    "docs/priorities.md",
    "docs/standing-robot.md",
    "docs/walk.md",
}
"""Pages whose kernels, or derivations, take long to make."""


def run_page(name: str, text: str) -> str:
    """Run the blocks of a page; the report of what failed, which is empty when all went well."""
    names: dict[str, object] = {}
    report: list[str] = []
    with np.printoptions():  # whatever a page sets ends with it
        for block in BLOCK.finditer(text):
            line = text.count("\n", 0, block.start(1))
            if ">>> " in block[1]:
                test = doctest.DocTestParser().get_doctest(block[1], names, name, name, line)
                test.globs = names
                doctest.DocTestRunner(Checker(), optionflags=doctest.ELLIPSIS).run(
                    test, out=report.append, clear_globs=False
                )
            else:
                exec(compile("\n" * line + block[1], name, "exec"), names)
    return "".join(report)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in PAGES])
def test_examples_of_the_page_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for those that save files
    report = run_page(name, PAGES[name])
    assert not report, report


def test_the_tutorial_is_among_the_pages():
    assert {"docs/index.md", "docs/geometry.md"} <= set(PAGES)


def test_a_wrong_example_is_reported_with_its_line():
    report = run_page("page.md", "text\n```python\n>>> x = 1\n```\nmore\n```python\n>>> x + 1\n3\n```\n")
    assert "line 7, in page.md" in report
    assert "Got:\n    2" in report


def test_the_sign_of_zero_and_spaces_do_not_matter_but_numbers_do():
    same = Checker().check_output
    assert same("array([0.1, 0. ])\n", "array([ 0.1, -0. ])\n", 0)
    assert same("0.0\n", "-0.0\n", 0)
    assert not same("array([0.1])\n", "array([-0.1])\n", 0)
    assert not same("array([0.01])\n", "array([-0.01])\n", 0)
    assert not same("2\n", "3\n", 0)
