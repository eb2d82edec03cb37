"""C code for users: its place, and the message about it."""

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from multibody._saving import check_place, save
from multibody.errors import InputError

if TYPE_CHECKING:
    from multibody.compiler.export.to_c import CSource


def check_c_place(path: Path) -> None:
    """Refuse a place that code and its header cannot have, before the work for them begins."""
    check_place(path, "--c")
    if path.suffix == ".h":
        raise InputError(f"--c: expected a file for the code, its header gets the ending .h: got {str(path)!r}")


def save_c(console: Console, code: "CSource", path: Path, what: str) -> None:
    """Write the code and its header beside it, and say so."""
    header = path.with_suffix(".h")
    save(code.source, path, "--c")
    save(code.header, header, "--c")
    console.print(f"Saved {path} and {header}: {what}.", soft_wrap=True)
