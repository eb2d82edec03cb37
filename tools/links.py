"""Do the links lead anywhere? Of the built site, and of the Markdown that is read where the code is.

    python tools/links.py    after `make docs`, which runs it

Every `href` and `src` of docs/_build/html that is no address elsewhere must name a file of the site, and its anchor one
of that page; every relative link of README.md, CONTRIBUTING.md and CHANGELOG.md a file of the repository.
"""

import re
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "docs" / "_build" / "html"
MARKDOWN = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
LINK = re.compile(r"\]\(([^)\s]+)\)")


class Page(HTMLParser):
    """What a page links to, and the names that links can lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[tuple[int, str]] = []
        self.anchors = {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Called by the parser for each element."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append((self.getpos()[0], value))
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value or "")


@cache
def page(path: Path) -> Page:
    """A page of the site."""
    return Page(path.read_text(encoding="utf-8"))


def broken(path: Path, link: str) -> str:
    """What is wrong with a link on a page or in a Markdown file; empty if nothing is."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return ""
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir() and target.is_relative_to(SITE):
        target = target / "index.html"
    if not target.exists():
        return "there is no such file"
    if target.suffix == ".html" and unquote(parts.fragment) not in page(target).anchors:
        return f"{target.name} has no anchor {parts.fragment}"
    return ""


def main() -> int:
    """Print the links that lead nowhere; fail if there are any."""
    pages = sorted(path for path in SITE.rglob("*.html") if path.parent.name != "_static")
    if not pages:
        print(f"no pages in {SITE}: run `make docs`")
        return 1
    links = [(path, line, link) for path in pages for line, link in page(path).links]
    for name in MARKDOWN:
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        links += [(ROOT / name, number, link) for number, line in enumerate(lines, 1) for link in LINK.findall(line)]
    bad = [(path, line, link, why) for path, line, link in links if (why := broken(path, link))]
    for path, line, link, why in bad:
        print(f"{path.relative_to(ROOT)}:{line}: {link}: {why}")
    print(f"{len(pages)} pages, {len(links)} links, {len(bad)} that lead nowhere")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
