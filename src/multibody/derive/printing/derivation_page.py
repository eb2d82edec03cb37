"""The page of a derivation: its symbols, the derivation step by step, the equations by rows and as matrices."""

from typing import TYPE_CHECKING, Any

import sympy as sp

from multibody.derive.printing.latex_expressions import DIGITS, is_rounded
from multibody.derive.printing.line_breaks import Layout
from multibody.derive.printing.page_elements import Block, Equality, Formula, Heading, Sentence
from multibody.derive.printing.symbol_names import latex_name
from multibody.derive.results.steps import term
from multibody.derive.system.symbols import TIME

if TYPE_CHECKING:
    from multibody.derive.results.equations import Equations


def outline(equations: "Equations", layout: Layout, title: str, steps: bool = False) -> list[Block]:
    """All of a page: with the derivation, or with the equations alone."""
    blocks: list[Block] = [Heading(title), *about(equations, layout)]
    written = rows(equations, layout)
    if not layout.readable(written):
        written = []
    if not steps:
        blocks += [Heading("Equations of motion", 2), *written]
        return [*blocks, *[Sentence("As matrices:")] * bool(written), *matrices(equations, layout)]
    blocks += derivation(equations, layout)
    return [*blocks, Heading("Row by row", 2), *written] if written else blocks


def about(equations: "Equations", layout: Layout) -> list[Block]:
    """Explain the symbols: parameters are those that take part."""
    system = equations.system
    parts = (equations.inertial, equations.tau, equations.J, equations.drift, system.rates)
    seen = set().union(*(part.free_symbols for part in parts))
    kinds = {
        "coordinates": system.q,
        "velocities": () if system.holonomic_velocities else system.v,
        "inputs": system.inputs,
        "time": (TIME,) if TIME in seen else (),
        "parameters": tuple(symbol for symbol in system.parameters if symbol in seen),
    }
    said = "; ".join(f"{kind} {listed(symbols)}" for kind, symbols in kinds.items() if symbols)
    blocks: list[Block] = [Sentence(f"{said[0].upper()}{said[1:]}.")]
    if any(is_rounded(part) for part in parts):
        blocks.append(Sentence(f"Long numbers are written with {DIGITS} digits; the equations themselves are exact."))
    if not system.holonomic_velocities:
        blocks += layout.result(r"\dot q", system.q_dot)
    return blocks


def listed(symbols: Any) -> str:
    """Symbols as formulas, with commas between them."""
    return ", ".join(f"${latex_name(symbol.name)}$" for symbol in symbols)


def derivation(equations: "Equations", layout: Layout) -> list[Block]:
    """Every step: a sentence, the rule, what came out."""
    blocks: list[Block] = []
    known: dict[str, Any] = {}
    for number, step in enumerate(equations.steps, 1):
        blocks += [Heading(f"{number}. {step.title}", 2)]
        blocks += [Sentence("", step.tag)] * bool(step.tag)
        if step.formula:
            blocks.append(Formula(step.formula))
        again = [name for name, value in step.results if _head(name) in known and known[_head(name)] == value]
        if again:
            named = [term(name, known[name], layout.velocity) for name in map(_head, again)]
            blocks.append(Sentence(f"{_listed(named)} as above."))
        for name, value in step.results:
            if name not in again:
                blocks += layout.result(name, value)
            known[_head(name)] = value
    return blocks


def _head(name: str) -> str:
    """The name itself, where it comes with its rule, as in M = ..."""
    return name.partition("=")[0].strip()


def _listed(names: list[str]) -> str:
    *some, last = (f"${name}$" for name in names)
    return f"{', '.join(some)} and {last}" if some else last


def rows(equations: "Equations", layout: Layout) -> list[Equality]:
    """One equation for each velocity, and one for each constraint."""
    write, system = layout.write, equations.system
    blocks: list[Equality] = []
    forces = equations.tau + equations.J.T * sp.Matrix(equations.J.rows, 1, equations.multipliers)
    for i in range(len(system.v)):
        left = _times(equations.M.row(i), system.a, layout) + write.terms(equations.b[i]) + write.terms(equations.g[i])
        blocks.append(layout.equality("", left, write.terms(forces[i])))
    for i in range(equations.J.rows):
        left = _times(equations.J.row(i), system.a, layout) + write.terms(equations.drift[i])
        blocks.append(layout.equality("", left, []))
    return blocks


def _times(row: Any, symbols: tuple[sp.Symbol, ...], layout: Layout) -> list[str]:
    """The terms of a product of a row and a column of symbols, with a sum in brackets."""
    terms = []
    for coefficient, symbol in zip(row, symbols, strict=True):
        if coefficient == 0:
            continue
        negative = all(x.as_coeff_Mul()[0] < 0 for x in sp.Add.make_args(coefficient))
        factor = -coefficient if negative else coefficient
        written = "" if factor == 1 else layout.write.factor(factor) + " "
        terms.append(f"{'-' if negative else '+'}{written}{latex_name(symbol.name)}")
    return terms


def matrices(equations: "Equations", layout: Layout) -> list[Block]:
    """The equations as matrices."""
    step = equations.result
    return [Formula(step.formula), *(block for name, value in step.results for block in layout.result(name, value))]
