"""A page of its own in HTML: no script, no network, light and dark."""

from html import escape

STYLE = """
:root { color-scheme: light dark; --text: #1d2127; --faint: #5c6570; --line: #d8dde3; --back: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e7eb; --faint: #9aa4af; --line: #3a424b; --back: #16191d; }
}
body { color: var(--text); background: var(--back); max-width: 62rem; margin: 2rem auto; padding: 0 1.2rem;
  font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 1.6rem; }
h2 { font-size: 1.15rem; margin-top: 2rem; border-top: 1px solid var(--line); padding-top: 1rem; }
.tag { color: var(--faint); font-size: 0.9rem; }
"""
FONTS = (
    "Latin Modern Math",
    "STIX Two Math",
    "Cambria Math",
    "TeX Gyre Termes Math",
    "DejaVu Math TeX Gyre",
    "DejaVu Sans",
)
"""Fonts whose brackets stretch, of TeX, macOS, Windows and Debian, whose own font for `math` has no such brackets."""
FORMULAS = (
    f"math {{ font-family: {', '.join(map(repr, FONTS))}, math; font-size: 1.1em; }}"
    + """
.formula { overflow: auto hidden; padding: 0.35rem 0; }
math[display="block"] { width: fit-content; margin: 0 0 0 1.5rem; }
mover > mo { font-size: 1em; }
mtable.aligned mtd { text-align: left; padding-left: 0; padding-right: 0; }
mtable.aligned mtd:first-child { text-align: right; }
mtable.matrix mtd { padding: 0.15em 0.5em; }
"""
)


def standalone(title: str, body: str) -> str:
    """The whole page."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}{FORMULAS}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
