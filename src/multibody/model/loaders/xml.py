"""Safe XML: parsed without entities, DTDs or network access; errors and diagnostics carry line numbers."""

import difflib
import math
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Protocol
from xml.parsers import expat

from lxml import etree  # type: ignore[attr-defined]

from multibody.errors import InputError, RobotFileError
from multibody.model.diagnostics import Diagnostic
from multibody.model.loaders.meshes import Meshes
from multibody.model.loaders.source import Source

_DIGITS = re.compile(r"[0-9eE+.\-\s]*", re.ASCII)
_LAST_LINE = 65535  # libxml2 says this for all lines from there on
_INFINITY = re.compile(r"[+-]?inf(?:inity)?", re.ASCII | re.IGNORECASE)


class Element(Protocol):
    """The part of lxml's element interface that readers use; lxml has no types."""

    tag: str

    @property
    def attrib(self) -> Mapping[str, str]: ...
    @property
    def text(self) -> str | None: ...
    @property
    def sourceline(self) -> int | None: ...
    def get(self, name: str) -> str | None: ...
    def find(self, tag: str) -> "Element | None": ...
    def iter(self, tag: str) -> "Iterator[Element]": ...
    def getparent(self) -> "Element | None": ...
    def __iter__(self) -> "Iterator[Element]": ...
    def __len__(self) -> int: ...


