"""Equations and derivations to read: LaTeX, Markdown, Unicode text, HTML with MathML."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from multibody.derive.printing import derivation_page, linearisation_page, output_formats
from multibody.derive.printing.abbreviations import Names
from multibody.derive.printing.html_document import FORMULAS
from multibody.derive.printing.latex_expressions import Writer
from multibody.derive.printing.line_breaks import Layout
from multibody.derive.printing.page_elements import Block, Equality, Heading
from multibody.geometry._arrays import truth

if TYPE_CHECKING:
    from multibody.derive.results.equations import Equations

COLUMNS = 90
"""Where formulas are broken in formats that have no width of their own."""


def blocks(equations: "Equations", steps: bool = False, short: bool = False, columns: int = COLUMNS) -> list[Block]:
    """Content of a page about equations, before it is written in a format."""
    return derivation_page.outline(
        equations, layout_of(equations, short, columns), title(equations), truth(steps, "steps")
    )


def linear_blocks(
    equations: "Equations",
    at: Sequence[Mapping[Any, Any]] | None = None,
    short: bool = False,
    columns: int = COLUMNS,
    parameters: Mapping[Any, Any] | None = None,
) -> list[Block]:
    """Content of a page about the linearised equations: at given places, or at the equilibria without inputs.

    Args:
        equations: the equations.
        at: values of coordinates, inputs and parameters by symbol or name, for each place.
        short: write cos(q1 + q2) as c_12.
        columns: where formulas are broken.
        parameters: values of parameters, by symbol or name, where equilibria are looked for.
    """
    layout = layout_of(equations, short, columns)
    places = linearisation_page.places(equations, parameters) if at is None else at
    head = [Heading(f"{equations.system.name}, linearised"), *derivation_page.about(equations, layout)]
    return [*head, *linearisation_page.linear(equations, layout, places)]


def layout_of(equations: "Equations", short: bool = False, columns: int = COLUMNS) -> Layout:
    """How results of these equations are written, so that matrices and symbols have different names."""
    symbols = (*equations.system.parameters, *equations.system.inputs, *equations.system.q)
    taken = frozenset(symbol.name for symbol in symbols)
    names = Names(symbol.name for symbol in (*symbols, *equations.system.v, *equations.multipliers))
    velocity = r"\dot q" if equations.system.holonomic_velocities else "v"
    return Layout(columns, Writer(truth(short, "short"), taken), velocity, names=names)


def title(equations: "Equations") -> str:
    """The system and the method."""
    from multibody.derive.methods import METHODS  # which makes equations

    method = METHODS.get(equations.method)
    return f"{equations.system.name}: {method.title if method else equations.method}"


def notebook_html(equations: "Equations") -> str:
    """HTML for notebooks: the equations, row by row, or as matrices when the rows are long."""
    return f"<style>{FORMULAS}</style>{output_formats.html(_short(equations))}"


def notebook_latex(equations: "Equations") -> str:
    """LaTeX for notebooks that do not show HTML."""
    shown = (
        output_formats.display(block) for block in _short(equations) if not isinstance(block, output_formats.Words)
    )
    lines = " \\\\ ".join(f"& {line}" for line in shown)
    return f"$\\displaystyle \\begin{{aligned}} {lines} \\end{{aligned}}$"


def _short(equations: "Equations") -> Sequence[Block]:
    layout = layout_of(equations, short=False, columns=COLUMNS)
    rows: list[Equality] = derivation_page.rows(equations, layout)
    return rows if layout.readable(rows) else derivation_page.matrices(equations, layout)
