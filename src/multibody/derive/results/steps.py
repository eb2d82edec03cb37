"""A derivation to read: what a method found on its way, step by step."""

from dataclasses import dataclass
from typing import Any


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
