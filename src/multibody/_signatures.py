"""Readable help: signatures show annotations as in the source, and docstrings describe shared arguments."""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)

WIDTH = 88
"""Columns of a line of arguments: `help` of a class indents them once more."""
SHORT = 40
"""Columns of a signature that stays on the line of the name: `help` of a method writes of which class it is behind."""
DOC_WIDTH = 92
"""Columns of a docstring: `help` indents it."""
_UNPACKED, _REFUSED = "Unpack[", "Never"
_STARS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


class Source(str):
    """The text of an annotation, which is shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Lines(inspect.Signature):
    """A signature that is written on several lines when one is not enough."""

    __slots__ = ()

    def __str__(self) -> str:
        return self.format()

    def format(self, *, max_width: int | None = None, **_: Any) -> str:
        """The text: newer versions of Python ask for it here."""
        del max_width
        returned = self.return_annotation
        result = "" if returned is self.empty else f" -> {inspect.formatannotation(returned)}"
        parts = _parts(self)
        whole = f"({', '.join(parts)}){result}"
        if len(whole) <= SHORT or not parts:
            return whole
        lines = [f"    {parts[0]},"]
        for part in parts[1:]:
            if len(lines[-1]) + len(part) + 2 > WIDTH:
                lines.append(f"    {part},")
            else:
                lines[-1] += f" {part},"
        return "\n".join(["(", *lines, f"){result}"])


def _parts(signature: inspect.Signature) -> list[str]:
    """The arguments as they are written, with the / and * that divide them."""
    parts, kind = [], None
    for each in signature.parameters.values():
        if kind is each.POSITIONAL_ONLY and each.kind is not kind:
            parts.append("/")
        if each.kind is each.KEYWORD_ONLY and kind not in (each.KEYWORD_ONLY, each.VAR_POSITIONAL):
            parts.append("*")
        kind = each.kind
        parts.append(str(each))
    return [*parts, "/"] if kind is inspect.Parameter.POSITIONAL_ONLY else parts


def readable(function: F) -> F:
    """The function itself, which shows its signature as it is written in its source.

    Keywords that are unpacked from a TypedDict of its module are shown one by one, and those that it takes only to
    refuse them, `**others: Never`, not at all: a call is as quick as without this.
    """
    plain = inspect.signature(function)
    shown: list[inspect.Parameter] = []
    for each in plain.parameters.values():
        text = str(each.annotation)
        if each.kind is each.VAR_KEYWORD and text.startswith(_UNPACKED):
            shown += _unpacked(getattr(sys.modules[function.__module__], text[len(_UNPACKED) : -1]))
        elif text != _REFUSED:
            shown.append(each.replace(annotation=_written(each.annotation)))
    signature = Lines(shown, return_annotation=_written(plain.return_annotation))
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def readable_methods(cls: C) -> C:
    """The class itself, with the public methods and the constructor made `readable`."""
    for name, member in vars(cls).items():
        if inspect.isfunction(member) and (name == "__init__" or not name.startswith("_")):
            readable(member)
    return cls


def described_arguments(cls: C) -> C:
    """The class itself; docstrings of its `readable` methods describe the arguments that the class docstring lists.

    The list has lines such as "* q: (..., nq), the configuration.". A method's own description takes precedence. A
    docstring without an "Args:" section gets one if all arguments of the method are in the list.
    """
    shared = _entries(cls.__doc__, "* ")
    for name, member in vars(cls).items():
        if inspect.isfunction(member) and not name.startswith("_") and member.__doc__:
            parameters = member.__signature__.parameters.values()  # type: ignore[attr-defined]
            names = [_STARS.get(each.kind, "") + each.name for each in parameters]
            member.__doc__ = _with_arguments(inspect.cleandoc(member.__doc__), names[1:], shared)
    return cls


def _with_arguments(doc: str, names: Sequence[str], shared: Mapping[str, str]) -> str:
    """A docstring with an "Args:" section that describes these arguments."""
    head, found, tail = doc.partition("\nArgs:\n")
    section, _, rest = tail.partition("\n\n")
    described = {**shared, **_entries(section, "")}
    texts = {name: described[name] for name in names if name in described}
    if not texts or (not found and len(texts) < len(names)):
        return doc
    if not found:
        start = re.search(r"^(Returns:|Raises:|>>> )", doc, re.MULTILINE)
        head, rest = (doc[: start.start()], doc[start.start() :]) if start else (f"{doc}\n", "")
    lines = ["Args:"]
    for name, text in texts.items():
        lines += _entry(name, text)
    return "\n".join([head.rstrip(), "", *lines, *(["", rest] if rest else [])])


@cache
def _entry(name: str, text: str) -> list[str]:
    """The lines that describe an argument; many methods share them."""
    return textwrap.wrap(f"{name}: {text}", DOC_WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8)


def _entries(doc: str | None, bullet: str) -> dict[str, str]:
    """The descriptions in a list of arguments, by name; lines that are indented further belong to the one before."""
    entries: dict[str, str] = {}
    name, indent = "", 0
    for line in (doc or "").splitlines():
        column = len(line) - len(line.lstrip())
        start = re.match(rf"{re.escape(bullet)}([*]{{0,2}}\w+): (.*)", line.lstrip())
        if start and (not name or column <= indent):
            name, indent = start[1], column
            entries[name] = start[2]
        elif name and line.strip() and column > indent:
            entries[name] += f" {line.strip()}"
        else:
            name = ""
    return entries


def _unpacked(options: Any) -> list[inspect.Parameter]:
    """The keywords of a TypedDict, which may all be left out."""
    return [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Source(kind.__forward_arg__))
        for name, kind in options.__annotations__.items()
    ]


def _written(annotation: Any) -> Any:
    return Source(annotation) if isinstance(annotation, str) else annotation
