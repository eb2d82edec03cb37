"""`multibody cache`: the compiled code on disk."""

import math
from typing import Annotated

import typer

from multibody.cli._tables import show, table, terminal
from multibody.compiler.cache import disk_cache
from multibody.compiler.config import config
from multibody.errors import InputError

_SECONDS_PER_DAY = 86400.0


def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove the code.")] = False,
    older_than: Annotated[
        float | None, typer.Option(min=0.0, metavar="DAYS", help="With --clear: only code not used for so many days.")
    ] = None,
) -> None:
    """Show the directory and the size of the compiled code on disk, or remove it."""
    if older_than is not None and not clear:
        raise InputError("--older-than: expected together with --clear, which removes the code")
    folder = disk_cache.directory()
    if folder is None:
        raise InputError("cache: expected a home directory, got none. Set MULTIBODY_CACHE_DIR to a directory")
    if clear:
        removed = disk_cache.clear((older_than or 0.0) * _SECONDS_PER_DAY)
        typer.echo(f"Removed {len(removed)} files, {_size(sum(file.size for file in removed))}, from {folder}.")
        return
    files = disk_cache.files()
    rows = table("", "")
    rows.add_row("directory", str(folder))
    rows.add_row("entries", str(sum(not file.is_alias for file in files)))
    rows.add_row("size", _size(sum(file.size for file in files)))
    rows.add_row("limit", f"{_size(config.cache_size)} (MULTIBODY_CACHE_SIZE)")
    rows.add_row("used", "yes" if config.cache else "no (MULTIBODY_CACHE_MODE)")
    show(terminal(), rows)


def _size(count: float) -> str:
    """A number of bytes in the unit that fits.

    >>> _size(512), _size(3 * 2**20), _size(2 * 2**30)
    ('512 bytes', '3.0 MiB', '2.0 GiB')
    """
    if count < 1024:
        return f"{count:.0f} bytes"
    power = min(3, int(math.log(count, 1024)))
    return f"{count / 1024**power:.1f} {('KiB', 'MiB', 'GiB')[power - 1]}"
