"""One exception root. Every message says what was given, what was expected, and where."""

import difflib
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from multibody._signatures import readable_methods


class MultibodyError(Exception):
    """The root of all errors that this library raises on purpose."""


class InputError(MultibodyError, ValueError):
    """An argument has the wrong shape, type, name or value."""


class SingularityError(MultibodyError, ArithmeticError):
    """A quantity was asked for at a place where it does not exist."""


class MissingPackageError(MultibodyError, ImportError):
    """A package that only an optional part of the library uses is not installed."""


class CacheError(MultibodyError):
    """Cached code differs from what its function compiles to now; raised if MULTIBODY_CACHE_MODE is "verify"."""


@readable_methods
class RobotFileError(InputError):
    """A robot file that cannot be read, or does not say what its format asks for, and where."""

    def __init__(
        self, message: str, *, file: str | None = None, line: int | None = None, element: str | None = None
    ) -> None:
        place = ":".join(str(part) for part in (file, line) if part is not None)
        where = " ".join(part for part in (place, element) if part)
        super().__init__(f"{where}: {message}" if where else message)
        self.message, self.file, self.line, self.element = message, file, line, element


class RobotFileWarning(UserWarning):
    """Warning of possible mistakes in a robot file; `robot.diagnostics` has all
    of them, with lines.

    `warnings.filterwarnings("ignore", category=mb.RobotFileWarning)` silences it, `mb.load(...,
    strict=True)` makes an error of it.
    """


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """A question with the closest matches of a name; empty without any."""
    near = difflib.get_close_matches(str(name), list(names), n=3, cutoff=0.5)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else ""


def unknown(what: str, name: object, names: Sequence[str], owner: str) -> str:
    """The message for an unknown name, with the closest matches."""
    known = f"it has {', '.join(map(repr, names[:8]))}{', ...' * (len(names) > 8)}"
    return f"{owner}: no {what} is named {name!r}; {did_you_mean(name, names) or known}"


def missing_package(need: str, extra: str, package: str) -> MissingPackageError:
    """The error about a package of an optional part, with the command that installs it for the Python that runs.

    Args:
        need: the beginning of the message, such as "formulas need SymPy".
        extra: the optional part, as pyproject.toml names it.
        package: the name under which it is imported.
    """
    return MissingPackageError(f"{need}: run {install_command(extra)}", name=package)


def install_command(extra: str) -> str:
    """How to install an optional part of the library: from the checkout, where the library runs out of one."""
    python = _from_here(Path(sys.executable)) if sys.executable else "python"
    python = f'"{python}"' if " " in python else python
    checkout = Path(__file__).parents[2]
    if not (checkout / "pyproject.toml").is_file():
        return f'{python} -m pip install "multibody[{extra}]"'
    return f'{python} -m pip install -e "{_from_here(checkout)}[{extra}]"'


def _from_here(path: Path) -> str:
    """The path as one types it in the working directory: relative where it is below."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
