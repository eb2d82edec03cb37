"""Names for parts of long expressions: what is there more than once, and sums that make a term too wide."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import sympy as sp

Definitions = list[tuple[sp.Symbol, Any]]
SHORT = 10
"""Columns of a part that needs no name of its own."""
_LETTERS = "adehprwzuACDEGHKNPQRSWZ"


@dataclass(frozen=True)
class Naming:
    """Gives names.

    Args:
        width: how many columns an expression takes.
        columns: the width of a line, which no term should exceed.
        lines: that an expression may take before its common parts get names.
    """

    width: Callable[[Any], int]
    columns: int
    lines: int

    def __call__(self, entries: list[Any]) -> tuple[Definitions, list[Any]]:
        """Definitions, each in terms of those before it or after it, and the entries in terms of them."""
        definitions: Definitions = []
        if any(self.width(x) > self.lines * self.columns for x in entries):
            definitions, entries = self._common(entries)
        names = _free_names([*entries, *(x for _, x in definitions)])
        wide: Definitions = []
        entries = [self._narrow(x, names, wide) for x in entries]
        definitions = [(symbol, self._narrow(x, names, wide)) for symbol, x in definitions]
        return [*definitions, *wide], entries

    def _common(self, entries: list[Any]) -> tuple[Definitions, list[Any]]:
        """Names for what is there more than once and is not short."""
        reduced: Any
        common, reduced = sp.cse(entries, symbols=_free_names(entries), order="canonical", list=False)
        small: dict[Any, Any] = {}
        kept: Definitions = []
        for symbol, x in common:
            x = x.xreplace(small)
            if self.width(x) <= SHORT:
                small[symbol] = x
            else:
                kept.append((symbol, x))
        renamed = dict(zip((symbol for symbol, _ in kept), _free_names(entries), strict=False))
        definitions = [(renamed[symbol], x.xreplace(renamed)) for symbol, x in kept]
        return definitions, [x.xreplace(small).xreplace(renamed) for x in reduced]

    def _narrow(self, x: Any, names: Iterator[sp.Symbol], wide: Definitions) -> Any:
        """The expression with names for long sums that are factors of its terms."""
        if self.width(x) <= self.columns:
            return x
        terms: list[Any] = []
        term: Any
        for term in sp.Add.make_args(x):
            while self.width(term) > self.columns:
                sums = {base for factor in sp.Mul.make_args(term) if (base := factor.as_base_exp()[0]).is_Add}
                known = {part: symbol for symbol, part in wide}
                longest = max(sums, key=lambda part: (self.width(part), str(part)), default=None)
                if longest is None or self.width(longest) <= SHORT:
                    break
                symbol = known.get(longest)
                if symbol is None:
                    symbol = next(names)
                    wide.append((symbol, longest))
                    place = len(wide) - 1
                    wide[place] = (symbol, self._narrow(longest, names, wide))
                term = term.xreplace({longest: symbol})
            terms.append(term)
        return sp.Add(*terms)


def _free_names(entries: list[Any]) -> Iterator[sp.Symbol]:
    """a_1, a_2, ... with a letter that no symbol begins with."""
    taken = {symbol.name[0] for x in entries for symbol in x.free_symbols}
    letter = next(letter for letter in _LETTERS if letter not in taken)
    return (sp.Symbol(f"{letter}_{k}", real=True) for k in count(1))
