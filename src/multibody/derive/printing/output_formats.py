"""Blocks written out: LaTeX, Markdown, lines of text, HTML."""

import re
from collections.abc import Iterable, Sequence
from html import escape

from multibody.derive.printing.mathml import mathml
from multibody.derive.printing.page_elements import Block, Equality, Formula, Heading, Sentence, Table
from multibody.derive.printing.symbol_names import GREEK
from multibody.derive.printing.symbol_names import escape as latex_escape
from multibody.derive.printing.unicode_text import padded, text, width

PREAMBLE = r"""\documentclass[a4paper]{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage{lmodern}
\usepackage[margin=2cm]{geometry}
\usepackage{amsmath,amssymb}
\setcounter{MaxMatrixCols}{30}
\allowdisplaybreaks
\setlength{\parindent}{0pt}
\begin{document}
"""
INDENT = 2
"""Columns to the left of formulas in text."""
Words = Heading | Sentence
_CHARACTERS = {character: f"$\\{name}$" for name, character in GREEK.items()}
_CHARACTERS |= {"–": "--", "×": r"$\times$", "²": "$^2$", "³": "$^3$", "¹": "$^1$", "·": r"$\cdot$", "→": r"$\to$"}
_MATH = re.compile(r"\$([^$]*)\$")


# LaTeX and Markdown


def latex(blocks: Iterable[Block]) -> str:
    """LaTeX to put into a document that uses amsmath."""
    return "\n".join(_latex(block) for block in blocks) + "\n"


def document(blocks: Iterable[Block]) -> str:
    """A LaTeX document of its own."""
    return PREAMBLE + latex(blocks) + "\\end{document}\n"


def _latex(block: Block) -> str:
    if isinstance(block, Heading):
        return f"\\{'sub' * (block.level - 1)}section*{{{_latex_words(block.text)}}}"
    if isinstance(block, Sentence):
        tag = f"\\hfill [{block.tag}]" if block.tag else ""
        return f"{_latex_words(block.text)}{tag}\n".lstrip() if block.text else f"\\textit{{[{block.tag}]}}\n"
    return f"\\[\n{display(block)}\n\\]"


def _latex_words(words: str) -> str:
    parts = re.split(r"(\$[^$]*\$)", words)
    said = "".join(part if part.startswith("$") else latex_escape(part) for part in parts)
    return re.sub(r"[^\x00-\x7f]", lambda match: _CHARACTERS.get(match[0], match[0]), said)


def display(block: Formula | Equality | Table) -> str:
    """The formula of a block."""
    if isinstance(block, Formula):
        return block.latex
    if isinstance(block, Table):
        rows = " \\\\\n".join(" & ".join(row) for row in block.entries)
        return f"{block.left} = \\begin{{bmatrix}}\n{rows}\n\\end{{bmatrix}}"
    left = f"{block.left} = " if block.left else ""
    if len(block.lines) == 1:
        return left + block.lines[0]
    first, *rest = block.lines
    lines = [f"{block.left} &= {first}" if block.left else f"& {first}", *(f"&\\quad {{}}{line}" for line in rest)]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def markdown(blocks: Iterable[Block], level: int = 1) -> str:
    """Markdown with formulas between dollar signs; the page's title is a heading of this level."""
    return "\n\n".join(_markdown(block, level) for block in blocks) + "\n"


def _markdown(block: Block, level: int) -> str:
    if isinstance(block, Heading):
        return f"{'#' * (block.level + level - 1)} {block.text}"
    if isinstance(block, Sentence):
        return f"{block.text} {f'*[{block.tag}]*' if block.tag else ''}".strip()
    return f"$$\n{display(block)}\n$$"


# Text


def lines(block: Block, columns: int) -> list[str]:
    """A block as lines of text."""
    if isinstance(block, Heading):
        return ["", *wrapped(_words(block.text).split(), columns)]
    if isinstance(block, Sentence):
        said = f"{_words(block.text)} {f'[{block.tag}]' if block.tag else ''}"
        return wrapped(said.split(), columns)
    if isinstance(block, Formula):
        return [" " * INDENT + line for line in broken(text(block.latex), columns - INDENT, "  ")]
    left = f"{' ' * INDENT}{text(block.left)} = " if block.left else " " * INDENT
    if isinstance(block, Table):
        return _table_lines(left, [[text(x) for x in row] for row in block.entries])
    indent = " " * (width(left) if width(left) <= columns // 3 else 4)
    first, rest = text(block.lines[0]), [_continued(line) for line in block.lines[1:]]
    written = []
    for line in [left + first, *(indent + ("" if block.left else "  ") + line for line in rest)]:
        written += broken(line, columns, indent + "  ")
    return written


def _continued(line: str) -> str:
    """A line that begins with the sign of its first term, or with an equals sign."""
    return f"{line[0]} {text(line[1:])}" if line[0] in "+-=" else text(line)


def _words(words: str) -> str:
    return _MATH.sub(lambda match: text(match[1]), words)


def wrapped(words: Sequence[str], columns: int, indent: str = "") -> list[str]:
    """Words in lines of so many columns; only a word that is wider than that makes a line wider."""
    made, line = [], ""
    for k, word in enumerate(words):
        longer = f"{line} {word}" if k and (line or not made) else (indent if made else "") + word
        if line.strip() and width(longer) > columns:
            made.append(line.rstrip())
            longer = indent + word if word else ""
        line = longer
    return [*made, line]


def broken(line: str, columns: int, indent: str) -> list[str]:
    """A line of a formula, broken before signs and between formulas; inside of a term only where that is too wide."""
    words = [
        part
        for chunk in re.split(r" (?=[+=-] )|(?<=,)  ", line)
        for part in ([chunk] if width(chunk) + len(indent) <= columns else chunk.split(" "))
    ]
    return wrapped(words, columns, indent)


def _table_lines(left: str, cells: list[list[str]]) -> list[str]:
    widths = [max(map(width, column)) for column in zip(*cells, strict=True)]
    body = ["  ".join(padded(x, w) for x, w in zip(row, widths, strict=True)) for row in cells]
    if len(body) == 1:
        return [f"{left}[ {body[0]} ]"]
    made = []
    for k, row in enumerate(body):
        place = 0 if k == 0 else 2 if k == len(body) - 1 else 1
        before = left if k == (len(body) - 1) // 2 else " " * width(left)
        made.append(f"{before}{'⎡⎢⎣'[place]} {row} {'⎤⎥⎦'[place]}")
    return made


def plain(blocks: Iterable[Block], columns: int) -> str:
    """Text for a terminal of so many columns."""
    written = [line for block in blocks for line in lines(block, columns)]
    return "\n".join(line.rstrip() for line in written).lstrip("\n") + "\n"


# HTML


def html(blocks: Iterable[Block]) -> str:
    """HTML with MathML, to put into a page."""
    return "\n".join(_html(block) for block in blocks) + "\n"


def _html(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{_html_words(block.text)}</h{block.level}>"
    if isinstance(block, Sentence):
        tag = f' <span class="tag">[{escape(block.tag)}]</span>' if block.tag else ""
        return f"<p>{_html_words(block.text)}{tag}</p>"
    return f'<div class="formula">{mathml(display(block), block=True)}</div>'


def _html_words(words: str) -> str:
    parts = re.split(r"(\$[^$]*\$)", words)
    return "".join(mathml(part[1:-1]) if part.startswith("$") else escape(part) for part in parts)
