"""One exception root. Every message says what was given, what was expected, and where."""


class MultibodyError(Exception):
    """The root of all errors that this library raises on purpose."""


class InputError(MultibodyError, ValueError):
    """An argument has the wrong shape, type, name or value."""


class SingularityError(MultibodyError, ArithmeticError):
    """A quantity was asked for at a place where it does not exist."""


class MissingPackageError(MultibodyError, ImportError):
    """A package that only an optional part of the library uses is not installed."""


class CacheError(MultibodyError):
    """Compiled code that was kept is not what its function compiles to; raised where MULTIBODY_CACHE is "verify"."""


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
    """What `mb.load` noticed in a robot file that may be a mistake; `robot.diagnostics` has all of it, with lines.

    `warnings.filterwarnings("ignore", category=mb.RobotFileWarning)` silences it, `mb.load(..., strict=True)` makes an
    error of it.
    """
