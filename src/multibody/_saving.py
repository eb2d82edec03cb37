"""Files that are written for a user: where they can be, and what is said when they cannot."""

from os import PathLike
from pathlib import Path
from typing import Any

from multibody.errors import InputError


def check_place(path: Any, name: str) -> Path:
    """A path at which a file can be: told before the work for it begins.

    Args:
        path: the place of the file, text or a path.
        name: the name of the argument, for the message.

    Raises:
        InputError: when it is no path, a directory, or in a directory that is not there.
    """
    if not isinstance(path, str | PathLike):
        raise InputError(f"{name}: expected a file in a directory that is there, got {path!r}")
    place = Path(path)
    try:
        fits = not place.is_dir() and place.resolve().parent.is_dir()
    except OSError as error:
        raise _refused(place, name, error) from None
    except ValueError:  # a null byte
        fits = False
    if not fits:
        raise InputError(f"{name}: expected a file in a directory that is there, got {str(place)!r}")
    return place


def save(text: str, path: str | PathLike[str], name: str) -> None:
    """Write a file.

    Raises:
        InputError: when that is not possible, and why.
    """
    place = check_place(path, name)
    try:
        place.write_text(text, encoding="utf-8")
    except OSError as error:
        raise _refused(place, name, error) from None


def _refused(place: Path, name: str, error: OSError) -> InputError:
    return InputError(f"{name}: cannot write {str(place)!r}: {error.strerror}")
