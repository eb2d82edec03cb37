"""Diagnostics reported by loaders and builders."""

from dataclasses import dataclass


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
