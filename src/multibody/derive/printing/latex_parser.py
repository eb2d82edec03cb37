"""The part of LaTeX that derivations use, as a tree: one reading, from which text and MathML are written."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from multibody.derive.printing.symbol_names import GREEK

LETTERS = GREEK | {"ell": "ℓ", "varphi": "φ", "varepsilon": "ε"}
_SIGNS = "times cdot to rightarrow Rightarrow mapsto le leq ge geq neq ne approx equiv in pm mp circ wedge"
SIGNS = dict(zip(_SIGNS.split(), "×·→→⇒↦≤≤≥≥≠≠≈≡∈±∓∘∧", strict=True))
PREFIXES = {"partial": "∂", "sum": "∑", "int": "∫", "prod": "∏", "nabla": "∇"}
PLAIN = {"top": "⊤", "infty": "∞", "dots": "…", "ldots": "…", "cdots": "⋯", "lbrace": "{", "rbrace": "}", "prime": "′"}
_FUNCTIONS = "sin cos tan cot exp log ln arcsin arccos arctan sinh cosh tanh det min max asin acos atan"
FUNCTIONS = frozenset(_FUNCTIONS.split())
ACCENTS = {"dot": "\u0307", "ddot": "\u0308", "bar": "\u0304", "hat": "\u0302", "tilde": "\u0303", "vec": "\u20d7"}
WIDE_ACCENTS = {"overline": "bar", "widehat": "hat", "widetilde": "tilde"}
STYLES = frozenset(
    ("mathrm", "operatorname", "text", "textrm", "mathbf", "boldsymbol", "mathcal", "mathfrak", "mathsf")
)
SIZES = frozenset(("big", "Big", "bigl", "bigr", "Bigl", "Bigr", "bigg", "Bigg", "displaystyle"))
SPACES = {",": 0.17, ":": 0.22, ";": 0.28, "!": 0.0, " ": 0.3, "quad": 1.0, "qquad": 2.0}
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}^_&]|\d+(?:\.\d+)?|\s+|.", re.DOTALL)


@dataclass(frozen=True)
class Letter:
    """A name: one letter, or several when it is upright."""

    text: str
    upright: bool = False
    function: bool = False
    known: bool = True


@dataclass(frozen=True)
class Number:
    """Digits."""

    text: str


@dataclass(frozen=True)
class Sign:
    """An operator, a relation, a comma; a prefix such as ∂ or ∑ clings to what follows it."""

    text: str
    prefix: bool = False


@dataclass(frozen=True)
class Space:
    """A gap, in em."""

    width: float


@dataclass(frozen=True)
class Row:
    """Things side by side."""

    items: "tuple[Node, ...]"


@dataclass(frozen=True)
class Script:
    """Something with an index, a power, or both."""

    base: "Node"
    sub: "Node | None" = None
    sup: "Node | None" = None


@dataclass(frozen=True)
class Fraction:
    """One over the other."""

    over: "Node"
    under: "Node"


@dataclass(frozen=True)
class Root:
    """A square root."""

    body: "Node"


@dataclass(frozen=True)
class Accent:
    """A mark above."""

    mark: str
    base: "Node"


@dataclass(frozen=True)
class Fenced:
    """Something in brackets that grow with it."""

    left: str
    body: "Node"
    right: str


@dataclass(frozen=True)
class Grid:
    """Rows of cells: a matrix, aligned lines, cases."""

    kind: str
    rows: "tuple[tuple[Node, ...], ...]"


Node = Letter | Number | Sign | Space | Row | Script | Fraction | Root | Accent | Fenced | Grid


@lru_cache(maxsize=4096)
def read(latex: str) -> Row:
    r"""The tree of a formula. Commands that are not known become their names; `unknown` lists them.

    >>> read(r"\dot x^2").items
    (Script(base=Accent(mark='dot', base=Letter(text='x', upright=False, function=False, known=True)), sub=None,
    sup=Number(text='2')),)
    """
    tokens = _Tokens(_TOKEN.findall(latex))
    return tokens.row(())


def unknown(latex: str) -> set[str]:
    """The commands of a formula that are not known."""
    return {node.text for node in walk(read(latex)) if isinstance(node, Letter) and not node.known}


def walk(tree: Any) -> Iterator[Node]:
    """A node, or several in tuples, and all nodes in them."""
    if isinstance(tree, tuple):
        for part in tree:
            yield from walk(part)
    elif isinstance(tree, Node):
        yield tree
        yield from walk(tuple(vars(tree).values()))


class _Tokens:
    """A formula, read from left to right."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.at = tokens, 0

    def peek(self) -> str:
        while self.at < len(self.tokens) and self.tokens[self.at].isspace():
            self.at += 1
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def row(self, ends: tuple[str, ...]) -> Row:
        """Everything up to one of the ends, which stays."""
        items: list[Node] = []
        while (token := self.peek()) and token not in ends:
            if token in ("^", "_"):
                items.append(self.scripts(items.pop() if items else Row(())))
                continue
            if token == "(" and items and not self.tokens[self.at - 1].isspace():
                items.append(Space(0.0))  # f(x): the bracket belongs to the name
            items.append(self.item())
        return Row(tuple(items))

    def scripts(self, base: Node) -> Script:
        scripts: dict[str, Node] = {}
        while (token := self.peek()) in ("^", "_"):
            self.take()
            scripts[token] = self.argument()
        return Script(base, scripts.get("_"), scripts.get("^"))

    def argument(self) -> Node:
        body = self.item()
        return body.items[0] if isinstance(body, Row) and len(body.items) == 1 else body

    def item(self) -> Node:
        token = self.take()
        if token == "{":
            body = self.row(("}",))
            self.take()
            return body
        if token.startswith("\\"):
            return self.command(token[1:])
        if token[:1].isdigit():
            return Number(token)
        if token.isalpha():
            return Letter(token)
        return Sign("′" if token == "'" else token)

    def command(self, name: str) -> Node:
        if name in SPACES:
            return Space(SPACES[name])
        if name in ("frac", "tfrac", "dfrac"):
            return Fraction(self.argument(), self.argument())
        if name == "sqrt":
            return Root(self.argument())
        if name in ACCENTS or name in WIDE_ACCENTS:
            return Accent(WIDE_ACCENTS.get(name, name), self.argument())
        if name in STYLES:
            return Letter(self.words(), upright=name not in ("mathcal", "boldsymbol", "mathfrak"))
        if name == "left":
            left = self.take()
            body = self.row(("\\right",))
            self.take()
            return Fenced(left.lstrip("\\"), body, self.take().lstrip("\\"))
        if name in SIZES:
            return self.item()
        if name == "begin":
            return self.grid(self.words())
        return _named(name)

    def words(self) -> str:
        """The text in braces, letter by letter, spaces too."""
        if self.peek() != "{":
            return self.take().lstrip("\\")
        self.take()
        start, depth = self.at, 1
        while depth and self.at < len(self.tokens):
            depth += {"{": 1, "}": -1}.get(self.tokens[self.at], 0)
            self.at += 1
        return "".join(_plain(token) for token in self.tokens[start : self.at - 1])

    def grid(self, kind: str) -> Grid:
        rows: list[tuple[Node, ...]] = []
        cells: list[Node] = []
        while True:
            cells.append(self.row(("&", "\\\\", "\\end")))
            end = self.take()
            if end != "&":
                rows.append(tuple(cells))
                cells = []
            if end in ("\\end", ""):
                self.words()
                return Grid(kind, tuple(row for row in rows if row != (Row(()),)))


def _plain(token: str) -> str:
    return LETTERS.get(token[1:], token[1:]) if token.startswith("\\") else token


def _named(name: str) -> Node:
    if name in LETTERS:
        return Letter(LETTERS[name])
    if name in FUNCTIONS:
        return Letter(name, upright=True, function=True)
    if name in PREFIXES:
        return Sign(PREFIXES[name], prefix=True)
    if name in SIGNS:
        return Sign(SIGNS[name])
    if name in PLAIN:
        return Letter(PLAIN[name], upright=True)
    return Letter(name, upright=True, known=len(name) == 1 and not name.isalpha())
