"""Sources of robot files: a path, an open file, or a string."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from multibody.errors import RobotFileError

STRING = "<string>"
"""The name, in messages, of a text without a file."""


@dataclass(frozen=True)
class Source:
    """The text of a robot file, and where it is from."""

    text: bytes
    file: str
    """For messages."""
    directory: Path | None
    """The directory of the file; None when there is no file on disk."""
    decoded: bool = False
    """Whether the source was a str: it is UTF-8 then, whatever its declaration says."""

    @property
    def suffix(self) -> str:
        """The extension of the file, in lower case."""
        return "" if self.file == STRING else os.path.splitext(self.file)[1].lower()


def is_text(source: str) -> bool:
    """Return whether a string is XML, not the name of a file or robot."""
    return source.lstrip("\ufeff \t\r\n").startswith("<")


def from_path(path: str | os.PathLike[str]) -> Source:
    """Read a file.

    Raises:
        RobotFileError: when it is not a regular file that can be read.
    """
    file = os.fsdecode(path)
    if not os.path.isfile(file):
        what = "a directory" if os.path.isdir(file) else "no regular file" if os.path.exists(file) else "nothing"
        raise RobotFileError(f"expected a robot file, found {what}", file=file)
    try:
        with open(file, "rb") as stream:
            text = stream.read()
    except OSError as error:
        raise RobotFileError(f"cannot be read: {error.strerror}", file=file) from None
    return Source(text, file, Path(file).parent)


def from_text(text: str | bytes, file: str = STRING, directory: Path | None = None) -> Source:
    """A source from a string or bytes."""
    if isinstance(text, bytes):
        return Source(text, file, directory)
    try:
        return Source(text.encode(), file, directory, decoded=True)
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise RobotFileError(
            f"expected characters of Unicode, got the lone surrogate {text[error.start]!a}", file=file, line=line
        ) from None


def from_stream(stream: IO[Any]) -> Source:
    """Read an open file, in text or binary mode, from its current position."""
    name = getattr(stream, "name", None)
    named = isinstance(name, str) and os.path.isfile(name)
    file = name if isinstance(name, str) else STRING
    try:
        text = stream.read()
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise RobotFileError(f"cannot be read: {error}", file=file) from None
    if not isinstance(text, str | bytes):
        raise RobotFileError(f"expected an open file that gives text or bytes, got {type(text).__name__}", file=file)
    return from_text(text, file, Path(file).parent if named else None)
