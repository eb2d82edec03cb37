"""Formulas as MathML, written at build time: the pages need neither a script nor a network to show them."""

import html
import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

from multibody.derive.printing import latex_parser as ours
from multibody.derive.printing import mathml as written

logger = logging.getLogger(__name__)
GROUP = r"(?:\{(?:[^{}]|\{[^{}]*\})*\}|\\[A-Za-z]+|[A-Za-z])"
ACCENT = re.compile(rf"(\\(?:dot|ddot|hat|widehat|bar|overline|tilde|vec|overset\s*{GROUP})\s*{GROUP})_")


def mathml(node, as_block):
    """By the library's own writer; docutils writes the few formulas with commands that it does not know."""
    if not ours.unknown(node.astext()):
        return written.mathml(node.astext(), as_block)
    formula = ACCENT.sub(r"\1{}_", node.astext())  # docutils would put the index under the accented letter
    try:
        return tex2mathml(formula, as_block=as_block).replace(' accent="true"', "")  # which makes it touch the letter
    except MathError as error:
        logger.warning("this formula cannot be shown: %s", error, location=node)
        return f"<code>{html.escape(node.astext())}</code>"


def visit_inline(translator, node):
    translator.body.append(mathml(node, as_block=False))
    raise nodes.SkipNode


def visit_block(translator, node):
    translator.body.append(f'<div class="formula">{mathml(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
