"""The page of linearised equations: where the system can rest, and A and B there."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from multibody.derive.printing.blocks import Block, Formula, Heading, Sentence
from multibody.derive.printing.layout import Layout
from multibody.derive.printing.names import latex_name
from multibody.errors import InputError

if TYPE_CHECKING:
    from multibody.derive.equations import Equations

DIGITS = 6
Place = Mapping[Any, Any]


def places(equations: "Equations") -> list[dict[Any, Any]]:
    """The equilibria without inputs: exact ones, or for a robot those of its own numbers.

    Raises:
        InputError: when there is no exact solution, and the parameters have no values.
    """
    tree = equations.system.tree
    try:
        return [dict(place) for place in equations.equilibria()]
    except InputError:
        values = {} if tree is None else dict(tree.values)
        if not values:
            raise
        return [{**place, **values} for place in equations.equilibria(parameters=values)]


def linear(equations: "Equations", layout: Layout, found: Sequence[Place]) -> list[Block]:
    """A and B at every place."""
    if not found:
        return [Sentence("No equilibrium without inputs was found.")]
    blocks: list[Block] = []
    layout = replace(layout, long=1)  # its entries have long denominators in common
    for place in found:
        near = equations.linearise(place)
        blocks.append(Heading(f"At {_at(equations, layout, place)}", 2))
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
    known = {x.name if isinstance(x, sp.Symbol) else x: value for x, value in place.items()}
    shown = [
        f"${latex_name(x.name)} = {layout.write(_number(known.get(x.name, 0)))}$"
        for x in (*equations.system.q, *(u for u in equations.system.inputs if u.name in known))
    ]
    return ", ".join(shown)


def _state(name: str) -> str:
    stem = name.removeprefix("integral of ")
    return latex_name(stem) if stem == name else rf"\int {latex_name(stem)}"


def _symbolic(x: Any) -> Any:
    return sp.ImmutableMatrix(x).applyfunc(_number) if isinstance(x, np.ndarray) else x


def _number(x: Any) -> Any:
    """A float with few digits; everything else as it is."""
    if not isinstance(x, float | sp.Float):
        return sp.sympify(x)
    short = float(f"{float(x):.{DIGITS}g}")
    return sp.Integer(int(short)) if short == int(short) else sp.Float(short)
