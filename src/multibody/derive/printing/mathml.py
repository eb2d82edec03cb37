"""Formulas as MathML, which browsers show without a script and without a network."""

from html import escape

from multibody.derive.printing import latex_parser as tex

MARKS = {"dot": "˙", "ddot": "¨", "bar": "¯", "hat": "^", "tilde": "~", "vec": "→"}
BRACKETS = {"bmatrix": "[]", "pmatrix": "()", "cases": "{ "}
CLOSING = frozenset(")]!′|")
BIG = frozenset("∑∫∏")


def mathml(latex: str, block: bool = False) -> str:
    """A formula as a `<math>` element.

    >>> mathml("m_{1} + 2")
    '<math><msub><mi>m</mi><mn>1</mn></msub><mo>+</mo><mn>2</mn></math>'
    """
    kind = ' display="block"' if block else ""
    return f"<math{kind}>{_inside(tex.read(latex))}</math>"


def _inside(node: tex.Node) -> str:
    """A row without the element around it."""
    if not isinstance(node, tex.Row):
        return _element(node)
    written = ""
    items = [item for item in node.items if item != tex.Space(0.0)]
    for k, item in enumerate(items):
        before = items[k - 1] if k else None
        if before is not None and _needs_air(before, item):
            written += '<mspace width="0.17em"/>'
        opened = before is None or (isinstance(before, tex.Sign) and before.text not in CLOSING)
        unary = isinstance(item, tex.Sign) and item.text in "+-" and opened
        written += '<mo form="prefix">−</mo>' if unary and item == tex.Sign("-") else _element(item)
    return written


def _needs_air(before: tex.Node, item: tex.Node) -> bool:
    """Whether one of two neighbours is a name of several letters, and no sign parts them."""
    if _word(before):
        return not isinstance(item, tex.Sign | tex.Fenced | tex.Space)
    return _word(item) and not isinstance(before, tex.Sign | tex.Space)


def _word(node: tex.Node) -> bool:
    base = node.base if isinstance(node, tex.Script | tex.Accent) else node
    return isinstance(base, tex.Letter) and len(base.text) > 1


def _element(node: tex.Node) -> str:
    if isinstance(node, tex.Letter):
        upright = ' mathvariant="normal"' if node.upright and len(node.text) == 1 else ""
        return f"<mi{upright}>{escape(node.text)}</mi>"
    if isinstance(node, tex.Number):
        return f"<mn>{node.text}</mn>"
    if isinstance(node, tex.Sign):
        return _sign(node)
    if isinstance(node, tex.Space):
        return f'<mspace width="{node.width:g}em"/>' if node.width else ""
    if isinstance(node, tex.Row):
        return f"<mrow>{_inside(node)}</mrow>"
    if isinstance(node, tex.Script):
        parts = [part for part in (node.base, node.sub, node.sup) if part is not None]
        name = f"m{'sub' if node.sub is not None else ''}{'sup' if node.sup is not None else ''}"
        return f"<{name}>{''.join(map(_element, parts))}</{name}>"
    if isinstance(node, tex.Fraction):
        return f"<mfrac>{_element(node.over)}{_element(node.under)}</mfrac>"
    if isinstance(node, tex.Root):
        return f"<msqrt>{_inside(node.body)}</msqrt>"
    if isinstance(node, tex.Accent):
        mark = f'<mo stretchy="false">{escape(MARKS[node.mark])}</mo>'
        return f"<mover>{_element(node.base)}{mark}</mover>"  # as an accent, browsers let it touch the letter
    if isinstance(node, tex.Fenced):
        return f"<mrow>{_fence(node.left, 'prefix')}{_inside(node.body)}{_fence(node.right, 'postfix')}</mrow>"
    return _grid(node)


def _sign(node: tex.Sign) -> str:
    if node.text in "()[]":
        return f'<mo stretchy="false">{node.text}</mo>'
    if node.prefix and node.text not in BIG:
        return f"<mi>{node.text}</mi>"
    return f"<mo>{escape(node.text.replace('-', '−'))}</mo>"


def _fence(bracket: str, form: str) -> str:
    bracket = bracket.replace("lbrace", "{").replace("rbrace", "}")
    return "" if bracket in (".", " ") else f'<mo form="{form}" fence="true" stretchy="true">{escape(bracket)}</mo>'


def _grid(node: tex.Grid) -> str:
    rows = "".join(f"<mtr>{''.join(f'<mtd>{_inside(cell)}</mtd>' for cell in row)}</mtr>" for row in node.rows)
    kind = "matrix" if node.kind.endswith("matrix") else node.kind
    table = f'<mtable class="{kind}">{rows}</mtable>'
    left, right = BRACKETS.get(node.kind, "  ")
    return f"<mrow>{_fence(left, 'prefix')}{table}{_fence(right, 'postfix')}</mrow>"
