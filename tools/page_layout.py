"""What of the built site does not fit its page: `make docs`, then

    python tools/page_layout.py [--width 1366 --width 400] [--chromium /usr/bin/chromium] [PAGE ...]

opens every page of docs/_build/html in a headless Chromium (`pip install playwright`; the browser is the system's) and
prints what is wider than its box, by how many pixels, and which sidebars are empty. It fails if there is any.
"""

import argparse
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

SITE = Path(__file__).resolve().parents[1] / "docs" / "_build" / "html"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

CUT = """
() => {
    const cut = [];
    const text = (element) => element.textContent.trim().slice(0, 50).replace(/\\s+/g, " ");
    const tell = (what, element, by) => cut.push([what, text(element), by]);
    const root = document.documentElement, narrow = root.clientWidth < 800;
    if (root.scrollWidth > root.clientWidth) cut.push(["page", "", root.scrollWidth - root.clientWidth]);
    for (const element of document.querySelectorAll(
        "article table, article pre, article div.formula, article dt.sig, article .pst-scrollable-table-container, " +
        "article p, article li, article h1, article h2, article h3, .bd-sidebar a, nav.page-toc a")) {
        if (!element.offsetParent) continue;
        const by = element.scrollWidth - element.clientWidth, style = getComputedStyle(element);
        const scrolls = narrow && ["auto", "scroll"].includes(style.overflowX);  // as usual on telephones
        if (element.clientWidth && by > 1 && style.display != "inline" && !scrolls)
            tell(element.tagName.toLowerCase(), element, by);
    }
    const page = document.querySelector(".bd-article-container");
    for (const element of page ? page.querySelectorAll("table, pre, dt.sig, img, div.formula math") : []) {
        const by = Math.round(element.getBoundingClientRect().right - page.getBoundingClientRect().right);
        const box = element.closest("pre, .formula, .pst-scrollable-table-container");
        if (by > 1 && !(narrow && box)) tell("past the page: " + element.tagName.toLowerCase(), element, by);
    }
    for (const bar of document.querySelectorAll(".bd-sidebar-primary, .bd-sidebar-secondary")) {
        const shown = bar.offsetParent && bar.getBoundingClientRect().width > 1;
        if (shown && !bar.innerText.trim()) tell("empty sidebar", bar, 0);
    }
    return cut;
}
"""


def cuts(page: Page, name: str) -> list[tuple[str, str, int]]:
    """What does not fit on a page: its kind, the beginning of its text, by how many pixels."""
    page.goto((SITE / name).as_uri())
    return page.evaluate(CUT)


def main() -> int:
    """Open the pages, print what does not fit."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="as errata.html; all pages without any")
    parser.add_argument("--width", type=int, action="append", help="in pixels; 1366 and 400 without any")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    names = options.pages or sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
    if not names:
        print(f"no pages in {SITE}: run `make docs` first")
        return 1
    count = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium, args=FLAGS)
        for width in options.width or [1366, 400]:
            page = browser.new_page(viewport={"width": width, "height": 900})
            for name in names:
                for kind, text, by in cuts(page, name):
                    print(f"{width:5} {name}: {kind} by {by}: {text}")
                    count += 1
        browser.close()
    print(f"{len(names)} pages, {count} that do not fit")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
