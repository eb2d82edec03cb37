"""Names for parts of long expressions: repeated parts, and sums that make a term too wide."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import sympy as sp

Definitions = list[tuple[sp.Symbol, Any]]
MAX_UNNAMED_WIDTH = 10
"""Columns of a part that needs no name of its own."""
_LETTERS = "adehprwzuACDEGHKNPQRSWZ"


class Names:
    """The names of a page: none is given twice, and what has one keeps it.

    Args:
        taken: names of symbols, with whose letters no name of a part begins.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.known: dict[Any, sp.Symbol] = {}
        """The parts that have a name."""
        self._taken = {name[0] for name in taken}
        self._given: Counter[str] = Counter()

    def free(self, entries: Iterable[Any]) -> Iterator[sp.Symbol]:
        """a_1, a_2, ... from where the page has come to, with a letter that no symbol begins with."""
        letter = _letter({x.name[0] for entry in entries for x in entry.free_symbols} | self._taken)
        while True:
            self._given[letter] += 1
            yield sp.Symbol(f"{letter}_{self._given[letter]}", real=True)


@dataclass(frozen=True)
class Naming:
    """Gives names.

    Args:
        width: how many columns an expression takes.
        columns: the width of a line, which no term should exceed.
        lines: that an expression may take before its common parts get names.
        names: those of the page.
    """

    width: Callable[[Any], int]
    columns: int
    lines: int
    names: Names

    def __call__(self, entries: list[Any]) -> tuple[Definitions, list[Any]]:
        """New definitions, each in terms of earlier ones and those after it, and the entries in terms of them."""
        definitions: Definitions = []
        names = self.names.free(entries)
        if any(self.width(x) > self.lines * self.columns for x in entries):
            definitions, entries = self._common(entries, names)
        wide: Definitions = []
        entries = [self._narrow(x, names, wide) for x in entries]
        definitions = [(symbol, self._narrow(x, names, wide)) for symbol, x in definitions]
        return [*definitions, *wide], entries

    def _common(self, entries: list[Any], names: Iterator[sp.Symbol]) -> tuple[Definitions, list[Any]]:
        """Names for what is there more than once and is not short."""
        reduced: Any
        common, reduced = sp.cse(entries, symbols=_temporaries(entries), order="canonical", list=False)
        small: dict[Any, Any] = {}
        kept: Definitions = []
        for symbol, x in common:
            x = x.xreplace(small)
            if self.width(x) <= MAX_UNNAMED_WIDTH:
                small[symbol] = x
            else:
                kept.append((symbol, x))
        renamed: dict[Any, Any] = {}
        definitions: Definitions = []
        for symbol, x in kept:
            part = x.xreplace(renamed)
            if part not in self.names.known:
                self.names.known[part] = next(names)
                definitions.append((self.names.known[part], part))
            renamed[symbol] = self.names.known[part]
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
                longest = max(sums, key=lambda part: (self.width(part), str(part)), default=None)
                if longest is None or self.width(longest) <= MAX_UNNAMED_WIDTH:
                    break
                symbol = self.names.known.get(longest)
                if symbol is None:
                    symbol = self.names.known[longest] = next(names)
                    wide.append((symbol, longest))
                    place = len(wide) - 1
                    wide[place] = (symbol, self._narrow(longest, names, wide))
                term = term.xreplace({longest: symbol})
            terms.append(term)
        return sp.Add(*terms)


def _temporaries(entries: list[Any]) -> Iterator[sp.Symbol]:
    """Symbols that stand in for names until it is known which parts get one."""
    letter = _letter({x.name[0] for entry in entries for x in entry.free_symbols})
    return (sp.Symbol(f"{letter}_{k}", real=True) for k in count(1))


def _letter(taken: set[str]) -> str:
    return next(letter for letter in _LETTERS if letter not in taken)