def parse(source: Source) -> "Document":
    """The elements of a text.

    Raises:
        RobotFileError: when it is not well-formed, has a document type (and so could have entities), or is nested
            deeper or larger than libxml2 accepts by default.
    """
    if not source.text.strip():
        raise RobotFileError("expected XML, got an empty text", file=source.file, line=1, element="document")
    parser = etree.XMLParser(
        encoding="utf-8" if source.decoded else None,
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        collect_ids=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(source.text, parser)
    except etree.XMLSyntaxError as error:
        raise RobotFileError(
            f"expected well-formed XML: {error.msg}", file=source.file, line=error.lineno or 1, element="document"
        ) from None
    if root.getroottree().docinfo.doctype:
        raise RobotFileError(
            "a document type (<!DOCTYPE>) is refused: robot files have none, and entities can do harm",
            file=source.file,
            line=1,
            element="document",
        )
    return Document(source, root)


def label(element: Element) -> str:
    """How messages name an element: by its tag and name, or by those of the nearest element that has a name."""
    parts: list[str] = []
    at: Element | None = element
    while at is not None:
        name = at.get("name")
        if name is not None:
            parts.append(f'<{tag(at)} name="{name}">')
            break
        parts.append(f"<{tag(at)}>")
        at = at.getparent()
    return " in ".join(parts)


def tag(element: Element) -> str:
    """The name of an element without its namespace."""
    return etree.QName(element).localname


class Document:
    """The elements of one file, and what its reader noticed on the way."""

    def __init__(self, source: Source, root: Element) -> None:
        self._source = source
        self.file = source.file
        self.root = root
        self.diagnostics: list[Diagnostic] = []
        self.places: dict[tuple[str, str], Element] = {}
        """The element of each named thing: ("link", name), ("joint", name)."""

    def line(self, element: Element) -> int:
        """The line on which an element begins."""
        line = element.sourceline
        return line if line is not None and line < _LAST_LINE else self._lines[element]

    @cached_property
    def _lines(self) -> dict[Element, int]:
        """The lines of all elements, from a parser that counts further than libxml2."""
        lines: list[int] = []
        parser = expat.ParserCreate("utf-8" if self._source.decoded else None)
        parser.StartElementHandler = lambda *_: lines.append(parser.CurrentLineNumber)
        parser.Parse(self._source.text, True)
        return dict(zip(self.root.iter("*"), lines, strict=True))

    def error(self, element: Element, message: str) -> RobotFileError:
        """An error at an element, to be raised."""
        return RobotFileError(message, file=self.file, line=self.line(element), element=label(element))

    @contextmanager
    def locate(self, element: Element) -> Iterator[None]:
        """Give errors without a place in the file that of an element."""
        try:
            yield
        except RobotFileError:
            raise
        except InputError as error:
            raise self.error(element, str(error)) from None

    def note(self, element: Element, code: str, message: str, *, level: str = "note") -> None:
        """Keep a diagnostic."""
        self.diagnostics.append(Diagnostic(level, code, message, self.file, self.line(element), label(element)))

    def warn(self, element: Element, code: str, message: str) -> None:
        """Add a warning."""
        self.note(element, code, message, level="warning")

    def find_file(self, meshes: Meshes, uri: str, element: Element, kind: str = "mesh") -> Path | None:
        """The file of a mesh or texture; None, with a warning, if it may not or cannot be read."""
        missing = f"the {kind} {uri!r} was not found"
        try:
            path = meshes.find(uri)
        except InputError as error:  # a missing visual does not affect the dynamics
            missing, path = str(error), None
        if path is None:
            self.warn(element, "mesh", f"{missing}; the robot moves without it")
        return path

    # ---- elements ----------------------------------------------------------------------------------------------------

    def parts(
        self,
        element: Element,
        *,
        single: Collection[str] = (),
        many: Collection[str] = (),
        ignored: Collection[str] = (),
    ) -> dict[str, list[Element]]:
        """The children by their tags; what is ignored is noted, what is unknown or stands there twice is warned of."""
        parts: dict[str, list[Element]] = {}
        for child in element:
            name = child.tag
            if name in many:
                parts.setdefault(name, []).append(child)
            elif name in single:
                if name in parts:
                    self.warn(child, "ignored", f"a second <{name}> is ignored: the format has one")
                else:
                    parts[name] = [child]
            elif name in ignored:
                self.note(child, "ignored", f"<{name}> is ignored: it is no part of the model")
            else:
                self.warn(child, "ignored", f"<{name}> is ignored: <{element.tag}> has no such element")
        return parts

    def child(self, element: Element, name: str) -> Element:
        """The child of a tag, which is required."""
        child = element.find(name)
        if child is None:
            raise self.error(element, f"expected the element <{name}>, got none")
        return child

    def attributes(self, element: Element, *known: str) -> None:
        """Note attributes that are not part of the format; warn if one is almost the name of another."""
        for name in element.attrib:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1, cutoff=0.7)
                reason = f"did you mean {near[0]!r}?" if near else "the format has none"
                message = f"the attribute {name}={element.get(name)!r} is ignored: {reason}"
                self.note(element, "ignored", message, level="warning" if near else "note")

    def text(self, element: Element, name: str) -> str:
        """A required attribute, which must not be empty."""
        value = element.get(name)
        if value is None or not value.strip():
            raise self.error(
                element, f"expected the attribute {name!r}, got {'none' if value is None else repr(value)}"
            )
        return value

    def name(self, element: Element, kind: str) -> str:
        """The name of an element, which no other of its kind has."""
        name = self.text(element, "name")
        first = self.places.setdefault((kind, name), element)
        if first is not element:
            raise self.error(element, f"two {kind}s are named {name!r}; the first is on line {self.line(first)}")
        return name

    # ---- numbers -----------------------------------------------------------------------------------------------------

    def vector(self, element: Element, name: str, count: int) -> tuple[float, ...]:
        """An attribute of finite numbers with spaces between them."""
        value = element.get(name)
        if value is None:
            raise self.error(element, f"expected the attribute {name!r} with {count} numbers, got none")
        return self._numbers(element, f"{name}: ", value, count)

    def number(self, element: Element, name: str, default: float | None = None, *, infinite: bool = False) -> float:
        """An attribute that is one finite number, or the default; `infinite` allows "inf" too."""
        value = element.get(name)
        if value is None:
            if default is None:
                raise self.error(element, f"expected the attribute {name!r} with a number, got none")
            return default
        if infinite and _INFINITY.fullmatch(value.strip()):
            return float(value)
        return self._numbers(element, f"{name}: ", value, 1)[0]

    def content(self, element: Element) -> str:
        """The text of an element, which must not be empty."""
        value = (element.text or "").strip()
        if not value:
            raise self.error(element, "expected a text between the tags, got none")
        return value

    def numbers(self, element: Element, count: int) -> tuple[float, ...]:
        """Finite numbers between the tags of an element."""
        return self._numbers(element, "", self.content(element), count)

    def _numbers(self, element: Element, attribute: str, value: str, count: int) -> tuple[float, ...]:
        """The finite numbers in a text: that of an attribute ("xyz: "), or, for "", of the element."""
        numbers: tuple[float, ...] = (math.nan,)
        if _DIGITS.fullmatch(value):  # without letters `float` takes what the format does, and no more
            with suppress(ValueError):
                numbers = tuple(map(float, value.split()))
        if not all(map(math.isfinite, numbers)):
            name = attribute or f"{tag(element)}: "
            raise self.error(element, f"{name}expected finite numbers such as -1.5e-3, got {value!r}")
        if len(numbers) != count:
            expected = "one number" if count == 1 else f"{count} numbers with spaces between them"
            between = "" if attribute else " between the tags"
            raise self.error(element, f"{attribute}expected {expected}{between}, got {value!r}")
        return numbers
