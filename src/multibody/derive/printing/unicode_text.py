"""Formulas as lines of Unicode text."""

import unicodedata

from multibody.derive.printing import latex_parser as tex

SUPERSCRIPTS = str.maketrans("0123456789+-T", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ")
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
PRIMES = {"dot": "′", "ddot": "″"}
SPACED = frozenset("+-=×·→⇒≤≥≠≈≡∈±∓∧<>")
CLINGING = frozenset(",;:.)]!′")
OPENING = frozenset("([")
SUMS, PRODUCTS = (" + ", " - "), (" ", "/")
BEFORE_UNARY = frozenset(("", *"([,=→⇒≤≥"))


def text(latex: str) -> str:
    r"""A formula as one line of text.

    >>> text(r"\left(M + m\right) \ddot{x} - l m \dot{\theta}_{1}^{2} \sin(\theta_{1}) = \frac{F}{2}")
    '(M + m) ẍ - l m θ̇₁² sin(θ₁) = F/2'
    """
    return unicodedata.normalize("NFC", _text(tex.read(latex)))


def width(line: str) -> int:
    """Width of a line in columns of a terminal: accents take none."""
    return sum(not unicodedata.combining(c) for c in line)


def padded(line: str, columns: int) -> str:
    """A line with spaces after it."""
    return line + " " * (columns - width(line))


def _text(node: tex.Node | None) -> str:
    if node is None:
        return ""
    if isinstance(node, tex.Letter | tex.Number | tex.Sign):
        return node.text
    if isinstance(node, tex.Space):
        return "  " if node.width >= 1 else ""
    if isinstance(node, tex.Row):
        return _row(node.items)
    if isinstance(node, tex.Script):
        return _text(node.base) + _sub(node.sub) + _sup(node.sup)
    if isinstance(node, tex.Fraction):
        over, under = _text(node.over), _text(node.under)
        return f"{_bracketed(over, SUMS)}/{_bracketed(under, PRODUCTS)}"
    if isinstance(node, tex.Root):
        body = _text(node.body)
        return f"√{body}" if len(body) == 1 else f"√({body})"
    if isinstance(node, tex.Accent):
        return _accented(node.mark, _text(node.base))
    if isinstance(node, tex.Fenced):
        return f"{node.left.replace('.', '')}{_text(node.body)}{node.right.replace('.', '')}"
    return _grid(node)


def _row(items: tuple[tex.Node, ...]) -> str:
    written, clings = "", True  # whether what comes next touches what is there
    for k, node in enumerate(items):
        part = _text(node)
        if not part:
            clings = clings or node == tex.Space(0.0)
            continue
        sign = node.text if isinstance(node, tex.Sign) else ""
        ends = isinstance(node, tex.Script) and isinstance(node.base, tex.Sign) and node.base.text in CLINGING
        if sign in SPACED and sign:
            unary = sign in "+-" and written.rstrip()[-1:] in BEFORE_UNARY
            written, clings = (written + sign, True) if unary else (f"{written.rstrip()} {sign} ", True)
            continue
        touches = clings or ends or sign in CLINGING or _opens(node, items[k - 1]) or part.isspace()
        written += part if touches else f" {part}"
        clings = sign in OPENING or _differential(node, items[k + 1 :]) or part.isspace()
    return written


def _opens(node: tex.Node, before: tex.Node) -> bool:
    """Whether a bracket belongs to the function, or the name with an index, before it."""
    function = before.base if isinstance(before, tex.Script) else before
    if not isinstance(function, tex.Letter) or not function.function:
        return False
    return isinstance(node, tex.Fenced) or (isinstance(node, tex.Sign) and node.text in OPENING)


def _differential(node: tex.Node, after: tuple[tex.Node, ...]) -> bool:
    """Whether it is a ∂, or the d of dt alone: any other d is a symbol."""
    base = node.base if isinstance(node, tex.Script) else node
    return base == tex.Sign("∂", prefix=True) or (node == tex.Letter("d") and after == (tex.Letter("t"),))


def _sub(node: tex.Node | None) -> str:
    index = "" if node is None else _text(node).replace(" ", "")
    if index.isdigit():
        return index.translate(SUBSCRIPTS)
    return f"_{index}" if index.isalnum() else f"_({index})" if index else ""


def _sup(node: tex.Node | None) -> str:
    power = "" if node is None else _text(node).replace(" ", "")
    if all(c in "0123456789+-T" for c in power):
        return power.translate(SUPERSCRIPTS)
    return f"^{power}" if power.isalnum() else power if power == "′" else f"^({power})"


def _bracketed(part: str, signs: tuple[str, ...]) -> str:
    """A part in brackets if one of the signs is in it, outside of other brackets."""
    outside, depth = "", 0
    for c in part:
        depth -= c == ")"
        outside += c if depth == 0 else ""
        depth += c == "("
    return f"({part})" if any(sign in outside for sign in signs) else part


def _accented(mark: str, base: str) -> str:
    if width(base) > 1:
        return base + PRIMES.get(mark, f"({mark})")
    return base + tex.ACCENTS[mark]


def _grid(node: tex.Grid) -> str:
    rows = "; ".join("  ".join(filter(None, map(_text, row))) for row in node.rows)
    return f"[{rows}]" if node.kind.endswith("matrix") else rows
