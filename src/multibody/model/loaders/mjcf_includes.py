"""The text of an MJCF model for MuJoCo's compiler: included files inlined, one element per line.

MuJoCo reports line numbers, but not for included files. Here a line number is the index of an element, which leads back
to its file and line. MuJoCo opens no file by itself.
"""

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.sax.saxutils import quoteattr

from multibody.errors import InputError
from multibody.model.loaders.meshes import Meshes
from multibody.model.loaders.source import Source, from_path
from multibody.model.loaders.xml import Document, Element, label, parse, tag


@dataclass(frozen=True)
class Location:
    """A location in the files of a model, as far as known."""

    file: str | None = None
    line: int | None = None
    element: str | None = None


@dataclass(frozen=True)
class Text:
    """A model and all that it includes."""

    xml: str
    elements: tuple[tuple[Document, Element], ...]
    """The element on each line."""
    models: dict[str, bytes] = field(default_factory=dict)
    """The models that it attaches, by the names that `xml` has for them."""

    def place(self, line: int) -> Location:
        """The location of the element on a line."""
        if not 1 <= line <= len(self.elements):
            return Location(self.elements[0][0].file)
        document, element = self.elements[line - 1]
        return Location(document.file, document.line(element), label(element))


def merged(source: Source, meshes: Meshes) -> Text:
    """The text of a model.

    Raises:
        RobotFileError: when a file is not an MJCF model, is not found, is refused, or holds a number that is NaN.
    """
    document = parse(source)
    if tag(document.root) != "mujoco":
        raise document.error(document.root, f"expected the root element <mujoco>, got <{tag(document.root)}>")
    reader = _Reader(meshes, {}, set())
    xml = reader.text(document)
    return Text(xml, tuple(reader.elements), reader.models)


class _Reader:
    def __init__(self, meshes: Meshes, models: dict[str, bytes], opened: set[str]) -> None:
        self.meshes, self.models = meshes, models
        self.elements: list[tuple[Document, Element]] = []
        self._opened = opened

    def text(self, document: Document, folder: str = "") -> str:
        """The elements of a file and of those that it includes, without recursion; `folder` is where it lies."""
        names = {element.get("name") for element in document.root.iter("*")}
        lines: list[str] = []
        open_: list[tuple[Document, str, Iterator[Element], str]] = [(document, folder, iter([document.root]), "")]
        while open_:
            document, folder, children, end = open_[-1]
            element = next(children, None)
            if element is None:
                lines[-1] += end
                open_.pop()
            elif tag(element) == "include":
                inner, place, path = self._opened_file(document, element, folder)
                self._opened.add(path)
                open_.append((inner, place, iter(inner.root), ""))
            else:
                _refuse(document, element, names)
                self.elements.append((document, element))
                attributes = dict(element.attrib)
                if tag(element) == "model":
                    attributes["file"] = self._model(document, element, folder)
                lines.append(f"<{tag(element)}{''.join(f' {k}={quoteattr(v)}' for k, v in attributes.items())}>")
                open_.append((document, folder, iter(element), f"</{tag(element)}>"))
        return "\n".join(lines)

    def _opened_file(self, document: Document, element: Element, folder: str) -> tuple[Document, str, str]:
        """The document that an element names, the folder where it lies, from that of the model, and its path."""
        name = document.text(element, "file")
        for uri in (name, os.path.join(folder, name)):  # MuJoCo looks beside the model first
            try:
                file = self.meshes.find(uri)
            except InputError as error:
                raise document.error(element, str(error)) from None
            if file is not None:
                break
        else:
            raise document.error(element, f"the file {name!r} is not found")
        path = os.path.realpath(file)
        if path in self._opened:
            raise document.error(element, f"the file {name!r} is included twice, which MuJoCo does not allow")
        return parse(from_path(file)), os.path.dirname(uri), path

    def _model(self, document: Document, element: Element, folder: str) -> str:
        """Keep the text of a model to attach, and give it a name."""
        inner, place, path = self._opened_file(document, element, folder)
        text = _Reader(self.meshes, self.models, self._opened | {path}).text(inner, place)
        name = f"model_{len(self.models)}.xml"
        self.models[name] = text.encode()
        return name


def _refuse(document: Document, element: Element, names: set[str | None]) -> None:
    """Refuse files that MuJoCo opens while it parses, and NaN, of which it writes a log into the working directory."""
    if tag(element) == "flexcomp" and element.get("file"):
        raise document.error(
            element, f"the file {element.get('file')!r} is refused: soft bodies are not read from files"
        )
    for key, value in element.attrib.items():
        if "nan" in value.lower() and value not in names:
            try:
                numbers = [float(word) for word in value.split()]
            except ValueError:
                continue
            if any(math.isnan(number) for number in numbers):
                raise document.error(element, f"{key}: expected finite numbers, got {value!r}")
