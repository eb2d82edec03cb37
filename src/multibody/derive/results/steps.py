"""A derivation to read: what a method found on its way, step by step."""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from multibody.derive.algebra.subexpressions import subexpressions
from multibody.derive.system.symbols import TIME

TERMS = frozenset("MbgJ")
"""Terms of the equations of motion, always written with their arguments: a mass can be called M, too."""


@dataclass(frozen=True)
class Step:
    """One step: a sentence, where it is in the documents, and what came out.

    Args:
        title: a sentence.
        tag: equations of the documents, for instance "RD 3.43".
        results: pairs of a name in LaTeX and an expression or matrix.
        formula: the rule in general, in LaTeX, when there is one to show.
    """

    title: str
    tag: str
    results: tuple[tuple[str, Any], ...] = ()
    formula: str = ""


def term(name: str, value: Any, velocity: str = "v") -> str:
    r"""A term of the equations of motion with its arguments; every other name as it is.

    >>> term("b", sp.Integer(0), r"\dot q"), term("T", sp.Integer(0))
    ('b(q, \\dot q)', 'T')
    """
    if name not in TERMS:
        return name
    entries = value.flat() if isinstance(value, sp.MatrixBase) else [value]
    time = ", t" if TIME in subexpressions(entries) else ""
    return f"{name}(q{f', {velocity}' if name == 'b' else ''}{time})"
