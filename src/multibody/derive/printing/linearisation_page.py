"""The page of linearised equations: where the system can rest, and A and B there."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from multibody.derive.printing.line_breaks import Layout
from multibody.derive.printing.page_elements import Block, Formula, Heading, Sentence
from multibody.derive.printing.symbol_names import latex_name
from multibody.derive.system.values import named
from multibody.errors import InputError

if TYPE_CHECKING:
    from multibody.derive.results.equations import Equations

DIGITS = 6
MAX_PRINTED_INTEGER = 10**9
"""Numbers above and below the line of a fraction from which on it is written as a decimal."""
Place = Mapping[Any, Any]


def places(equations: "Equations", parameters: Place | None = None) -> list[dict[Any, Any]]:
    """The equilibria without inputs: exact ones, or for a robot those of its own numbers.

    Args:
        equations: the equations.
        parameters: values of parameters, by symbol or name, which every place has too.

    Raises:
        InputError: when there is no exact solution, and parameters have no values.
    """
    values = named(equations.system, parameters, "parameters", "parameters")
    tree = equations.system.tree
    try:
        return [{**place, **values} for place in equations.equilibria(parameters=values)]
    except InputError:
        values = {} if tree is None else {**tree.values, **values}
        if not values:
            raise
        return [{**place, **values} for place in equations.equilibria(parameters=values)]


def linear(equations: "Equations", layout: Layout, points: Sequence[Place]) -> list[Block]:
    """A and B at every place."""
    if not points:
        return [Sentence("No equilibrium without inputs was found.")]
    blocks: list[Block] = []
    layout = replace(layout, long=1)  # its entries have long denominators in common
    for place in points:
        near = equations.linearize(place)
        blocks.append(Heading(f"At {_at(equations, layout, place)}", 2))
        blocks += _with(equations, layout, place)
        blocks.append(Formula(r"\dot \xi = A \xi + B u" if near.inputs else r"\dot \xi = A \xi"))
        states = ", ".join(map(_state, near.states))
        inputs = ", ".join(latex_name(symbol.name) for symbol in near.inputs)
        blocks.append(
            Sentence(f"$\\xi = ({states})$" + (f", $u = ({inputs})$" if inputs else "") + ", as small changes.")
        )
        blocks += layout.result("A", _symbolic(near.A))
        blocks += layout.result("B", _symbolic(near.B)) if near.inputs else []
    return blocks


def _at(equations: "Equations", layout: Layout, place: Place) -> str:
    known = _by_name(place)
    return ", ".join(
        _equal(layout, x, known.get(x.name, 0))
        for x in (*equations.system.q, *(u for u in equations.system.inputs if u.name in known))
    )


def _with(equations: "Equations", layout: Layout, place: Place) -> list[Block]:
    """The values of parameters there, when there are any."""
    known = _by_name(place)
    shown = [_equal(layout, x, known[x.name]) for x in equations.system.parameters if x.name in known]
    return [Sentence(f"With {', '.join(shown)}.")] if shown else []


def _by_name(place: Place) -> dict[str, Any]:
    return {x.name if isinstance(x, sp.Symbol) else str(x): value for x, value in place.items()}


def _equal(layout: Layout, x: sp.Symbol, value: Any) -> str:
    return f"${latex_name(x.name)} = {layout.write(_number(value))}$"


def _state(name: str) -> str:
    stem = name.removeprefix("integral of ")
    return latex_name(stem) if stem == name else rf"\int {latex_name(stem)}"


def _symbolic(x: Any) -> Any:
    return sp.ImmutableMatrix(x).applyfunc(_number) if isinstance(x, np.ndarray) else x.applyfunc(_readable)


def _readable(x: Any) -> Any:
    """A quotient of products with few digits, where the exact numbers of a robot make integers that nobody can read."""
    if all(max(abs(number.p), number.q) < MAX_PRINTED_INTEGER for number in x.atoms(sp.Rational)):
        return x
    scale, factors = sp.Integer(1), []
    for factor in sp.Mul.make_args(x):
        base, exponent = factor.as_base_exp()
        if factor.is_Rational:
            scale *= factor
        elif base.is_Add and exponent.is_Integer:
            terms: list[Any] = [term.as_coeff_Mul() for term in sp.Add.make_args(base)]
            largest = max(abs(number) for number, _ in terms)
            scale *= largest**exponent
            factors.append(sp.Add(*(_number(sp.Float(number / largest)) * rest for number, rest in terms)) ** exponent)
        else:
            factors.append(factor)
    return sp.Mul(_number(sp.Float(scale)), *factors)


def _number(x: Any) -> Any:
    """A float with few digits; everything else as it is."""
    if not isinstance(x, float | sp.Float):
        return sp.sympify(x)
    short = float(f"{float(x):.{DIGITS}g}")
    return sp.Integer(int(short)) if short == int(short) else sp.Float(short)
