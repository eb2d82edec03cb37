"""Diagnostics reported by loaders and builders, and the error of links and joints that do not make a tree."""

from dataclasses import dataclass

from multibody.errors import InputError, RobotFileError


@dataclass(frozen=True)
class Diagnostic:
    """One thing that was ignored, assumed, merged, reordered, coupled, snapped, or is odd."""

    level: str
    """"note" for what is fine but worth knowing, "warning" for what may be a mistake (an error with strict=True)."""
    code: str
    """A short word: "ignored", "assumed", "merged", "reordered", "coupled", "snapped", "inertia", "mesh", ..."""
    message: str
    file: str | None = None
    line: int | None = None
    element: str | None = None
    """Such as <joint name="elbow">."""

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        where = " ".join(part for part in (place, self.element) if part)
        return f"{self.level}: {f'{where}: ' if where else ''}{self.message} [{self.code}]"

    def error(self) -> RobotFileError:
        """The error of this diagnostic, to be raised."""
        return RobotFileError(self.message, file=self.file, line=self.line, element=self.element)


class StructureError(InputError):
    """Links and joints that do not make a tree. `element` is the kind ("link", "joint", "frame") and name at fault."""

    def __init__(self, message: str, kind: str, name: str) -> None:
        super().__init__(message)
        self.element = (kind, name)

    @classmethod
    def at_joint(cls, name: str, message: str) -> "StructureError":
        """An error about a joint: its name, then the message."""
        return cls(f"joint {name!r}{message}", "joint", name)
