"""Source files as pages, so that the equation index leads to the code and the tests that it names.

Each function and class is an anchor with its full name: `sources/src/multibody/geometry/so3.py.html#exp`.
"""

import ast
from collections.abc import Iterable
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

ROOT = Path(__file__).resolve().parent.parent
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{path}</title>
<style>
body {{ max-width: 70rem; margin: 1rem auto; padding: 0 1rem; font-family: sans-serif; }}
pre {{ white-space: pre-wrap; line-height: 1.4; }}
p, pre {{ overflow-wrap: anywhere; }}
:target {{ background: #fff3b0; display: inline-block; width: 100%; }}
{style}</style></head><body><p><a href="{up}equations.html">Equation index</a> · <code>{path}</code></p>
{code}</body></html>
"""


def scopes(source: str) -> dict[int, str]:
    """The full names of functions and classes, by the lines on which they begin; of overloads the first."""
    lines: dict[int, str] = {}

    def visit(node: ast.AST, outer: tuple[str, ...]) -> None:
        for child in ast.iter_child_nodes(node):
            inner = outer
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = (*outer, child.name)
                name = ".".join(inner)
                if name not in lines.values():
                    lines[child.lineno] = name
            visit(child, inner)

    visit(ast.parse(source), ())
    return lines


def page(path: str, source: str) -> str:
    """The page of a file."""
    lines = highlight(source, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)).split("\n")
    for number, name in scopes(source).items():
        lines[number - 1] = f'<span id="{name}">{lines[number - 1]}</span>'
    code = '<div class="highlight"><pre>' + "\n".join(lines) + "</pre></div>"
    style = HtmlFormatter(style="default").get_style_defs(".highlight")
    return PAGE.format(path=path, code=code, style=style, up="../" * (path.count("/") + 1))


def write(paths: Iterable[str], place: Path, root: Path = ROOT) -> None:
    """Write the pages of files; those that are newer than their sources stay."""
    newest = Path(__file__).stat().st_mtime
    for path in paths:
        target, source = place / f"{path}.html", root / path
        if target.exists() and target.stat().st_mtime > max(source.stat().st_mtime, newest):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page(path, source.read_text(encoding="utf-8")), encoding="utf-8")
