"""Finds the files that a robot file refers to, within the directories that it may use."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from multibody.errors import InputError

_HEADER, _TRIANGLE = 84, 50  # bytes of a binary STL: text and count, then each triangle


class Meshes:
    """Resolves the URIs of meshes and textures.

    `package://name/rest` and `model://name/rest` are looked for in the stated roots (a root is the package, or holds
    it), then in the directories above the robot file: one of that name, or one that holds such a package (known by its
    package.xml or model.config), then in those of the environment variables ROS_PACKAGE_PATH and AMENT_PREFIX_PATH.
    Relative paths are looked for in the directory of the robot file, then in the roots. A file may lie in the package
    where it was looked for, in that of the robot file (the nearest directory above it with a package.xml or
    model.config, else the one above the file's own, so that "../meshes" works), or in a stated root; symbolic links
    there are followed, since ROS workspaces install by links. Other places are refused; `trust_paths` takes them.
    """

    def __init__(self, directory: Path | None, roots: Sequence[str | os.PathLike[str]], *, trust_paths: bool) -> None:
        self._directory = None if directory is None else os.path.abspath(directory)
        self._roots = [os.path.abspath(_directory(root)) for root in roots]
        self._trust = trust_paths
        self._paths: dict[str, Path | None] = {}
        self._packages: dict[str, list[str]] = {}
        self._home = None if self._directory is None else _home(self._directory)

    def find(self, uri: str) -> Path | None:
        """The file of a URI, or None when there is none.

        Raises:
            InputError: when the URI leads out of the directories that it may use, or an STL file is not what it says.
        """
        if uri not in self._paths:
            path = self._search(uri)
            if path is not None and path.lower().endswith(".stl"):
                check_stl(path)
            self._paths[uri] = None if path is None else Path(path)
        return self._paths[uri]

    def _search(self, uri: str) -> str | None:
        bases, rest = self._split(uri)
        if self._trust and os.path.isabs(rest):
            bases = [os.sep]
        refused = not bases and (os.path.isabs(rest) or _climbs(rest))
        for base in bases:
            path = os.path.normpath(os.path.join(base, rest))
            tops = [base, *self._roots, *([self._home] if self._home is not None and base == self._directory else [])]
            if not self._trust and not _inside(path, tops):
                refused = True
            elif os.path.isfile(path):
                return path
        if refused and not self._trust:
            raise InputError(
                f"{uri!r} is refused: it leads out of the directories that this robot may use; state the directory "
                "with roots=[...], or pass trust_paths=True"
            )
        return None

    def _split(self, uri: str) -> tuple[list[str], str]:
        """The directories to look in, and the path in them."""
        scheme, separator, rest = uri.partition("://")
        if not separator:
            scheme, rest = "", uri
        rest = rest.replace("\\", "/")
        if scheme in ("package", "model"):
            package, _, rest = rest.lstrip("/").partition("/")
            if package in ("", ".", ".."):
                return self._places(), f"{package}/{rest}"
            if package not in self._packages:
                self._packages[package] = list(self._package(package))
            return self._packages[package], rest
        if scheme == "file":
            return self._places(), unquote(rest)
        return ([], "") if scheme else (self._places(), rest)

    def _places(self) -> list[str]:
        return ([] if self._directory is None else [self._directory]) + self._roots

    def _package(self, name: str) -> Iterator[str]:
        """The directories of a package, best first."""
        above: list[str] = []
        at = self._directory
        while at is not None:
            above.append(at)
            at = None if os.path.dirname(at) == at else os.path.dirname(at)
        ros = [path for path in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if path]
        ament = [f"{path}/share" for path in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if path]
        for root in [*self._roots, *above]:
            if os.path.basename(root) == name:
                yield root
            place = os.path.join(root, name)
            if os.path.isdir(place) and (root in self._roots or _is_package(place)):
                yield place
        for root in [*ros, *ament]:
            place = os.path.join(root, name)
            if os.path.isdir(place):
                yield place


def check_stl(path: str | os.PathLike[str]) -> None:
    """Raise an InputError when the triangles that a binary STL file says it has do not fit its size."""
    try:
        with open(path, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            head = stream.read(512)
    except OSError as error:
        raise InputError(f"the mesh {os.fspath(path)!r} cannot be read: {error.strerror}") from None
    count = int.from_bytes(head[_HEADER - 4 : _HEADER], "little")
    if len(head) >= _HEADER and size == _HEADER + _TRIANGLE * count:
        return
    if head.lstrip().startswith(b"solid") and b"\0" not in head:
        return  # written as text
    if len(head) < _HEADER:
        raise InputError(f"the mesh {os.fspath(path)!r} is no STL file: it has {size} bytes, a header has {_HEADER}")
    raise InputError(
        f"the mesh {os.fspath(path)!r} says that it has {count} triangles, which take {_HEADER + _TRIANGLE * count} "
        f"bytes, but has {size} bytes"
    )


def _climbs(rest: str) -> bool:
    return os.path.normpath(rest).split(os.sep)[0] == ".."


def _inside(path: str, tops: Sequence[str]) -> bool:
    return any(path.startswith(top.rstrip(os.sep) + os.sep) for top in tops)


def _is_package(path: str) -> bool:
    return any(os.path.isfile(os.path.join(path, marker)) for marker in ("package.xml", "model.config"))


def _home(directory: str) -> str:
    """The package of a robot file: never all of the disk."""
    at = directory
    while os.path.dirname(at) != at:
        if _is_package(at):
            return at
        at = os.path.dirname(at)
    above = os.path.dirname(directory)
    return directory if os.path.dirname(above) == above else above


def _directory(root: str | os.PathLike[str]) -> str:
    path = os.fspath(root)
    if not os.path.isdir(path):
        raise InputError(f"roots: expected directories, got {path!r}")
    return path
