"""Readable help: signatures show annotations as in the source, and docstrings describe shared arguments."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import sys
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from types import FunctionType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)

WIDTH = 88
"""Columns of a line of arguments: `help` of a class indents them once more."""
SHORT = 40
"""Columns of a signature that stays on the line of the name: `help` of a method writes of which class it is behind."""
DOC_WIDTH = 88
"""Columns of a docstring: `help` indents it."""
_UNPACKED, _REFUSED = "Unpack[", "Never"
_OURS = "multibody."
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
        return "\n".join(["(", *itertools.chain.from_iterable(map(_wrapped, lines)), f"){result}"])


def _wrapped(line: str) -> list[str]:
    """A line of arguments; the alternatives of one that is too long continue on further lines."""
    return textwrap.wrap(line, WIDTH, subsequent_indent=" " * 8, break_long_words=False, break_on_hyphens=False)


def _parts(signature: inspect.Signature) -> list[str]:
    """The arguments as they are written, with the / and * that divide them."""
    parts, kind = [], None
    for each in signature.parameters.values():
        if kind is each.POSITIONAL_ONLY and each.kind is not kind:
            parts.append("/")
        if each.kind is each.KEYWORD_ONLY and kind not in (each.KEYWORD_ONLY, each.VAR_POSITIONAL):
            parts.append("*")
        kind = each.kind
        if each.default is not each.empty and len(repr(each.default)) > SHORT:
            each = each.replace(default=Source(f"{type(each.default).__name__}(...)"))
        parts.append(str(each))
    return [*parts, "/"] if kind is inspect.Parameter.POSITIONAL_ONLY else parts


class SourceSignature(Lines):
    """The signature of a function as its source has it, made when somebody reads it: rooms are imported quickly."""

    __slots__ = ("_function", "_texts")

    @classmethod
    def of(cls, function: Callable[..., Any], texts: Callable[[], Mapping[str, str]]) -> SourceSignature:
        """The signature of a function; `texts` returns its annotations, which are used where they are no strings."""
        self = cls.__new__(cls)
        self._function, self._texts = function, texts
        return self

    def __getattr__(self, name: str) -> Any:
        if name not in ("_parameters", "_return_annotation"):
            raise AttributeError(name)
        function = inspect.unwrap(self._function)
        plain = inspect.signature(_copy(function))
        texts = self._texts() if any(not isinstance(x, str) for x in function.__annotations__.values()) else {}
        shown: list[inspect.Parameter] = []
        for each in plain.parameters.values():
            text = _written(each.annotation, texts.get(each.name))
            if each.kind is each.VAR_KEYWORD and hasattr(function, "options_of"):
                shown += _keywords(function.options_of, {parameter.name for parameter in shown})
            elif each.kind is each.VAR_KEYWORD and str(text).startswith(_UNPACKED):
                shown += _unpacked(getattr(sys.modules[function.__module__], text[len(_UNPACKED) : -1]))
            elif str(text) != _REFUSED:
                shown.append(each.replace(annotation=text))
        Lines.__init__(self, shown, return_annotation=_written(plain.return_annotation, texts.get("return")))
        return getattr(self, name)


def readable(function: F, texts: Callable[[], Mapping[str, str]] | None = None) -> F:
    """The function itself, which shows its signature as it is written in its source.

    Keywords that are unpacked from a TypedDict of its module are shown one by one, and those that it takes only to
    refuse them, `**others: Never`, not at all: a call is as quick as without this.
    """
    if "__signature__" not in vars(function):
        signature = SourceSignature.of(function, texts or (lambda: _annotations(inspect.unwrap(function))))
        function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def options_of(target: Callable[..., Any]) -> Callable[[F], F]:
    """Decorator of a function that hands its `**options` to another: it shows and describes them as the other does."""

    def decorate(function: F) -> F:
        function.options_of = target  # type: ignore[attr-defined]
        arguments = inspect.signature(readable(function)).parameters.values()
        names = [_STARS.get(each.kind, "") + each.name for each in arguments]
        described = _entries(target.__doc__, "")
        function.__doc__ = _with_arguments(inspect.cleandoc(function.__doc__ or ""), names, described)
        return function

    return decorate


def _keywords(target: Callable[..., Any], others: Collection[str]) -> list[inspect.Parameter]:
    """The arguments of a function that are not among the others, as keywords."""
    arguments = inspect.signature(readable(target)).parameters.values()
    keyword = inspect.Parameter.KEYWORD_ONLY
    named = [each for each in arguments if each.name not in others and each.default is not each.empty]
    return [each.replace(kind=keyword) for each in named] + [
        each for each in arguments if each.kind is each.VAR_KEYWORD
    ]


def readable_methods(cls: C) -> C:
    """The class itself, with the public methods and the constructor made `readable`."""
    for name, member in vars(cls).items():
        if isinstance(member, classmethod | staticmethod):
            member = member.__func__
        if inspect.isfunction(member) and (name.startswith("__") or not name.startswith("_")):
            generated = member.__code__.co_filename.startswith("<")
            if generated and name == "__new__":
                member.__doc__ = None  # a named tuple's is its signature once more, in one line
            readable(member, (lambda: _fields(cls)) if generated else None)
    return cls


def readable_names(name: str) -> None:
    """Make the public functions and classes of a module `readable`, with the bases of classes, and listed modules.

    A module without `__all__` lists what it defines: `help` would show the unions of NumPy that it imports.
    """
    names = vars(sys.modules[name])
    defined = [key for key, value in names.items() if key.isupper() or getattr(value, "__module__", None) == name]
    for key in names.setdefault("__all__", [key for key in defined if key[0] != "_"]):
        value = names.get(key)
        if inspect.isfunction(value):
            readable(value)
        elif inspect.isclass(value):
            for cls in value.__mro__:
                if cls.__module__.startswith(_OURS):
                    readable_methods(cls)
        elif inspect.ismodule(value) and value.__name__.startswith(name):
            readable_names(value.__name__)


def _copy(function: Any) -> Any:
    """A function with the same signature, but without `__signature__`."""
    copy = FunctionType(function.__code__, {}, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__, copy.__annotations__ = function.__kwdefaults__, function.__annotations__
    return copy


def _annotations(function: Any) -> dict[str, str]:
    """The annotations in the source of a function, by the names of its arguments."""
    node = _syntax(function)
    if not isinstance(node, ast.FunctionDef):
        return {}
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    texts = {each.arg: ast.unparse(each.annotation) for each in every if each and each.annotation}
    return {**texts, "return": ast.unparse(node.returns)} if node.returns else texts


def _fields(cls: type) -> dict[str, str]:
    """The annotations of the fields in the sources of a class and its bases."""
    texts = {"return": "None"}
    for each in reversed(cls.__mro__):
        body = getattr(_syntax(each), "body", []) if each.__module__.startswith(_OURS) else []
        fields = [node for node in body if isinstance(node, ast.AnnAssign)]
        texts |= {ast.unparse(node.target): ast.unparse(node.annotation) for node in fields}
    return texts


def _syntax(thing: Any) -> ast.stmt | None:
    """The definition of a function or class, or None without its source."""
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]
    except (OSError, SyntaxError, TypeError):
        return None


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
    """The keywords of a TypedDict, which may all be left out: None is the default of those that accept it."""
    kinds = {name: Source(kind.__forward_arg__) for name, kind in options.__annotations__.items()}
    defaults = {name: None if kind == "Any" or kind.endswith("None") else Source("...") for name, kind in kinds.items()}
    keyword = inspect.Parameter.KEYWORD_ONLY
    return [inspect.Parameter(name, keyword, default=defaults[name], annotation=kinds[name]) for name in kinds]


def _written(annotation: Any, source: str | None) -> Any:
    """An annotation as text, if there is one."""
    text = annotation if isinstance(annotation, str) else source
    return annotation if text is None or annotation is inspect.Parameter.empty else Source(text)
