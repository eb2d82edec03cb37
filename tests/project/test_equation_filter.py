"""The filter box of the equation index in a browser: words keep rows, and a link to a hidden row shows it again."""

import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
SCRIPT = Path(__file__).parents[2] / "docs" / "_static" / "equation_filter.js"
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ROWS = {"rd-2.57": "Product of quaternions", "rd-2.58": "Left matrix", "mdn-39": "The cross product anticommutes"}
SECTIONS = "".join(
    f'<section id="{document}"><table>'
    + "".join(f'<tr><td><a id="{k}">{k}</a></td><td>{t}</td></tr>' for k, t in ROWS.items() if k.startswith(document))
    + "</table></section>"
    for document in ("rd", "mdn")
)
PAGE = f"""<section><p id="equation-filter" hidden><input> <output></output></p>{SECTIONS}</section>
<script>{SCRIPT.read_text(encoding="utf-8")}</script>"""


def test_words_filter_rows_and_a_link_shows_its_row() -> None:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if BROWSER is None:
        pytest.skip("no chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_content(PAGE)

        def visible() -> list[str]:
            return page.evaluate("[...document.querySelectorAll('a[id]')].filter(a => a.offsetParent).map(a => a.id)")

        assert page.is_visible("#equation-filter")
        assert visible() == list(ROWS)
        page.fill("input", "RD product")
        assert visible() == ["rd-2.57"]
        assert page.evaluate("document.querySelector('output').value") == "1 of 3"
        assert not page.is_visible("#mdn")
        page.evaluate("location.hash = '#mdn-39'")
        page.wait_for_function("document.querySelector('input').value === ''")
        assert visible() == list(ROWS)
        browser.close()
